package checkpoint

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/stream"
)

func TestSettingsThatDiffer(t *testing.T) {
	h := newHistory(newRand(61), 2, false)
	fs := lived(t, h, Retention{}, len(h.steps))
	for field, change := range map[string]func(*Settings){
		"directed":    func(s *Settings) { s.Directed = !s.Directed },
		"decoding":    func(s *Settings) { s.Decoding = "csv" },
		"input":       func(s *Settings) { s.Input = "topic other" },
		"output":      func(s *Settings) { s.Output = "topic other" },
		"output_mode": func(s *Settings) { s.Mode = "upsert" },
	} {
		opt := testOptions(h, fs)
		stored := opt.Settings
		change(&opt.Settings)
		_, err := Open(testDir, opt)
		require.ErrorIs(t, err, ErrSettings)
		var e *SettingsError
		require.ErrorAs(t, err, &e)
		require.Len(t, e.Field, 1)
		require.Equal(t, field, e.Field[0].Field)
		require.NotEqual(t, e.Field[0].Stored, e.Field[0].Configured)
		require.ErrorContains(t, err, e.Field[0].Stored)
		require.ErrorContains(t, err, e.Field[0].Configured)
		require.ErrorContains(t, err, "checkpoint.dir")
		cannot := field == "directed" || field == "input" // that Migrate changes
		require.Equal(t, !cannot, strings.Contains(err.Error(), "migrate"), field)
		opt.ReadOnly = true // reading needs no configuration
		s, err := Open(testDir, opt)
		require.NoError(t, err)
		got := s.Settings()
		stored.Properties, stored.Declaration = got.Properties, got.Declaration // a batch has changed them
		require.Equal(t, stored, got)
		require.NoError(t, s.Close())
	}
}

// TestUnusedCheckpointTakesOnSettings: a first start that failed leaves a checkpoint that no setting is bound to.
func TestUnusedCheckpointTakesOnSettings(t *testing.T) {
	h := newHistory(newRand(61), 2, false)
	opt := testOptions(h, vfs.NewMem())
	s, err := Open(testDir, opt)
	require.NoError(t, err)
	stream := s.StreamID()
	require.NoError(t, s.Close())
	opt.Settings.Input, opt.Settings.Output, opt.Settings.Decoding = "topic other", "topic out", "csv"
	opt.Settings.Directed = !opt.Settings.Directed
	for range 2 {
		s, err = Open(testDir, opt)
		require.NoError(t, err)
		require.Equal(t, opt.Settings, s.Settings())
		require.Equal(t, stream, s.StreamID())
		require.NoError(t, s.Close())
	}
}

// TestS23PropertiesOfTheConfiguration: a checkpoint keeps what it declares until a batch changes it. One that is unused
// takes on what is configured.
func TestS23PropertiesOfTheConfiguration(t *testing.T) {
	whole, money := property.Type{Kind: property.Int64}, property.Type{Kind: property.Decimal, Scale: 2}
	stored := &property.Schema{Edges: property.Declarations{"T": {"amount": money, "n": whole}}}
	for name, c := range map[string]struct{ stored, configured *property.Schema }{
		"another type":  {stored, &property.Schema{Edges: property.Declarations{"T": {"amount": whole, "n": whole}}}},
		"none any more": {stored, nil},
		"none before":   {nil, stored},
	} {
		t.Run(name, func(t *testing.T) {
			opt := Options{FS: vfs.NewMem(), Settings: Settings{Properties: c.configured}}
			for _, unused := range []bool{true, true, false} {
				s, err := Open(testDir, opt)
				require.NoError(t, err)
				want := c.stored
				if unused {
					want = opt.Settings.Properties
				}
				require.Equal(t, want, s.Settings().Properties)
				if unused && opt.Settings.Properties == c.stored {
					require.NoError(t, s.Bootstrap(t.Context(), dyngraph.NewGraph(dyngraph.Options{Schema: c.stored})))
					opt.Settings.Properties = c.configured
				} else {
					opt.Settings.Properties = c.stored
				}
				require.NoError(t, s.Close())
			}
		})
	}
	s, err := Open(testDir, Options{FS: vfs.NewMem(), Settings: Settings{Properties: stored}})
	require.NoError(t, err)
	err = s.Bootstrap(context.Background(), dyngraph.NewGraph(dyngraph.Options{}))
	require.ErrorContains(t, err, "declares other properties")
	require.NoError(t, s.Close())
}

// TestEdgeIdentityIsKept opens a checkpoint whose edges are identified by their ends, or by ids, too, under the other
// identity.
func TestEdgeIdentityIsKept(t *testing.T) {
	for _, ids := range []bool{false, true} {
		opt := Options{FS: vfs.NewMem(), Settings: Settings{EdgeIDs: ids}}
		s, err := Open(testDir, opt)
		require.NoError(t, err)
		require.ErrorContains(t, s.Bootstrap(t.Context(), dyngraph.NewGraph(dyngraph.Options{EdgeIDs: !ids})),
			"an edge of the graph is")
		require.NoError(t, s.Bootstrap(t.Context(), dyngraph.NewGraph(dyngraph.Options{EdgeIDs: ids})))
		require.NoError(t, s.Close())
		opt.Settings.EdgeIDs = !ids
		_, err = Open(testDir, opt)
		require.ErrorContains(t, err, fmt.Sprintf("graph.edge_identity is %s there and %s in the configuration",
			identity(ids), identity(!ids)))
	}
}

// TestFormat2IsRead opens a checkpoint that a motifd of format 2 wrote, which knew no declared properties: one query
// and one edge, which batch 3 renewed. Properties that are configured are declared by the pipeline, not at once.
func TestFormat2IsRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "format2"))))
	info, err := Info(dir, nil)
	require.NoError(t, err)
	require.Equal(t, 2, info.Format)
	require.Nil(t, info.Settings.Properties)
	opt := Options{Settings: info.Settings, Retention: Retention{Batches: 9}}
	declared := opt
	declared.Settings.Properties = testSchema
	for _, opt := range []Options{declared, opt} {
		s, err := Open(dir, opt)
		require.NoError(t, err)
		state, err := s.Recover(t.Context())
		require.NoError(t, err)
		require.Len(t, state.Queries, 1)
		view := state.Graph.View(dyngraph.New)
		edges := slices.Collect(view.EdgesSeq())
		require.Len(t, edges, 1)
		require.Equal(t, dyngraph.Attr{ID: "1", TS: 3, HasTS: true, Props: []byte(`{"amount":12.5}`)},
			view.Attr(edges[0]))
		require.NoError(t, s.Close())
	}
	v, err := Verify(t.Context(), dir, nil, nil)
	require.NoError(t, err)
	require.Empty(t, v.Problems)
	info, err = Info(dir, nil)
	require.NoError(t, err)
	require.Equal(t, plainFormat, info.Format)
}

// TestShape: what shapes records may change between runs, but not under a batch in progress, and the log remembers it.
func TestShape(t *testing.T) {
	h := newHistory(newRand(62), 2, false)
	opt := testOptions(h, vfs.NewMem())
	opt.Settings.Directed, opt.Settings.EdgeIDs, opt.Settings.Properties = h.directed, h.edgeIDs, h.schema
	run := func(shape string, do func(s *Store) error) error {
		opt.Settings.Shape = shape
		s, err := Open(testDir, opt)
		if err != nil {
			return err
		}
		require.NoError(t, do(s))
		return s.Close()
	}
	require.NoError(t, run("one", func(s *Store) error { return s.Intent(t.Context(), &h.batches[0]) }))
	err := run("two", nil)
	require.ErrorIs(t, err, ErrSettings)
	require.ErrorContains(t, err, "Batch 1 is in progress")
	require.NoError(t, run("one", func(s *Store) error { return s.Commit(t.Context(), h.infos[0]) }))
	require.NoError(t, run("two", func(s *Store) error { return s.Intent(t.Context(), &h.batches[1]) }))
	r, err := OpenReplay(testDir, opt.FS)
	require.NoError(t, err)
	require.Equal(t, "two", r.Settings().Shape)
	var shapes []string
	for l, err := range r.Batches() {
		require.NoError(t, err)
		shapes = append(shapes, l.Shape)
	}
	require.Equal(t, []string{"one", "two"}, shapes)
	require.NoError(t, r.Close())
}

func TestOtherFormat(t *testing.T) {
	fs := vfs.NewMem()
	s, err := Open(testDir, Options{FS: fs})
	require.NoError(t, err)
	require.NoError(t, s.db.Set(keyFormat, binary.AppendUvarint([]byte("motifd"), Format+1), pebble.Sync))
	require.NoError(t, s.Close())
	for _, ro := range []bool{false, true} {
		_, err = Open(testDir, Options{FS: fs, ReadOnly: ro})
		require.ErrorIs(t, err, ErrFormat)
		require.ErrorContains(t, err, "format 7, and this motifd reads formats up to 6")
	}
	_, err = Info(testDir, fs)
	require.ErrorIs(t, err, ErrFormat)
	_, err = Verify(context.Background(), testDir, fs, nil)
	require.ErrorIs(t, err, ErrFormat)
}

func TestForeignDatabase(t *testing.T) {
	fs := vfs.NewMem()
	db, err := pebble.Open(testDir, &pebble.Options{FS: fs, Logger: logger{&fault{}}})
	require.NoError(t, err)
	require.NoError(t, db.Set([]byte("somebody"), []byte("else"), pebble.Sync))
	require.NoError(t, db.Close())
	_, err = Open(testDir, Options{FS: fs})
	require.ErrorIs(t, err, ErrFormat)
	require.ErrorContains(t, err, "not written by motifd")
}

func TestLocked(t *testing.T) {
	for name, fs := range map[string]vfs.FS{"memory": vfs.NewMem(), "disk": nil} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s, err := Open(dir, Options{FS: fs})
			require.NoError(t, err)
			_, err = Open(dir, Options{FS: fs})
			require.ErrorIs(t, err, stream.ErrLocked)
			_, err = Info(dir, fs)
			require.ErrorIs(t, err, stream.ErrLocked)
			require.NoError(t, s.Close())
			s, err = Open(dir, Options{FS: fs})
			require.NoError(t, err)
			require.NoError(t, s.Close())
		})
	}
}

func TestNoCheckpoint(t *testing.T) {
	for name, fs := range map[string]vfs.FS{"memory": vfs.NewMem(), "disk": nil} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if fs != nil {
				require.NoError(t, fs.MkdirAll(dir, 0o755))
			}
			for _, d := range []string{dir, dir + "/none"} {
				_, err := Open(d, Options{FS: fs, ReadOnly: true})
				require.ErrorIs(t, err, ErrNone)
				_, err = OpenReplay(d, fs)
				require.ErrorIs(t, err, ErrNone)
				_, err = Info(d, fs)
				require.ErrorIs(t, err, ErrNone)
				_, err = Verify(context.Background(), d, fs, nil)
				require.ErrorIs(t, err, ErrNone)
			}
			if fs == nil {
				fs = vfs.Default
			}
			left, err := fs.List(dir)
			require.NoError(t, err)
			require.Empty(t, left, "a look into a directory leaves nothing in it")
		})
	}
}

// TestNoDirectory holds that a directory that cannot be made is not told to be a damaged checkpoint.
func TestNoDirectory(t *testing.T) {
	fs := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpMkdirAll {
			return &os.PathError{Op: "mkdir", Path: op.Path, Err: syscall.ENOENT}
		}
		return nil
	}))
	_, err := Open(testDir, Options{FS: fs})
	require.ErrorIs(t, err, syscall.ENOENT)
	require.NotErrorIs(t, err, ErrDamaged)
}

func TestReadOnly(t *testing.T) {
	h := newHistory(newRand(63), 3, false)
	opt := testOptions(h, lived(t, h, Retention{Batches: 9}, len(h.steps)))
	opt.ReadOnly = true
	s, err := Open(testDir, opt)
	require.NoError(t, err)
	require.ErrorIs(t, s.Intent(t.Context(), &stream.Batch{}), errReadOnly)
	require.ErrorIs(t, s.Commit(t.Context(), &stream.CommitInfo{}), errReadOnly)
	require.ErrorIs(t, s.Decide(1, randomDecision(newRand(1))), errReadOnly)
	require.ErrorIs(t, s.Bootstrap(context.Background(), dyngraph.NewGraph(dyngraph.Options{})), errReadOnly)
	st, err := s.Recover(context.Background())
	require.NoError(t, err)
	requireSame(t, h.steps[len(h.steps)-1].after, dumpState(st))
	require.NoError(t, s.Close())
}

func TestInfo(t *testing.T) {
	h := newHistory(newRand(64), 9, true)
	fs := lived(t, h, Retention{Batches: 4}, len(h.steps)-1)
	c, err := Info(testDir, fs)
	require.NoError(t, err)
	s, err := Open(testDir, testOptions(h, fs))
	require.NoError(t, err)
	st, err := s.Recover(context.Background())
	require.NoError(t, err)
	require.Equal(t, st.StreamID, c.StreamID)
	require.True(t, s.Bootstrapped())
	require.NoError(t, s.Close())
	require.Equal(t, plainFormat, c.Format)
	require.Equal(t, st.Batch, c.Batch)
	require.True(t, c.Bootstrapped)
	require.Equal(t, 4, c.LogBatches)
	require.Equal(t, st.Batch-3, c.LogFirst)
	require.Equal(t, st.Batch, c.LogLast)
	require.Len(t, c.Open, len(st.Open))
	require.Positive(t, c.LogBytes)
	require.Positive(t, c.DiskBytes)
	require.Equal(t, uint64(st.Graph.Vertices()), c.Vertices)
	require.Equal(t, uint64(st.Graph.Edges()), c.Edges)
	require.Equal(t, uint64(st.Graph.Labels()-1), c.Labels)
	older, newer := st.Graph.PendingFree()
	require.Equal(t, len(older)+len(newer), c.Pending)
	for i := range st.Queries {
		st.Queries[i].Once = nil // it is not in what Info reads
	}
	require.Equal(t, st.Queries, c.Queries)
	require.Equal(t, testOptions(h, fs).Settings, c.Settings)
}

// TestS16VertexLabelsAreKept opens a checkpoint under the other number of labels of a vertex.
func TestS16VertexLabelsAreKept(t *testing.T) {
	of := map[bool]*property.Schema{true: {SeveralLabels: true}}
	for _, several := range []bool{false, true} {
		opt := Options{FS: vfs.NewMem(), Settings: Settings{Properties: of[several]}}
		s, err := Open(testDir, opt)
		require.NoError(t, err)
		require.ErrorContains(t, s.Bootstrap(t.Context(), dyngraph.NewGraph(dyngraph.Options{Schema: of[!several]})),
			"a vertex of the graph may have")
		require.NoError(t, s.Bootstrap(t.Context(), dyngraph.NewGraph(dyngraph.Options{Schema: of[several]})))
		require.NoError(t, s.Close())
		opt.Settings.Properties = of[!several]
		_, err = Open(testDir, opt)
		require.ErrorContains(t, err, fmt.Sprintf("graph.vertex_labels is %s there and %s in the configuration",
			vertexLabels(several), vertexLabels(!several)))
	}
}
