//go:build cuda || emu

package cuda_test

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"motifd/dyngraph"
	"motifd/kernels"
	"motifd/matcher"
	"motifd/matcher/condition"
	"motifd/matcher/cpu"
	"motifd/matcher/cuda"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/stream/tempfile"
)

// whereKernels are the kernels that test conditions, in a graph without ranges.
var whereKernels = []string{"wbmwhere", "wbmrowswhere", "wbmflatwhere"}

// extreme draws a number that is small, or near the ends of int64.
func extreme(rng *rand.Rand) int64 {
	n := rng.Int64N(3)
	switch rng.IntN(4) {
	case 0:
		return math.MaxInt64 - n
	case 1:
		return math.MinInt64 + n
	}
	return n
}

// atTheEnds has times be such that their differences do not fit 64 bits.
func atTheEnds(rng *rand.Rand, msgs []dyngraph.Message) {
	for _, m := range msgs {
		for i := range m.Updates {
			if a := &m.Updates[i].Attr; a.HasTS {
				a.TS = extreme(rng)
			}
		}
	}
}

// deviceCase draws a case with conditions that a device tests, less those that it does not. An edge keeps its values,
// so no batch replaces edges, unless values change.
func deviceCase(rng *rand.Rand, change bool) *matchertest.Case {
	c := withoutWildcards(rng, matchertest.RandomCaseWhere(rng, 4, rng.IntN(2) == 0)).With(func(q *matcher.Query) {
		q.Conditions = slices.DeleteFunc(slices.Clone(q.Conditions), func(c *condition.Condition) bool {
			_, whole := c.Stack()
			return !c.Own() && !whole
		})
	})
	c.Queries = slices.DeleteFunc(c.Queries, (*matcher.Query).IsVertex) // the CPU's
	if change {
		return c
	}
	if rng.IntN(3) == 0 {
		atTheEnds(rng, c.Messages)
	}
	type identity struct{ from, to, label, id string }
	first := map[identity]dyngraph.Attr{}
	for _, m := range c.Messages {
		for i := range m.Updates {
			u := &m.Updates[i]
			if u.Op != dyngraph.InsertEdge {
				continue
			}
			key := identity{u.From, u.To, u.Label, u.Attr.ID}
			if !c.Directed && u.From > u.To {
				key.from, key.to = u.To, u.From
			}
			if attr, ok := first[key]; ok {
				u.Attr = attr
			} else {
				first[key] = u.Attr
			}
		}
	}
	return c
}

// noting is a backend that tells of each batch that it stages.
type noting struct {
	matcher.Backend
	staged func(*dyngraph.Delta)
}

func (n noting) Stage(d *dyngraph.Delta) error {
	n.staged(d)
	return n.Backend.Stage(d)
}

// TestS17DeviceTestsConditions plays queries with conditions on one edge or vertex, on values of several edges and
// vertices, and windows, where batches replace edges and revise vertices: the device gives what the CPU gives, each of
// its kernels with conditions is used, also in such batches, and there are conditions of all kinds.
func TestS17DeviceTestsConditions(t *testing.T) {
	var seen compared
	launched := map[string]int{}
	own, ofVertices, between, mixed, computed, within, replaced, revised := 0, 0, 0, 0, 0, 0, 0, 0
	all := func() bool {
		for _, k := range whereKernels {
			if launched[k] == 0 {
				return false
			}
		}
		return seen.all() && min(own, ofVertices, between, mixed, computed, within, replaced, revised) > 0
	}
	matchertest.ForSeedsUntil(t, 2*rounds, all, func(t *testing.T, rng *rand.Rand) {
		c := deviceCase(rng, rng.IntN(2) == 0)
		for _, q := range c.Queries {
			for _, x := range q.Conditions {
				switch {
				case !x.Own():
					between++
					if !x.Elements[0].Edge {
						mixed++
					}
					if _, difference := x.Differences(); !difference {
						computed++
					}
				case x.Elements[0].Edge:
					own++
				default:
					ofVertices++
				}
			}
			if q.Within > 0 {
				within++
			}
		}
		var delta *dyngraph.Delta
		o := randomOptions(rng)
		o.Device = watched{newDevice(t, rng, o), func(kernel string) {
			launched[kernel]++
			if delta != nil && slices.Contains(kernels.Searches[:], kernel) {
				replaced += delta.Replaced
				revised += len(delta.Revised)
			}
		}}
		o.CPU = cpu.Options{Threads: 2, TempFiles: tempfile.In(t.TempDir())}
		device := cuda.New(o)
		t.Cleanup(func() { check(t, device.Close()) })
		got := noting{device, func(d *dyngraph.Delta) { delta = d }}
		want := cpu.New(cpu.Options{Threads: 2, TempFiles: tempfile.In(t.TempDir())})
		bench := matchertest.NewBenchOf(t, c.Graph(), plan.New(), c.Queries, want, got)
		playOn(t, rng, &seen, bench, want, got, c.Batches)
	})
}

// TestS17DeviceRandomBatches is the volume of the differential tests of the device: random batches with conditions of
// all kinds, replaced edges and revised vertices, of which many have parallel edges and expired ones. 10 seeds of 4
// cuts each are about 1,250 batches; half of them have something for the kernels with conditions. `make ci-full` plays
// eight times as many (MOTIFD_TEST_TIMES).
func TestS17DeviceRandomBatches(t *testing.T) {
	var seen compared
	var batches, searched, parallel, expired, replaced, revised int
	all := func() bool {
		return seen.all() && batches >= 1000 &&
			min(searched, parallel, expired, replaced, revised) >= 20
	}
	seeds := 10
	if os.Getenv(Few) != "" {
		seeds, all = 1, func() bool { return batches > 0 }
	}
	matchertest.ForSeedsUntil(t, seeds, all, func(t *testing.T, rng *rand.Rand) {
		c := deviceCase(rng, true)
		for cut := range 4 { // a new case takes longer than to play one
			if cut > 0 {
				c.Batches = matchertest.Cut(rng, c.Messages)
			}
			launched := false
			o := randomOptions(rng)
			o.Device = watched{newDevice(t, rng, o), func(kernel string) {
				launched = launched || slices.Contains(whereKernels, kernel) || strings.HasSuffix(kernel, "ranges")
			}}
			o.CPU = cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())}
			device := cuda.New(o)
			host := cpu.New(cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())})
			bench := matchertest.NewBenchOf(t, c.Graph(), plan.New(), c.Queries, host, device)
			if rng.IntN(3) == 0 {
				bench.Expire(1 + rng.Int64N(3))
			}
			for _, batch := range c.Batches {
				launched = false
				delta := bench.Stage(batch)
				for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
					requests := bench.Requests(func(_ int, r *matcher.Request) {
						randomRequest(rng, r, len(delta.Net))
					})
					a := bench.Search(host, sign, requests)
					compareAnswers(t, bench, sign, requests, a, bench.Search(device, sign, requests))
					seen.add(requests, a)
				}
				batches++
				if launched {
					searched++
					parallel += min(1, len(delta.Net)*count(bench.Graph.AnyParallel()))
					expired += min(1, delta.Expired)
					replaced += min(1, delta.Replaced)
					revised += min(1, len(delta.Revised))
				}
				if rng.IntN(16) == 0 {
					seen.whole += compareEnumerations(t, bench, dyngraph.Which(rng.IntN(2)), host, device)
				}
				bench.Commit()
			}
			check(t, device.Close())
		}
	})
	t.Logf("%d batches, %d of them searched with conditions on the device: %d with parallel edges, %d with expired "+
		"edges, %d with replaced edges, %d with revised vertices", batches, searched, parallel, expired, replaced,
		revised)
}

// count is 1 for true.
func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
