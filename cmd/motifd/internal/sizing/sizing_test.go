package sizing

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
)

// heap returns the bytes of live objects.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// load makes a random graph, and returns it with the number of its edges.
func load(t *testing.T, g Graph) (*dyngraph.Graph, uint64) {
	t.Helper()
	opt := dyngraph.Options{Directed: g.Directed, EdgeIDs: g.IDBytes > 0}
	if g.EdgeProperties+g.VertexProperties > 0 {
		opt.Schema = &property.Schema{Edges: declared(g.EdgeProperties), Vertices: declared(g.VertexProperties)}
	}
	l := dyngraph.NewLoader(opt)
	require.NoError(t, l.Label("T"))
	for i := range g.Vertices {
		r := dyngraph.VertexRecord{ID: dyngraph.VertexID(i), Key: fmt.Sprintf("%0*d", g.KeyBytes, i)}
		r.Values = values(g.VertexProperties)
		require.NoError(t, l.Vertex(r))
	}
	rng, n := rand.New(rand.NewPCG(1, 1)), uint64(0)
	for i := range g.Vertices {
		to := make([]dyngraph.VertexID, g.Edges*(i+1)/g.Vertices-g.Edges*i/g.Vertices)
		for j := range to {
			if to[j] = dyngraph.VertexID(rng.Uint64N(g.Vertices)); !g.Directed {
				to[j] = max(to[j], dyngraph.VertexID(i))
			}
		}
		slices.Sort(to)
		for _, x := range slices.Compact(to) {
			if uint64(x) == i {
				continue
			}
			r := dyngraph.EdgeRecord{From: dyngraph.VertexID(i), Label: 1, To: x}
			if r.Attr.Values = values(g.EdgeProperties); g.IDBytes > 0 {
				r.Attr.ID = fmt.Sprintf("%0*d", g.IDBytes, n)
			}
			if g.Timestamps {
				r.Attr.TS, r.Attr.HasTS = 1_700_000_000_000+int64(n), true
			}
			require.NoError(t, l.Edge(r))
			n++
		}
	}
	loaded, err := l.Graph()
	require.NoError(t, err)
	return loaded, n
}

func declared(n uint64) property.Declarations {
	d := property.Declarations{property.Any: {}}
	for i := range n {
		d[property.Any][fmt.Sprint("p", i)] = property.Type{Kind: property.Int64}
	}
	return d
}

func values(n uint64) (v []property.Value) {
	for i := range n {
		v = append(v, property.Int(int64(i)))
	}
	return v
}

// TestHost loads graphs, and compares what they take with the estimate, which has the gaps of churn and the candidate
// bits beside it.
func TestHost(t *testing.T) {
	for name, g := range map[string]Graph{
		"dense":             {Edges: 120_000, Vertices: 600, Directed: true, KeyBytes: 14},
		"payments":          {Edges: 120_000, Vertices: 12_000, Directed: true, KeyBytes: 14},
		"as many vertices":  {Edges: 60_000, Vertices: 60_000, Directed: true, KeyBytes: 30},
		"undirected":        {Edges: 120_000, Vertices: 12_000, KeyBytes: 16},
		"timestamps":        {Edges: 120_000, Vertices: 12_000, Directed: true, KeyBytes: 14, Timestamps: true},
		"ids":               {Edges: 120_000, Vertices: 12_000, Directed: true, KeyBytes: 14, IDBytes: 20},
		"properties":        {Edges: 120_000, Vertices: 12_000, Directed: true, KeyBytes: 14, EdgeProperties: 3},
		"vertex properties": {Edges: 40_000, Vertices: 40_000, Directed: true, KeyBytes: 14, VertexProperties: 2},
		"all of edges": {Edges: 90_000, Vertices: 9_000, Directed: true, KeyBytes: 9, IDBytes: 14,
			Timestamps: true},
		"vertices, no edges": {Vertices: 60_000, Directed: true, KeyBytes: 14},
	} {
		t.Run(name, func(t *testing.T) {
			before := heap()
			loaded, n := load(t, g)
			took := heap() - before
			runtime.KeepAlive(loaded)
			g.Edges = n
			estimate := Sum(g.Host()) - 8*g.Vertices // candidate bits are not the graph's
			t.Logf("%d edges: %d bytes, estimated %d (%.2f)", n, took, estimate, float64(estimate)/float64(took))
			require.InDelta(t, 1.06, float64(estimate)/float64(took), 0.08)
		})
	}
}

// TestMostEdges holds the inverse to the estimate.
func TestMostEdges(t *testing.T) {
	g := Graph{Edges: 10_000_000, Vertices: 1_000_000, Directed: true}
	for _, bytes := range []uint64{16 << 30, 48 << 30} {
		n := g.MostEdges(bytes)
		at := Graph{Edges: n, Vertices: n / 10, Directed: true}
		require.InDelta(t, float64(bytes)*15/16, float64(Sum(at.Device())), 1e4)
	}
	require.Equal(t, uint64(dyngraph.NoEdge), g.MostEdges(1<<40))
	require.Zero(t, g.MostEdges(1<<20))
}
