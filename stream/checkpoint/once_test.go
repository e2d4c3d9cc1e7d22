package checkpoint

import (
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/stream"
)

// randomMemory holds the keys that queries with once remember in a history.
type randomMemory map[onceEntry]int64

// change draws what a batch changes.
func (m randomMemory) change(rng *rand.Rand, queries []matcher.QueryState, info *stream.CommitInfo) {
	if len(queries) == 0 || info.Declaration != nil || info.Report == nil || rng.IntN(3) == 0 {
		return
	}
	for range rng.IntN(6) {
		e := onceEntry{query: queries[rng.IntN(len(queries))].Query.Name, clock: rng.IntN(4) == 0}
		if !e.clock {
			e.key[15] = byte(rng.IntN(4))
		}
		c := matcher.OnceChange{Query: e.query, Clock: e.clock, Key: e.key}
		c.Before.TS, c.Before.Known = m[e]
		if delete(m, e); rng.IntN(3) > 0 || !c.Before.Known {
			c.After = matcher.OnceTime{Known: true, TS: randomTS(rng)}
			m[e] = c.After.TS
		}
		info.Once = append(info.Once, c)
	}
	for i := range info.Report.Queries {
		info.Report.Queries[i].Once = rng.Uint64N(3)
	}
}

// apply takes over what a batch changes.
func (m randomMemory) apply(changes []matcher.OnceChange) {
	for i := range changes {
		c := &changes[i]
		if delete(m, entryOf(c)); c.After.Known {
			m[entryOf(c)] = c.After.TS
		}
	}
}

// with returns the queries with what they remember.
func (m randomMemory) with(queries []matcher.QueryState) []matcher.QueryState {
	return remembered(queries, m)
}

// TestOnceKeys reads keys as they are written, and refuses others.
func TestOnceKeys(t *testing.T) {
	for _, e := range []onceEntry{{query: "q", clock: true}, {query: "busy merchant", key: matcher.OnceKey{1, 15: 2}},
		{query: string(make([]byte, 255))}} {
		got, ok := parseOnce(onceKeyOf(&e))
		require.True(t, ok)
		require.Equal(t, e, got)
	}
	for _, key := range []string{"o", "o\x02q", "o\x01qx", "o\xff"} {
		_, ok := parseOnce([]byte(key))
		require.False(t, ok, "%q", key)
	}
}

// TestOnceDamaged: an entry that was changed behind the checkpoint's back is found on the way back to the base, and one
// that cannot be read at once.
func TestOnceDamaged(t *testing.T) {
	fs := vfs.NewMem()
	s, err := Open(testDir, Options{FS: fs, Retention: Retention{Batches: 9}})
	require.NoError(t, err)
	b := &stream.Batch{}
	b.Number = 1
	require.NoError(t, s.Intent(t.Context(), b))
	c := matcher.OnceChange{Query: "q", After: matcher.OnceTime{Known: true, TS: 7}}
	require.NoError(t, s.Commit(t.Context(), &stream.CommitInfo{Batch: 1, Effect: dyngraph.Effect{LabelsBefore: 1},
		Report: &stream.BatchReport{Batch: 1}, Once: []matcher.OnceChange{c}}))
	require.NoError(t, s.Close())
	v, err := Verify(t.Context(), testDir, fs, nil)
	require.NoError(t, err)
	require.Empty(t, v.Problems)

	for _, damage := range []struct {
		value []byte
		want  string
	}{{[]byte{onceVersion, 16}, `query "q" remembers 8 (true) of a key, where the batch left 7 (true)`},
		{nil, "checksum"}} {
		s, err = Open(testDir, Options{FS: fs, Retention: Retention{Batches: 9}})
		require.NoError(t, err)
		e := entryOf(&c)
		key := onceKeyOf(&e)
		value := []byte("broken")
		if damage.value != nil {
			value = withChecksum(key, damage.value)
		}
		require.NoError(t, s.db.Set(key, value, pebble.Sync))
		require.NoError(t, s.Close())
		v, err := Verify(t.Context(), testDir, fs, nil)
		require.NoError(t, err)
		require.Len(t, v.Problems, 1)
		require.Contains(t, v.Problems[0], damage.want)
	}
}
