//go:build cuda

package cuda_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"motifd/dyngraph"
	"motifd/kernels"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/cuda"
	"motifd/matcher/plan"
)

// follower is a backend that follows a graph of its own through a stream.
type follower struct {
	name  string
	graph *dyngraph.Graph
	be    matcher.Backend
	plans []*matcher.Plan
	took  time.Duration
}

// BenchmarkMixedStream plays a stream of insertions and deletions, in batches of 100 to 10,000 updates, past the CPU, the GPU and
// the choice between them, and prints what each took: staging, searching and committing in the backend. Run it with
// -test.benchtime 1x.
func BenchmarkMixedStream(b *testing.B) {
	const batches = 400
	start := time.Now()
	clock := func() int64 { return int64(time.Since(start)) }
	reasons := map[string]int{}
	open := func() kernels.Device {
		g, err := kernels.OpenGPU(0)
		if err != nil {
			b.Fatal(err)
		}
		return g
	}
	backends := []*follower{{name: "cpu", be: cpu.New(cpu.Options{})}, {name: "cuda", be: cuda.New(cuda.Options{Device: open()})},
		{name: "auto", be: cuda.New(cuda.Options{Device: open(), Clock: clock, Placement: cuda.NewPlacement(cuda.PlacementOptions{
			Placed: func(_ cuda.Work, s cuda.Side, r cuda.Reason, _ cuda.Cost) { reasons[s.String()+" "+string(r)]++ }})})}}
	for _, want := range []matcher.Want{matcher.WantCount, matcher.WantRows} {
		var pool []dyngraph.Update
		for _, f := range backends {
			w := generate(b, *benchVertices, *benchDegree, *benchLabels, 2) // the same, from a fixed seed
			f.graph, pool, f.plans, f.took = w.graph, w.batch, nil, 0
			for _, c := range classes {
				if want == matcher.WantRows && c != "dense" { // the others have too many
					continue
				}
				for _, q := range w.queries[c] {
					p, err := plan.New().Plan(q, w.graph)
					if err != nil {
						b.Fatal(err)
					}
					f.plans = append(f.plans, p)
				}
			}
			if err := f.be.Load(f.graph); err != nil {
				b.Fatal(err)
			}
			if err := f.be.Prepare(f.plans); err != nil {
				b.Fatal(err)
			}
		}
		rng := rand.New(rand.NewPCG(5, 5))
		present := make([]bool, len(pool))
		for at := range batches {
			size := []int{100, 100, 100, 1000}[at%4]
			if at%20 == 19 {
				size = 10_000
			}
			batch := make([]dyngraph.Update, 0, size)
			for range min(size, len(pool)) {
				i := rng.IntN(len(pool))
				u := pool[i]
				if present[i] = !present[i]; !present[i] {
					u.Op = dyngraph.DeleteEdge
				}
				batch = append(batch, u)
			}
			var first []matcher.Result
			for _, f := range backends {
				got := f.step(b, batch, want)
				if first == nil {
					first = got
				}
				for i := range got {
					if got[i].Count.Cmp(first[i].Count) != 0 {
						b.Fatalf("batch %d: %s counts %s, %s counts %s", at, f.name, got[i].Count, backends[0].name, first[i].Count)
					}
				}
			}
		}
		better := min(backends[0].took, backends[1].took)
		fmt.Printf("mixed want %d: %d batches: cpu %.3f s, cuda %.3f s, auto %.3f s: %.2f of the better; %v\n", want, batches,
			backends[0].took.Seconds(), backends[1].took.Seconds(), backends[2].took.Seconds(), backends[2].took.Seconds()/better.Seconds(), reasons)
	}
	for _, f := range backends {
		if err := f.be.Close(); err != nil {
			b.Error(err)
		}
	}
}

// step has the backend follow a batch, and returns what it found, deleted and inserted.
func (f *follower) step(b *testing.B, batch []dyngraph.Update, want matcher.Want) (all []matcher.Result) {
	b.Helper()
	delta, err := f.graph.Stage(batch)
	if err != nil {
		b.Fatal(err)
	}
	reqs := make([]matcher.Request, len(f.plans))
	for i, p := range f.plans {
		reqs[i] = matcher.Request{Plan: p, Want: want, Before: matcher.AllOrders}
	}
	began := time.Now()
	if err := f.be.Stage(delta); err != nil {
		b.Fatal(err)
	}
	for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
		r, err := f.be.Search(b.Context(), sign, reqs, func(matcher.Group) error { return nil }, nil)
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, r...)
	}
	if err := f.be.Commit(); err != nil {
		b.Fatal(err)
	}
	f.took += time.Since(began)
	f.graph.Commit()
	return all
}
