//go:build cuda

package cuda_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"motifd/kernels"
	"motifd/matcher"
	"motifd/matcher/cuda"
	"motifd/matcher/cuda/device"
	"motifd/matcher/plan"
)

var (
	benchFewest = flag.Uint64("motifd.fewest", 10_000_000, "matches that a query of BenchmarkRows has at least")
	benchMost   = flag.Uint64("motifd.most", 400_000_000, "matches that it has at most")
)

// BenchmarkRows inserts a tenth of a generated graph in one batch and prints, for queries with many matches, at what
// rate rows are found, found and put in order, and brought to host memory in order, by events of the device; and when
// each wave of one query was searched, put in order, copied and handed out. Run it with -test.benchtime 1x.
func BenchmarkRows(b *testing.B) {
	w := generate(b, *benchVertices, *benchDegree, *benchLabels, *benchQueries, 10)
	dev, err := kernels.OpenGPU(0)
	if err != nil {
		b.Fatal(err)
	}
	pinned := copyRate(b, dev)
	fmt.Printf("graph: %d vertices, %d edges, %d insertions, %d labels; page-locked copies from %s: %.1f GB/s\n",
		w.graph.Vertices(), w.graph.Edges(),
		len(w.batch), *benchLabels, dev.Info().Name, pinned)
	origin := time.Now()
	clock := func() int64 { return int64(time.Since(origin)) }
	trace := &device.Trace{Clock: clock}
	be := cuda.New(cuda.Options{Device: dev, Trace: trace})
	defer be.Close()
	var plans []*matcher.Plan
	for _, c := range classes {
		for _, q := range w.queries[c] {
			q.Emit = matcher.EmitDeltas
			p, err := plan.New().Plan(q, w.graph)
			if err != nil {
				b.Fatal(err)
			}
			plans = append(plans, p)
		}
	}
	delta, err := w.graph.Stage(w.batch)
	if err != nil {
		b.Fatal(err)
	}
	if err := be.Load(w.graph); err != nil {
		b.Fatal(err)
	}
	if err := be.Prepare(plans); err != nil {
		b.Fatal(err)
	}
	if err := be.Stage(delta); err != nil {
		b.Fatal(err)
	}
	fmt.Printf("%-9s %12s %6s %6s %16s %16s %26s %8s\n", "query", "matches", "bytes", "waves", "found M/s",
		"ordered M/s", "in host memory M/s, GB/s", "share")
	shown := 0
	for _, p := range plans {
		r, _, ok := measure(b, be, p, matcher.WantCount, *benchLimit, nil)
		if !ok || r.Count.Hi > 0 || r.Count.Lo < *benchFewest || r.Count.Lo > *benchMost {
			continue
		}
		width := len(p.Query.Vertices) + len(p.Query.Edges)
		var took [3]float64
		var spans []device.TraceSpan
		// the first warms up
		for _, trace.Until = range []device.Stage{device.Emitted, device.Searched, device.Ordered, device.Emitted} {
			trace.Reset()
			check := orderCheck{rng: rand.New(rand.NewPCG(1, 1))}
			if _, _, ok = measure(b, be, p, matcher.WantRows, *benchLimit, check.group); !ok {
				break
			}
			if check.failed != "" || trace.Until == device.Emitted && check.rows != r.Count.Lo {
				b.Fatalf("%s: %d rows of %s; %s", p.Query.Name, check.rows, r.Count, check.failed)
			}
			if spans, err = trace.Spans(); err != nil {
				b.Fatal(err)
			}
			took[trace.Until] = onDevice(spans)
		}
		if !ok {
			fmt.Printf("%-9s %12s over time\n", p.Query.Name, r.Count)
			continue
		}
		n := float64(r.Count.Lo)
		rate := func(s device.Stage) float64 { return n / took[s] / 1e3 }
		gigabytes := rate(device.Emitted) * float64(4*width) / 1e3
		fmt.Printf("%-9s %12d %6d %6d %16.0f %16.0f %15.0f %10.1f %7.0f%%\n", p.Query.Name, r.Count.Lo, 4*width,
			waves(spans), rate(device.Searched),
			rate(device.Ordered), rate(device.Emitted), gigabytes, 100*gigabytes/pinned)
		ms := totals(spans)
		fmt.Printf("          in all %.1f ms: search %.1f, order %.1f, copy %.1f, handed out within %.1f\n",
			took[device.Emitted], ms["search"], ms["order"], ms["copy"], ms["emit"])
		if shown < 2 && waves(spans) > 2 {
			shown++
			printSpans(spans)
		}
	}
}

// copyRate returns the gigabytes a second that page-locked copies to the host make.
func copyRate(b *testing.B, d kernels.Device) float64 {
	const size = 16 << 20
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	from, err := d.Alloc(size)
	must(err)
	to, err := d.AllocHost(size)
	must(err)
	s, err := d.NewStream()
	must(err)
	begin, err := d.NewEvent()
	must(err)
	end, err := d.NewEvent()
	must(err)
	best := 0.0
	for range 5 {
		must(s.Record(begin))
		for range 16 {
			must(s.Read(to, from))
		}
		must(s.Record(end))
		must(s.Sync())
		ms, err := end.Since(begin)
		must(err)
		best = max(best, 16*size/ms/1e6)
	}
	must(begin.Close())
	must(end.Close())
	must(s.Close())
	must(d.FreeHost(to))
	must(d.Free(from))
	return best
}
