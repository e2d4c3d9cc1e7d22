//go:build cuda || emu

package cuda

import (
	"math/bits"
	"slices"

	"motifd/dyngraph"
	"motifd/kernels"
	"motifd/matcher"
	"motifd/matcher/candidates"
	"motifd/matcher/cpu/rowsort"
)

// compiled is one plan as programs: indexes into the table of all.
type compiled struct {
	layout *rowsort.Layout // of rows
	// By order of Plan.Anchored: kernels.None where another's program finds its matches, too. The last one is the
	// static order. Counts ignore symmetry constraints, rows observe them.
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
	images   []uint32 // by image and column: the column of the match's own row that it has there
}

// compile makes the programs of a plan.
func compile(p *matcher.Plan, view dyngraph.View, f *candidates.Filter, t *table, opt Options) *compiled {
	c := &compiled{layout: rowsort.NewLayout(view, p)}
	n := len(p.Anchored)
	of := representatives(p, opt.Apart)
	c.rows = t.orders(p, of, f, kernels.ModeRows)
	c.any = t.orders(p, of, f, kernels.ModeAny)
	if len(of) < n && !hasLeaf(p) {
		c.count = t.orders(p, of, f, kernels.ModeCount)
	} else {
		for i := range p.Anchored {
			c.count = append(c.count, t.add(t.program(p, &p.Anchored[i], f, kernels.ModeCount, ranked)))
		}
	}
	for mode, to := range []*[]uint32{kernels.ModeRows: &c.rows, kernels.ModeCount: &c.count, kernels.ModeAny: &c.any} {
		*to = append(*to, t.add(t.program(p, &p.Static, f, uint32(mode), inView)))
	}
	c.rooted = t.add(t.program(p, rooted(p), f, kernels.ModeRows, inView))
	return c
}

// add adds a program to the table.
func (t *table) add(k kernels.Program) uint32 {
	t.programs = append(t.programs, k)
	return uint32(len(t.programs) - 1)
}

// cause is how a match is found once, though the batch may have changed several of its edges.
type cause int

const (
	// byOrder finds it from the update that completes or breaks it: the cause of a row.
	byOrder cause = iota
	// ranked finds it from the first pattern edge whose image the batch changed: what a vertex offers to a leaf then
	// does not depend on the update, and is kept.
	ranked
	inView // the search has no anchor
)

// program makes data of a matching order.
func (t *table) program(p *matcher.Plan, o *matcher.Order, f *candidates.Filter, mode uint32,
	by cause) kernels.Program {
	c := compiler{p: p, o: o, by: by, at: make([]int, len(p.Query.Vertices)), slot: make([]uint32, len(p.Query.Edges)),
		k: kernels.Program{Mode: mode,
			Start: 1, Anchor: kernels.None, Vertices: uint32(len(p.Query.Vertices)), Edges: uint32(len(p.Query.Edges))}}
	c.symmetric = mode != kernels.ModeCount && p.Query.Unit == matcher.Subgraphs
	if o.Edge >= 0 {
		c.k.Start, c.k.Anchor, c.mapped, c.slot[o.Edge] = 2, uint32(o.Edge), 1<<o.Edge, kernels.AnchorAt
	}
	for i, s := range o.Steps {
		c.at[s.Vertex] = i
	}
	for i, s := range o.Steps {
		class := f.Class(p, s.Vertex)
		c.vertex(i, uint32(class>>6), 1<<(class&63))
	}
	k := &c.k
	k.Leaves = k.Steps
	if mode == kernels.ModeCount && by != byOrder {
		t.leaves(p, k)
	}
	if mode != kernels.ModeCount || c.apart {
		k.Keep = 1
	}
	if mode == kernels.ModeRows && k.Steps >= k.Start+2 && single(k, k.Steps-2) && single(k, k.Steps-1) {
		k.Flat = 1
	}
	if mode == kernels.ModeCount && flat(k) {
		k.Flat = 1
	}
	return *k
}

// flat tells whether a count can be made by blocks of matches: up to the leaves, steps map a vertex each with edges
// that have no choice, and are few.
func flat(k *kernels.Program) bool {
	levels := k.Leaves - k.Start
	if k.Groups == 0 && levels > 0 {
		levels-- // the last one is not kept
	}
	if k.Keep != 0 || levels >= kernels.FlatLevels {
		return false
	}
	for i := k.Start; i < k.Leaves; i++ {
		if !plain(k, i) {
			return false
		}
	}
	return true
}

// single tells whether a step is plain and has few back edges.
func single(k *kernels.Program, step uint32) bool {
	return k.Step[step].Backs <= kernels.FlatBacks && plain(k, step)
}

// plain tells whether a step maps a vertex with all of its back edges, none of which has a choice.
func plain(k *kernels.Program, step uint32) bool {
	s := &k.Step[step]
	if s.Vertex == kernels.None || s.Own != s.Backs {
		return false
	}
	return !slices.ContainsFunc(k.Back[s.Back:s.Back+s.Backs], func(b kernels.Back) bool {
		return b.Label == kernels.AnyLabel || b.Dir == kernels.Either
	})
}

// compiler is a program in the making.
type compiler struct {
	p         *matcher.Plan
	o         *matcher.Order
	k         kernels.Program
	by        cause
	at        []int    // by pattern vertex: place
	slot      []uint32 // by mapped pattern edge: where its image is
	mapped    uint64   // pattern edges
	backs     uint32
	symmetric bool
	apart     bool // some edge step asks what other edges are mapped to
}

// step appends a step that nothing is known of.
func (c *compiler) step(place int) *kernels.Step {
	s := &c.k.Step[c.k.Steps]
	*s = kernels.Step{Vertex: kernels.None, Place: uint32(place), Back: c.backs, After: kernels.None,
		Before: kernels.None}
	c.k.Steps++
	return s
}

// vertex appends what maps the vertex of an order's step, and its back edges.
func (c *compiler) vertex(i int, word uint32, mask uint64) {
	from := &c.o.Steps[i]
	s := c.step(i)
	s.Vertex, s.Word, s.Mask = uint32(from.Vertex), word, mask
	for j := range i {
		if c.p.MustDiffer[from.Vertex]>>c.o.Steps[j].Vertex&1 != 0 {
			s.Clash |= 1 << j
		}
	}
	if c.symmetric {
		for _, l := range c.p.VertexLess {
			if l[1] == from.Vertex && c.at[l[0]] < i {
				s.Above |= 1 << c.at[l[0]]
			}
			if l[0] == from.Vertex && c.at[l[1]] < i {
				s.Below |= 1 << c.at[l[1]]
			}
		}
	}
	given := i < int(c.k.Start) // by the task
	var own, others []matcher.BackEdge
	for _, b := range from.Back {
		if given || loose(b) && len(from.Back) > 1 || c.rivals(b.Edge) != 0 {
			others = append(others, b)
			continue
		}
		own = append(own, b)
		c.mapped |= 1 << b.Edge
	}
	for _, b := range slices.Concat(own, others) {
		c.back(b, i)
	}
	first := s.Back + uint32(len(own)) // of the others
	if !given {
		s.Backs, s.Own = uint32(len(from.Back)), uint32(len(own))
	}
	for j, b := range others {
		c.edge(i+1, first+uint32(j), b.Edge)
	}
}

// back adds a back edge of the vertex at a place.
func (c *compiler) back(b matcher.BackEdge, to int) {
	dir := uint32(b.Dir)
	if b.Either {
		dir = kernels.Either
	}
	c.k.Back[c.backs] = kernels.Back{From: uint32(b.Step), To: uint32(to), Label: uint32(b.Label), Dir: dir,
		Edge: uint32(b.Edge),
		Rule: c.rule(b.Edge), Near: uint32(c.p.VertexLabels[c.o.Steps[to].Vertex])}
	c.slot[b.Edge] = c.backs
	c.backs++
}

// edge appends an edge step.
func (c *compiler) edge(place int, back uint32, edge int) {
	s := c.step(place)
	s.Back, s.Backs, s.Own = back, 1, 1
	for r := c.rivals(edge); r != 0; r &= r - 1 {
		s.Apart |= 1 << c.slot[bits.TrailingZeros64(r)]
	}
	c.apart = c.apart || s.Apart != 0
	if c.symmetric {
		for _, l := range c.p.EdgeLess {
			if l[1] == edge && c.mapped>>l[0]&1 != 0 {
				s.After = c.slot[l[0]]
			}
			if l[0] == edge && c.mapped>>l[1]&1 != 0 {
				s.Before = c.slot[l[1]]
			}
		}
	}
	c.mapped |= 1 << edge
}

// rivals returns the mapped pattern edges that a data edge could be the image of, too.
func (c *compiler) rivals(edge int) (set uint64) {
	p := c.p
	e, l := p.Query.Edges[edge], p.EdgeLabels[edge]
	for i, x := range p.Query.Edges {
		if c.mapped>>i&1 == 0 || l != p.EdgeLabels[i] && l != matcher.AnyLabel && p.EdgeLabels[i] != matcher.AnyLabel {
			continue
		}
		along, against := e.From == x.From && e.To == x.To, e.From == x.To && e.To == x.From
		if along || against && (!p.Directed || e.Either || x.Either) {
			set |= 1 << i
		}
	}
	return set
}

// loose tells whether a back edge may have several images between two vertices.
func loose(b matcher.BackEdge) bool { return b.Either || b.Label == matcher.AnyLabel }

// rule says which staged edges the image of a pattern edge may be.
func (c *compiler) rule(edge int) uint32 {
	switch {
	case c.by == inView:
		return kernels.RuleInView
	case c.by == byOrder:
		return kernels.RuleByOrder
	case edge < c.o.Edge:
		return kernels.RuleUnchanged
	}
	return kernels.RuleAnyEdge
}

// leaves finds the longest end of the order whose vertices have one neighbour each and, where two may meet, are alike:
// then their numbers multiply (DESIGN S12). Alike ones choose from one set, in any order.
func (t *table) leaves(p *matcher.Plan, k *kernels.Program) {
	for k.Leaves > k.Start {
		s := &k.Step[k.Leaves-1]
		if s.Vertex == kernels.None || !isLeaf(p, int(s.Vertex)) {
			break
		}
		ok := true
		for i := k.Leaves; i < k.Steps; i++ {
			other := &k.Step[i]
			ok = ok && (p.MustDiffer[s.Vertex]>>other.Vertex&1 == 0 || alike(k, s, other))
		}
		if !ok {
			break
		}
		k.Leaves--
	}
next:
	for i := k.Leaves; i < k.Steps; i++ {
		s := &k.Step[i]
		s.Clash &= 1<<k.Step[k.Leaves].Place - 1
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

func hasLeaf(p *matcher.Plan) bool {
	for v := range p.Query.Vertices {
		if isLeaf(p, v) {
			return true
		}
	}
	return false
}

func alike(k *kernels.Program, s, t *kernels.Step) bool {
	a, b := k.Back[s.Back], k.Back[t.Back]
	single := a.Label != kernels.AnyLabel && a.Dir != kernels.Either // else what is taken is no single one
	return single && s.Word == t.Word && s.Mask == t.Mask && a.From == b.From && a.Label == b.Label && a.Dir == b.Dir &&
		a.Rule == b.Rule
}
