//go:build cuda || emu

package cuda_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/cuda"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/stream/tempfile"
)

// cachedOptions draws options of a backend whose devices hold parts of the graph: from the entries of one or two
// vertices on, with room for few records.
func cachedOptions(rng *rand.Rand) cuda.Options {
	o := randomOptions(rng)
	o.Cached, o.CacheMemory = true, (100+rng.IntN(100))<<rng.IntN(9)
	o.RecordMemory, o.DeferredMemory = 1<<(6+rng.IntN(12)), 1<<(4+rng.IntN(14))
	if rng.IntN(2) == 0 { // a ring that is full before the records are extended that it had
		o.RecordMemory = 2 * 64 * (32*o.Shape.Warps() + 8 + rng.IntN(64))
	}
	return o
}

// cachesUsed tells what caches were put to: partial matches waited, some more than once for lack of room, and some
// needed more than there was room for.
type cachesUsed struct {
	compared
	waited, evicted, beyond int
}

func (c *cachesUsed) add(u cuda.CacheUse) {
	if u.Waited > 0 {
		c.waited++
	}
	if u.Evicted > 0 {
		c.evicted++
	}
	if u.Beyond > 0 {
		c.beyond++
	}
}

func (c *cachesUsed) all() bool {
	return os.Getenv(Few) != "" || c.compared.all() && min(c.waited, c.evicted) > 3 && c.beyond > 0
}

// TestP2BackendsAgreeOnCaches has devices hold parts of the graph: rows with caps and totals of batches that are
// aborted or committed, and whole graphs; with parallel edges and conditions.
func TestP2BackendsAgreeOnCaches(t *testing.T) {
	var seen cachesUsed
	matchertest.ForSeedsUntil(t, rounds, seen.all, func(t *testing.T, rng *rand.Rand) {
		var c *matchertest.Case
		switch rng.IntN(4) {
		case 0:
			c = matchertest.RandomCaseIDs(rng, 4)
		case 1:
			c = matchertest.RandomCaseWhere(rng, 4, rng.IntN(2) == 0)
		default:
			c = matchertest.RandomCase(rng, 4)
		}
		c = withoutWildcards(rng, c)
		want := cpu.New(cpu.Options{Threads: 2, TempFiles: tempfile.In(t.TempDir())})
		got := newBackendWith(t, rng, cachedOptions(rng))
		bench := matchertest.NewBenchOf(t, c.Graph(), plan.New(), c.Queries, want, got)
		for _, p := range bench.Plans() {
			if got.(*cuda.Backend).TestsEdges(p) && !p.NeedsWholeGraph() {
				t.Fatalf("%+v reads edges that a cache does not have", p.Query)
			}
		}
		playOn(t, rng, &seen.compared, bench, want, got, c.Batches)
		seen.add(got.(*cuda.Backend).CacheUse())
	})
}

// TestP2BackendsAgreeOnCachesOfLargerGraphs does the same where vertices have hundreds of neighbours.
func TestP2BackendsAgreeOnCachesOfLargerGraphs(t *testing.T) {
	var seen cachesUsed
	matchertest.ForSeedsUntil(t, 1+rounds/3, seen.all, func(t *testing.T, rng *rand.Rand) {
		shape := matchertest.Shape{Directed: rng.IntN(2) == 0, Vertices: 200, Edges: 600, Messages: 700,
			Labels: matchertest.Labels{Vertex: []string{"L0", "L1", "L2"}, Edge: []string{"e0", "e1"}}}
		var queries []*matcher.Query
		for i := range 4 {
			q := matchertest.RandomQueryOf(rng, 2+rng.IntN(4), fmt.Sprint("q", i), shape.Directed, shape.Labels)
			for j := range q.Vertices {
				q.Vertices[j].Label, q.Vertices[j].AnyOf = shape.Labels.Vertex[rng.IntN(3)], nil
			}
			for j := range q.Edges {
				if q.Edges[j].Either = !shape.Directed; q.Edges[j].Label == "" {
					q.Edges[j].Label, q.Edges[j].AnyOf = shape.Labels.Edge[rng.IntN(2)], nil
				}
			}
			q.Unit = matcher.Unit(rng.IntN(2))
			queries = append(queries, q)
		}
		o := cachedOptions(rng)
		o.CacheMemory *= 4
		want := cpu.New(cpu.Options{Threads: 2, TempFiles: tempfile.In(t.TempDir())})
		got := newBackendWith(t, rng, o)
		bench := matchertest.NewBench(t, shape.Directed, plan.New(), queries, want, got)
		batches := slices.Collect(slices.Chunk(matchertest.RandomStream(rng, shape), 300))
		playOn(t, rng, &seen.compared, bench, want, got, batches)
		seen.add(got.(*cuda.Backend).CacheUse())
	})
}
