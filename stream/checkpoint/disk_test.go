package checkpoint

import (
	"strconv"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/stream"
)

// TestP4DiskIsBounded writes many times what retention keeps, over a graph of constant size, with tables as large as a daemon's: those that
// retention has emptied do not wait in the topmost level until there are hundreds of them.
func TestP4DiskIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes some hundred MiB")
	}
	const edges, batch, retention, record = 60_000, 10_000, 64 << 20, 13 + 3 + 100
	s, err := Open(testDir, Options{FS: vfs.NewMem(), Settings: Settings{Directed: true},
		Retention: Retention{Batches: 1 << 40, Bytes: retention}})
	require.NoError(t, err)
	g := dyngraph.NewGraph(dyngraph.Options{Directed: true})
	rng := newRand(5)
	written, most := int64(0), uint64(0)
	id := make([]byte, 100)
	for n := uint64(1); written < 400<<20; n++ {
		us := make([]dyngraph.Update, batch)
		for i := range us {
			from := rng.IntN(edges)
			for k := range id {
				id[k] = 'a' + byte(rng.IntN(26))
			}
			us[i] = dyngraph.Update{Op: dyngraph.InsertEdge, From: strconv.Itoa(from), To: strconv.Itoa((from + 1) % edges), Label: "T",
				Attr: dyngraph.Attr{ID: string(id)}}
		}
		b := stream.Batch{Positions: stream.Positions{0: int64(n)}}
		b.Number = n
		b.Updates, _ = g.Accept([]dyngraph.Message{{Updates: us}})
		mustStage(g, b.Updates)
		c := &stream.CommitInfo{Batch: n, Effect: g.Effect(), Positions: b.Positions}
		g.Commit()
		require.NoError(t, s.Intent(&b))
		require.NoError(t, s.Commit(c))
		written += 2 * batch * record // intent and effect
		m := s.db.Metrics()
		most = max(most, m.DiskSpaceUsage()-m.WAL.PhysicalSize)
	}
	require.NoError(t, s.Close())
	const bound = 2*(edges*record+retention) + waitingBytes
	t.Logf("at most %d MiB on disk, %d allowed", most>>20, bound>>20)
	require.LessOrEqual(t, most, uint64(bound))
}
