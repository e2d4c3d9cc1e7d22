//go:build cuda

package cuda_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
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
	bigEdges = flag.Int("motifd.big", 1_000_000_000, "edges of BenchmarkBig")
	bigBatch = flag.Int("motifd.bigbatch", 1_000_000, "insertions in its batch")
	bigSides = flag.String("motifd.bigsides", "CPU GPU", "who searches in it")
)

// BenchmarkBig loads a graph that is as large as its host and its device allow, and has batches searched by the CPU and
// by the GPU, which must agree. It prints times and the memory of the process. A vertex has 20 edges to later vertices,
// one of five of them anywhere, the others near it. Run it with -test.benchtime 1x.
func BenchmarkBig(b *testing.B) {
	const per, labels = 20, 16
	vertices := max(1000, *bigEdges/per)
	rng := rand.New(rand.NewPCG(7, 7))
	began := time.Now()
	step := func(what string) {
		fmt.Printf("%-36s %8.2f s   %s\n", what, time.Since(began).Seconds(), residentMemory(b))
		began = time.Now()
	}
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	l := dyngraph.NewLoader(dyngraph.Options{MaxVertices: uint32(vertices),
		Background: func(work func()) { go work() }})
	for i := range labels {
		must(l.Label("L" + strconv.Itoa(i)))
	}
	for v := range vertices {
		must(l.Vertex(dyngraph.VertexRecord{ID: dyngraph.VertexID(v), Key: strconv.Itoa(v),
			Label: dyngraph.LabelID(1 + rng.IntN(labels))}))
	}
	step(fmt.Sprintf("%d vertices", vertices))
	// Each vertex has edges to later ones, so that edges come in the loader's order.
	var to []dyngraph.VertexID
	for v := range vertices - 1 {
		to = to[:0]
		for range per {
			w := v + 1 + rng.IntN(min(vertices-v-1, 200))
			if rng.IntN(5) == 0 {
				w = v + 1 + rng.IntN(vertices-v-1)
			}
			to = append(to, dyngraph.VertexID(w))
		}
		slices.Sort(to)
		for _, w := range slices.Compact(to) {
			must(l.Edge(dyngraph.EdgeRecord{From: dyngraph.VertexID(v), To: w}))
		}
	}
	step("edges")
	g, err := l.Graph()
	must(err)
	step(fmt.Sprintf("array of %d edges", g.Edges()))
	var plans []*matcher.Plan
	for _, edges := range [][][2]int{{{0, 1}, {1, 2}, {0, 2}}, {{0, 1}, {1, 2}, {2, 3}, {0, 3}},
		{{0, 1}, {1, 2}, {2, 3}, {0, 2}, {1, 3}}} {
		q := &matcher.Query{Name: fmt.Sprint("q", len(plans)), Version: 1, Emit: matcher.EmitCounts}
		for i, e := range edges {
			q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", i), From: e[0], To: e[1], Either: true})
			for len(q.Vertices) <= max(e[0], e[1]) {
				q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("v", len(q.Vertices)),
					Label: fmt.Sprint("L", len(q.Vertices))})
			}
		}
		p, err := plan.New().Plan(q, g)
		must(err)
		plans = append(plans, p)
	}
	var batches [2][]dyngraph.Update
	for i := range batches {
		for len(batches[i]) < *bigBatch {
			v := rng.IntN(vertices - 1)
			w := v + 1 + rng.IntN(min(vertices-v-1, 200))
			batches[i] = append(batches[i], dyngraph.Update{Op: dyngraph.InsertEdge, From: strconv.Itoa(v),
				To: strconv.Itoa(w)})
		}
	}
	// One after the other, since each has an index for counting on the host.
	options := cpu.Options{TempFiles: tempfile.In(b.TempDir())}
	gpu, err := kernels.OpenGPU(0)
	must(err)
	start := time.Now()
	clock := func() int64 { return int64(time.Since(start)) }
	openers := []func() matcher.Backend{func() matcher.Backend { return cpu.New(options) }, func() matcher.Backend {
		return cuda.New(cuda.Options{Device: gpu, CPU: options, Clock: clock})
	}}
	var counts [2][]matcher.Count
	for i, name := range []string{"CPU", "GPU"} {
		if !strings.Contains(*bigSides, name) {
			continue
		}
		runtime.GC()
		began = time.Now()
		be := openers[i]()
		must(be.Load(g))
		must(be.Prepare(plans))
		step(name + ": load")
		for _, batch := range batches {
			delta, err := g.Stage(batch)
			must(err)
			step(fmt.Sprintf("stage, %d edges are new", len(delta.Net)))
			must(be.Stage(delta))
			step(name + ": stage")
			results, _, ok := measureAll(b, be, plans, matcher.WantCount, 10*time.Minute, nil)
			if !ok {
				b.Fatal("over time")
			}
			for _, r := range results {
				counts[i] = append(counts[i], r.Count)
			}
			step(fmt.Sprintf("%s: search, %v", name, counts[i]))
			must(be.Abort())
			g.Abort()
			step("abort")
		}
		if c, ok := be.(*cuda.Backend); ok {
			at := c.GraphPlace()
			fmt.Printf("graph: %d MiB on the GPU, %d MiB mapped\n", at.Device>>20, at.Mapped>>20)
		}
		must(be.Close())
	}
	if counts[0] != nil && counts[1] != nil && !slices.Equal(counts[0], counts[1]) {
		b.Fatalf("CPU counts %v, GPU %v", counts[0], counts[1])
	}
}

// residentMemory returns what the process takes, and took at most.
func residentMemory(b *testing.B) string {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	var parts []string
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 && (f[0] == "VmRSS:" || f[0] == "VmHWM:") {
			kib, err := strconv.Atoi(f[1])
			if err != nil {
				b.Fatal(err)
			}
			parts = append(parts, fmt.Sprintf("%s %.1f GiB", f[0], float64(kib)/(1<<20)))
		}
	}
	return strings.Join(parts, " ")
}
