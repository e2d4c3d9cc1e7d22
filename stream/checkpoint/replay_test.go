package checkpoint

import (
	"context"
	"fmt"
	"maps"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"motifd/stream"
)

// lived returns a file system on which the whole history has happened.
func lived(t testing.TB, h *history, r Retention, until int) vfs.FS {
	t.Helper()
	opt := testOptions(h, vfs.NewMem())
	opt.Retention = r
	s, err := Open(testDir, opt)
	require.NoError(t, err)
	for _, st := range h.steps[:until] {
		require.NoError(t, st.do(s), st.name)
	}
	require.NoError(t, s.Close())
	return opt.FS
}

// TestReplay: the base is the state that was there before the oldest logged batch, and stepping the logged batches
// from there gives every state that followed, ids and pending ids included (DESIGN P2).
func TestReplay(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			rng := newRand(200 + seed)
			h := newHistory(rng, 15, seed%2 == 0)
			until := len(h.steps) - rng.IntN(6)
			keep := rng.IntN(17)
			fs := lived(t, h, Retention{Batches: uint64(keep)}, until)
			r, err := OpenReplay(testDir, fs)
			require.NoError(t, err)
			committed, open := r.Len()
			last := int(r.control.state.batch)
			require.Equal(t, min(keep, last), committed)
			base, err := r.Base(context.Background())
			require.NoError(t, err)
			require.Equal(t, uint64(last-committed), base.Batch)
			at := base.Batch
			requireSame(t, h.graphs[at], dumpContent(base.Graph, base.Positions, base.Queries))
			again, err := r.Base(context.Background()) // a second one is as good
			require.NoError(t, err)
			requireSame(t, h.graphs[at], dumpContent(again.Graph, again.Positions, again.Queries))

			first, _ := r.Committed()
			require.Equal(t, at+1, first)
			for range 2 { // in any order
				b := at + rng.Uint64N(uint64(committed)+1)
				then, err := r.At(context.Background(), b)
				require.NoError(t, err)
				require.Equal(t, b, then.Batch)
				requireSame(t, h.graphs[b], dumpContent(then.Graph, then.Positions, then.Queries))
			}
			_, err = r.At(context.Background(), uint64(last)+1)
			require.ErrorContains(t, err, "the batch log goes from")

			memory := randomMemory(maps.Clone(r.past.once))
			n := 0
			for l, err := range r.Batches() {
				require.NoError(t, err)
				n++
				at++
				require.Equal(t, at, l.Number)
				require.Equal(t, n <= committed, l.Committed)
				require.Equal(t, "{}", l.Shape)
				if !l.Committed {
					continue // its suspensions may have come later
				}
				want := h.batches[at-1]
				requireSame(t, dumpOpen([]stream.Batch{want}), dumpOpen([]stream.Batch{l.Batch}))
				require.Equal(t, h.infos[at-1].Report, l.Report)
				stageLogged(base.Graph, &l.Batch)
				base.Graph.Commit()
				queries := h.infos[at-1].Queries
				if queries == nil {
					queries = base.Queries
				}
				memory.apply(h.infos[at-1].Once)
				base.Queries = memory.with(queries)
				requireSame(t, h.graphs[at], dumpContent(base.Graph, l.Positions, base.Queries))
			}
			require.Equal(t, committed+open, n)
			require.NoError(t, r.Close())
			requireSound(t, fs)
		})
	}
}

// TestRetention: the log holds what was asked for, and the rest goes.
func TestRetention(t *testing.T) {
	h := newHistory(newRand(31), 20, false)
	size := func(r Retention) (batches int, bytes int64) {
		c, err := Info(testDir, lived(t, h, r, len(h.steps)))
		require.NoError(t, err)
		return c.LogBatches, c.LogBytes
	}
	all, allBytes := size(Retention{Batches: 1 << 40})
	require.Equal(t, 20, all)
	none, noBytes := size(Retention{})
	require.Zero(t, none)
	require.Zero(t, noBytes)
	some, _ := size(Retention{Batches: 7})
	require.Equal(t, 7, some)
	for _, limit := range []int64{1, 500, 3000, 8000, allBytes - 1, allBytes} {
		n, bytes := size(Retention{Batches: 1 << 40, Bytes: limit})
		require.LessOrEqual(t, bytes, limit)
		if limit == allBytes {
			require.Equal(t, 20, n)
		} else {
			require.Less(t, n, 20)
		}
	}
	// What is in memory agrees with what is stored, also when retention shrinks over a restart.
	opt := testOptions(h, lived(t, h, Retention{Batches: 1 << 40}, len(h.steps)-1))
	opt.Retention = Retention{Batches: 4}
	s, err := Open(testDir, opt)
	require.NoError(t, err)
	require.NoError(t, h.steps[len(h.steps)-1].do(s))
	committed := s.log.committed
	bytes := s.log.bytes
	require.NoError(t, s.Close())
	require.Len(t, committed, 4)
	c, err := Info(testDir, opt.FS)
	require.NoError(t, err)
	require.Equal(t, bytes, c.LogBytes)
	require.Equal(t, uint64(17), c.LogFirst)
	require.Equal(t, uint64(20), c.LogLast)
}

// TestOverlayOnDisk undoes through a temporary directory.
func TestOverlayOnDisk(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	h := newHistory(newRand(41), 10, true)
	db, c, err := openExisting(testDir, lived(t, h, Retention{Batches: 6}, len(h.steps)))
	require.NoError(t, err)
	c.log.bytes = overlayInMemory + 1
	past, err := undoLog(context.Background(), db, c, 0, nil)
	require.NoError(t, err)
	require.NotEmpty(t, past.content.tmp)
	g, err := loadGraph(context.Background(), past.content, h.options(), &past.state)
	require.NoError(t, err)
	requireSame(t, h.graphs[4], dumpContent(g, past.state.positions, remembered(past.queries, past.once)))
	require.NoError(t, past.content.close())
	require.NoDirExists(t, past.content.tmp)
	require.NoError(t, db.Close())
}

// TestOverlayFails: a temporary directory that is full does not lead to a wrong base.
func TestOverlayFails(t *testing.T) {
	h := newHistory(newRand(42), 10, true)
	db, c, err := openExisting(testDir, lived(t, h, Retention{Batches: 6}, len(h.steps)))
	require.NoError(t, err)
	past, err := undoLog(context.Background(), db, c, 0, nil)
	require.NoError(t, err)
	past.content.fault.trip("write", "tmp", syscall.ENOSPC)
	_, err = loadGraph(context.Background(), past.content, h.options(), &past.state)
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.NoError(t, past.content.add(1, 1, vertexKey(nil, 1), nil, nil))
	require.ErrorIs(t, past.content.flush(), syscall.ENOSPC)
	require.NoError(t, past.content.close())
	require.NoError(t, db.Close())
}

// TestRetentionByTime goes by a clock of its own: a batch stays in the log for an hour after its commit, over restarts,
// and goes with the first commit after that. A batch whose time is not known, of an older version, is taken for as old
// as the one after it.
func TestRetentionByTime(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	h := newHistory(newRand(8), 12, false)
	opt := testOptions(h, vfs.NewMem())
	opt.Retention = Retention{Batches: 1000, Time: time.Hour}
	opt.Now = func() time.Time { return now }
	var commits []time.Time
	batches := func() (out []uint64) {
		s, err := Open(testDir, opt)
		require.NoError(t, err)
		for _, e := range s.log.committed {
			out = append(out, e.batch)
		}
		require.NoError(t, s.Close())
		return out
	}
	for _, st := range h.steps {
		s, err := Open(testDir, opt)
		require.NoError(t, err)
		before := s.state.batch
		require.NoError(t, st.do(s))
		if s.state.batch > before {
			commits = append(commits, now)
			var want []uint64
			for i, at := range commits {
				if now.Sub(at) < time.Hour {
					want = append(want, uint64(i)+1)
				}
			}
			require.NoError(t, s.Close())
			require.Equal(t, want, batches())
			info, err := Info(testDir, opt.FS)
			require.NoError(t, err)
			require.Equal(t, commits[want[0]-1], info.LogSince)
			now = now.Add(17 * time.Minute)
			continue
		}
		require.NoError(t, s.Close())
	}
	require.Greater(t, len(commits), 5)

	last := uint64(len(commits))
	now = now.Add(24 * time.Hour)
	require.Contains(t, batches(), last, "nothing goes without a commit")

	l := logIndex{committed: []logEntry{{batch: 1}, {batch: 2}, {batch: 3, at: 30}, {batch: 4}}}
	l.fillTimes(50)
	require.Equal(
		t,
		[]logEntry{{batch: 1, at: 30}, {batch: 2, at: 30}, {batch: 3, at: 30}, {batch: 4, at: 50}},
		l.committed,
	)
}
