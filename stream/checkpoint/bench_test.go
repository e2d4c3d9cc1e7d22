package checkpoint

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/stream"
)

// -edges sets the size of the graph that BenchmarkRecover loads:
//
//	go test ./stream/checkpoint -run '^$' -bench Recover -benchtime 1x -edges 10000000
var benchEdges = flag.Int("edges", 200_000, "edges of the graph that BenchmarkRecover loads")

// synthetic writes a checkpoint of a random directed graph without building the graph: ten edges to a vertex, keys of
// 12 bytes, two labels; with attributes, each edge has an id and a timestamp.
func synthetic(b *testing.B, dir string, edges int, attributes bool) {
	s, err := Open(dir, Options{Settings: Settings{Directed: true}})
	require.NoError(b, err)
	rng := newRand(1)
	st := s.state
	st.bootstrapped = true
	w := &tableWriter{db: s.db}
	put := func(key, value []byte) {
		st.digests.of(key).add(key, value)
		if err := w.set(key, value); err != nil {
			b.Fatal(err)
		}
	}
	n := edges / 10
	put(labelKey(nil, 1), []byte("Account"))
	put(labelKey(nil, 2), []byte("TRANSFER"))
	var key, value []byte
	for i := range n {
		v := dyngraph.VertexRecord{ID: dyngraph.VertexID(i), Key: fmt.Sprintf("acc-%08d", i), Label: 1}
		key, value = vertexKey(key[:0], v.ID), appendVertex(value[:0], &v)
		put(key, value)
	}
	to := make([]int, 0, 10)
	for i := range n {
		to = to[:0]
		for len(to) < 10 {
			if x := rng.IntN(n); x != i && !slices.Contains(to, x) {
				to = append(to, x)
			}
		}
		slices.Sort(to)
		for j, x := range to {
			key, value = edgeKey(key[:0], dyngraph.VertexID(i), 2, dyngraph.VertexID(x), ""), value[:0]
			if attributes {
				a := dyngraph.Attr{ID: fmt.Sprintf("tx-%d", i*10+j), HasTS: true, TS: 1_700_000_000_000 + int64(i)}
				value = appendAttr(value, &a)
			}
			put(key, value)
		}
	}
	require.NoError(b, w.close())
	require.NoError(b, w.set(keyState, withChecksum(keyState, appendState([]byte{codecVersion}, &st))))
	require.NoError(b, w.close())
	require.NoError(b, s.db.Ingest(context.Background(), w.paths))
	require.NoError(b, s.Close())
}

func BenchmarkRecover(b *testing.B) {
	for _, attributes := range []bool{false, true} {
		b.Run(fmt.Sprintf("edges=%d/attributes=%v", *benchEdges, attributes), func(b *testing.B) {
			dir := b.TempDir()
			synthetic(b, dir, *benchEdges, attributes)
			b.ResetTimer()
			for range b.N {
				s, err := Open(dir, Options{Settings: Settings{Directed: true}})
				require.NoError(b, err)
				st, err := s.Recover(context.Background())
				require.NoError(b, err)
				require.Equal(b, *benchEdges, st.Graph.Edges())
				b.StopTimer()
				require.NoError(b, s.Close())
				st = nil
				runtime.GC()
				b.StartTimer()
			}
			b.ReportMetric(float64(*benchEdges)*float64(b.N)/b.Elapsed().Seconds(), "edges/s")
			c, err := Info(dir, nil)
			require.NoError(b, err)
			b.ReportMetric(float64(c.DiskBytes)/float64(*benchEdges), "disk-B/edge")
		})
	}
}

func BenchmarkBootstrap(b *testing.B) {
	dir := b.TempDir()
	synthetic(b, dir, *benchEdges, true)
	s, err := Open(dir, Options{Settings: Settings{Directed: true}})
	require.NoError(b, err)
	st, err := s.Recover(context.Background())
	require.NoError(b, err)
	require.NoError(b, s.Close())
	b.ResetTimer()
	for i := range b.N {
		s, err := Open(fmt.Sprint(b.TempDir(), i), Options{Settings: Settings{Directed: true}})
		require.NoError(b, err)
		require.NoError(b, s.Bootstrap(context.Background(), st.Graph))
		require.NoError(b, s.Close())
	}
	b.ReportMetric(float64(*benchEdges)*float64(b.N)/b.Elapsed().Seconds(), "edges/s")
}

// BenchmarkBatch is the durable life of a batch of 1,000 updates: intent and commit, both synced, with a full log.
func BenchmarkBatch(b *testing.B) {
	const updates = 1000
	s, err := Open(b.TempDir(), Options{Settings: Settings{Directed: true}, Retention: Retention{Batches: 100}})
	require.NoError(b, err)
	g := dyngraph.NewGraph(dyngraph.Options{Directed: true})
	rng := newRand(2)
	b.ResetTimer()
	for i := range b.N {
		b.StopTimer()
		t := stream.Batch{Positions: stream.Positions{0: int64(i)}}
		t.Number = uint64(i + 1)
		t.Updates = randomUpdates(rng, updates, 5000)
		t.Updates, _ = g.Accept([]dyngraph.Message{{Updates: t.Updates}})
		mustStage(g, t.Updates)
		c := &stream.CommitInfo{Batch: t.Number, Effect: g.Effect(), Positions: t.Positions}
		g.Commit()
		b.StartTimer()
		require.NoError(b, s.Intent(b.Context(), &t))
		require.NoError(b, s.Commit(b.Context(), c))
	}
	b.ReportMetric(float64(updates*b.N)/b.Elapsed().Seconds(), "updates/s")
	require.NoError(b, s.Close())
}
