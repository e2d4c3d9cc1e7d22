//go:build cuda

package cuda_test

import (
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
	"motifd/matcher/plan"
	"motifd/stream/tempfile"
)

var (
	benchMemories = flag.String("motifd.memories", "1024,256", "device memory of BenchmarkCache, in MiB")
	benchBatches  = flag.String("motifd.cachebatches", "10000x21,100x5,1000000x1", "sizes and numbers of its batches")
)

// BenchmarkCache has batches of insertions and deletions in a generated graph searched by the CPU, by a GPU that holds
// the graph, and by GPUs with less memory, which hold parts of it. It prints the times, the part of the partial matches
// that were extended without waiting (hits), and how much was copied; all must agree. Run it with -test.benchtime 1x.
func BenchmarkCache(b *testing.B) {
	began := time.Now()
	w := generate(b, *benchVertices, *benchDegree, *benchLabels, *benchQueries, 10)
	fmt.Printf("graph: %d vertices, %d edges, %d insertions, %d labels (made in %.1f s)\n", w.graph.Vertices(),
		w.graph.Edges(), len(w.batch), *benchLabels, time.Since(began).Seconds())
	start := time.Now()
	clock := func() int64 { return int64(time.Since(start)) }
	options := cpu.Options{TempFiles: tempfile.In(b.TempDir())}
	names, all := []string{"cpu"}, []matcher.Backend{cpu.New(options)}
	open := func(name string, memory int64, noFlat bool) {
		g, err := kernels.OpenGPU(0)
		if err != nil {
			b.Fatal(err)
		}
		be := cuda.New(cuda.Options{Device: kernels.Limited(g, memory), CPU: options, Clock: clock, NoFlat: noFlat})
		b.Cleanup(func() { _ = be.Close() })
		names, all = append(names, name), append(all, be)
	}
	open("cuda", 0, false)
	open("no blocks", 0, true)
	for _, m := range strings.Split(*benchMemories, ",") {
		var mib int64
		if _, err := fmt.Sscan(m, &mib); err != nil {
			b.Fatal(err)
		}
		open(m+" MiB", mib<<20, false)
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
	fmt.Printf("%9s %3s %7s %-9s %9s %9s %9s %7s %8s %7s\n", "batch", "no", "want", "backend", "matches", "stage s",
		"search s", "hits %", "MiB", "rounds")
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
			compareOnCaches(b, delta, size, no, names, all, plans, no == 0 || no == times-1)
			for _, be := range all {
				if err := be.Commit(); err != nil {
					b.Fatal(err)
				}
			}
			w.graph.Commit()
		}
	}
}

// compareOnCaches has all backends search a staged batch, for counts and for rows.
func compareOnCaches(b *testing.B, delta *dyngraph.Delta, size, no int, names []string, all []matcher.Backend,
	plans []*matcher.Plan, show bool) {
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
			var before cuda.CacheUse
			if c, ok := be.(*cuda.Backend); ok {
				before = c.CacheUse()
			}
			of := plans
			if want == matcher.WantRows {
				of = plans[:1]
			}
			total, sum := 0.0, matcher.Count{}
			got, s, ok := measureAll(b, be, of, want, *benchLimit, func(matcher.Group) error { return nil })
			total += s
			for _, r := range got {
				sum = sum.Add(r.Count)
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
			fmt.Printf("%9d %3d %7v %-9s %9v %9.4f %9.4f", size, no, want, names[i], sum, staged[i], total)
			if c, ok := be.(*cuda.Backend); ok {
				if u := c.CacheUse(); u.Cached {
					looked, waited := u.Looked-before.Looked, u.Waited-before.Waited
					fmt.Printf(" %7.2f %8.1f %7d %d beyond", 100-100*float64(waited)/float64(max(1, looked)),
						float64(u.Entries-before.Entries)*12/(1<<20), u.Rounds-before.Rounds, u.Beyond-before.Beyond)
				}
			}
			fmt.Println()
		}
	}
}
