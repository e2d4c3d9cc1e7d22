//go:build cuda || emu

package cuda_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"motifd/matcher"
	"motifd/matcher/cuda"
	"motifd/matcher/cuda/cudatest"
	"motifd/matcher/plan"
)

var (
	ablateQueries = flag.Int("motifd.ablate", 10, "queries in each class of BenchmarkAblation")
	ablateLevels  = flag.String("motifd.levels", "plain,block,blocks,whole,flat,parts", "levels of BenchmarkAblation")
	ablateOnly    = flag.String("motifd.only", "", "the query of BenchmarkAblation, by name; all when empty")
	ablateWant    = flag.String("motifd.want", "counts,rows", "what BenchmarkAblation asks for")
	ablatePasses  = flag.Int("motifd.repeat", 3,
		"times that BenchmarkAblation searches every query, by turns; medians count")
)

// levels are the mechanisms of GAMMA section VI-D, one on top of the other: the search without any, stealing in the
// block, between blocks, and coalesced search for edges alike in the whole pattern; then counts in blocks of matches,
// or, in place of these, coalesced search also for edges alike in parts of the pattern.
var levels = []struct {
	name string
	opt  cuda.Options
}{
	{"plain", cuda.Options{NoFlat: true, NoMail: true, NoSteal: true, Apart: true}},
	{"block", cuda.Options{NoFlat: true, NoMail: true, Apart: true}},
	{"blocks", cuda.Options{NoFlat: true, Apart: true}},
	{"whole", cuda.Options{NoFlat: true}},
	{"flat", cuda.Options{}},
}

// alikeShapes are patterns with edges alike in the whole pattern or in parts of it, as fraud rings and the like have.
var alikeShapes = []struct {
	name  string
	edges [][2]int
}{
	{"ring4", [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 0}}},
	{"ring5", [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}}},
	{"clique4", [][2]int{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}},
	{"house", [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 4}, {1, 4}}},
	{"ring5-chord", [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}, {0, 2}}},
	{"clique4-tail", [][2]int{{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}, {3, 4}}},
	{"ring4-triangle", [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {3, 4}, {4, 5}, {5, 3}}},
}

// ablationQueries are the ordinary queries of every class, those shapes with one label, and with another one at the
// last vertex.
func ablationQueries(w *world) (groups []string, queries map[string][]*matcher.Query) {
	queries = map[string][]*matcher.Query{}
	for _, c := range classes {
		groups = append(groups, c)
		queries[c] = w.queries[c]
	}
	for _, g := range []string{"alike", "alike-but-one"} {
		groups = append(groups, g)
		for _, shape := range alikeShapes {
			q := &matcher.Query{Name: g + "-" + shape.name, Version: 1}
			for i, e := range shape.edges {
				for len(q.Vertices) <= max(e[0], e[1]) {
					q.Vertices = append(q.Vertices,
						matcher.QueryVertex{Name: fmt.Sprint("u", len(q.Vertices)), Label: "L0"})
				}
				q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", i), From: e[0], To: e[1],
					Either: true})
			}
			if g != "alike" {
				q.Vertices[len(q.Vertices)-1].Label = "L1"
			}
			queries[g] = append(queries[g], q)
		}
	}
	return groups, queries
}

// BenchmarkAblation inserts a tenth of a generated graph in one batch, and prints how long counts and rows of groups
// of queries take at every level, summed over the queries, and how much faster that is than without any mechanism. All
// levels must agree. Run it with -test.benchtime 1x.
func BenchmarkAblation(b *testing.B) {
	w := generate(b, *benchVertices, *benchDegree, *benchLabels, *ablateQueries, 10)
	fmt.Printf("graph: %d vertices, %d edges, %d insertions, %d labels\n", w.graph.Vertices(), w.graph.Edges(),
		len(w.batch), *benchLabels)
	groups, queries := ablationQueries(w)
	delta, err := w.graph.Stage(w.batch)
	if err != nil {
		b.Fatal(err)
	}
	seconds := map[[4]string][]float64{} // by want, group, query and level
	found := map[[2]string]string{}      // by want and query
	for _, l := range levels {
		if !slices.Contains(strings.Split(*ablateLevels, ","), l.name) {
			continue
		}
		o := l.opt
		o.Device = cudatest.NewDevice(b, rand.New(rand.NewPCG(1, 1)))
		be := cuda.New(o)
		planner := plan.New()
		for _, group := range groups {
			var plans []*matcher.Plan
			for _, q := range queries[group] {
				if *ablateOnly != "" && *ablateOnly != q.Name {
					continue
				}
				p, err := planner.Plan(q, w.graph)
				if err != nil {
					b.Fatal(err)
				}
				plans = append(plans, p)
			}
			if len(plans) == 0 {
				continue
			}
			for _, err := range []error{be.Load(w.graph), be.Prepare(plans), be.Stage(delta)} {
				if err != nil {
					b.Fatal(err)
				}
			}
			measure(b, be, plans[0], matcher.WantCount, *benchLimit, nil) // the mirror catches up
			for _, want := range strings.Split(*ablateWant, ",") {
				for range *ablatePasses {
					for _, p := range plans {
						ablate(b, be, p, want, [4]string{want, group, p.Query.Name, l.name}, seconds, found)
					}
				}
			}
			if err := be.Abort(); err != nil {
				b.Fatal(err)
			}
		}
		if err := be.Close(); err != nil {
			b.Fatal(err)
		}
	}
	printAblation(groups, queries, seconds)
}

// mostRows bounds the matches of a query whose rows are asked for.
const mostRows = 5_000_000

func ablate(b *testing.B, be matcher.Backend, p *matcher.Plan, want string, key [4]string,
	seconds map[[4]string][]float64, found map[[2]string]string) {
	b.Helper()
	at := [2]string{want, p.Query.Name}
	n, wants := uint64(0), matcher.WantCount
	if want == "rows" {
		if c := found[[2]string{"counts", p.Query.Name}]; len(c) > len("5000000") || c == "over time" {
			return
		}
		wants = matcher.WantRows
	}
	r, s, ok := measure(b, be, p, wants, *benchLimit, func(g matcher.Group) error {
		n += uint64(g.Rows.Len())
		return nil
	})
	if wants == matcher.WantRows && n > mostRows {
		return
	}
	count := r.Count.String()
	if !ok {
		count = "over time"
	}
	if was, known := found[at]; known && was != count {
		b.Fatalf("%s of %s: %s at level %s, %s before", want, p.Query.Name, count, key[3], was)
	}
	found[at] = count
	seconds[key] = append(seconds[key], s)
}

func printAblation(groups []string, queries map[string][]*matcher.Query, seconds map[[4]string][]float64) {
	median := func(key [4]string) (float64, bool) {
		s := slices.Sorted(slices.Values(seconds[key]))
		if len(s) == 0 {
			return 0, false
		}
		return s[len(s)/2], true
	}
	for _, want := range strings.Split(*ablateWant, ",") {
		for _, group := range groups {
			total, measured := map[string]float64{}, 0
			for _, q := range queries[group] {
				line := ""
				for _, l := range levels {
					if s, ok := median([4]string{want, group, q.Name, l.name}); ok {
						line += fmt.Sprintf(" %10.3f", s*1e3)
						total[l.name] += s
					}
				}
				if line != "" {
					measured++
					fmt.Printf("ms %-6s %-28s%s\n", want, q.Name, line)
				}
			}
			for _, l := range levels {
				if s := total[l.name]; s > 0 {
					fmt.Printf("ablation %-6s %-14s %2d queries %-7s %10.3f ms, %6.2f times as fast as plain\n", want,
						group, measured, l.name, s*1e3, total["plain"]/s)
				}
			}
		}
	}
}
