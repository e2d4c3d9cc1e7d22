//go:build cuda || emu

package cuda

import (
	"fmt"
	"slices"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/kernels"
	"motifd/matcher"
	"motifd/matcher/condition"
	"motifd/matcher/internal/truths"
)

// where holds what the programs of a table test (kernels.Where): the conditions on one edge as intervals of its truth
// words, those on values of several elements as instructions, and sets of labels.
type where struct {
	intervals []kernels.Interval
	tests     map[string]kernels.Slice // by key of the test
	instrs    []kernels.Instr
	slices    map[string]kernels.Slice // of instrs, by their content
	labels    []kernels.Labels         // of sets, by the graph's labels
	sets      map[string]uint32        // their labels in programs, by their content

	// Columns of the graph's edges and vertices that instructions read, in the order of the device's columns.
	ofEdges, ofVertices []int
}

func newWhere() *where {
	return &where{tests: map[string]kernels.Slice{}, slices: map[string]kernels.Slice{},
		sets: map[string]uint32{}}
}

// test returns the intervals of a test, which may be nil.
func (w *where) test(t *truths.Test) (s kernels.Slice) {
	if t == nil {
		return s
	}
	s, ok := w.tests[t.Key()]
	if ok {
		return s
	}
	s.First = uint32(len(w.intervals))
	for x := range t.Spans() {
		w.intervals = append(w.intervals, kernels.Interval{Mask: x.Mask, Lo: x.Lo, More: x.More, Word: uint32(x.Word),
			Shift: uint32(x.Shift)})
		s.Number++
	}
	w.tests[t.Key()] = s
	return s
}

// column returns the device's number of a column of the graph, of those that it has so far.
func column(columns *[]int, of int) uint32 {
	at := slices.Index(*columns, of)
	if at < 0 {
		at = len(*columns)
		*columns = append(*columns, of)
	}
	return uint32(at)
}

// add returns instructions as a slice of those of all programs. The programs of an order have the same.
func (w *where) add(instrs []kernels.Instr) kernels.Slice {
	if len(instrs) == 0 {
		return kernels.Slice{}
	}
	key := string(kernels.Bytes(instrs))
	s, ok := w.slices[key]
	if !ok {
		s = kernels.Slice{First: uint32(len(w.instrs)), Number: uint32(len(instrs))}
		w.instrs = append(w.instrs, instrs...)
		w.slices[key] = s
	}
	return s
}

// among returns the label that stands for a set of labels of the graph in programs. They ascend.
func (w *where) among(set []dyngraph.LabelID) uint32 {
	var ranges []kernels.Labels
	for _, l := range set {
		if n := len(ranges) - 1; n >= 0 && ranges[n].Last+1 == uint32(l) {
			ranges[n].Last++
		} else {
			ranges = append(ranges, kernels.Labels{First: uint32(l), Last: uint32(l)})
		}
	}
	for i := range ranges {
		ranges[i].More = uint32(len(ranges) - 1 - i)
	}
	key := string(kernels.Bytes(ranges))
	label, ok := w.sets[key]
	if !ok {
		label = kernels.Among + uint32(len(w.labels))
		w.sets[key], w.labels = label, append(w.labels, ranges...)
	}
	return label
}

// layeredLabels returns ranges of labels on a device that has a number of layers for each label.
func layeredLabels(of []kernels.Labels, layers int) []kernels.Labels {
	of = slices.Clone(of)
	for i := range of {
		l := &of[i]
		l.First, l.Last = l.First<<layers, (l.Last+1)<<layers-1
	}
	return of
}

// layeredPrograms does the same with the labels of programs.
func layeredPrograms(of []kernels.Program, layers int) []kernels.Program {
	if layers == 0 {
		return of
	}
	of = slices.Clone(of)
	for i := range of {
		for k := range of[i].Back {
			if b := &of[i].Back[k]; b.Label < kernels.NoLabel {
				b.Label <<= layers
			}
		}
	}
	return of
}

// tests reports whether only the kernels that test conditions can search a program: it has conditions, sets of labels,
// pairs of leaves, or more levels than fit shared memory.
func tests(k *kernels.Program) bool {
	if k.Mode == kernels.ModeCount && k.Flat > kernels.FlatLevels {
		return true
	}
	if slices.ContainsFunc(k.Leaf[:k.Groups], func(l kernels.Leaf) bool { return l.Pair != 0 }) {
		return true
	}
	return slices.ContainsFunc(k.Back[:], func(b kernels.Back) bool {
		return b.Tests > 0 || b.Label >= kernels.Among && b.Label != kernels.AnyLabel
	}) ||
		slices.ContainsFunc(k.Check[:], isChecked)
}

// isChecked reports whether a step with these instructions tests something.
func isChecked(s kernels.Slice) bool { return s.Number > 0 }

// checks sets the instructions of the program's steps: those of a condition are of the step that maps the last of its
// elements.
func (c *compiler) checks(w *where) {
	all := make([][]kernels.Instr, c.k.Steps)
	for i := range c.p.Conditions {
		from := &c.p.Conditions[i]
		if from.Own() {
			continue
		}
		steps, ok := from.Stack()
		if !ok {
			panic(fmt.Sprintf("condition %d is not one that Plan.NotOnGPU lets pass", i))
		}
		at := from.Last(c.vertexStep, c.edgeStep)
		for _, s := range steps {
			all[at] = append(all[at], c.instr(w, from, s))
		}
		all[at] = append(all[at], kernels.Instr{Op: kernels.OpHolds})
	}
	if within := c.p.Query.Within; within > 0 {
		ts := column(&w.ofEdges, property.TS)
		value := func(edge int) kernels.Instr {
			return kernels.Instr{Op: kernels.OpEdgeValue, At: c.slot[edge], Column: ts}
		}
		for x := range c.p.Query.Edges {
			for y := range max(x, 1) { // an edge alone must have a time
				at := max(c.edgeStep[x], c.edgeStep[y])
				all[at] = append(all[at], value(x), value(y), kernels.Instr{Op: kernels.OpNear, Left: within},
					kernels.Instr{Op: kernels.OpHolds})
			}
		}
	}
	absent := c.absent(w)
	for i := range all {
		c.k.Check[i] = w.add(append(all[i], absent[i]...))
	}
}

// absent returns, by step, the instructions of the negations that a search for rows tests once the step is mapped.
func (c *compiler) absent(w *where) [][]kernels.Instr {
	all := make([][]kernels.Instr, c.k.Steps)
	if c.k.Mode != kernels.ModeRows {
		return all
	}
	for i := range c.p.Absent {
		a := &c.p.Absent[i]
		if a.Label == matcher.UnknownLabel || a.Own == matcher.UnknownLabel {
			continue // no edge blocks
		}
		from, to, out := a.Ends()
		at := max(1, c.vertexStep[from]) // nothing is tested at the step that a task without an anchor maps
		x := kernels.Instr{Op: kernels.OpAbsent, At: uint32(c.at[from]), Column: kernels.None,
			Right: int64(kernels.AnyLabel)}
		if to == matcher.Free {
			x.Right = int64(a.Own)
		} else {
			at, x.Column = max(at, c.vertexStep[to]), uint32(c.at[to])
		}
		label, dir := kernels.AnyLabel, uint32(0)
		if a.Label != matcher.AnyLabel {
			label = w.among(matcher.EachLabel(a.Label)) // it may have parallel edges
		}
		switch {
		case !c.p.Directed:
		case a.Either:
			dir = kernels.Either
		case !out:
			dir = uint32(dyngraph.In)
		}
		x.Left = int64(uint64(dir)<<32 | uint64(label))
		var tested []kernels.Instr
		for k := range a.Conditions {
			of := &a.Conditions[k]
			steps, ok := of.Stack()
			if !ok {
				panic(fmt.Sprintf("negation %d has a condition that matcher.AbsentOf does not let pass", a.Negation))
			}
			for _, s := range steps {
				tested = append(tested, c.instr(w, of, s))
			}
			tested = append(tested, kernels.Instr{Op: kernels.OpHolds})
			for _, r := range of.Elements {
				if r.Index < len(c.edgeStep) {
					at = max(at, c.edgeStep[r.Index])
				}
			}
		}
		x.More = uint32(len(tested))
		all[at] = append(append(all[at], x), tested...)
	}
	return all
}

// denies reports whether a program tests negations.
func (w *where) denies(k *kernels.Program) bool {
	return slices.ContainsFunc(k.Check[:], func(s kernels.Slice) bool {
		return slices.ContainsFunc(w.instrs[s.First:s.First+s.Number], func(x kernels.Instr) bool {
			return x.Op == kernels.OpAbsent
		})
	})
}

// relations has, by relation, the bits of numbers below, at and above 0 that stand in it to 0.
var relations = [...]uint32{condition.Eq: 0b010, condition.Ne: 0b101, condition.Lt: 0b001, condition.Le: 0b011,
	condition.Gt: 0b100, condition.Ge: 0b110}

// operations has what the operations of a condition are on the device. A slot is the value of an edge or a vertex.
var operations = [...]uint32{condition.StackConstant: kernels.OpNumber, condition.StackNull: kernels.OpNull,
	condition.StackSum: kernels.OpSum, condition.StackProduct: kernels.OpProduct,
	condition.StackCompare: kernels.OpCompare, condition.StackIsNull: kernels.OpIsNull,
	condition.StackAnd: kernels.OpAnd, condition.StackOr: kernels.OpOr}

// instr returns a step of a condition as an instruction.
func (c *compiler) instr(w *where, from *matcher.Condition, s condition.StackStep) kernels.Instr {
	x := kernels.Instr{Op: operations[s.Op], Left: s.Left, Right: s.Right}
	switch s.Op {
	case condition.StackSlot:
		if r := from.Reads[s.Slot]; r.Element.Edge {
			x.Op, x.At, x.Column = kernels.OpEdgeValue, kernels.BlockerAt, column(&w.ofEdges, r.Column)
			if r.Element.Index < len(c.slot) {
				x.At = c.slot[r.Element.Index]
			}
		} else {
			x.Op, x.At = kernels.OpVertexValue, uint32(c.at[r.Element.Index])
			x.Column = column(&w.ofVertices, r.Column)
		}
	case condition.StackCompare:
		x.At = relations[s.Relation]
	}
	return x
}

// asks returns the intervals of the conditions on a pattern edge alone.
func (c *compiler) asks(edge int) (first, number uint32) {
	s := c.t.where.test(c.f.EdgeTest(c.p, edge))
	return s.First, s.Number
}

// isOn reports whether the device searches a plan.
func isOn(p *matcher.Plan) bool { return len(p.NotOnGPU()) == 0 }
