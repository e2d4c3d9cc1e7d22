//go:build (cuda || emu) && data

package cuda_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/cuda"
	"motifd/matcher/matchertest"
	"motifd/matcher/pattern"
	"motifd/matcher/plan"
	"motifd/stream/tempfile"
)

// dataFolder returns the folder of cases with known answers: MOTIFD_DATA, or where it lies beside a checkout.
func dataFolder() string {
	if dir := os.Getenv("MOTIFD_DATA"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "..", "shared", "data")
}

// messages reads a file of the papers' text, a message a line.
func messages(t *testing.T, path string) (msgs []dyngraph.Message) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		f := append(strings.Fields(line), "", "", "", "")
		u := dyngraph.Update{Pos: dyngraph.Position{Offset: int64(len(msgs))}}
		switch f[0] {
		case "v":
			u.Op, u.Key, u.Label = dyngraph.InsertVertex, f[1], f[2]
		case "e":
			u.Op, u.From, u.To, u.Label = dyngraph.InsertEdge, f[1], f[2], f[3]
		case "-e":
			u.Op, u.From, u.To, u.Label = dyngraph.DeleteEdge, f[1], f[2], f[3]
		default:
			continue
		}
		msgs = append(msgs, dyngraph.Message{Updates: []dyngraph.Update{u}})
	}
	return msgs
}

// TestDataBackendsAgree plays both backends on the incremental cases with known answers, in batches of several sizes:
// all numbers, and rows up to a cap, of which each case has some. Batches of one update, of which there are most, are
// left out with what is large.
func TestDataBackendsAgree(t *testing.T) {
	type dataCase struct {
		folder string
		sizes  []int
	}
	tiny := []int{10, 1 << 30}
	if large {
		tiny = append(tiny, 1)
	}
	cases := []dataCase{{"tiny_s1", tiny}, {"tiny_s2", tiny}, {"tiny_s3", tiny}}
	if matchertest.Quick(t) {
		cases = cases[rand.IntN(len(cases)):][:1]
	}
	if large && os.Getenv(Few) == "" && !matchertest.Quick(t) {
		cases = append(cases, dataCase{"synth", []int{500, 1 << 30}})
	}
	for _, c := range cases {
		queries, err := pattern.Load(filepath.Join(dataFolder(), c.folder, "queries"), pattern.Options{})
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(queries, func(a, b *matcher.Query) int { return strings.Compare(a.Name, b.Name) })
		graph := messages(t, filepath.Join(dataFolder(), c.folder, "graph.txt"))
		for _, stream := range []string{"insert", "mixed"} {
			updates := messages(t, filepath.Join(dataFolder(), c.folder, stream+".txt"))
			for _, size := range c.sizes {
				t.Run(fmt.Sprintf("%s/%s/%d", c.folder, stream, min(size, len(updates))), func(t *testing.T) {
					playData(t, c.folder == "synth", queries, graph, updates, size)
				})
			}
		}
	}
}

// playData plays both backends on a graph and its stream in batches of a size. Of many matches, which a stream has
// hundreds of millions of, rows are compared up to a cap alone.
func playData(t *testing.T, many bool, queries []*matcher.Query, graph, updates []dyngraph.Message, size int) {
	rng := rand.New(rand.NewPCG(1, uint64(size)))
	options := randomOptions(rng)
	if many { // too much for launches of a few turns
		options = cuda.Options{}
	}
	want, got := cpu.New(cpu.Options{TempFiles: tempfile.In(t.TempDir())}), newBackendWith(t, rng, options)
	bench := matchertest.NewBench(t, false, plan.New(), queries, want, got)
	bench.Stage(graph)
	bench.Commit()
	var seen compared
	batches := 0
	for batch := range slices.Chunk(updates, min(size, len(updates))) {
		bench.Stage(batch)
		for _, w := range []matcher.Want{matcher.WantCount, matcher.WantAny, matcher.WantRows} {
			requests := bench.Requests(func(_ int, r *matcher.Request) {
				r.Want = w
				if w == matcher.WantRows {
					r.Limit = 2000
				}
			})
			for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				a := bench.Search(want, sign, requests)
				compareAnswers(t, bench, sign, requests, a, bench.Search(got, sign, requests))
				seen.add(requests, a)
			}
		}
		bench.Commit()
		batches++
	}
	t.Logf("%d batches, compared: %+v", batches, seen)
	if min(seen.rows, seen.counts, seen.witnesses) == 0 || many && seen.capped == 0 {
		t.Error("there is nothing to compare")
	}
}
