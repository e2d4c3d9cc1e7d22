package cpu

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"motifd/dyngraph"
	"motifd/matcher"
)

// textbook is the simple twin of a whole-graph search: what a textbook on subgraph matching has (GraphQL's filter and
// order, in the words of the study by Sun and Luo). Candidates by label, degree and labels of the neighbours, then
// semi-joins over the pattern's edges to a fixed point; an order by numbers of candidates; backtracking with
// intersections of sorted lists. The graph is undirected and simple, and its edges have one label.
type textbook struct {
	labels []string
	adj    [][]int32 // ascending
}

// newTextbook reads updates whose keys are vertices, in the order in which they are declared.
func newTextbook(us []dyngraph.Update) *textbook {
	t, at := &textbook{}, map[string]int32{}
	for i := range us {
		switch u := &us[i]; u.Op {
		case dyngraph.InsertVertex:
			at[u.Key] = int32(len(t.labels))
			t.labels, t.adj = append(t.labels, u.Label), append(t.adj, nil)
		case dyngraph.InsertEdge:
			a, b := at[u.From], at[u.To]
			t.adj[a], t.adj[b] = append(t.adj[a], b), append(t.adj[b], a)
		}
	}
	for v := range t.adj {
		slices.Sort(t.adj[v])
		t.adj[v] = slices.Compact(t.adj[v])
	}
	return t
}

// neighbourLabels counts the labels of the neighbours of a vertex.
func neighbourLabels(labels []string, adj []int32) map[string]int {
	n := map[string]int{}
	for _, w := range adj {
		n[labels[w]]++
	}
	return n
}

// textbookOf returns a pattern as a graph.
func textbookOf(q *matcher.Query) *textbook {
	t := &textbook{adj: make([][]int32, len(q.Vertices))}
	for i := range q.Vertices {
		t.labels = append(t.labels, q.Vertices[i].Label)
	}
	for _, e := range q.Edges {
		t.adj[e.From], t.adj[e.To] = append(t.adj[e.From], int32(e.To)), append(t.adj[e.To], int32(e.From))
	}
	for v := range t.adj {
		slices.Sort(t.adj[v])
	}
	return t
}

// candidates returns the candidates of each pattern vertex, ascending, and a bit of each data vertex for each pattern
// vertex.
func (t *textbook) candidates(p *textbook) ([][]int32, []uint32) {
	of, is := make([][]int32, len(p.labels)), make([]uint32, len(t.labels))
	known := make([]map[string]int, len(t.labels))
	for u := range p.labels {
		need := neighbourLabels(p.labels, p.adj[u])
	next:
		for v := range t.labels {
			if t.labels[v] != p.labels[u] || len(t.adj[v]) < len(p.adj[u]) {
				continue
			}
			if known[v] == nil {
				known[v] = neighbourLabels(t.labels, t.adj[v])
			}
			for l, n := range need {
				if known[v][l] < n {
					continue next
				}
			}
			of[u], is[v] = append(of[u], int32(v)), is[v]|1<<u
		}
	}
	for changed := true; changed; {
		changed = false
		for u := range of {
			kept := of[u][:0]
			for _, v := range of[u] {
				seen := uint32(0)
				for _, w := range t.adj[v] {
					seen |= is[w]
				}
				if slices.ContainsFunc(p.adj[u], func(x int32) bool { return seen>>x&1 == 0 }) {
					is[v] &^= 1 << u
					changed = true
					continue
				}
				kept = append(kept, v)
			}
			of[u] = kept
		}
	}
	return of, is
}

// count counts the matches of a pattern; false when that takes longer than most.
func (t *textbook) count(p *textbook, most time.Duration) (n uint64, ok bool) {
	of, is := t.candidates(p)
	order := []int{0}
	for u := range of {
		if len(of[u]) < len(of[order[0]]) {
			order[0] = u
		}
	}
	for placed := uint32(1) << order[0]; len(order) < len(of); placed |= 1 << order[len(order)-1] {
		best := -1
		for u := range of {
			joined := slices.ContainsFunc(p.adj[u], func(x int32) bool { return placed>>x&1 != 0 })
			if placed>>u&1 == 0 && joined && (best < 0 || len(of[u]) < len(of[best])) {
				best = u
			}
		}
		order = append(order, best)
	}
	type step struct {
		u     int
		back  []int       // pattern vertices
		lists [][][]int32 // by back vertex, by data vertex: its neighbours that are candidates
		room  []int32
	}
	steps := make([]step, len(order))
	for i, u := range order {
		steps[i] = step{u: u}
		for _, x := range order[:i] {
			if slices.Contains(p.adj[u], int32(x)) {
				steps[i].back = append(steps[i].back, x)
				list := make([][]int32, len(t.labels))
				for _, v := range of[x] {
					for _, w := range t.adj[v] {
						if is[w]>>u&1 != 0 {
							list[v] = append(list[v], w)
						}
					}
				}
				steps[i].lists = append(steps[i].lists, list)
			}
		}
	}
	image, used := make([]int32, len(of)), make([]bool, len(t.labels))
	end, tries := time.Now().Add(most), 0
	ok = true
	var extend func(i int)
	extend = func(i int) {
		if i == len(steps) {
			n++
			return
		}
		s := &steps[i]
		found := of[s.u]
		for k, x := range s.back {
			l := s.lists[k][image[x]]
			if k == 0 {
				found = l
				continue
			}
			room := s.room[:0]
			for a, b := 0, 0; a < len(found) && b < len(l); {
				switch cmp.Compare(found[a], l[b]) {
				case 0:
					room = append(room, found[a])
					a, b = a+1, b+1
				case -1:
					a++
				default:
					b++
				}
			}
			found, s.room = room, room
		}
		for _, v := range found {
			if tries++; tries&1023 == 0 && time.Now().After(end) {
				ok = false
			}
			if !ok {
				return
			}
			if !used[v] {
				used[v], image[s.u] = true, v
				extend(i + 1)
				used[v] = false
			}
		}
	}
	extend(0)
	return n, ok
}

// walk returns a query of n vertices that a random walk has visited: with all edges between them and a mean degree of 3
// at least, or with some of them and a lower one. nil if a walk found none.
func (t *textbook) walk(rng *rand.Rand, n int, dense bool) *matcher.Query {
	at := int32(rng.IntN(len(t.labels)))
	seen, walked := []int32{at}, map[[2]int]bool{}
	for turns := 0; len(seen) < n; turns++ {
		if turns > 50*n || len(t.adj[at]) == 0 {
			return nil
		}
		from := slices.Index(seen, at)
		at = t.adj[at][rng.IntN(len(t.adj[at]))]
		to := slices.Index(seen, at)
		if to < 0 {
			to, seen = len(seen), append(seen, at)
			walked[[2]int{min(from, to), max(from, to)}] = true
		}
	}
	var rest [][2]int
	for i, v := range seen {
		for k, w := range seen[:i] {
			if slices.Contains(t.adj[v], w) && !walked[[2]int{k, i}] {
				rest = append(rest, [2]int{k, i})
			}
		}
	}
	if dense != (2*(len(walked)+len(rest)) >= 3*n) {
		if dense {
			return nil
		}
		rng.Shuffle(len(rest), func(i, k int) { rest[i], rest[k] = rest[k], rest[i] })
		rest = rest[:max(0, (3*n-1)/2-len(walked))]
	}
	q := &matcher.Query{Name: "walk", Version: 1, Emit: matcher.EmitDeltas}
	for i, v := range seen {
		q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: strconv.Itoa(i), Label: t.labels[v]})
	}
	for e := range walked {
		rest = append(rest, e)
	}
	slices.SortFunc(rest, func(a, b [2]int) int { return cmp.Or(a[0]-b[0], a[1]-b[1]) })
	for _, e := range rest {
		name := "e" + strconv.Itoa(len(q.Edges))
		q.Edges = append(q.Edges, matcher.QueryEdge{Name: name, From: e[0], To: e[1], Label: "e", Either: true})
	}
	return q
}

// textbookMost is how long the textbook may take in a test.
const textbookMost = 2 * time.Second

// clustered draws an undirected graph in which neighbours have common neighbours, unlike in one of random edges.
func clustered(rng *rand.Rand, vertices, edges, labels int) (us []dyngraph.Update) {
	key := strconv.Itoa
	for v := range vertices {
		us = append(us, dyngraph.Update{Op: dyngraph.InsertVertex, Key: key(v), Label: "v" + key(rng.IntN(labels))})
	}
	for range edges {
		at := rng.IntN(vertices)
		to := at + 1 + rng.IntN(12)
		if rng.IntN(8) == 0 {
			to = rng.IntN(vertices)
		}
		if to %= vertices; to != at {
			us = append(us, dyngraph.Update{Op: dyngraph.InsertEdge, From: key(at), To: key(to), Label: "e"})
		}
	}
	return us
}
