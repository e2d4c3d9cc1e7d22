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
	"motifd/matcher/reference"
	"motifd/stream/tempfile"
)

// watched is a device that tells of each launch before it is made.
type watched struct {
	kernels.Device
	launched func(kernel string)
}

func (w watched) Launch(kernel string, blocks, threads int, params []byte) error {
	w.launched(kernel)
	return w.Device.Launch(kernel, blocks, threads, params)
}

func (w watched) NewStream() (kernels.Stream, error) {
	s, err := w.Device.NewStream()
	return watchedStream{s, w.launched}, err
}

type watchedStream struct {
	kernels.Stream
	launched func(kernel string)
}

func (s watchedStream) Launch(kernel string, blocks, threads int, params []byte) error {
	s.launched(kernel)
	return s.Stream.Launch(kernel, blocks, threads, params)
}

// loosePattern draws a pattern most of whose edges may have several images between two vertices, or compete for them:
// wildcards, alternatives of labels, edges that match either way, parallel and opposite ones.
func loosePattern(rng *rand.Rand, name string, shape matchertest.Shape) *matcher.Query {
	q := matchertest.RandomQueryOf(rng, 2+rng.IntN(3), name, shape.Directed, shape.Labels)
	q.Unit = matcher.Unit(rng.IntN(2))
	q.Edges = q.Edges[:min(len(q.Edges), 5)]
	for range rng.IntN(3) {
		e := q.Edges[rng.IntN(len(q.Edges))]
		e.Name = fmt.Sprint("more", len(q.Edges))
		if rng.IntN(2) == 0 {
			e.From, e.To = e.To, e.From
		}
		q.Edges = append(q.Edges, e)
	}
	for i := range q.Edges {
		e := &q.Edges[i]
		switch labels := shape.Labels.Edge; rng.IntN(4) {
		case 0, 1:
			e.Label, e.AnyOf = "", nil
		case 2:
			some := rng.Perm(len(labels))[:2]
			if labels[some[0]] != "" && labels[some[1]] != "" {
				e.Label, e.AnyOf = "", []string{labels[some[0]], labels[some[1]]}
			}
		}
		e.Either = !shape.Directed || rng.IntN(2) == 0
	}
	return q
}

// looseCase draws a small graph with many parallel edges, some of them told apart by nothing but an id, which half of
// the graphs ignore, and patterns for it.
func looseCase(rng *rand.Rand) (shape matchertest.Shape, queries []*matcher.Query, batches [][]dyngraph.Message) {
	shape = matchertest.Shape{Directed: rng.IntN(3) > 0, Vertices: 3 + rng.IntN(6), Edges: 8 + rng.IntN(12),
		Messages: 12 + rng.IntN(24),
		Full:     rng.IntN(2) == 0, Labels: matchertest.Labels{Vertex: []string{"L0", ""},
			Edge: []string{"a", "b", "c", ""}[rng.IntN(3):]}, IDs: rng.IntN(2) == 0}
	for len(queries) < 3 {
		q := loosePattern(rng, fmt.Sprint("q", len(queries)), shape)
		if q.Validate(shape.Directed) == nil { // else what was cut off connected it
			queries = append(queries, q)
		}
	}
	messages := matchertest.RandomStream(rng, shape)
	for i := range messages {
		for j := range messages[i].Updates {
			if u := &messages[i].Updates[j]; u.Op == dyngraph.InsertEdge && rng.IntN(2) == 0 {
				u.Attr.ID = fmt.Sprint("id", rng.IntN(3))
			}
		}
	}
	return shape, queries, matchertest.Cut(rng, messages)
}

// TestP2LooseEdges plays patterns with wildcards, alternatives of labels, parallel and opposite edges and edges that
// match either way, on graphs with parallel edges: the device gives what the reference, or the CPU, gives, and it is
// the device that does, except where symmetry orders parallel edges.
func TestP2LooseEdges(t *testing.T) {
	seen := compared{capped: 1} // nothing is
	several, alternatives := 0, 0
	all := func() bool { return seen.all() && min(several, alternatives) > 0 }
	matchertest.ForSeedsUntil(t, rounds, all, func(t *testing.T, rng *rand.Rand) {
		shape, queries, batches := looseCase(rng)
		var want matcher.Backend = reference.New()
		if rng.IntN(2) == 0 {
			want = cpu.New(cpu.Options{Threads: 2, TempFiles: tempfile.In(t.TempDir())})
		}
		searches := 0
		o := randomOptions(rng)
		dev := watched{newDevice(t, rng, o), func(kernel string) {
			if slices.Contains(kernels.Searches[:], kernel) {
				searches++
			}
		}}
		o.Device, o.CPU, o.RowMemory = dev, cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())}, 0
		if rng.IntN(2) == 0 {
			o.CPU.GroupMemory = 64 << rng.IntN(8) // rows with the same vertices are sorted in pieces
		}
		if rng.IntN(2) == 0 {
			o.RowMemory = 1 // and a group is put in order in parts
		}
		got := cuda.New(o)
		t.Cleanup(func() {
			if err := got.Close(); err != nil {
				t.Error(err)
			}
		})
		graph := dyngraph.NewGraph(dyngraph.Options{Directed: shape.Directed, EdgeIDs: shape.IDs})
		bench := matchertest.NewBenchOf(t, graph, plan.New(), queries, want, got)
		for _, batch := range batches {
			bench.Stage(batch)
			for w := range matcher.WantAny + 1 {
				for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
					requests := bench.Requests(func(_ int, r *matcher.Request) { r.Want = w })
					before := searches
					a := bench.Search(want, sign, requests)
					compareAnswers(t, bench, sign, requests, a, bench.Search(got, sign, requests))
					seen.add(requests, a)
					for i, r := range a.Results {
						p := requests[i].Plan
						if r.Count.IsZero() || len(p.NotOnGPU()) > 0 {
							continue
						}
						if searches == before {
							t.Fatal("the device was not asked")
						}
						if slices.Contains(p.Several, true) {
							several++
						}
						for _, e := range p.Query.Edges {
							alternatives += min(len(e.AnyOf), 1)
						}
					}
				}
			}
			if rng.IntN(4) == 0 {
				seen.whole += compareEnumerations(t, bench, dyngraph.Which(rng.IntN(2)), want, got)
			}
			bench.Commit()
		}
	})
}
