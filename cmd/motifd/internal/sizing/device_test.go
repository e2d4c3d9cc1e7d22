//go:build emu

package sizing

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/kernels"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/cuda"
	"motifd/matcher/cuda/cudatest"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/stream/tempfile"
)

func TestMain(m *testing.M) { cudatest.Main(m) }

// weighed is a device that knows how many bytes are allocated.
type weighed struct {
	kernels.Device
	mu    sync.Mutex
	sizes map[kernels.Ptr]int
	used  int
}

// Alloc implements kernels.Device.
func (d *weighed) Alloc(n int) (kernels.Ptr, error) {
	p, err := d.Device.Alloc(n)
	if err == nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.sizes[p] = n
		d.used += n
	}
	return p, err
}

// Free implements kernels.Device.
func (d *weighed) Free(p kernels.Ptr) error {
	d.mu.Lock()
	d.used -= d.sizes[p]
	delete(d.sizes, p)
	d.mu.Unlock()
	return d.Device.Free(p)
}

// onDevice returns the bytes that a graph takes on a device after a search, and the graph as it is.
func onDevice(t *testing.T, g Graph) (int, Graph) {
	t.Helper()
	d := &weighed{Device: cudatest.NewDevice(t, rand.New(rand.NewPCG(1, 1))), sizes: map[kernels.Ptr]int{}}
	b := cuda.New(cuda.Options{Device: d, CPU: cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())},
		RowMemory: 1 << 20})
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	graph, n := load(t, g)
	g.Edges = n
	q := &matcher.Query{Name: "q", Version: 1, Emit: matcher.EmitCounts,
		Vertices: []matcher.QueryVertex{{Name: "a"}, {Name: "b"}},
		Edges:    []matcher.QueryEdge{{Name: "e", From: 0, To: 1, Label: "T", Either: !g.Directed}}}
	bench := matchertest.NewBenchOf(t, graph, plan.New(), []*matcher.Query{q}, b)
	bench.Stage([]dyngraph.Message{{Updates: []dyngraph.Update{{Op: dyngraph.InsertEdge, From: "x", To: "y",
		Label: "T"}}}})
	bench.Search(b, dyngraph.Inserted, bench.Requests(func(_ int, r *matcher.Request) { r.Want = matcher.WantCount }))
	bench.Commit()
	return d.used, g
}

// TestDevice has a small and a larger graph on a device: the difference of their memory is as estimated. Memory that
// does not grow with the graph is left out that way.
func TestDevice(t *testing.T) {
	for _, directed := range []bool{true, false} {
		small, less := onDevice(t, Graph{Edges: 10_000, Vertices: 1_000, Directed: directed, KeyBytes: 8, Counts: true})
		large, more := onDevice(t, Graph{Edges: 50_000, Vertices: 5_000, Directed: directed, KeyBytes: 8, Counts: true})
		took, estimate := float64(large-small), float64(Sum(more.Device())-Sum(less.Device()))
		t.Logf("%v: %.0f bytes more, estimated %.0f (%.2f)", directed, took, estimate, estimate/took)
		require.InDelta(t, 1, estimate/took, 0.08)
	}
}
