package checkpoint

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"

	"motifd/matcher"
)

// TestFormat1IsRead opens a checkpoint that a motifd of format 1 wrote: two queries, of which batch 3 suspended one,
// and five edges. What that motifd did not know is unknown; the first opening for writing
// makes it of the present format.
func TestFormat1IsRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "format1"))))
	info, err := Info(dir, nil)
	require.NoError(t, err)
	require.Equal(t, 1, info.Format)
	require.EqualValues(t, 5, info.Batch)
	require.Zero(t, info.LogSince, "the log has no times")
	v, err := Verify(t.Context(), dir, nil, nil)
	require.NoError(t, err)
	require.Empty(t, v.Problems)

	r, err := OpenReplay(dir, nil)
	require.NoError(t, err)
	decided := map[uint64][]matcher.Decision{}
	for l, err := range r.Batches() {
		require.NoError(t, err)
		if len(l.Decisions) > 0 {
			decided[l.Number] = l.Decisions
		}
	}
	require.Equal(t, map[uint64][]matcher.Decision{3: {{Query: "hungry", Version: 1, Sign: 1, Order: 1,
		Action: matcher.Suspend, Cause: matcher.CauseSteps}}}, decided)
	require.NoError(t, r.Close())

	for range 2 {
		s, err := Open(dir, Options{Settings: info.Settings})
		require.NoError(t, err)
		require.Equal(t, pebble.FormatMajorVersion(formatMajorVersion), s.db.FormatMajorVersion())
		state, err := s.Recover(t.Context())
		require.NoError(t, err)
		require.Equal(t, 5, state.Graph.Edges())
		require.EqualValues(t, 5, state.Batch)
		require.Empty(t, state.Open)
		require.Len(t, state.Queries, 2)
		for _, q := range state.Queries {
			require.Equal(t, q.Query.Name == "hungry", q.Suspended)
			require.Zero(t, q.LossySince)
		}
		topic, err := s.InputTopicID()
		require.NoError(t, err)
		require.Empty(t, topic)
		require.NoError(t, s.Close())
	}
	info, err = Info(dir, nil)
	require.NoError(t, err)
	require.Equal(t, plainFormat, info.Format)
	v, err = Verify(t.Context(), dir, nil, nil)
	require.NoError(t, err)
	require.Empty(t, v.Problems)
}
