//go:build cuda

package cuda_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"motifd/kernels"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/cuda"
	"motifd/matcher/plan"
	"motifd/stream/tempfile"
)

var (
	benchQueries  = flag.Int("motifd.queries", 5, "queries in each class")
	benchBackends = flag.String("motifd.backends", "cpu,cuda,auto,no-mail,no-steal",
		"backends of BenchmarkBatch, the first two at least")
	benchPasses = flag.Int("motifd.passes", 1, "times that BenchmarkBatch searches every query")
)

// BenchmarkBatch inserts a tenth of a generated graph in one batch and prints a table: counts of every query by both
// backends and by the choice between them, which must agree, and the ablation of stealing; totals are means of the
// passes. Run it with -test.benchtime 1x.
func BenchmarkBatch(b *testing.B) {
	began := time.Now()
	w := generate(b, *benchVertices, *benchDegree, *benchLabels, *benchQueries, 10)
	fmt.Printf("graph: %d vertices, %d edges, %d insertions, %d labels (made in %.1f s)\n", w.graph.Vertices(),
		w.graph.Edges(),
		len(w.batch), *benchLabels, time.Since(began).Seconds())
	start := time.Now()
	clock := func() int64 { return int64(time.Since(start)) }
	options := cpu.Options{TempFiles: tempfile.In(b.TempDir())} // for groups beyond the memory of one
	host := cpu.New(options)
	backends := []struct {
		name string
		be   matcher.Backend
	}{{"cpu", host}}
	for _, v := range []struct {
		name string
		opt  cuda.Options
	}{{"cuda", cuda.Options{}}, {"auto", cuda.Options{Clock: clock, Timeout: context.WithTimeout}},
		{"no-mail", cuda.Options{NoMail: true}},
		{"no-steal", cuda.Options{NoMail: true, NoSteal: true}}} {
		if !slices.Contains(strings.Split(*benchBackends, ","), v.name) {
			continue
		}
		g, err := kernels.OpenGPU(0)
		if err != nil {
			b.Fatal(err)
		}
		v.opt.Device, v.opt.CPU = g, options
		if v.name == "auto" {
			v.opt.Placement = calibrated(b, g, clock)
		}
		be := cuda.New(v.opt)
		defer be.Close()
		backends = append(backends, struct {
			name string
			be   matcher.Backend
		}{v.name, be})
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
	delta, err := w.graph.Stage(w.batch)
	if err != nil {
		b.Fatal(err)
	}
	// One mirror at a time follows the graph: the device backends share nothing and load one after the other.
	fmt.Printf("%-10s %-9s %22s %12s %10s\n", "query", "backend", "count", "mean seconds", "Msteps")
	answers := map[string]matcher.Count{}
	total := map[string]float64{}
	together := map[string]float64{} // all queries of a class in one search
	for _, be := range backends {
		began := time.Now()
		if err := be.be.Load(w.graph); err != nil {
			b.Fatal(err)
		}
		if err := be.be.Prepare(plans); err != nil {
			b.Fatal(err)
		}
		ready := time.Since(began)
		if err := be.be.Stage(delta); err != nil {
			b.Fatal(err)
		}
		staged := time.Since(began) - ready
		_, first, _ := measure(b, be.be, plans[0], matcher.WantCount, *benchLimit, nil)
		fmt.Printf("%s: load and prepare %.3f s, stage %.3f s, first search %.3f s\n", be.name, ready.Seconds(),
			staged.Seconds(), first)
		each, over := map[string]float64{}, map[string]bool{}
		for pass := range *benchPasses {
			for _, p := range plans {
				q := p.Query.Name
				r, s, ok := measure(b, be.be, p, matcher.WantCount, *benchLimit, nil)
				total[be.name+" "+q[:len(q)-2]] += s / float64(*benchPasses)
				each[q] += s / float64(*benchPasses)
				over[q] = over[q] || !ok
				switch last := pass == *benchPasses-1; {
				case last && over[q]:
					fmt.Printf("%-10s %-9s %22s %12s\n", q, be.name, "-", "over time")
				case last:
					fmt.Printf("%-10s %-9s %22s %12.6f %10.2f\n", q, be.name, r.Count, each[q], float64(r.Steps)/1e6)
				}
				if a, known := answers[q]; ok && known && a != r.Count {
					b.Fatalf("%s: %s counts %s, another backend %s", q, be.name, r.Count, a)
				}
				if ok {
					answers[q] = r.Count
				}
			}
			for i, c := range classes {
				of := plans[i**benchQueries : (i+1)**benchQueries]
				r, s, ok := measureAll(b, be.be, of, matcher.WantCount, *benchLimit, nil)
				together[be.name+" "+c] += s / float64(*benchPasses)
				for i := range r {
					if a, known := answers[of[i].Query.Name]; ok && known && a != r[i].Count {
						b.Fatalf("%s: with others, %s counts %s, not %s", of[i].Query.Name, be.name, r[i].Count, a)
					}
				}
			}
		}
	}
	for _, c := range classes {
		for _, be := range backends {
			fmt.Printf("together %-7s %-9s %10.4f s\n", c, be.name, together[be.name+" "+c])
		}
	}
	for _, c := range classes {
		for _, be := range backends {
			fmt.Printf("total %-7s %-9s %10.4f s\n", c, be.name, total[be.name+" "+c])
		}
	}
	rowsBench(b, plans, backends[0].be, backends[1].be)
}

// rowsBench has both backends give the rows of queries with neither few nor very many matches.
func rowsBench(b *testing.B, plans []*matcher.Plan, host, device matcher.Backend) {
	for _, be := range []matcher.Backend{host, device} {
		for _, p := range plans {
			r, _, ok := measure(b, device, p, matcher.WantCount, *benchLimit, nil)
			if !ok || r.Count.Hi > 0 || r.Count.Lo < 100_000 || r.Count.Lo > 30_000_000 {
				continue
			}
			n := 0
			_, s, ok := measure(b, be, p, matcher.WantRows, *benchLimit, func(g matcher.Group) error {
				n += g.Rows.Len()
				return nil
			})
			fmt.Printf("rows %-10s %-5s %10d %10.4f s %8.2f M/s complete %v\n", p.Query.Name, be.Name(), n, s,
				float64(n)/s/1e6, ok)
		}
	}
}

// BenchmarkSmallBatches measures what a batch costs on either backend, when there is hardly anything to search.
func BenchmarkSmallBatches(b *testing.B) {
	w := generate(b, *benchVertices, *benchDegree, *benchLabels, 1, 10)
	var plans []*matcher.Plan
	for _, c := range classes {
		p, err := plan.New().Plan(w.queries[c][0], w.graph)
		if err != nil {
			b.Fatal(err)
		}
		plans = append(plans, p)
	}
	g, err := kernels.OpenGPU(0)
	if err != nil {
		b.Fatal(err)
	}
	device := cuda.New(cuda.Options{Device: g})
	defer device.Close()
	for _, be := range []matcher.Backend{cpu.New(cpu.Options{}), device} {
		if err := be.Load(w.graph); err != nil {
			b.Fatal(err)
		}
		if err := be.Prepare(plans); err != nil {
			b.Fatal(err)
		}
		for _, size := range []int{100, 1000, 10000} {
			rng := rand.New(rand.NewPCG(1, uint64(size)))
			b.Run(fmt.Sprintf("%s/%d", be.Name(), size), func(b *testing.B) {
				var search time.Duration
				for b.Loop() {
					rng.Shuffle(len(w.batch), func(i, j int) { w.batch[i], w.batch[j] = w.batch[j], w.batch[i] })
					delta, err := w.graph.Stage(w.batch[:min(size, len(w.batch))])
					if err != nil {
						b.Fatal(err)
					}
					began := time.Now()
					if err := be.Stage(delta); err != nil {
						b.Fatal(err)
					}
					for _, p := range plans {
						measure(b, be, p, matcher.WantCount, *benchLimit, nil)
					}
					if err := be.Abort(); err != nil {
						b.Fatal(err)
					}
					search += time.Since(began)
					w.graph.Abort()
				}
				b.ReportMetric(float64(search.Microseconds())/float64(b.N), "us/backend-batch")
			})
		}
	}
}
