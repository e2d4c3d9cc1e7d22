package checkpoint

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher/matchertest"
)

// TestVerifyFindsDamage damages one thing at a time.
func TestVerifyFindsDamage(t *testing.T) {
	matchertest.NotUnderRace(t, "it has one goroutine")
	first := func(db *database, s byte) (key, value []byte) {
		lower, upper := space(s)
		it, err := db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
		require.NoError(t, err)
		require.True(t, it.First())
		key, value = append(key, it.Key()...), append([]byte{}, it.Value()...)
		require.NoError(t, it.Close())
		return key, value
	}
	stateWith := func(c *control, change func(*state)) []byte {
		change(&c.state)
		return withChecksum(keyState, appendState([]byte{codecVersion}, &c.state))
	}
	for name, d := range map[string]struct {
		damage  func(db *database, c *control, b *pebble.Batch)
		problem string
		loads   bool // Recover does not notice
	}{
		"edge lost": {func(db *database, _ *control, b *pebble.Batch) {
			k, _ := first(db, spaceEdge)
			require.NoError(t, b.Delete(k, nil))
		}, "edges instead of", false},
		"edge altered": {func(db *database, _ *control, b *pebble.Batch) {
			k, v := first(db, spaceEdge)
			a := dyngraph.Attr{Props: append(bytes.Clone(v), "another"...)}
			require.NoError(t, b.Set(k, appendAttr(nil, &a), nil))
		}, "digest of the", false},
		"attributes cut": {func(db *database, _ *control, b *pebble.Batch) {
			k, _ := first(db, spaceEdge)
			require.NoError(t, b.Set(k, []byte{attrID, 200}, nil))
		}, "cannot be decoded", false},
		"value of no declared type": {func(db *database, _ *control, b *pebble.Batch) {
			k, _ := first(db, spaceEdge)
			a := dyngraph.Attr{Values: []property.Value{property.Units(1, 17)}}
			require.NoError(t, b.Set(k, appendAttr(nil, &a), nil))
		}, "has a value", false},
		"edge to nowhere": {func(db *database, _ *control, b *pebble.Batch) {
			require.NoError(t, b.Set(edgeKey(nil, 0, 0, 4000, ""), nil, nil))
		}, "ends at vertex 4000", false},
		"vertex lost": {func(db *database, _ *control, b *pebble.Batch) {
			k, _ := first(db, spaceVertex)
			require.NoError(t, b.Delete(k, nil))
		}, "vertices instead of", false},
		"key twice": {func(db *database, _ *control, b *pebble.Batch) {
			_, v := first(db, spaceVertex)
			require.NoError(t, b.Set(vertexKey(nil, 5000), v, nil))
		}, "is there twice", false},
		"label out of range": {func(db *database, _ *control, b *pebble.Batch) {
			require.NoError(t, b.Set(vertexKey(nil, 5000),
				appendVertex(nil, &dyngraph.VertexRecord{Key: "x", Label: 999}), nil))
		}, "label 999", false},
		"label missing": {func(db *database, _ *control, b *pebble.Batch) {
			k, _ := first(db, spaceLabel)
			require.NoError(t, b.Delete(k, nil))
		}, "where label 1 was expected", false},
		"pending in use": {func(db *database, c *control, b *pebble.Batch) {
			k, _ := first(db, spaceVertex)
			id, _ := parseID(k)
			require.NoError(t, b.Set(keyState,
				stateWith(c, func(s *state) { s.older = append(s.older, dyngraph.VertexID(id)) }), nil))
		}, "pending and in use", false},
		"pending lost": {func(db *database, c *control, b *pebble.Batch) {
			require.NoError(t, b.Set(keyState, stateWith(c, func(s *state) { s.newer = append(s.newer, 77777) }), nil))
		}, "pending from the batch", true},
		"state garbled": {func(db *database, _ *control, b *pebble.Batch) {
			require.NoError(t, b.Set(keyState, []byte("garbage"), nil))
		}, "checksum", false},
		"log entry lost": {func(db *database, c *control, b *pebble.Batch) {
			n := c.log.committed[1].batch
			require.NoError(t, b.DeleteRange(logKey(n, 0), logKey(n+1, 0), nil))
		}, "the log goes from", false},
		"intent lost": {func(db *database, c *control, b *pebble.Batch) {
			require.NoError(t, b.Delete(logKey(c.log.committed[1].batch, partIntent), nil))
		}, "has no intent", false},
		"effect lost": {func(db *database, c *control, b *pebble.Batch) {
			require.NoError(t, b.Delete(logKey(c.log.committed[1].batch, partDone), nil))
		}, "committed is false", false},
		"effect garbled": {func(db *database, c *control, b *pebble.Batch) {
			require.NoError(t, b.Set(logKey(c.log.committed[1].batch, partDone), []byte("garbage"), nil))
		}, "checksum", true},
		"effects swapped": {func(db *database, c *control, b *pebble.Batch) {
			x, y := logKey(c.log.committed[1].batch, partDone), logKey(c.log.committed[2].batch, partDone)
			v, _, err := db.get(x)
			require.NoError(t, err)
			require.NoError(t, b.Set(y, v, nil))
		}, "checksum", true},
		"effect that does not fit": {func(db *database, c *control, b *pebble.Batch) {
			k := logKey(c.log.committed[2].batch, partDone)
			o, err := db.readDone(c.log.committed[2].batch)
			require.NoError(t, err)
			o.effect.Inserted = append(o.effect.Inserted,
				dyngraph.EdgeRecord{From: 1, To: 2, Label: 1, Attr: dyngraph.Attr{ID: "never"}})
			v, err := appendDone([]byte{o.version()}, o)
			require.NoError(t, err)
			require.NoError(t, b.Set(k, withChecksum(k, v), nil))
		}, "undoing batch", true},
		"stranger in the log": {func(db *database, c *control, b *pebble.Batch) {
			require.NoError(t, b.Set([]byte{spaceLog, 1, 2, 3}, nil, nil))
		}, "the log has a key", false},
		"suspension lost": {func(db *database, c *control, b *pebble.Batch) {
			k := decisionKey(c.log.committed[0].batch, 7)
			require.NoError(t, b.Set(k, withChecksum(k, []byte{codecVersion}), nil))
		}, "is missing", false},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHistory(newRand(71), 14, true)
			fs := lived(t, h, Retention{Batches: 6}, len(h.steps))
			requireSound(t, fs)
			db, err := openDatabase(testDir, Options{FS: fs})
			require.NoError(t, err)
			c, err := readControl(db)
			require.NoError(t, err)
			b := db.NewBatch()
			d.damage(db, c, b)
			require.NoError(t, db.apply(b))
			require.NoError(t, b.Close())
			require.NoError(t, db.Close())

			v, err := Verify(context.Background(), testDir, fs, nil)
			require.NoError(t, err)
			require.Contains(t, strings.Join(v.Problems, "\n"), d.problem)
			s, err := Open(testDir, testOptions(h, fs))
			if err == nil {
				_, err = s.Recover(context.Background())
				require.NoError(t, s.Close())
			}
			if d.loads {
				require.NoError(t, err)
			} else {
				require.Error(t, err)
			}
		})
	}
}

func TestVerifyProgress(t *testing.T) {
	h := newHistory(newRand(72), 6, true)
	fs := lived(t, h, Retention{Batches: 6}, len(h.steps)-1)
	seen := map[string]Progress{}
	v, err := Verify(context.Background(), testDir, fs, func(p Progress) {
		require.LessOrEqual(t, p.Done, p.Total)
		seen[p.Stage] = p
	})
	require.NoError(t, err)
	require.Empty(t, v.Problems)
	c, err := Info(testDir, fs)
	require.NoError(t, err)
	require.Equal(t, c.Edges, v.Edges)
	require.Equal(t, c.Vertices, v.Vertices)
	require.Equal(t, c.Labels, v.Labels)
	require.Equal(t, uint64(c.LogBatches+len(c.Open)), v.Batches)
	for _, stage := range []string{"labels", "vertices", "edges", "log", "undo", "base"} {
		require.Equal(t, seen[stage].Total, seen[stage].Done, stage)
	}
}

func TestVerifyCountsManyProblems(t *testing.T) {
	fs := vfs.NewMem()
	s, err := Open(testDir, Options{FS: fs})
	require.NoError(t, err)
	b := s.db.NewBatch()
	for i := range dyngraph.VertexID(MaxProblems) {
		require.NoError(t, b.Set(edgeKey(nil, i, 0, i+1, ""), nil, nil))
	}
	require.NoError(t, s.db.apply(b))
	require.NoError(t, b.Close())
	require.NoError(t, s.Close())
	v, err := Verify(context.Background(), testDir, fs, nil)
	require.NoError(t, err)
	require.Len(t, v.Problems, MaxProblems)
	require.Equal(t, uint64(MaxProblems+1), v.More) // two ends each, and the digest
}
