//go:build cuda || emu

package cuda

import (
	"math/bits"
	"slices"

	"motifd/dyngraph"
	"motifd/kernels"
	"motifd/matcher"
	"motifd/matcher/internal/candidates"
	"motifd/matcher/internal/rowsort"
)

// compiled has the programs of one plan, as indexes into table.programs.
type compiled struct {
	layout *rowsort.Layout // of rows
	// By order of Plan.Anchored. kernels.None: the program of another order also finds the matches. Counts ignore
	// symmetry constraints, rows observe them.
	rows, count, any []uint32
	countAll, anyAll uint32   // of the static order
	rooted           uint32   // for the rows of a whole graph in order: see rooted
	spaced           uint32   // the same with candidates of a space: see spaced; rooted if there is none
	rootedAt         []uint32 // those rows from the images of a pattern vertex, in any order; None: not made yet
}

// of returns the programs for a kind of answer, by order of Plan.Anchored.
func (c *compiled) of(w matcher.Want) []uint32 {
	switch w {
	case matcher.WantCount:
		return c.count
	case matcher.WantAny:
		return c.any
	}
	return c.rows
}

// listKey identifies the neighbours that the step of a leaf counts at a vertex. Each key has a column in the memo of
// the device, with a count by vertex.
type listKey struct {
	class, dir, label, rule uint32
	test                    kernels.Slice
}

// table holds the programs of all prepared plans.
type table struct {
	programs []kernels.Program
	tests    []bool // by program: only the kernels that test conditions can search it
	absent   []bool // by program: it tests negations
	where    *where
	columns  map[listKey]uint32   // memo column
	pairs    map[[2]uint32]uint32 // by the columns of two leaves: number of the pair
	images   []uint32             // by image and column of a row: the column of the match's own row to copy
}

func newTable() *table {
	return &table{columns: map[listKey]uint32{}, pairs: map[[2]uint32]uint32{}, where: newWhere()}
}

// compile adds the programs of a plan to t.
func compile(p *matcher.Plan, view dyngraph.View, f *candidates.Filter, t *table, opt Options) *compiled {
	c := &compiled{layout: rowsort.NewLayout(view, p)}
	n := len(p.Anchored)
	// Images of a match have other negations to pass than the match.
	of := representatives(p, opt.Apart || len(p.Absent) > 0)
	c.rows = t.orders(p, of, f, kernels.ModeRows)
	c.any = t.orders(p, of, f, kernels.ModeAny)
	if len(of) < n && !hasLeaf(p) {
		c.count = t.orders(p, of, f, kernels.ModeCount)
	} else {
		for i := range p.Anchored {
			c.count = append(c.count, t.add(t.program(p, &p.Anchored[i], f, kernels.ModeCount, ranked)))
		}
	}
	c.countAll = t.add(t.program(p, p.Static(), f, kernels.ModeCount, inView))
	c.anyAll = t.add(t.program(p, p.Static(), f, kernels.ModeAny, inView))
	c.rooted = t.add(t.program(p, rooted(p, 0), f, kernels.ModeRows, inView))
	c.rootedAt = slices.Repeat([]uint32{kernels.None}, len(p.Query.Vertices))
	if c.spaced = c.rooted; !t.where.readsVertices(&t.programs[c.rooted]) {
		c.spaced = t.add(spaced(t.programs[c.rooted]))
	}
	return c
}

// add adds a program to the table and returns its index.
func (t *table) add(k kernels.Program) uint32 {
	t.programs, t.tests = append(t.programs, k), append(t.tests, tests(&k))
	t.absent = append(t.absent, t.where.denies(&k))
	return uint32(len(t.programs) - 1)
}

// needsTests reports whether only the kernels that test conditions can search a program. None needs none.
func (t *table) needsTests(program uint32) bool { return program != kernels.None && t.tests[program] }

// cause is the rule by which a match is found exactly once, although the batch may have changed several of its edges.
type cause int

const (
	// byOrder finds a match from the update that completes or breaks it. Rows name this update.
	byOrder cause = iota
	// ranked finds a match from the first pattern edge whose image the batch changed. The neighbours that a vertex has
	// for a leaf then do not depend on the update, so their number is kept in the memo.
	ranked
	inView // the search has no anchor
)

// program compiles a matching order.
func (t *table) program(p *matcher.Plan, o *matcher.Order, f *candidates.Filter, mode uint32,
	by cause) kernels.Program {
	counts := mode == kernels.ModeCount && by != byOrder
	if counts && !checksElements(p) {
		o = leavesLast(p, o)
	}
	c := compiler{t: t, f: f, p: p, o: o, by: by, at: make([]int, len(p.Query.Vertices)),
		vertexStep: make([]int, len(p.Query.Vertices)),
		slot:       make([]uint32, len(p.Query.Edges)), edgeStep: make([]int, len(p.Query.Edges)),
		k: kernels.Program{Mode: mode,
			Start: 1, Anchor: kernels.None, Vertices: uint32(len(p.Query.Vertices)), Edges: uint32(len(p.Query.Edges))}}
	c.symmetric = mode != kernels.ModeCount && p.Query.Unit == matcher.Subgraphs
	if o.Edge >= 0 {
		c.k.Start, c.k.Anchor, c.mapped, c.slot[o.Edge] = 2, uint32(o.Edge), 1<<o.Edge, kernels.AnchorAt
		c.edgeStep[o.Edge] = 1
		anchor := &c.k.Back[kernels.AnchorAt]
		anchor.Test, anchor.Tests = c.asks(o.Edge)
	}
	for i, s := range o.Steps {
		c.at[s.Vertex] = i
	}
	for i, s := range o.Steps {
		class := f.Class(p, s.Vertex)
		c.vertex(i, uint32(class>>6), 1<<(class&63))
	}
	c.checks(t.where)
	k := &c.k
	k.Leaves = k.Steps
	if counts {
		t.leaves(p, k)
	}
	if mode != kernels.ModeCount || c.apart || slices.ContainsFunc(k.Check[:], isChecked) {
		k.Keep = 1
	}
	if mode == kernels.ModeRows && k.Steps >= k.Start+2 && single(k, k.Steps-2) && single(k, k.Steps-1) {
		k.Flat = 1
	}
	if mode == kernels.ModeCount {
		k.Flat = flat(k)
	}
	return *k
}

// flat returns the number of levels that a program needs to count in blocks of matches: one for the tasks, one for each
// step before the leaves. It is 0 where it cannot, because one of these steps is not plain.
func flat(k *kernels.Program) uint32 {
	if k.Keep != 0 {
		return 0
	}
	for i := k.Start; i < k.Leaves; i++ {
		if !plain(k, i) {
			return 0
		}
	}
	levels := 1 + k.Leaves - k.Start
	if k.Groups == 0 && levels > 1 {
		levels-- // the last step counts its candidates and keeps none
	}
	return levels
}

// single reports whether a step is plain and has at most kernels.FlatBacks back edges.
func single(k *kernels.Program, step uint32) bool {
	return k.Step[step].Backs <= kernels.FlatBacks && plain(k, step)
}

// plain reports whether a step maps a vertex together with all of its back edges, each of which has at most one image
// between two given vertices.
func plain(k *kernels.Program, step uint32) bool {
	s := &k.Step[step]
	if s.Vertex == kernels.None || s.Own != s.Backs {
		return false
	}
	return !slices.ContainsFunc(k.Back[s.Back:s.Back+s.Backs], isLoose)
}

// compiler compiles one program.
type compiler struct {
	t    *table
	f    *candidates.Filter
	p    *matcher.Plan
	o    *matcher.Order
	k    kernels.Program
	by   cause
	at   []int    // by pattern vertex: its position in the order
	slot []uint32 // by mapped pattern edge: index of its image in State.edge
	// By pattern vertex, and by pattern edge: the program's step that maps it.
	vertexStep, edgeStep []int
	mapped               uint64 // set of pattern edges
	backs                uint32 // number of back edges in k
	symmetric            bool   // symmetry constraints apply
	apart                bool   // some edge step reads the images of other edges
}

// step appends an empty step.
func (c *compiler) step(position int) *kernels.Step {
	s := &c.k.Step[c.k.Steps]
	*s = kernels.Step{Vertex: kernels.None, Position: uint32(position), Back: c.backs, After: kernels.None,
		Before: kernels.None}
	c.k.Steps++
	return s
}

// vertex appends the step that maps the vertex of step i of the order, and the edge steps of its back edges. word and
// mask select the candidate bit of the vertex.
func (c *compiler) vertex(i int, word uint32, mask uint64) {
	from := &c.o.Steps[i]
	s := c.step(i)
	s.Vertex, s.Word, s.Mask = uint32(from.Vertex), word, mask
	c.vertexStep[from.Vertex] = int(c.k.Steps) - 1
	for j := range i {
		if c.p.MustDiffer[from.Vertex]>>c.o.Steps[j].Vertex&1 != 0 {
			s.Conflicts |= 1 << j
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
		if given || c.loose(b) && len(from.Back) > 1 || c.rivals(b.Edge) != 0 {
			others = append(others, b)
			continue
		}
		own = append(own, b)
		c.mapped |= 1 << b.Edge
		c.edgeStep[b.Edge] = int(c.k.Steps) - 1
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

// back appends a back edge of the vertex at position to.
func (c *compiler) back(b matcher.BackEdge, to int) {
	dir := uint32(b.Dir)
	if b.Either {
		dir = kernels.Either
	}
	nbr := c.p.VertexLabels[c.o.Steps[to].Vertex]
	if matcher.SeveralLabels(nbr) {
		nbr = matcher.AnyLabel // the candidate bit knows alternatives
	}
	test, tests := c.asks(b.Edge)
	c.k.Back[c.backs] = kernels.Back{From: uint32(b.Step), To: uint32(to), Label: c.label(b), Dir: dir,
		Edge: uint32(b.Edge), Rule: c.rule(b.Edge), NbrLabel: uint32(nbr), Test: test, Tests: tests}
	c.slot[b.Edge] = c.backs
	c.backs++
}

// edge appends an edge step, which maps one pattern edge alone.
func (c *compiler) edge(position int, back uint32, edge int) {
	s := c.step(position)
	s.Back, s.Backs, s.Own = back, 1, 1
	c.edgeStep[edge] = int(c.k.Steps) - 1
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

// rivals returns the mapped pattern edges that are parallel to an edge: one data edge could be the image of both.
func (c *compiler) rivals(edge int) (set uint64) {
	p := c.p
	e, l := p.Query.Edges[edge], p.EdgeLabels[edge]
	for i, x := range p.Query.Edges {
		if c.mapped>>i&1 == 0 || !matcher.LabelsMeet(l, p.EdgeLabels[i]) {
			continue
		}
		along, against := e.From == x.From && e.To == x.To, e.From == x.To && e.To == x.From
		if along || against && (!p.Directed || e.Either || x.Either) {
			set |= 1 << i
		}
	}
	return set
}

// loose reports whether a back edge may have several images between two vertices.
func (c *compiler) loose(b matcher.BackEdge) bool {
	return b.Either || matcher.SeveralLabels(b.Label) || c.p.Several[b.Edge]
}

// isLoose is loose, of a compiled back edge.
func isLoose(b kernels.Back) bool { return b.Label >= kernels.Among || b.Dir == kernels.Either }

// label returns the label of a back edge as the kernels have it: a label, a set of labels, or AnyLabel. A label with
// parallel edges is a set, too, since each of these has another label on the device.
func (c *compiler) label(b matcher.BackEdge) uint32 {
	switch {
	case b.Label == matcher.AnyLabel:
		return kernels.AnyLabel
	case b.Label == matcher.UnknownLabel:
		return kernels.NoLabel
	case c.p.Several[b.Edge] || matcher.SeveralLabels(b.Label):
		return c.t.where.among(matcher.EachLabel(b.Label))
	}
	return uint32(b.Label)
}

// rule returns which staged edges may be the image of a pattern edge.
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
