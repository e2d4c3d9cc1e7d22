package program

import (
	"math/bits"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/internal/candidates"
	"motifd/matcher/internal/truths"
)

// Order is a compiled matching order: a matcher.Order with candidate tests, list keys and admission constraints.
type Order struct {
	Plan   *matcher.Plan
	Anchor int // pattern edge of the anchor, or -1 in a static order
	// AnchorTest is the test of the anchor's edge alone; nil if there is none.
	AnchorTest *truths.Test
	Steps      []Step
	Slots      int // frames that the steps take; see Step.Slot
	// VerticesOnly tells that a match is known by the images of its vertices: all steps are Simple, and none is Tested.
	VerticesOnly bool
	Tail         *Tail // of such an order, or nil
	// SortedTail is the number of last pattern vertices by which rows that agree in all others are found in ascending
	// order.
	SortedTail int
	Suffix     *Suffix // or nil
	// Members are the orders of a coalesced class (DESIGN A6); this order then holds the steps that they share. nil
	// otherwise. SharedColumns are the row columns that the shared steps fill; the i-th of the class is the i-th of a
	// member.
	Members       []*Order
	SharedColumns []int
	// Branches are the orders that go on from this one, each with its steps and one more, in a prefix tree of orders
	// (see CompileTogether); Parent is the one that this one goes on from. nil otherwise.
	Branches []*Order
	Parent   *Order
	// Wide is the number of columns of a row of a prefix tree; 0 for the plan's. First is the first order of the tree:
	// its plan gives the names of the elements that the steps map.
	Wide  int
	First *First
	// Forms are the rows that a match yields. Where there are Variants, each has some of them.
	Forms []Form
	// Variants are the conditions that a match must meet to yield rows. nil for a query without any between elements,
	// and without a window.
	Variants []*Conditions
	// Columns are those of the values that Readings read, by number.
	Columns []int
	// Last is the Prior of a step behind the last one.
	Last int
	// Revising is this order for batches that revise vertices: candidate bits do not tell then in which view a revised
	// vertex meets the conditions on it. nil without conditions on vertices.
	Revising *Order
}

// Step is one step of an Order: it maps a pattern vertex, and the pattern edges from it to vertices mapped earlier.
type Step struct {
	Vertex  int // pattern vertex
	Slot    int // index of the step's frame; members of a class have frames of their own
	Test    candidates.Test
	OrTests []candidates.Test // alternatives to Test, where members of a class differ
	Back    []BackEdge
	// Joined is the set of earlier steps that Back leads to, bit i for step i. Apart is the set of those in MustDiffer
	// and in Less, and of those that map BackEdge.Earlier.
	Joined, Apart uint32
	// MustDiffer are the earlier steps whose image this step's must be compared with for injectivity.
	MustDiffer []int
	// Simple tells that a list of neighbours has the step's candidates, each once for each way to map its back edges:
	// these have one label and one direction, and are compared with no other edge. The list of a step with one back
	// edge repeats a neighbour for each parallel edge; with several, the graph has no parallel edges of their labels.
	Simple bool
	// HasOwn tells that some back edges have a test. Tested tells that the step tests its images: it has Readings, or
	// MapsFirst. MapsFirst tells of conditions, on its vertex or others, that are tested once it is mapped.
	HasOwn, Tested, MapsFirst bool
	Prior                     int // one more than the last step before that is Tested; 0 for none
	Readings                  []Reading
	HasBeside                 bool   // some of Readings has limits beside
	Less                      []Less // symmetry constraints with earlier steps
	// Windows are tests of the candidates as a whole.
	Windows []Window
	// EdgeLess are pairs of parallel pattern edges whose images must ascend by symmetry.
	EdgeLess [][2]int
}

// BackEdge is a pattern edge from a step's vertex to one mapped earlier.
type BackEdge struct {
	Edge    int // pattern edge
	Step    int // earlier step
	Label   dyngraph.LabelID
	Dir     dyngraph.Dir // as the earlier vertex sees the edge
	Either  bool         // in either direction
	ListKey int          // number of the key of the neighbor lists; simple steps only
	// Labels are the labels of its images, whose ranges are read one after the other; nil for any label.
	Labels        []dyngraph.LabelID
	NeighborLabel dyngraph.LabelID
	Epoch         EpochKey     // of the neighbor lists
	Test          *truths.Test // of a data edge alone; nil if there is none
	// Earlier and Beside are the pattern edges with whose images this one's must be compared: Earlier those that
	// earlier steps map, the anchor included; Beside those that the same step maps before it.
	Earlier, Beside []int
	// Shares tells that it may have the anchor's image: it comes behind the anchor in a homomorphism.
	Shares bool
}

// Less is a symmetry constraint: id(new vertex) > id(image of Step), or < if Greater is false.
type Less struct {
	Step    int
	Greater bool
}

// Form is a row that a match yields: the match itself, or an image of it under an automorphism of the pattern.
type Form struct {
	// Columns are, by row column, the column of the match's row to copy; nil for the match itself.
	Columns []int
	// Last are the row columns that the last step fills, and the last two, vertices first.
	Last [2][]uint16
	// Tag is the number of the plan in a prefix tree, for the first column of its rows; -1 elsewhere.
	Tag int
}

// Compile compiles an order. With symmetric the plan's symmetry constraints hold: one match of each orbit is found.
// keys numbers the list keys of all orders of a backend.
func Compile(p *matcher.Plan, o *matcher.Order, f candidates.Source, keys *ListKeys, symmetric bool) *Order {
	c := compile(p, &matcher.Member{Order: *o}, f, keys, symmetric, false)
	if p.Query.ReadsVertices() {
		c.Revising = compile(p, &matcher.Member{Order: *o}, f, keys, symmetric, true)
	}
	return c
}

// compile compiles an order with images, for batches that revise vertices, or for others.
func compile(p *matcher.Plan, m *matcher.Member, f candidates.Source, keys *ListKeys, symmetric, revises bool) *Order {
	o := &m.Order
	c := &Order{Plan: p, Anchor: o.Edge, Steps: make([]Step, len(o.Steps)), Slots: len(o.Steps)}
	at, mappedAt := make([]int, len(p.Query.Vertices)), o.StepOf(len(p.Query.Edges))
	var sorted []matcher.BackEdge
	mapped, backs := uint32(0), 0
	for i := range o.Steps {
		backs += len(o.Steps[i].Back)
	}
	room := make([]BackEdge, backs)
	for i := range o.Steps {
		from := &o.Steps[i]
		at[from.Vertex] = i
		class := f.Class(p, from.Vertex)
		s := Step{Vertex: from.Vertex, Slot: i, Test: f.Test(p, from.Vertex), Simple: true}
		sorted = append(sorted[:0], from.Back...)
		slices.SortStableFunc(sorted, bySteps)
		if n := len(sorted); n > 0 {
			s.Back, room = room[:0:n], room[n:]
		}
		for _, b := range sorted {
			nb := BackEdge{Edge: b.Edge, Step: b.Step, Label: b.Label, Dir: b.Dir, Either: b.Either,
				Labels: labelsOf(p, b.Edge), NeighborLabel: p.VertexLabels[from.Vertex], Test: f.EdgeTest(p, b.Edge)}
			s.HasOwn = s.HasOwn || nb.Test != nil
			key := ListKey{Dir: b.Dir, Label: b.Label, Class: class, Test: nb.Test.Key()}
			nb.ListKey, nb.Epoch = keys.Number(key, p.VertexLabels[o.Steps[b.Step].Vertex], nb.NeighborLabel, class)
			nb.Shares = shares(p, o.Edge, b.Edge)
			for _, e := range p.EdgesMustDiffer[b.Edge] {
				switch {
				case slices.ContainsFunc(s.Back, func(x BackEdge) bool { return x.Edge == e }):
					nb.Beside = append(nb.Beside, e)
				case mappedAt[e] < i || e == o.Edge:
					nb.Earlier, s.Apart = append(nb.Earlier, e), s.Apart|1<<mappedAt[e]
				}
			}
			if b.Either || matcher.SeveralLabels(b.Label) || len(nb.Earlier)+len(nb.Beside) > 0 ||
				p.Several[b.Edge] && len(from.Back) > 1 {
				s.Simple = false
			}
			s.Back = append(s.Back, nb)
		}
		if differ := p.MustDiffer[from.Vertex] & mapped; differ != 0 {
			s.MustDiffer = make([]int, 0, bits.OnesCount32(differ))
			for k := range i {
				if differ>>o.Steps[k].Vertex&1 != 0 {
					s.MustDiffer = append(s.MustDiffer, k)
				}
			}
		}
		mapped |= 1 << from.Vertex
		if symmetric {
			for _, l := range p.VertexLess {
				switch {
				case l[1] == from.Vertex && before(o, l[0], i):
					s.Less = append(s.Less, Less{at[l[0]], true})
				case l[0] == from.Vertex && before(o, l[1], i):
					s.Less = append(s.Less, Less{at[l[1]], false})
				}
			}
			for _, l := range p.EdgeLess {
				e := p.Query.Edges[l[0]]
				if (e.From == from.Vertex || e.To == from.Vertex) && before(o, e.From+e.To-from.Vertex, i) {
					s.EdgeLess = append(s.EdgeLess, l)
				}
			}
		}
		for k := range s.Back {
			s.Joined |= 1 << s.Back[k].Step
		}
		for _, k := range s.MustDiffer {
			s.Apart |= 1 << k
		}
		for _, l := range s.Less {
			s.Apart |= 1 << l.Step
		}
		c.Steps[i] = s
	}
	if o.Edge >= 0 {
		c.AnchorTest = f.EdgeTest(p, o.Edge)
	}
	c.addConditions(p, m, f, revises)
	if symmetric {
		c.findWindows()
	}
	c.VerticesOnly = c.Variants == nil &&
		!slices.ContainsFunc(c.Steps, func(s Step) bool { return !s.Simple || s.Tested || s.EdgeLess != nil })
	if c.VerticesOnly && symmetric { // as orders are that only count
		c.Tail = keys.tailOf(c)
	}
	return c
}

// bySteps compares back edges by the step that they lead to.
func bySteps(a, b matcher.BackEdge) int { return a.Step - b.Step }

// formOf returns the form of an order's matches under an automorphism, given as a Form's Columns.
func (o *Order) formOf(columns []int) Form {
	f := Form{Columns: columns, Tag: -1}
	for n := 1; n <= min(len(f.Last), len(o.Steps)); n++ {
		f.Last[n-1] = o.columnsOf(o.Steps[len(o.Steps)-n:])
		if columns != nil {
			for i, from := range f.Last[n-1] {
				f.Last[n-1][i] = uint16(slices.Index(columns, int(from)))
			}
		}
	}
	return f
}

// columnsOf lists the row columns that steps fill, vertices first.
func (o *Order) columnsOf(steps []Step) (columns []uint16) {
	for i := range steps {
		columns = append(columns, uint16(steps[i].Vertex))
	}
	for i := range steps {
		for k := range steps[i].Back {
			columns = append(columns, uint16(len(o.Plan.Query.Vertices)+steps[i].Back[k].Edge))
		}
	}
	return columns
}

// finish fills in how the rows of a complete order leave it.
func (o *Order) finish(c *ListKeys) {
	o.SortedTail = o.sortedVertices()
	o.Suffix = c.suffixOf(o)
}

// sortedVertices returns Order.SortedTail: the length of the longest tail of the pattern's vertices, the anchor's
// aside, that the steps map in pattern order.
func (o *Order) sortedVertices() int {
	if len(o.Forms) > 1 || o.Members != nil {
		return 0 // rows of several matches alternate
	}
	at := make([]int, len(o.Steps))
	for i := range o.Steps {
		at[o.Steps[i].Vertex] = i
	}
	n, last := 0, len(o.Steps)
	for v := len(at) - 1; v >= 0 && (at[v] < 2 || at[v] < last); v-- {
		if at[v] >= 2 {
			last = at[v]
		}
		n++
	}
	return n
}

// Passes reports whether a data vertex with these candidate bits passes the step's test.
func (s *Step) Passes(bits []uint64) bool {
	if s.Test.Of(bits) {
		return true
	}
	for _, t := range s.OrTests {
		if t.Of(bits) {
			return true
		}
	}
	return false
}

// shares returns BackEdge.Shares of a pattern edge, with an anchor.
func shares(p *matcher.Plan, anchor, e int) bool {
	return p.Query.MatchMode == matcher.Homomorphism && e > anchor
}

// before reports whether pattern vertex v is mapped by a step before i.
func before(o *matcher.Order, v, i int) bool {
	for k := range i {
		if o.Steps[k].Vertex == v {
			return true
		}
	}
	return false
}

// Width returns the number of columns of a row.
func (o *Order) Width() int {
	if o.Wide > 0 {
		return o.Wide
	}
	return len(o.Plan.Query.Vertices) + len(o.Plan.Query.Edges)
}

// GoesOn reports whether other orders go on behind the last step.
func (o *Order) GoesOn() bool { return o.Members != nil || o.Branches != nil }

// Dirs returns the directions in which the earlier vertex may see the back edge.
func (b *BackEdge) Dirs() []dyngraph.Dir {
	if b.Either {
		return []dyngraph.Dir{dyngraph.Out, dyngraph.In}
	}
	return bothDirs[b.Dir : b.Dir+1]
}

// labelsOf returns BackEdge.Labels of a pattern edge.
func labelsOf(p *matcher.Plan, e int) []dyngraph.LabelID {
	switch l := p.EdgeLabels[e]; {
	case l == matcher.AnyLabel:
		return nil
	case matcher.SeveralLabels(l):
		return matcher.Alternatives(l)
	}
	return p.EdgeLabels[e : e+1 : e+1]
}

// Runs returns the number of a vertex's ranges that hold the edges of one direction with the admitted labels.
func (b *BackEdge) Runs() int { return max(len(b.Labels), 1) }

// Run returns one of the Runs of a vertex in a direction.
func (b *BackEdge) Run(g *dyngraph.Graph, v dyngraph.VertexID, dir dyngraph.Dir, i int) dyngraph.Range {
	if b.Labels == nil {
		return g.RangeAll(v, dir)
	}
	return g.Range(v, dir, b.Labels[i])
}

var bothDirs = []dyngraph.Dir{dyngraph.Out, dyngraph.In}
