package matchertest

import (
	"motifd/dyngraph"
	"motifd/matcher"
)

// MaxWalks bounds the Walks of random patterns: enumerating a pattern and its quotients takes about as many steps, and
// a few cases among thousands would take a million times as many as the others.
const MaxWalks = 1e6

// Walks counts the ways to map some of a pattern's vertices, from the first one along the edges of a spanning tree, in
// a graph with all edges that the messages insert. Vertices may coincide, and the other edges are ignored.
func Walks(q *matcher.Query, directed bool, msgs []dyngraph.Message) (n float64) {
	w := walker{q: q, directed: directed, known: map[walkAt]float64{}, out: map[string]map[arc]bool{},
		in:     map[string]map[arc]bool{},
		labels: map[string]map[string]bool{}}
	for _, m := range msgs {
		for _, u := range m.Updates {
			w.note(&u)
		}
	}
	w.span()
	for v := range w.labels {
		if w.fits(0, v) {
			n += w.from(0, v)
		}
	}
	return n
}

type walker struct {
	q        *matcher.Query
	directed bool
	out, in  map[string]map[arc]bool
	labels   map[string]map[string]bool // of a vertex, at any time
	branches [][]int                    // by pattern vertex: the edges of a spanning tree that lead on from it
	known    map[walkAt]float64
}

type arc struct{ to, label string }

type walkAt struct {
	u int
	v string
}

func (w *walker) note(u *dyngraph.Update) {
	switch u.Op {
	case dyngraph.InsertVertex:
		add(w.labels, u.Key, u.Label)
	case dyngraph.InsertEdge:
		add(w.labels, u.From, u.FromLabel)
		add(w.labels, u.To, u.ToLabel)
		add(w.out, u.From, arc{u.To, u.Label})
		add(w.in, u.To, arc{u.From, u.Label})
	}
}

func add[T comparable](to map[string]map[T]bool, v string, x T) {
	if to[v] == nil {
		to[v] = map[T]bool{}
	}
	to[v][x] = true
}

func (w *walker) span() {
	w.branches = make([][]int, len(w.q.Vertices))
	seen, next := 1, []int{0}
	for len(next) > 0 {
		u := next[0]
		next = next[1:]
		for i, e := range w.q.Edges {
			if other := e.From + e.To - u; (e.From == u || e.To == u) && seen>>other&1 == 0 {
				seen |= 1 << other
				w.branches[u] = append(w.branches[u], i)
				next = append(next, other)
			}
		}
	}
}

func (w *walker) fits(u int, v string) bool {
	label := w.q.Vertices[u].Label
	return label == "" || w.labels[v][label]
}

// from counts the walks that begin with u at v.
func (w *walker) from(u int, v string) float64 {
	at := walkAt{u, v}
	if n, ok := w.known[at]; ok {
		return n
	}
	total := 1.0
	for _, i := range w.branches[u] {
		e := &w.q.Edges[i]
		other, n := e.From+e.To-u, 1.0 // 1: the walk ends here
		along := func(arcs map[arc]bool) {
			for a := range arcs {
				if (e.Label == "" || e.Label == a.label) && w.fits(other, a.to) {
					n += w.from(other, a.to)
				}
			}
		}
		if !w.directed || e.Either || e.From == u {
			along(w.out[v])
		}
		if !w.directed || e.Either || e.To == u {
			along(w.in[v])
		}
		total *= n
	}
	w.known[at] = total
	return total
}
