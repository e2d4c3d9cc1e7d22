//go:build cuda

package cuda_test

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"motifd/dyngraph"
	"motifd/kernels"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/cuda"
	"motifd/matcher/cuda/placement"
	"motifd/matcher/plan"
	"motifd/stream/tempfile"
)

var (
	benchMemories = flag.String("motifd.memories", "1024,256", "device memory of BenchmarkMapped, in MiB")
	benchBatches  = flag.String("motifd.mappedbatches", "10000x21,100x5,1000000x1", "sizes and numbers of its batches")
	benchAuto     = flag.Bool("motifd.auto", false, "BenchmarkMapped has a choice of side, too, with the least memory")
	benchWhole    = flag.Bool("motifd.whole", false, "BenchmarkMapped counts the whole graph after the batches")
)

// BenchmarkMapped has batches of insertions and deletions in a generated graph searched by the CPU, by a GPU that holds
// the graph, and by GPUs with less memory, which read a part of it from the host's. It prints the times, and where the
// graph is; all must agree. Run it with -test.benchtime 1x.
func BenchmarkMapped(b *testing.B) {
	began := time.Now()
	w := generate(b, *benchVertices, *benchDegree, *benchLabels, *benchQueries, 10)
	fmt.Printf("graph: %d vertices, %d edges, %d insertions, %d labels (made in %.1f s)\n", w.graph.Vertices(),
		w.graph.Edges(), len(w.batch), *benchLabels, time.Since(began).Seconds())
	start := time.Now()
	clock := func() int64 { return int64(time.Since(start)) }
	options := cpu.Options{TempFiles: tempfile.In(b.TempDir())}
	names, all := []string{"cpu"}, []matcher.Backend{cpu.New(options)}
	var total []*float64 // nanoseconds of staging and searches after the first batch of a size
	open := func(name string, memory int64, opt cuda.Options) {
		g, err := kernels.OpenGPU(0)
		if err != nil {
			b.Fatal(err)
		}
		opt.Device, opt.CPU, opt.Clock, opt.Timeout = kernels.Limited(g, memory), options, clock, context.WithTimeout
		be := cuda.New(opt)
		b.Cleanup(func() { _ = be.Close() })
		names, all = append(names, name), append(all, be)
	}
	open("cuda", 0, cuda.Options{})
	var least int64
	for _, m := range strings.Split(*benchMemories, ",") {
		var mib int64
		if _, err := fmt.Sscan(m, &mib); err != nil {
			b.Fatal(err)
		}
		least = mib << 20
		open(m+" MiB", least, cuda.Options{})
	}
	if *benchAuto {
		open("auto", least, cuda.Options{Placement: placement.New(placement.Options{})})
	}
	for range all {
		total = append(total, new(float64))
	}
	var plans []*matcher.Plan
	for _, c := range classes {
		for _, q := range w.queries[c] {
			p, err := plan.New().Plan(q, w.graph)
			if err != nil {
				b.Fatal(err)
			}
			plans = append(plans, p)
		}
	}
	for _, be := range all {
		if err := be.Load(w.graph); err != nil {
			b.Fatal(err)
		}
		if err := be.Prepare(plans); err != nil {
			b.Fatal(err)
		}
	}
	fmt.Printf("%9s %3s %7s %-9s %9s %9s %9s %9s %9s\n", "batch", "no", "want", "backend", "matches", "stage s",
		"search s", "near MiB", "far MiB")
	var last []dyngraph.Update // the insertions of the batch before
	for _, x := range strings.Split(*benchBatches, ",") {
		var size, times int
		if _, err := fmt.Sscanf(x, "%dx%d", &size, &times); err != nil {
			b.Fatal(err)
		}
		for no := range times {
			var batch []dyngraph.Update
			n := min(size*7/10, len(w.batch))
			batch = append(batch, w.batch[:n]...)
			for _, u := range last[:min(len(last), size-n)] {
				u.Op = dyngraph.DeleteEdge
				batch = append(batch, u)
			}
			last, w.batch = w.batch[:n], w.batch[n:]
			delta, err := w.graph.Stage(batch)
			if err != nil {
				b.Fatal(err)
			}
			compareMapped(b, delta, size, no, names, all, plans, total, no == 0 || no == times-1)
			for _, be := range all {
				if err := be.Commit(); err != nil {
					b.Fatal(err)
				}
			}
			w.graph.Commit()
		}
	}
	for i, t := range total {
		fmt.Printf("all batches but the first of each size, %s: %.3f s, %.2f of the CPU\n", names[i], *t/1e9,
			*t / *total[0])
	}
	for _, p := range plans {
		for i, be := range all {
			if !*benchWhole {
				break
			}
			for again := range 2 {
				ctx, cancel := context.WithTimeout(b.Context(), *benchLimit)
				began := time.Now()
				r, err := be.Enumerate(ctx, dyngraph.New, p, matcher.WantCount, 0, nil, nil)
				cancel()
				fmt.Printf("whole graph, %s, %s, %d: %v in %.3f s, %v\n", p.Query.Name, names[i], again, r.Count,
					time.Since(began).Seconds(), err)
			}
		}
	}
}

// compareMapped has all backends search a staged batch, for counts and for rows.
func compareMapped(b *testing.B, delta *dyngraph.Delta, size, no int, names []string, all []matcher.Backend,
	plans []*matcher.Plan, total []*float64, show bool) {
	var staged []float64
	for _, be := range all {
		began := time.Now()
		if err := be.Stage(delta); err != nil {
			b.Fatal(err)
		}
		staged = append(staged, time.Since(began).Seconds())
	}
	for _, want := range []matcher.Want{matcher.WantCount, matcher.WantRows} {
		var answer []matcher.Count
		for i, be := range all {
			of := plans
			if want == matcher.WantRows {
				of = plans[:1]
			}
			sum := matcher.Count{}
			got, s, ok := measureAll(b, be, of, want, *benchLimit, func(matcher.Group) error { return nil })
			for _, r := range got {
				sum = sum.Add(r.Count)
			}
			if no > 0 {
				if *total[i] += s * 1e9; want == matcher.WantCount {
					*total[i] += staged[i] * 1e9 // a choice has the CPU do then what it needs in its searches
				}
			}
			if !ok {
				fmt.Printf("%9d %3d %7v %-9s over time\n", size, no, want, names[i])
				continue
			}
			answer = append(answer, sum)
			if sum != answer[0] {
				b.Fatalf("%s finds %v, %s %v", names[0], answer[0], names[i], sum)
			}
			if !show {
				continue
			}
			fmt.Printf("%9d %3d %7v %-9s %9v %9.4f %9.4f", size, no, want, names[i], sum, staged[i], s)
			if c, ok := be.(*cuda.Backend); ok {
				at := c.GraphPlace()
				fmt.Printf(" %9d %9d", at.Device>>20, at.Mapped>>20)
			}
			fmt.Println()
		}
	}
}
