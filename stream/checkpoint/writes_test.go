package checkpoint

import (
	"bytes"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
)

// TestWritesAreSorted: by way of writes a batch gets the same content as directly, and its keys ascend.
func TestWritesAreSorted(t *testing.T) {
	for seed := range uint64(20) {
		rng := newRand(seed)
		db, err := pebble.Open("", &pebble.Options{FS: vfs.NewMem(), Logger: logger{&fault{}}})
		require.NoError(t, err)
		direct, sorted := db.NewBatch(), db.NewBatch()
		var w writes
		long := rng.IntN(4) == 0 // several runs
		for range rng.IntN(4000) {
			var key, value []byte
			switch rng.IntN(4) {
			case 0:
				key = vertexKey(nil, dyngraph.VertexID(rng.IntN(300)))
			default:
				key = edgeKey(nil, dyngraph.VertexID(rng.IntN(300)), dyngraph.LabelID(rng.IntN(3)),
					dyngraph.VertexID(rng.IntN(300)), []string{"", "a"}[rng.IntN(2)])
			}
			if rng.IntN(3) > 0 {
				value = bytes.Repeat([]byte{byte(rng.IntN(256))}, rng.IntN(40))
				if long {
					value = append(value, make([]byte, 1500)...)
				}
			}
			if value == nil {
				require.NoError(t, direct.Delete(key, nil))
			} else {
				require.NoError(t, direct.Set(key, value, nil))
			}
			require.NoError(t, w.add(sorted, key, value))
		}
		require.NoError(t, w.flush(sorted))
		require.Equal(t, direct.Count(), sorted.Count(), "seed %d", seed)
		want, _ := content(t, direct)
		got, runs := content(t, sorted)
		require.Equal(t, want, got, "seed %d", seed)
		require.LessOrEqual(t, runs, sorted.Len()/writesRun+1, "seed %d: the keys descend more often than runs end",
			seed)
		require.NoError(t, direct.Close())
		require.NoError(t, sorted.Close())
		require.NoError(t, db.Close())
	}
}

// content returns what a batch leaves of each key, and in how many runs the first bytes of its keys ascend.
func content(t *testing.T, b *pebble.Batch) (left map[string]string, runs int) {
	left, runs = map[string]string{}, 1
	var last []byte
	r := b.Reader()
	for {
		kind, key, value, ok, err := r.Next()
		require.NoError(t, err)
		if !ok {
			return left, runs
		}
		left[string(key)] = kind.String() + " " + string(value)
		first := slices.Clone(key[:min(len(key), 8)])
		if bytes.Compare(first, last) < 0 {
			runs++
		}
		last = first
	}
}
