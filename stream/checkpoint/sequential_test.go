package checkpoint

import (
	"context"
	"flag"
	"strconv"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/stream"
)

// -logged sets the edges that BenchmarkVerify has in its graph and, once, in its log.
var benchLogged = flag.Int("logged", 100_000, "edges of the graph and of the log that BenchmarkVerify reads")

// logged makes a checkpoint whose log holds every edge of its graph, in batches of so many.
func logged(t testing.TB, dir string, fs vfs.FS, edges, batch int) {
	s, err := Open(dir, Options{FS: fs, Settings: Settings{Directed: true}, Retention: Retention{Batches: 1 << 40}})
	require.NoError(t, err)
	g := dyngraph.NewGraph(dyngraph.Options{Directed: true})
	rng := newRand(3)
	for n := uint64(1); g.Edges() < edges; n++ {
		b := stream.Batch{Positions: stream.Positions{0: int64(n)}}
		b.Number = n
		us := make([]dyngraph.Update, batch)
		for i := range us {
			from := rng.IntN(edges / 4)
			to := (from + 1 + rng.IntN(edges/4-1)) % (edges / 4) // no self-loop
			us[i] = dyngraph.Update{Op: dyngraph.InsertEdge, From: strconv.Itoa(from), To: strconv.Itoa(to), Label: "T"}
		}
		b.Updates, _ = g.Accept([]dyngraph.Message{{Updates: us}})
		mustStage(g, b.Updates)
		c := &stream.CommitInfo{Batch: n, Effect: g.Effect(), Positions: b.Positions}
		g.Commit()
		require.NoError(t, s.Intent(t.Context(), &b))
		require.NoError(t, s.Commit(t.Context(), c))
	}
	require.NoError(t, s.Close())
}

// TestVerifyAndBaseReadInOrder: neither looks up more than some records of each batch, however many edges the log has.
func TestVerifyAndBaseReadInOrder(t *testing.T) {
	fs := vfs.NewMem()
	logged(t, testDir, fs, 4000, 500)
	db, c, err := openExisting(testDir, fs)
	require.NoError(t, err)
	batches := uint64(len(c.log.committed))
	require.Greater(t, batches, uint64(5))
	v := &verifier{ctx: context.Background(), out: new(Verification), progress: func(Progress) {}, db: db, c: c}
	opened := db.gets.Load()
	require.NoError(t, v.run())
	require.Empty(t, v.out.Problems)
	require.LessOrEqual(t, db.gets.Load()-opened, 4*batches)
	require.NoError(t, db.Close())

	r, err := OpenReplay(testDir, fs)
	require.NoError(t, err)
	opened = r.db.gets.Load()
	base, err := r.Base(context.Background())
	require.NoError(t, err)
	require.Zero(t, base.Graph.Edges())
	require.LessOrEqual(t, r.db.gets.Load()-opened, batches)
	require.NoError(t, r.Close())
}

func BenchmarkVerify(b *testing.B) {
	dir := b.TempDir()
	logged(b, dir, nil, *benchLogged, 10_000)
	b.ResetTimer()
	for range b.N {
		v, err := Verify(context.Background(), dir, nil, nil)
		require.NoError(b, err)
		require.Empty(b, v.Problems)
		b.ReportMetric(float64(v.Edges), "edges")
		begin := time.Now()
		r, err := OpenReplay(dir, nil)
		require.NoError(b, err)
		_, err = r.Base(context.Background())
		require.NoError(b, err)
		require.NoError(b, r.Close())
		b.ReportMetric(time.Since(begin).Seconds(), "base-s")
	}
}
