//go:build cuda || emu

package cuda_test

import (
	"math/rand/v2"
	"os"
	"testing"

	"motifd/matcher/cpu"
	"motifd/matcher/cuda"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/stream/tempfile"
)

// mappedOptions draws options of a backend that has a part of the graph in memory of the host, or all of it.
func mappedOptions(rng *rand.Rand) cuda.Options {
	o := randomOptions(rng)
	o.Mapped, o.GraphMemory = true, (1+rng.IntN(2))<<(10+rng.IntN(14))
	return o
}

// placesUsed counts where graphs were.
type placesUsed struct {
	compared
	both, mapped int
}

func (p *placesUsed) add(at cuda.GraphPlace) {
	switch {
	case at.Mapped == 0:
	case at.Device == 0:
		p.mapped++
	default:
		p.both++
	}
}

func (p *placesUsed) all() bool {
	return os.Getenv(Few) != "" || p.compared.all() && min(p.both, p.mapped) > 2
}

// TestP2BackendsAgreeOnMappedGraphs has a part of the graph in memory of the host, or all of it: rows with caps and
// totals of batches that are aborted or committed, and whole graphs; with parallel edges, conditions and negations.
func TestP2BackendsAgreeOnMappedGraphs(t *testing.T) {
	var seen placesUsed
	matchertest.ForSeedsUntil(t, rounds, seen.all, func(t *testing.T, rng *rand.Rand) {
		c := anyCase(rng)
		want := cpu.New(cpu.Options{Threads: 2, TempFiles: tempfile.In(t.TempDir())})
		got := newBackendWith(t, rng, mappedOptions(rng))
		bench := matchertest.NewBenchOf(t, c.Graph(), plan.New(), c.Queries, want, got)
		playOn(t, rng, &seen.compared, bench, want, got, c.Batches)
		seen.add(got.(*cuda.Backend).GraphPlace())
	})
}

// TestP2BackendsAgreeOnLargerMappedGraphs does the same where vertices have hundreds of neighbours, so that the array
// grows and is written anew.
func TestP2BackendsAgreeOnLargerMappedGraphs(t *testing.T) {
	var seen placesUsed
	matchertest.ForSeedsUntil(t, 1+rounds/3, seen.all, func(t *testing.T, rng *rand.Rand) {
		c := manyNeighbors(rng, 200, 300)
		want := cpu.New(cpu.Options{Threads: 2, TempFiles: tempfile.In(t.TempDir())})
		got := newBackendWith(t, rng, mappedOptions(rng))
		bench := matchertest.NewBench(t, c.Directed, plan.New(), c.Queries, want, got)
		playOn(t, rng, &seen.compared, bench, want, got, c.Batches)
		seen.add(got.(*cuda.Backend).GraphPlace())
	})
}
