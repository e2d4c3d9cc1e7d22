package reference

import (
	"context"
	"fmt"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
)

// kind is the rows that have one pattern: the query's, or of a query with paths those of one variant.
type kind struct {
	of   *matcher.Query
	rows []row
	// asked is the query itself; first is where in a row the first edge of each of its edges is.
	asked *matcher.Query
	first []int
}

// plain is the kind of rows of a query without paths.
func plain(q *matcher.Query, rows []row) kind {
	k := kind{of: q, rows: rows, asked: q}
	for e := range q.Edges {
		k.first = append(k.first, len(q.Vertices)+e)
	}
	return k
}

// named returns what a row of the kind is without the inside of paths: the vertices that have a name and, of each path,
// the first edge.
func (k *kind) named(r row) row {
	short := slices.Clone(r[:len(k.asked.Vertices)])
	for _, at := range k.first {
		short = append(short, r[at])
	}
	return short
}

// kinds finds all matches of a query in a view, by pattern, in the order of DESIGN S7: of a query with paths by
// lengths.
func kinds(ctx context.Context, view dyngraph.View, q *matcher.Query, meter *matcher.Meter) ([]kind, uint64, error) {
	if !q.HasPaths() {
		rows, steps, err := matches(ctx, view, q, meter)
		return []kind{plain(q, rows)}, steps, err
	}
	w, err := newWalk(ctx, view, q, meter)
	if err != nil {
		return nil, 0, err
	}
	if err := w.vertex(0); err != nil {
		return nil, w.s.steps, err
	}
	all := make([]kind, 0, len(w.found))
	for _, v := range q.Variants() {
		rows := w.found[fmt.Sprint(v.Lengths())]
		if q.Unit == matcher.Subgraphs {
			rows = representatives(view, v, rows)
		}
		slices.SortFunc(rows, func(a, b row) int { return compareRows(view, len(v.Vertices), a, b) })
		k := kind{of: v, rows: rows, asked: q}
		at, lengths := len(v.Vertices), v.Lengths()
		for _, e := range q.Edges {
			k.first = append(k.first, at)
			if at++; e.Hops != nil {
				at += lengths[0] - 1
				lengths = lengths[1:]
			}
		}
		all = append(all, k)
	}
	return all, w.s.steps, nil
}

// walk finds the matches of a query with paths (DESIGN S26) as its text says: it maps the vertices and edges that have
// a name, and between the ends of a path it walks along all simple paths. What WHERE says of a path is tested on the
// path as a whole. It knows nothing of variants: the twin of matcher.Query.Variants.
type walk struct {
	s     *search
	q     *matcher.Query
	where *where
	deny  []*blockers
	found map[string][]row // by the lengths of the paths
	// edges and inner are the images of each pattern edge: its data edges, and the inner vertices of a path. usedVertex
	// and usedEdge have the vertices and edges that are mapped.
	edges, inner         [][]uint32
	usedVertex, usedEdge map[uint32]bool
}

func newWalk(ctx context.Context, view dyngraph.View, q *matcher.Query, meter *matcher.Meter) (*walk, error) {
	w := &walk{s: newSearch(ctx, view, q, meter), q: q, found: map[string][]row{},
		edges: make([][]uint32, len(q.Edges)), inner: make([][]uint32, len(q.Edges)),
		usedVertex: map[uint32]bool{}, usedEdge: map[uint32]bool{}}
	var err error
	if w.where, err = newWhere(view, q); err != nil {
		return nil, err
	}
	w.deny, err = allBlockers(ctx, view, q)
	return w, err
}

// vertex maps the named vertex of a step, and those of the steps behind it.
func (w *walk) vertex(step int) error {
	if step == len(w.s.order) {
		return w.edge(0)
	}
	u := w.s.order[step]
	candidates := w.s.all
	for _, back := range w.s.back[step] {
		if e := w.q.Edges[back]; e.Hops == nil {
			candidates = w.s.nbrs[dyngraph.VertexID(w.s.row[e.From+e.To-u])]
		}
	}
	for _, v := range candidates {
		if err := w.s.step(); err != nil {
			return err
		}
		qv := w.q.Vertices[u]
		if w.usedVertex[uint32(v)] || !admits(qv.Label, qv.AnyOf, w.s.view.LabelName(w.s.view.Label(v))) {
			continue
		}
		w.s.row[u], w.usedVertex[uint32(v)] = uint32(v), true
		if err := w.vertex(step + 1); err != nil {
			return err
		}
		delete(w.usedVertex, uint32(v))
	}
	return nil
}

// edge maps a pattern edge, and those behind it.
func (w *walk) edge(at int) error {
	if at == len(w.q.Edges) {
		return w.take()
	}
	w.edges[at], w.inner[at] = nil, nil
	return w.from(at, dyngraph.VertexID(w.s.row[w.q.Edges[at].From]))
}

// from walks on along a pattern edge, from the vertex that it has reached.
func (w *walk) from(at int, v dyngraph.VertexID) error {
	e := w.q.Edges[at]
	least, most := 1, 1
	if e.Hops != nil {
		least, most = e.Hops.Least, e.Hops.Most
	}
	end := dyngraph.VertexID(w.s.row[e.To])
	for _, next := range w.s.nbrs[v] {
		length := len(w.edges[at]) + 1
		ends := next == end && length >= least
		goes := !w.usedVertex[uint32(next)] && length < most
		if !ends && !goes {
			continue
		}
		data := slices.Clone(w.s.ends[[2]dyngraph.VertexID{v, next}])
		if e.Either || !w.s.view.Graph().Directed() {
			data = append(data, w.s.ends[[2]dyngraph.VertexID{next, v}]...)
		}
		for _, d := range data {
			if err := w.s.step(); err != nil {
				return err
			}
			_, _, l := w.s.view.Edge(d)
			if w.usedEdge[uint32(d)] || !admits(e.Label, e.AnyOf, w.s.view.LabelName(l)) {
				continue
			}
			w.edges[at], w.usedEdge[uint32(d)] = append(w.edges[at], uint32(d)), true
			here, inner := w.edges[at], w.inner[at]
			if ends {
				if err := w.edge(at + 1); err != nil {
					return err
				}
			}
			if goes {
				w.edges[at], w.inner[at] = here, append(inner, uint32(next))
				w.usedVertex[uint32(next)] = true
				if err := w.from(at, next); err != nil {
					return err
				}
				delete(w.usedVertex, uint32(next))
			}
			w.edges[at], w.inner[at] = here[:length-1], inner
			delete(w.usedEdge, uint32(d))
		}
	}
	return nil
}

// take keeps what is mapped if it meets the conditions, and no negation blocks it.
func (w *walk) take() error {
	named := w.named()
	if !(&along{w.where, w.edges}).holds(named) ||
		slices.ContainsFunc(w.deny, func(b *blockers) bool { return len(b.of(named)) > 0 }) {
		return nil
	}
	r := slices.Clone(w.s.row[:len(w.q.Vertices)])
	var lengths []int
	for at, e := range w.q.Edges {
		r = append(r, w.inner[at]...)
		if e.Hops != nil {
			lengths = append(lengths, len(w.edges[at]))
		}
	}
	for at := range w.q.Edges {
		r = append(r, w.edges[at]...)
	}
	w.found[fmt.Sprint(lengths)] = append(w.found[fmt.Sprint(lengths)], r)
	return nil
}

// named returns what is mapped without the inside of paths: as kind.named.
func (w *walk) named() row {
	r := slices.Clone(w.s.row[:len(w.q.Vertices)])
	for at := range w.q.Edges {
		r = append(r, w.edges[at][0])
	}
	return r
}
