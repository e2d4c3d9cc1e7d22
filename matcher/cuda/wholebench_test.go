//go:build cuda

package cuda_test

import (
	"context"
	"errors"
	"fmt"
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

// BenchmarkWhole counts queries in a whole generated graph, warm, by the CPU, by the GPU, and by the GPU one task at a
// time. It prints the least and the median time of the passes; all counts must agree. Run it with -test.benchtime 1x.
func BenchmarkWhole(b *testing.B) {
	w := generate(b, *benchVertices, *benchDegree, *benchLabels, *benchQueries, 1<<40)
	fmt.Printf("graph: %d vertices, %d edges, %d labels, queries of %d vertices\n", w.graph.Vertices(), w.graph.Edges(),
		*benchLabels, *benchSize)
	options := cpu.Options{TempFiles: tempfile.In(b.TempDir())}
	names, all := []string{"cpu"}, []matcher.Backend{cpu.New(options)}
	for _, v := range []struct {
		name string
		opt  cuda.Options
	}{{"cuda", cuda.Options{}}, {"no-flat", cuda.Options{NoFlat: true}}} {
		g, err := kernels.OpenGPU(0)
		if err != nil {
			b.Fatal(err)
		}
		v.opt.Device, v.opt.CPU = g, options
		be := cuda.New(v.opt)
		b.Cleanup(func() { _ = be.Close() })
		names, all = append(names, v.name), append(all, be)
	}
	for _, be := range all {
		if err := be.Load(w.graph); err != nil {
			b.Fatal(err)
		}
	}
	fmt.Printf("%-10s %-8s %40s %12s %12s %12s\n", "query", "backend", "count", "first ms", "least ms", "median ms")
	for _, c := range classes {
		for _, q := range w.queries[c] {
			p, err := plan.New().Plan(q, w.graph)
			if err != nil {
				b.Fatal(err)
			}
			var known *matcher.Count
			for i, be := range all {
				if err := be.Prepare([]*matcher.Plan{p}); err != nil {
					b.Fatal(err)
				}
				var ms []float64
				for range 1 + *benchPasses {
					ctx, cancel := context.WithTimeout(b.Context(), *benchLimit)
					began := time.Now()
					r, err := be.Enumerate(ctx, dyngraph.New, p, matcher.WantCount, 0, nil, nil)
					cancel()
					if errors.Is(err, context.DeadlineExceeded) {
						break
					}
					if err != nil {
						b.Fatal(err)
					}
					if known == nil {
						known = &r.Count
					}
					if *known != r.Count {
						b.Fatalf("%s: %s counts %v, another backend %v", q.Name, names[i], r.Count, *known)
					}
					ms = append(ms, time.Since(began).Seconds()*1e3)
				}
				if len(ms) <= *benchPasses {
					fmt.Printf("%-10s %-8s %40s over %v\n", q.Name, names[i], "-", *benchLimit)
					continue
				}
				warm := ms[1:]
				slices.Sort(warm)
				fmt.Printf("%-10s %-8s %40v %12.3f %12.3f %12.3f\n", q.Name, names[i], *known, ms[0], warm[0],
					warm[len(warm)/2])
			}
		}
	}
}
