package reference

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
)

// row is a match: vertex ids in pattern order, then edge indexes in pattern order.
type row []uint32

// Matches returns all matches of the query in the view (DESIGN S4), one per orbit when the query's unit is Subgraphs,
// in the order (vertex ids, edge identities) of DESIGN S7. Each row holds the vertex ids, then the edge indexes, in
// pattern order; those of a query with paths are by lengths, in the order of its variants.
func Matches(view dyngraph.View, q *matcher.Query) (all [][]uint32) {
	found, _, err := kinds(context.Background(), view, q, nil)
	if err != nil {
		panic("reference: " + err.Error()) // cannot be: the context has no end and the steps no bound
	}
	for _, k := range found {
		for _, r := range k.rows {
			all = append(all, r)
		}
	}
	return all
}

// errBudget tells that the search took more steps than it was allowed.
var errBudget = errors.New("reference: work budget exceeded")

// matches is Matches with an end: ctx's, or the meter's unless that is nil.
func matches(ctx context.Context, view dyngraph.View, q *matcher.Query, meter *matcher.Meter) ([]row, uint64, error) {
	s := newSearch(ctx, view, q, meter)
	if err := s.vertex(0); err != nil {
		return nil, s.steps, err
	}
	rows, err := only(view, q, s.found)
	if err != nil {
		return nil, s.steps, err
	}
	if rows, err = unblocked(ctx, view, q, rows); err != nil {
		return nil, s.steps, err
	}
	if q.Unit == matcher.Subgraphs {
		rows = representatives(view, q, rows)
	}
	slices.SortFunc(rows, func(a, b row) int { return compareRows(view, len(q.Vertices), a, b) })
	return rows, s.steps, nil
}

// search maps pattern vertices one by one, and with each the pattern edges to those mapped before.
type search struct {
	ctx    context.Context
	view   dyngraph.View
	q      *matcher.Query
	all    []dyngraph.VertexID
	ends   map[[2]dyngraph.VertexID][]dyngraph.EdgeIndex // edges by source and target
	nbrs   map[dyngraph.VertexID][]dyngraph.VertexID     // the other ends of a vertex's edges, each once
	order  []int                                         // pattern vertices
	back   [][]int                                       // pattern edges to vertices mapped earlier, by step
	row    row
	mapped []bool // pattern vertices
	shared int    // how many of the first pattern vertices may have one image among themselves
	found  []row
	steps  uint64
	meter  *matcher.Meter
}

func newSearch(ctx context.Context, view dyngraph.View, q *matcher.Query, meter *matcher.Meter) *search {
	s := &search{
		ctx: ctx, view: view, q: q, meter: meter,
		ends:   make(map[[2]dyngraph.VertexID][]dyngraph.EdgeIndex),
		nbrs:   make(map[dyngraph.VertexID][]dyngraph.VertexID),
		row:    make(row, len(q.Vertices)+len(q.Edges)),
		mapped: make([]bool, len(q.Vertices)),
	}
	for v := range view.VerticesSeq() {
		s.all = append(s.all, v)
	}
	for e := range view.EdgesSeq() {
		from, to, _ := view.Edge(e)
		s.ends[[2]dyngraph.VertexID{from, to}] = append(s.ends[[2]dyngraph.VertexID{from, to}], e)
		s.nbrs[from] = append(s.nbrs[from], to)
		s.nbrs[to] = append(s.nbrs[to], from)
	}
	for v, nbrs := range s.nbrs {
		slices.Sort(nbrs)
		s.nbrs[v] = slices.Compact(nbrs)
	}
	s.order, s.back = connectedOrder(q)
	return s
}

// connectedOrder takes pattern vertices in pattern order, but each only when an earlier one is joined to it.
func connectedOrder(q *matcher.Query) (order []int, back [][]int) {
	taken := make([]bool, len(q.Vertices))
	for len(order) < len(q.Vertices) {
		next := slices.Index(taken, false)
		for v := range q.Vertices {
			if !taken[v] && len(edgesTo(q, v, taken)) > 0 {
				next = v
				break
			}
		}
		order, back = append(order, next), append(back, edgesTo(q, next, taken))
		taken[next] = true
	}
	return order, back
}

// edgesTo returns the pattern edges between v and the vertices taken.
func edgesTo(q *matcher.Query, v int, taken []bool) (edges []int) {
	for i, e := range q.Edges {
		if e.From == v && taken[e.To] || e.To == v && taken[e.From] {
			edges = append(edges, i)
		}
	}
	return edges
}

func (s *search) step() error {
	if s.steps++; s.meter != nil && !s.meter.Spend(1, 0, 0) {
		return errBudget
	}
	if s.steps%4096 == 0 {
		return s.ctx.Err()
	}
	return nil
}

// vertex maps the pattern vertex of the given step to every data vertex that it can be mapped to.
func (s *search) vertex(step int) error {
	if step == len(s.order) {
		s.found = append(s.found, slices.Clone(s.row))
		return nil
	}
	u := s.order[step]
	candidates := s.all
	if len(s.back[step]) > 0 {
		e := s.q.Edges[s.back[step][0]]
		candidates = s.nbrs[dyngraph.VertexID(s.row[e.From+e.To-u])]
	}
	for _, v := range candidates {
		if err := s.step(); err != nil {
			return err
		}
		if s.isMapped(u, v) ||
			!admits(s.q.Vertices[u].Label, s.q.Vertices[u].AnyOf, s.view.LabelName(s.view.Label(v))) {
			continue
		}
		s.row[u], s.mapped[u] = uint32(v), true
		err := s.edges(step, 0)
		s.mapped[u] = false
		if err != nil {
			return err
		}
	}
	return nil
}

// isMapped tells whether a vertex is the image of another pattern vertex than u, which may not share it.
func (s *search) isMapped(u int, v dyngraph.VertexID) bool {
	if s.q.MatchMode != matcher.Isomorphism {
		return false
	}
	for w, mapped := range s.mapped {
		if mapped && s.row[w] == uint32(v) && max(u, w) >= s.shared {
			return true
		}
	}
	return false
}

// edges maps the i-th and later back edges of the step, then the next vertex.
func (s *search) edges(step, i int) error {
	if i == len(s.back[step]) {
		return s.vertex(step + 1)
	}
	at := s.back[step][i]
	e := s.q.Edges[at]
	from, to := dyngraph.VertexID(s.row[e.From]), dyngraph.VertexID(s.row[e.To])
	if err := s.edge(step, i, at, from, to); err != nil {
		return err
	}
	if e.Either || !s.view.Graph().Directed() {
		return s.edge(step, i, at, to, from)
	}
	return nil
}

// edge maps the pattern edge to every data edge between two vertices that is not taken and has the right label.
func (s *search) edge(step, i, at int, from, to dyngraph.VertexID) error {
	for _, d := range s.ends[[2]dyngraph.VertexID{from, to}] {
		if err := s.step(); err != nil {
			return err
		}
		_, _, l := s.view.Edge(d)
		if !admits(s.q.Edges[at].Label, s.q.Edges[at].AnyOf, s.view.LabelName(l)) || s.isTaken(step, i, d) {
			continue
		}
		s.row[len(s.q.Vertices)+at] = uint32(d)
		if err := s.edges(step, i+1); err != nil {
			return err
		}
	}
	return nil
}

// admits tells whether a data label is the one that the pattern wants, or one of the alternatives, or anything will do.
func admits(label string, anyOf []string, have string) bool {
	if anyOf != nil {
		return slices.Contains(anyOf, have)
	}
	return label == "" || label == have
}

// isTaken tells whether one of the back edges of this step before the i-th, or of an earlier step, is mapped to the
// data edge, and must not share it. Those of earlier steps can be where vertices share images.
func (s *search) isTaken(step, i int, d dyngraph.EdgeIndex) bool {
	if s.q.MatchMode == matcher.Homomorphism {
		return false
	}
	for at := range step + 1 {
		back := s.back[at]
		if at == step {
			back = back[:i]
		}
		for _, e := range back {
			if s.row[len(s.q.Vertices)+e] == uint32(d) {
				return true
			}
		}
	}
	return false
}

// compareRows orders rows by vertex ids, then by edge identities, both in pattern order.
func compareRows(view dyngraph.View, vertices int, a, b row) int {
	if c := slices.Compare(a[:vertices], b[:vertices]); c != 0 {
		return c
	}
	for i := vertices; i < len(a); i++ {
		if c := compareEdges(view, dyngraph.EdgeIndex(a[i]), dyngraph.EdgeIndex(b[i])); c != 0 {
			return c
		}
	}
	return 0
}

// compareEdges orders edges by identity: (from, to, label), then the ids that users gave, if they identify edges.
func compareEdges(view dyngraph.View, a, b dyngraph.EdgeIndex) int {
	af, at, al := view.Edge(a)
	bf, bt, bl := view.Edge(b)
	ids := 0
	if view.Graph().Options().EdgeIDs {
		ids = cmp.Compare(view.Attr(a).ID, view.Attr(b).ID)
	}
	return cmp.Or(cmp.Compare(af, bf), cmp.Compare(at, bt), cmp.Compare(al, bl), ids)
}
