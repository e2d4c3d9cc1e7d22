package checkpoint

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/stream"
)

// TestSuspendIsKeptUntilItIsDone: a request outlives a crash, names what is registered or about to be, and goes with
// the commit of the batch that suspends the query.
func TestSuspendIsKeptUntilItIsDone(t *testing.T) {
	opt := Options{
		Settings:  Settings{Directed: true, Input: "in", Output: "out"},
		FS:        vfs.NewMem(),
		Retention: Retention{Batches: 10},
	}
	_, err := Suspend(testDir, opt.FS, "q")
	require.ErrorIs(t, err, ErrNone)
	s, err := Open(testDir, opt)
	require.NoError(t, err)
	q := &matcher.Query{Name: "q", Version: 1}
	b := &stream.Batch{Positions: stream.Positions{}}
	b.Number, b.Change = 1, &matcher.QueryChange{Add: q}
	require.NoError(t, s.Intent(t.Context(), b))
	_, err = Suspend(testDir, opt.FS, "q")
	require.ErrorIs(t, err, stream.ErrLocked)
	require.NoError(t, s.Close())

	_, err = Suspend(testDir, opt.FS, "other")
	require.ErrorIs(t, err, matcher.ErrNoQuery)
	require.ErrorContains(t, err, `"other"; it has "q"`)
	for range 2 {
		got, err := Suspend(testDir, opt.FS, "q")
		require.NoError(t, err)
		require.Equal(t, Suspension{Open: []uint64{1}}, got)
	}
	info, err := Info(testDir, opt.FS)
	require.NoError(t, err)
	require.Equal(t, []string{"q"}, info.Suspend)

	commit := func(s *Store, batch uint64, queries ...matcher.QueryState) {
		require.NoError(
			t,
			s.Commit(t.Context(), &stream.CommitInfo{Batch: batch, Effect: dyngraph.Effect{LabelsBefore: 1},
				Queries: queries,
				Report:  &stream.BatchReport{Batch: batch}}),
		)
	}
	s, err = Open(testDir, opt)
	require.NoError(t, err)
	require.Equal(t, []string{"q"}, s.ToSuspend())
	commit(s, 1, matcher.QueryState{Query: q})
	require.Equal(t, []string{"q"}, s.ToSuspend(), "it is registered and active")
	b = &stream.Batch{Positions: stream.Positions{}}
	b.Number = 2
	require.NoError(t, s.Intent(t.Context(), b))
	commit(s, 2, matcher.QueryState{Query: q, Suspended: true, SuspendedBy: "operator"})
	require.Empty(t, s.ToSuspend())
	require.NoError(t, s.Close())
	s, err = Open(testDir, opt)
	require.NoError(t, err)
	require.Empty(t, s.ToSuspend())
	require.NoError(t, s.Close())
	got, err := Suspend(testDir, opt.FS, "q")
	require.NoError(t, err)
	require.True(t, got.Already)
	info, err = Info(testDir, opt.FS)
	require.NoError(t, err)
	require.Empty(t, info.Suspend)
}
