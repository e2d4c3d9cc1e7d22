//go:build cuda || emu

package cuda_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"motifd/dyngraph"
	"motifd/kernels"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/cuda"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/stream/tempfile"
)

// pairOf returns a pattern of n edges from a to b, and one that leads on from b to c.
func pairOf(name string, n int) *matcher.Query {
	q := &matcher.Query{Name: name, Vertices: []matcher.QueryVertex{{Name: "a", Label: "A"}, {Name: "b", Label: "A"},
		{Name: "c", Label: "A"}}, Edges: []matcher.QueryEdge{{Name: "on", From: 1, To: 2, Label: "on"}}}
	for i := range n {
		q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("t", i), From: 0, To: 1, Label: "t"})
	}
	return q
}

// update returns an update of an edge.
func update(op dyngraph.Op, from, to, label, id string) dyngraph.Message {
	return dyngraph.Message{Updates: []dyngraph.Update{{Op: op, From: from, To: to, FromLabel: "A", ToLabel: "A",
		Label: label, Attr: dyngraph.Attr{ID: id}}}}
}

// TestA17DeviceCountsParallelEdges inserts parallel edges between two vertices, more and more, and deletes some: over d
// of them, a pattern of one, two or three edges has d, d(d-1) or d(d-1)(d-2) matches, on the device, which finds the
// differences of these numbers.
func TestA17DeviceCountsParallelEdges(t *testing.T) {
	matchertest.ForSeeds(t, rounds, func(t *testing.T, rng *rand.Rand) {
		searches := 0
		o := randomOptions(rng)
		o.Device = watched{newDevice(t, rng, o), func(kernel string) {
			if slices.Contains(kernels.Searches[:], kernel) {
				searches++
			}
		}}
		o.CPU = cpu.Options{Threads: 2, TempFiles: tempfile.In(t.TempDir())}
		device := cuda.New(o)
		t.Cleanup(func() { check(t, device.Close()) })
		graph := dyngraph.NewGraph(dyngraph.Options{Directed: true, EdgeIDs: true})
		bench := matchertest.NewBenchOf(t, graph, plan.New(), []*matcher.Query{pairOf("one", 1), pairOf("two", 2),
			pairOf("three", 3)}, device)
		bench.Stage([]dyngraph.Message{update(dyngraph.InsertEdge, "b", "c", "on", ""),
			update(dyngraph.InsertEdge, "b", "d", "on", "")})
		bench.Commit()
		have, next := []string{}, 0
		number := func(d, n int) int { // of matches; on goes to c or d
			m := 2
			for i := range n {
				m *= d - i
			}
			return max(0, m)
		}
		batches := 12
		if matchertest.Quick(t) {
			batches = 5 // the matches grow with the cube of the edges
		}
		for range batches {
			before := len(have)
			var batch []dyngraph.Message
			for range rng.IntN(min(before, 5) + 1) {
				at := rng.IntN(len(have))
				batch = append(batch, update(dyngraph.DeleteEdge, "a", "b", "t", have[at]))
				have = slices.Delete(have, at, at+1)
			}
			kept := len(have)
			for range rng.IntN(9) {
				have = append(have, fmt.Sprint("id", next))
				next++
				batch = append(batch, update(dyngraph.InsertEdge, "a", "b", "t", have[len(have)-1]))
			}
			rng.Shuffle(len(batch), func(i, j int) { batch[i], batch[j] = batch[j], batch[i] })
			if rng.IntN(4) == 0 { // as if the first try had failed
				bench.Stage(batch)
				bench.Abort()
			}
			bench.Stage(batch)
			for w := range matcher.WantAny + 1 {
				for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
					asked := searches
					a := bench.Search(device, sign, bench.Requests(func(_ int, r *matcher.Request) { r.Want = w }))
					all := before
					if sign == dyngraph.Inserted {
						all = len(have)
					}
					if all > kept && searches == asked {
						t.Fatal("the device was not asked")
					}
					for i, r := range a.Results {
						want := number(all, i+1) - number(kept, i+1)
						if w == matcher.WantAny {
							want = min(want, 1)
						}
						if got := r.Count; got.Cmp(matcher.CountOf(uint64(want))) != 0 {
							t.Fatalf("%d edges, %d of them stay, pattern of %d, sign %d, want %d: %v matches, not %d",
								all, kept, i+1, sign, w, got, want)
						}
					}
				}
			}
			bench.Commit()
		}
	})
}

// TestA17TheFirstParallelEdgeIsAborted has a batch bring the first parallel edge, with a lower index than the edge that
// it is parallel to, and be aborted after it was searched on the device: the device finds the other edge still.
func TestA17TheFirstParallelEdgeIsAborted(t *testing.T) {
	matchertest.ForSeeds(t, 1, func(t *testing.T, rng *rand.Rand) {
		o := randomOptions(rng)
		o.Device, o.CPU = newDevice(t, rng, o), cpu.Options{Threads: 2, TempFiles: tempfile.In(t.TempDir())}
		device := cuda.New(o)
		t.Cleanup(func() { check(t, device.Close()) })
		graph := dyngraph.NewGraph(dyngraph.Options{Directed: true, EdgeIDs: true})
		bench := matchertest.NewBenchOf(t, graph, plan.New(), []*matcher.Query{pairOf("one", 1)}, device)
		found := func() uint64 {
			r := bench.Requests(func(_ int, r *matcher.Request) {})
			return bench.Search(device, dyngraph.Inserted, r).Results[0].Count.Lo
		}
		for _, batch := range [][]dyngraph.Message{
			{update(dyngraph.InsertEdge, "x", "y", "on", ""), update(dyngraph.InsertEdge, "a", "b", "t", "0")},
			{update(dyngraph.DeleteEdge, "x", "y", "on", "")}, {update(dyngraph.InsertEdge, "b", "c", "on", "")}} {
			bench.Stage(batch)
			bench.Commit()
		}
		if d := bench.Stage([]dyngraph.Message{update(dyngraph.InsertEdge, "a", "b", "t", "1")}); d.Net[0].Edge != 0 ||
			found() != 1 {
			t.Fatalf("edge %d, and not one match", d.Net[0].Edge)
		}
		bench.Abort()
		// A new label has the plan made anew, for a graph without parallel edges.
		bench.Stage([]dyngraph.Message{update(dyngraph.InsertEdge, "b", "d", "on", ""),
			update(dyngraph.InsertEdge, "c", "d", "new", "")})
		if n := found(); n != 1 {
			t.Fatalf("%d matches, not 1", n)
		}
		bench.Commit()
	})
}
