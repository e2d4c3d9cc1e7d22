package cpu

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/stream/tempfile"
)

var (
	hardCases = flag.Int("motifd.hard", 6, "patterns of each kind in each graph of BenchmarkHard")
	hardMost  = flag.Duration("motifd.hardmost", 5*time.Second, "limit of each search of BenchmarkHard")
	hardSeed  = flag.Uint64("motifd.hardseed", 1, "seed of BenchmarkHard")
	hardWant  = flag.String("motifd.hardwant", "", "part of count, exists or 1,000 rows: what BenchmarkHard asks for")
	hardOnly  = flag.String("motifd.hardonly", "", "part of the names of the patterns of BenchmarkHard")
)

// A search of BenchmarkHard is over when it has made more steps than hardFactor times its candidate space, its vertices
// and edges, plus hardFloor.
const hardFactor, hardFloor = 1000, 1000

// BenchmarkHard searches whole graphs for patterns that are hard: of 12 to 32 vertices, with few labels, some of them
// without a match. It counts, looks for a match and lists the first 1,000 rows. It names what takes over a thousand
// times as many steps as the candidate space and the result have elements. A count that ends over that, of a pattern
// with more matches than the space has elements, is told apart.
func BenchmarkHard(b *testing.B) {
	for _, labels := range []int{1, 2, 4, 8} {
		rng := rand.New(rand.NewPCG(*hardSeed, uint64(labels)))
		for _, g := range []struct {
			name  string
			graph []dyngraph.Update
		}{
			{"clustered", clustered(rng, 3000, 12000, labels)},
			{"power law", withEdgeLabel(newPowerLaw(rng.Uint64(), 3000, 12000, labels, 0).graph)},
			{"lattice", lattice(rng, 55, labels)},
		} {
			h := &hard{b: b, name: fmt.Sprintf("%s, %d labels", g.name, labels), graph: g.graph,
				book: newTextbook(g.graph), searched: map[string]int{}, over: map[string]int{}}
			h.run(rng)
			fmt.Printf("%s: searched %v, over %v; over, with more matches than the space: %d\n", h.name, h.searched,
				h.over, h.many)
		}
	}
}

// withEdgeLabel gives all edges the label of the textbook's walks.
func withEdgeLabel(us []dyngraph.Update) []dyngraph.Update {
	for i := range us {
		if us[i].Op == dyngraph.InsertEdge {
			us[i].Label = "e"
		}
		us[i].FromLabel, us[i].ToLabel = "", ""
	}
	return us
}

// lattice returns a square lattice with random labels. It has no cycle of odd length.
func lattice(rng *rand.Rand, side, labels int) (us []dyngraph.Update) {
	key := func(x, y int) string { return strconv.Itoa(x*side + y) }
	for i := range side * side {
		us = append(us, dyngraph.Update{Op: dyngraph.InsertVertex, Key: strconv.Itoa(i),
			Label: "v" + strconv.Itoa(rng.IntN(labels))})
	}
	edge := func(a, b string) {
		us = append(us, dyngraph.Update{Op: dyngraph.InsertEdge, From: a, To: b, Label: "e"})
	}
	for x := range side {
		for y := range side {
			if x+1 < side {
				edge(key(x, y), key(x+1, y))
			}
			if y+1 < side {
				edge(key(x, y), key(x, y+1))
			}
		}
	}
	return us
}

// hard searches one graph.
type hard struct {
	b     *testing.B
	name  string
	graph []dyngraph.Update
	book  *textbook
	x     *bench

	searched, over map[string]int // by what is asked for
	many           int            // counts that are over, of patterns with more matches than the space is large
}

// hardShapes are the kinds of patterns: their edges, for about n vertices.
var hardShapes = []struct {
	name  string
	edges func(rng *rand.Rand, n int) [][2]int
}{
	{"wheel", func(_ *rand.Rand, n int) (e [][2]int) {
		for i := 1; i < n; i++ {
			e = append(e, [2]int{0, i}, [2]int{i, i%(n-1) + 1})
		}
		return e
	}},
	{"grid", func(rng *rand.Rand, n int) (e [][2]int) {
		wide := 2 + rng.IntN(3)
		for i := range n - n%wide {
			if i%wide > 0 {
				e = append(e, [2]int{i - 1, i})
			}
			if i >= wide {
				e = append(e, [2]int{i - wide, i})
			}
		}
		return e
	}},
	{"cycle", func(_ *rand.Rand, n int) (e [][2]int) {
		for i := range n {
			e = append(e, [2]int{i, (i + 1) % n})
		}
		return e
	}},
	{"clique with tails", func(rng *rand.Rand, n int) (e [][2]int) {
		k := 3 + rng.IntN(3)
		for i := range k {
			for j := range i {
				e = append(e, [2]int{j, i})
			}
		}
		for i := k; i < n; i++ {
			to := i - k
			if rng.IntN(2) == 0 {
				to = rng.IntN(i)
			}
			e = append(e, [2]int{to, i})
		}
		return e
	}},
}

// run searches for patterns of each kind: of the shapes, with random labels; and near misses, which are patterns of the
// graph with an edge more.
func (h *hard) run(rng *rand.Rand) {
	for _, s := range hardShapes {
		for range *hardCases {
			n := 12 + rng.IntN(21)
			var labels []string
			for range n {
				labels = append(labels, h.book.labels[rng.IntN(len(h.book.labels))])
			}
			h.search(fmt.Sprintf("%s of %d", s.name, n), labels, s.edges(rng, n))
		}
	}
	for range 2 * *hardCases {
		n, dense := 12+rng.IntN(21), rng.IntN(2) == 0
		q := h.book.walk(rng, n, dense)
		if q == nil {
			continue
		}
		var labels []string
		var edges [][2]int
		for i := range q.Vertices {
			labels = append(labels, q.Vertices[i].Label)
		}
		for _, e := range q.Edges {
			edges = append(edges, [2]int{e.From, e.To})
		}
		h.search(fmt.Sprintf("walk of %d", n), labels, edges)
		for tries := 0; tries < 100; tries++ {
			a, b := rng.IntN(n), rng.IntN(n)
			if a, b = min(a, b), max(a, b); a != b && !slices.Contains(edges, [2]int{a, b}) {
				h.search(fmt.Sprintf("near miss of %d", n), labels, append(slices.Clone(edges), [2]int{a, b}))
				break
			}
		}
	}
}

// search counts, looks for one match, and lists the first ones.
func (h *hard) search(name string, labels []string, edges [][2]int) {
	if !strings.Contains(h.name+": "+name, *hardOnly) {
		return
	}
	used := 0
	for _, e := range edges {
		used = max(used, e[0]+1, e[1]+1)
	}
	q := &matcher.Query{Name: "hard", Version: 1, Emit: matcher.EmitCounts}
	for i, l := range labels[:used] {
		q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: "v" + strconv.Itoa(i), Label: l})
	}
	for i, e := range edges {
		q.Edges = append(q.Edges, matcher.QueryEdge{Name: "e" + strconv.Itoa(i), From: e[0], To: e[1], Label: "e",
			Either: true})
	}
	if h.x == nil {
		h.x = newBenchOf(h.b, dyngraph.NewGraph(dyngraph.Options{}), h.graph, q,
			Options{Threads: 1, TempFiles: tempfile.In(h.b.TempDir())})
	}
	pattern := textbookOf(q)
	of, is := h.book.candidates(pattern)
	space := 0
	for u := range of {
		space += len(of[u])
		for _, v := range of[u] {
			for _, w := range h.book.adj[v] {
				for _, x := range pattern.adj[u] {
					space += int(is[w] >> x & 1)
				}
			}
		}
	}
	for _, k := range []struct {
		name  string
		want  matcher.Want
		limit uint64
	}{{"count", matcher.WantCount, 0}, {"exists", matcher.WantAny, 0}, {"1,000 rows", matcher.WantRows, 1000}} {
		if !strings.Contains(k.name, *hardWant) {
			continue
		}
		most := hardFactor * uint64(space+hardFloor)
		verdict, _ := h.enumerate(q, k.want, k.limit, most)
		if h.searched[k.name]++; verdict == "" {
			continue
		}
		if enough := uint64(space + hardFloor); k.want == matcher.WantCount {
			if _, n := h.enumerate(q, matcher.WantRows, enough, most); n == enough {
				h.many++
				continue
			}
		}
		h.over[k.name]++
		fmt.Printf("  %s: %s, %d edges, %s: space %d: %s\n", h.name, name, len(edges), k.name, space, verdict)
	}
}

// enumerate searches, and returns why it has no result, if so, and how many rows it has found.
func (h *hard) enumerate(q *matcher.Query, want matcher.Want, limit, most uint64) (verdict string, rows uint64) {
	q.Emit = map[matcher.Want]matcher.Emit{matcher.WantCount: matcher.EmitCounts, matcher.WantAny: matcher.EmitExists,
		matcher.WantRows: matcher.EmitDeltas}[want]
	h.x.prepare(q)
	ctx, cancel := context.WithTimeout(h.b.Context(), *hardMost)
	defer cancel()
	budget := matcher.NewBudget(matcher.Limits{}, most, nil)
	res, err := h.x.b.Enumerate(ctx, dyngraph.New, h.x.plan, want, limit, budget, func(r matcher.Rows) error {
		rows += uint64(r.Len())
		return nil
	})
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("no result within %v", *hardMost), rows
	case err != nil:
		h.b.Fatal(err)
	case res.Over != matcher.NoCause:
		return fmt.Sprintf("more than %d steps", most), rows
	}
	return "", rows
}
