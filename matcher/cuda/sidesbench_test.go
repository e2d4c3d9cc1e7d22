//go:build cuda

package cuda_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"motifd/dyngraph"
	"motifd/kernels"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/cuda"
	"motifd/matcher/plan"
	"motifd/stream/tempfile"
)

var (
	benchDevices = flag.Int("motifd.devices", 2, "GPUs of BenchmarkSides")
	benchShares  = flag.Int("motifd.shares", 8, "shares of one GPU in BenchmarkSides")
	benchTurns   = flag.Int("motifd.turns", 512, "turns of a launch of such a share")
	benchMemo    = flag.Bool("motifd.memo", true, "BenchmarkSides counts with a memo")
	benchSides   = flag.Int("motifd.kinds-of-work", 4, "queries of each kind of work of BenchmarkSides")
)

// sidesBench has a backend on one GPU, one on all, and one that has eight shares of the graph's anchors on one GPU.
type sidesBench struct {
	b     *testing.B
	names []string
	be    []*cuda.Backend
}

// add opens a backend on some devices. slice is the number of turns of a launch.
func (s *sidesBench) add(name string, slice int, devices ...kernels.Device) {
	start, memo := time.Now(), 0
	if !*benchMemo {
		memo = -1
	}
	be := cuda.New(cuda.Options{Device: devices[0], More: devices[1:], Memo: memo, Slice: slice,
		Timeout: context.WithTimeout,
		Clock:   func() int64 { return int64(time.Since(start)) },
		CPU:     cpu.Options{TempFiles: tempfile.In(s.b.TempDir())}})
	s.names, s.be = append(s.names, name), append(s.be, be)
	s.b.Cleanup(func() { check(s.b, be.Close()) })
}

// sidesWork is some work, which returns how much it has found.
type sidesWork func(ctx context.Context, be *cuda.Backend) (matcher.Count, error)

// sidesRun is one run of some work on one backend.
type sidesRun struct {
	took     time.Duration
	busy     []time.Duration // by side
	launches []uint64        // by side
}

// most returns the greatest busy time, and its ratio to the mean.
func (r *sidesRun) most() (most time.Duration, ratio float64) {
	all := time.Duration(0)
	for _, x := range r.busy {
		all += x
	}
	most = slices.Max(r.busy)
	return most, float64(most) * float64(len(r.busy)) / float64(all)
}

// run does some work on a backend.
func (s *sidesBench) run(i int, work func(be *cuda.Backend) matcher.Count) (r sidesRun, n matcher.Count) {
	before, launched := s.be[i].Busy()
	began := time.Now()
	n = work(s.be[i])
	r.took = time.Since(began)
	busy, launches := s.be[i].Busy()
	for k := range busy {
		r.busy = append(r.busy, time.Duration(busy[k]-before[k]))
		r.launches = append(r.launches, launches[k]-launched[k])
	}
	return r, n
}

// compare does some work by turns on all backends, five times, and prints the medians.
func (s *sidesBench) compare(what string, backends int, work func(be *cuda.Backend) matcher.Count) {
	runs := make([][]sidesRun, backends)
	var want matcher.Count
	for pass := range 6 { // the first warms up
		for i := range backends {
			r, n := s.run(i, work)
			if pass > 0 {
				runs[i] = append(runs[i], r)
			} else if i == 0 {
				want = n
			}
			if n != want {
				s.b.Fatalf("%s: %s finds %s, not %s", what, s.names[i], n, want)
			}
		}
	}
	one := 0.0
	for i := range runs {
		slices.SortFunc(runs[i], func(x, y sidesRun) int { return int(x.took - y.took) })
		r := runs[i][len(runs[i])/2]
		took := r.took
		most, ratio := r.most()
		if s.names[i] == "shares" { // as if they had run at once
			took = most
		}
		if i == 0 {
			one = float64(took)
		}
		fmt.Printf("%-22s %-12s %10.3f ms  %5.2f x  busy %10.3f ms, max/mean %.3f, launches %v; found %s\n", what,
			s.names[i], float64(took)/1e6, one/float64(took), float64(most)/1e6, ratio, r.launches, want)
	}
}

// BenchmarkSides compares one GPU with several, by turns in one run: counts in a batch, counts in a whole graph, rows.
// It chooses queries that take 10 ms or more on one GPU, or have 10 M rows and more. "shares" plays several sides on
// one GPU. The anchors are dealt as to several GPUs, and the sides take turns, a short launch each. Between launches
// they hand work over. The time of shares is that of the side that ends last. Run it with -test.benchtime 1x.
func BenchmarkSides(b *testing.B) {
	s := &sidesBench{b: b}
	open := func(number int) kernels.Device {
		g, err := kernels.OpenGPU(number)
		if err != nil {
			b.Fatal(err)
		}
		return g
	}
	var several, shares []kernels.Device
	for i := range *benchDevices {
		several = append(several, open(i))
	}
	shared := open(0)
	b.Cleanup(func() { check(b, shared.Close()) })
	for range *benchShares {
		shares = append(shares, lent{shared})
	}
	s.add("one", 0, open(0))
	s.add(fmt.Sprint(*benchDevices), 0, several...)
	s.add("shares", *benchTurns, shares...)
	s.be[2].InTurn(func(busy []int64) int { return slices.Index(busy, slices.Min(busy)) })
	w := generate(b, *benchVertices, *benchDegree, *benchLabels, 20, 10)
	fmt.Printf("graph: %d vertices, %d edges, %d insertions, %d labels; %s\n", w.graph.Vertices(), w.graph.Edges(),
		len(w.batch), *benchLabels, shared.Info().Name)
	var plans []*matcher.Plan
	for _, q := range slices.Concat(w.queries["tree"], trees(w), w.queries["sparse"], w.queries["dense"]) {
		p, err := plan.New().Plan(q, w.graph)
		if err != nil {
			b.Fatal(err)
		}
		plans = append(plans, p)
	}
	for _, be := range s.be {
		check(b, be.Load(w.graph))
		check(b, be.Prepare(plans))
	}
	// limited does some work on one GPU once, and reports whether it took so long that it is worth a comparison.
	limited := func(work sidesWork) (n matcher.Count, ok bool) {
		ctx, cancel := context.WithTimeout(b.Context(), 300*time.Millisecond)
		defer cancel()
		r, n := s.run(0, func(be *cuda.Backend) (n matcher.Count) {
			n, err := work(ctx, be)
			if ctx.Err() == nil {
				check(b, err)
			}
			return n
		})
		return n, r.busy[0] >= 10*time.Millisecond && ctx.Err() == nil
	}
	ended := func(work sidesWork) func(be *cuda.Backend) matcher.Count {
		return func(be *cuda.Backend) matcher.Count {
			n, err := work(b.Context(), be)
			check(b, err)
			return n
		}
	}
	delta, err := w.graph.Stage(w.batch)
	check(b, err)
	for _, be := range s.be {
		check(b, be.Stage(delta))
	}
	count := func(of ...*matcher.Plan) sidesWork {
		return func(ctx context.Context, be *cuda.Backend) (sum matcher.Count, err error) {
			var reqs []matcher.Request
			for _, p := range of {
				reqs = append(reqs, matcher.Request{Plan: p, Want: matcher.WantCount, Before: matcher.AllOrders})
			}
			r, err := be.Search(ctx, dyngraph.Inserted, reqs, nil, nil)
			for i := range r {
				sum = sum.Add(r[i].Count)
			}
			return sum, err
		}
	}
	counts, rows := 0, 0
	var together []*matcher.Plan
	for _, p := range plans {
		if counts == *benchSides {
			break
		}
		if _, ok := limited(count(p)); ok {
			together = append(together, p)
			counts++
			s.compare("counts "+p.Query.Name, 3, ended(count(p)))
		}
	}
	if len(together) > 0 {
		s.compare(fmt.Sprintf("counts of all %d", len(together)), 3, ended(count(together...)))
	}
	for _, p := range plans {
		if rows == *benchSides {
			break
		}
		n, _ := limited(count(p))
		if n.Hi > 0 || n.Lo < 10_000_000 || n.Lo > 300_000_000 {
			continue
		}
		rows++
		s.compare("rows "+p.Query.Name, 2, func(be *cuda.Backend) matcher.Count {
			n := uint64(0)
			_, err := be.Search(b.Context(), dyngraph.Inserted, []matcher.Request{{Plan: p, Want: matcher.WantRows,
				Before: matcher.AllOrders}}, func(g matcher.Group) error {
				n += uint64(g.Rows.Len())
				return nil
			}, nil)
			check(b, err)
			return matcher.CountOf(n)
		})
	}
	for _, be := range s.be {
		check(b, be.Abort())
	}
	w.graph.Abort()
	whole := 0
	for _, p := range plans {
		count := func(ctx context.Context, be *cuda.Backend) (matcher.Count, error) {
			r, err := be.Enumerate(ctx, dyngraph.New, p, matcher.WantCount, 0, nil, nil)
			return r.Count, err
		}
		if whole == *benchSides {
			break
		}
		if _, ok := limited(count); ok {
			whole++
			s.compare("match "+p.Query.Name, 3, ended(count))
		}
	}
	fmt.Printf("%d counts in a graph, %d in a batch, %d with rows\n", whole, counts, rows)
}

const numberOfTrees = 10

// trees are trees of seven and eight vertices cut out of a graph.
func trees(w *world) (all []*matcher.Query) {
	rng := rand.New(rand.NewPCG(9, 9))
	for len(all) < numberOfTrees {
		if q := cut(rng, w.adj, w.label, "tree", 7+len(all)%2); q != nil {
			q.Name = fmt.Sprintf("tree of %d %02d", len(q.Vertices), len(all))
			all = append(all, q)
		}
	}
	return all
}
