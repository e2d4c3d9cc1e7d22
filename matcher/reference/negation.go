package reference

import (
	"context"
	"fmt"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/condition"
)

// blockers are the rows of one negation in one view (DESIGN S25), by the images of the core vertices that it names.
type blockers struct {
	view  dyngraph.View
	q     *matcher.Query
	n     *matcher.Negation
	named []int
	rows  map[string][]row // own vertices, then own edges
	where *where
}

// newBlockers enumerates the pattern of a negation by itself: its named core vertices, then its own ones.
func newBlockers(ctx context.Context, view dyngraph.View, q *matcher.Query, n *matcher.Negation) (*blockers, error) {
	b := &blockers{view: view, q: q, n: n, named: q.Named(n), rows: make(map[string][]row)}
	whole := q.Subquery(n)
	alone := &matcher.Query{Name: q.Name}
	at := make(map[int]int)
	for i, v := range b.named {
		at[v] = i
		alone.Vertices = append(alone.Vertices, whole.Vertices[v])
	}
	for i, v := range n.Vertices {
		at[len(q.Vertices)+i] = len(b.named) + i
		alone.Vertices = append(alone.Vertices, v)
	}
	for _, e := range n.Edges {
		e.From, e.To = at[e.From], at[e.To]
		alone.Edges = append(alone.Edges, e)
	}
	s := newSearch(ctx, view, alone, nil)
	s.shared = len(b.named) // what a negation says of them is about its own vertices
	if err := s.vertex(0); err != nil {
		return nil, err
	}
	for _, r := range s.found {
		key := r[:len(b.named)].key()
		b.rows[key] = append(b.rows[key], r[len(b.named):])
	}
	var err error
	b.where, err = newWhere(view, whole)
	return b, err
}

// of returns the rows that block a row of the core: own vertices, then own edges.
func (b *blockers) of(r row) (all []row) {
	var names row
	for _, v := range b.named {
		names = append(names, r[v])
	}
	vertices, own := len(b.q.Vertices), len(b.n.Vertices)
	for _, x := range b.rows[names.key()] {
		if b.where.holds(slices.Concat(r[:vertices], x[:own], r[vertices:], x[own:])) {
			all = append(all, x)
		}
	}
	return all
}

// allBlockers returns those of all negations of a query in a view.
func allBlockers(ctx context.Context, view dyngraph.View, q *matcher.Query) (all []*blockers, err error) {
	for i := range q.Negations {
		b, err := newBlockers(ctx, view, q, &q.Negations[i])
		if err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

// unblocked keeps the rows that no negation of the query blocks in the view.
func unblocked(ctx context.Context, view dyngraph.View, q *matcher.Query, rows []row) ([]row, error) {
	all, err := allBlockers(ctx, view, q)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(rows, func(r row) bool {
		return slices.ContainsFunc(all, func(b *blockers) bool { return len(b.of(r)) > 0 })
	}), nil
}

// turns finds what turned a match that has no own changes: its blockers in the view where it is none.
type turns struct {
	all     []*blockers
	edges   map[uint32]uint32 // orders of the versions that the view shows
	revised []*revisions      // by negation
	last    bool              // the highest order counts, and not the lowest
}

// newTurns prepares for the matches of a sign. The versions that the other view shows have the other sign.
func newTurns(g *dyngraph.Graph, d *dyngraph.Delta, sign dyngraph.Sign, q *matcher.Query) (*turns, error) {
	t := &turns{edges: make(map[uint32]uint32), last: sign == dyngraph.Inserted}
	which := dyngraph.New
	if t.last {
		which = dyngraph.Old
	}
	for order, n := range d.Net {
		if n.Sign == -sign && !n.Vertex {
			t.edges[uint32(n.Edge)] = uint32(order)
		}
	}
	var err error
	if t.all, err = allBlockers(context.Background(), g.View(which), q); err != nil {
		return nil, err
	}
	for i := range q.Negations {
		r, err := newRevisions(g, d, -sign, q.Subquery(&q.Negations[i]))
		if err != nil {
			return nil, err
		}
		t.revised = append(t.revised, r)
	}
	return t, nil
}

// anchor returns the highest, or lowest, order of the changes in the rows that block a row.
func (t *turns) anchor(r row) (anchor uint32, ok bool) {
	note := func(order uint32, changed bool) {
		if changed && (!ok || t.last == (order > anchor)) {
			anchor, ok = order, true
		}
	}
	for i, b := range t.all {
		vertices, own := len(b.q.Vertices), len(b.n.Vertices)
		for _, x := range b.of(r) {
			for _, e := range x[own:] {
				order, changed := t.edges[e]
				note(order, changed)
			}
			whole := slices.Concat(r[:vertices], x[:own], r[vertices:], x[own:])
			for u := range own {
				note(t.revised[i].matters(vertices+u, whole))
			}
		}
	}
	return anchor, ok
}

// negatedRevisions are those of each negation of a query: a revised core vertex matters if it matters in one of them
// (DESIGN S16).
func negatedRevisions(g *dyngraph.Graph, d *dyngraph.Delta, sign dyngraph.Sign, q *matcher.Query) (all []*revisions,
	err error) {
	for i := range q.Negations {
		r, err := newRevisions(g, d, sign, q.Subquery(&q.Negations[i]))
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// sameNegations reports whether an automorphism of the core, which maps elements as image does, maps the negations
// onto themselves: each onto one that says the same with its own vertices and edges in some order.
func sameNegations(q *matcher.Query, image func(condition.Ref) condition.Ref) bool {
	for i := range q.Negations {
		if !slices.ContainsFunc(q.Negations, func(n matcher.Negation) bool {
			return isImage(q, &q.Negations[i], &n, image)
		}) {
			return false
		}
	}
	return true
}

// isImage reports whether b is the image of a, by trying all ways to map own vertices and edges.
func isImage(q *matcher.Query, a, b *matcher.Negation, image func(condition.Ref) condition.Ref) bool {
	if len(a.Vertices) != len(b.Vertices) || len(a.Edges) != len(b.Edges) ||
		len(a.Conditions) != len(b.Conditions) {
		return false
	}
	core, coreEdges := len(q.Vertices), len(q.Edges)
	vertices, edges := make([]int, len(a.Vertices)), make([]int, len(a.Edges))
	to := func(r condition.Ref) condition.Ref {
		switch {
		case !r.Edge && r.Index >= core:
			r.Index = core + vertices[r.Index-core]
		case r.Edge && r.Index >= coreEdges:
			r.Index = coreEdges + edges[r.Index-coreEdges]
		default:
			r = image(r)
		}
		return r
	}
	var mapEdge func(i int) bool
	mapEdge = func(i int) bool {
		if i == len(edges) {
			return slices.Equal(imageKeys(a.Conditions, to), imageKeys(b.Conditions, nil))
		}
		x := a.Edges[i]
		from, end := to(condition.Ref{Index: x.From}).Index, to(condition.Ref{Index: x.To}).Index
		for j, y := range b.Edges {
			ends := y.From == from && y.To == end || y.Either && y.From == end && y.To == from
			if !ends || slices.Contains(edges[:i], j) || x.Either != y.Either || x.Label != y.Label ||
				!slices.Equal(x.AnyOf, y.AnyOf) {
				continue
			}
			if edges[i] = j; mapEdge(i + 1) {
				return true
			}
		}
		return false
	}
	var mapVertex func(i int) bool
	mapVertex = func(i int) bool {
		if i == len(vertices) {
			return mapEdge(0)
		}
		for j, v := range b.Vertices {
			if slices.Contains(vertices[:i], j) || v.Label != a.Vertices[i].Label ||
				!slices.Equal(v.AnyOf, a.Vertices[i].AnyOf) {
				continue
			}
			if vertices[i] = j; mapVertex(i + 1) {
				return true
			}
		}
		return false
	}
	return mapVertex(0)
}

// imageKeys returns the keys of conditions with their elements mapped, sorted.
func imageKeys(all []*condition.Condition, image func(condition.Ref) condition.Ref) (keys []string) {
	for _, c := range all {
		keys = append(keys, c.Key(image))
	}
	slices.Sort(keys)
	return keys
}

// anyNet reports whether the batch has a change that can make or break a match of the sign.
func (b *Backend) anyNet(sign dyngraph.Sign, q *matcher.Query) bool {
	return slices.ContainsFunc(b.delta.Net, func(e dyngraph.NetEdge) bool {
		return e.Sign == sign || len(q.Negations) > 0 || q.Groups != nil
	})
}

// errUnchanged tells of a match in one graph only of which the batch changed nothing.
func errUnchanged(r row) error {
	return fmt.Errorf("the match %v is in one graph only, but the batch changed nothing of it", r)
}
