//go:build cuda || emu

package cuda

import (
	"math/bits"

	"motifd/kernels"
	"motifd/matcher"
	"motifd/matcher/plan"
)

// compiled is one plan as programs: indexes into the table of all.
type compiled struct {
	// plain tells that the device can do it: between two given vertices every back edge has one image at most.
	plain bool
	// By order of Plan.Anchored; the last one is the static order. Counts ignore symmetry constraints, rows observe them.
	rows, count, any []uint32
	rooted           uint32 // rows of a whole graph, from the first pattern vertex on
}

// of returns the programs for what is wanted.
func (c *compiled) of(w matcher.Want) []uint32 {
	switch w {
	case matcher.WantCount:
		return c.count
	case matcher.WantAny:
		return c.any
	}
	return c.rows
}

// column is what a leaf's step asks a vertex for: it numbers the columns of the device's memo.
type column struct {
	class, dir, label, rule uint32
}

// table are the programs of all prepared plans.
type table struct {
	programs []kernels.Program
	columns  map[column]uint32
}

func compile(p *matcher.Plan, f *plan.Filter, t *table) *compiled {
	c := &compiled{plain: isPlain(p)}
	if !c.plain {
		return c
	}
	for i := range len(p.Anchored) + 1 {
		o := &p.Static
		if i < len(p.Anchored) {
			o = &p.Anchored[i]
		}
		n := uint32(len(t.programs))
		for _, mode := range []uint32{kernels.ModeRows, kernels.ModeCount, kernels.ModeAny} {
			t.programs = append(t.programs, t.program(p, o, f, mode))
		}
		c.rows, c.count, c.any = append(c.rows, n), append(c.count, n+1), append(c.any, n+2)
	}
	c.rooted = uint32(len(t.programs))
	t.programs = append(t.programs, t.program(p, rooted(p), f, kernels.ModeRows))
	return c
}

// isPlain tells whether every pattern edge has one label and one direction, and no parallel one.
func isPlain(p *matcher.Plan) bool {
	for i, e := range p.Query.Edges {
		if p.EdgeLabels[i] == matcher.AnyLabel || p.Directed && e.Either {
			return false
		}
		for _, o := range p.Query.Edges[:i] {
			if o.From == e.From && o.To == e.To || o.From == e.To && o.To == e.From {
				return false
			}
		}
	}
	return true
}

// program makes data of a matching order.
func (t *table) program(p *matcher.Plan, o *matcher.Order, f *plan.Filter, mode uint32) kernels.Program {
	k := kernels.Program{Mode: mode, Steps: uint32(len(o.Steps)), Start: 1, Leaves: uint32(len(o.Steps)), Anchor: kernels.None,
		Vertices: uint32(len(p.Query.Vertices)), Edges: uint32(len(p.Query.Edges))}
	if o.Edge >= 0 {
		k.Start, k.Anchor = 2, uint32(o.Edge)
	}
	at := make([]int, len(p.Query.Vertices))
	for i, s := range o.Steps {
		at[s.Vertex] = i
	}
	next := uint32(0)
	for i := range o.Steps {
		from, s := &o.Steps[i], &k.Step[i]
		class := f.Class(p, from.Vertex)
		s.Vertex, s.Word, s.Mask = uint32(from.Vertex), uint32(class>>6), 1<<(class&63)
		s.Back, s.Backs = next, uint32(len(from.Back))
		for _, b := range from.Back {
			k.Back[next] = kernels.Back{Step: uint32(b.Step), Label: uint32(b.Label), Dir: uint32(b.Dir), Edge: uint32(b.Edge),
				Rule: rule(o, b.Edge, mode)}
			next++
		}
		for j := range i {
			if mayMeet(p, o.Steps[j].Vertex, from.Vertex) {
				s.Clash |= 1 << j
			}
		}
		if mode == kernels.ModeCount || p.Query.Unit != matcher.Subgraphs {
			continue
		}
		for _, l := range p.VertexLess {
			if l[1] == from.Vertex && at[l[0]] < i {
				s.Above |= 1 << at[l[0]]
			}
			if l[0] == from.Vertex && at[l[1]] < i {
				s.Below |= 1 << at[l[1]]
			}
		}
	}
	if mode == kernels.ModeCount {
		t.leaves(p, &k)
	}
	return k
}

// rule says which staged edges the image of a pattern edge may be. Rows are found from the update that completes them; counts, from
// the first pattern edge whose image the batch changed.
func rule(o *matcher.Order, edge int, mode uint32) uint32 {
	switch {
	case o.Edge < 0:
		return kernels.RuleInView
	case mode != kernels.ModeCount:
		return kernels.RuleByOrder
	case edge < o.Edge:
		return kernels.RuleUnchanged
	}
	return kernels.RuleAnyEdge
}

// mayMeet tells whether two pattern vertices could have one image, if that were not forbidden.
func mayMeet(p *matcher.Plan, a, b int) bool {
	x, y := p.VertexLabels[a], p.VertexLabels[b]
	return x == y || x == matcher.AnyLabel || y == matcher.AnyLabel
}

// leaves finds the longest end of the order whose vertices have one neighbour each and, where two may meet, are alike: then
// their numbers multiply (DESIGN S12). Alike ones choose from one set, in any order.
func (t *table) leaves(p *matcher.Plan, k *kernels.Program) {
	for k.Leaves > k.Start {
		s := &k.Step[k.Leaves-1]
		if !isLeaf(p, int(s.Vertex)) {
			break
		}
		ok := true
		for i := k.Leaves; i < k.Steps; i++ {
			other := &k.Step[i]
			ok = ok && (!mayMeet(p, int(s.Vertex), int(other.Vertex)) || alike(k, s, other))
		}
		if !ok {
			break
		}
		k.Leaves--
	}
next:
	for i := k.Leaves; i < k.Steps; i++ {
		s := &k.Step[i]
		s.Clash &= 1<<k.Leaves - 1
		for g := range k.Groups {
			if alike(k, &k.Step[k.Leaf[g].Step], s) {
				k.Leaf[g].Size++
				continue next
			}
		}
		b := &k.Back[s.Back]
		c := column{s.Word<<6 | uint32(bits.TrailingZeros64(s.Mask)), b.Dir, b.Label, b.Rule}
		if _, ok := t.columns[c]; !ok {
			t.columns[c] = uint32(len(t.columns))
		}
		k.Leaf[k.Groups] = kernels.Leaf{Step: i, Size: 1, Column: t.columns[c]}
		k.Groups++
	}
}

func isLeaf(p *matcher.Plan, v int) bool {
	n := 0
	for _, e := range p.Query.Edges {
		if e.From == v || e.To == v {
			n++
		}
	}
	return n == 1
}

func alike(k *kernels.Program, s, t *kernels.Step) bool {
	a, b := k.Back[s.Back], k.Back[t.Back]
	return s.Word == t.Word && s.Mask == t.Mask && a.Step == b.Step && a.Label == b.Label && a.Dir == b.Dir && a.Rule == b.Rule
}
