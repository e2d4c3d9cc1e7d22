//go:build cuda

package cuda_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
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

// BenchmarkWatch lists the paths of 4 to 6 vertices of a generated graph that end at one of ten marked vertices: by the
// CPU, and by the GPU: in the pattern's order, without a space and with one where it pays, and from the marked vertices
// on (DESIGN A27). It prints the least time of the passes; all must list as many. Run it with -test.benchtime 1x.
func BenchmarkWatch(b *testing.B) {
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	w := generate(b, *benchVertices, *benchDegree, *benchLabels, 0, 1<<40)
	rng := rand.New(rand.NewPCG(5, 5))
	for range 10 {
		w.label[rng.IntN(len(w.label))] = dyngraph.LabelID(*benchLabels + 1)
	}
	l := dyngraph.NewLoader(dyngraph.Options{})
	for i := range *benchLabels {
		must(l.Label("L" + strconv.Itoa(i)))
	}
	must(l.Label("watched"))
	for v, label := range w.label {
		must(l.Vertex(dyngraph.VertexRecord{ID: dyngraph.VertexID(v), Key: strconv.Itoa(v), Label: label}))
	}
	for v, all := range w.adj {
		for _, to := range all {
			if int(to) > v {
				must(l.Edge(dyngraph.EdgeRecord{From: dyngraph.VertexID(v), To: dyngraph.VertexID(to)}))
			}
		}
	}
	g, err := l.Graph()
	must(err)
	fmt.Printf("graph: %d vertices, %d edges, %d labels, 10 watched\n", g.Vertices(), g.Edges(), *benchLabels)
	options := cpu.Options{TempFiles: tempfile.In(b.TempDir())}
	names, all := []string{"cpu", "in order", "space", "rarest"}, []matcher.Backend{cpu.New(options)}
	for _, o := range []cuda.Options{{Rarer: math.Inf(1), Narrow: math.MaxFloat64}, {Rarer: math.Inf(1)}, {}} {
		dev, err := kernels.OpenGPU(0)
		must(err)
		o.Device, o.CPU = dev, options
		be := cuda.New(o)
		b.Cleanup(func() { _ = be.Close() })
		all = append(all, be)
	}
	for _, be := range all {
		must(be.Load(g))
	}
	for n := 4; n <= 6; n++ {
		q := &matcher.Query{Name: fmt.Sprint("path", n), Version: 1}
		for i := range n {
			v := matcher.QueryVertex{Name: fmt.Sprint("v", i), Label: "L" + strconv.Itoa(i%*benchLabels)}
			if i == n-1 {
				v.Label = "watched"
			}
			if q.Vertices = append(q.Vertices, v); i > 0 {
				q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", i), From: i - 1, To: i, Either: true})
			}
		}
		p, err := plan.New().Plan(q, g)
		must(err)
		known := uint64(0)
		for i, be := range all {
			must(be.Prepare([]*matcher.Plan{p}))
			var ms []float64
			var r matcher.Result
			rows := uint64(0)
			for range 1 + *benchPasses {
				rows = 0
				began := time.Now()
				r, err = be.Enumerate(b.Context(), dyngraph.New, p, matcher.WantRows, 0, nil,
					func(r matcher.Rows) error {
						rows += uint64(r.Len())
						return nil
					})
				must(err)
				ms = append(ms, time.Since(began).Seconds()*1e3)
			}
			if i > 0 && rows != known {
				b.Fatalf("%s: %s finds %d rows, another backend %d", q.Name, names[i], rows, known)
			}
			known = rows
			fmt.Printf("%-8s %-9s %10d rows %12d steps %10.3f ms\n", q.Name, names[i], rows, r.Steps, slices.Min(ms))
		}
	}
}
