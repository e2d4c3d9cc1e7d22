package checkpoint

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher/matchertest"
	"motifd/stream"
)

const migratedDir = "dir/migrated"

// wholeLife stores a history without batches in progress, and returns what is stored.
func wholeLife(t *testing.T, seed uint64) (*history, Options) {
	h := newHistory(newRand(seed), 8, seed%2 == 0)
	opt := testOptions(h, vfs.NewCrashableMem())
	s, err := Open(testDir, opt)
	require.NoError(t, err)
	for _, st := range h.steps {
		require.NoError(t, st.do(s), st.name)
	}
	require.NoError(t, s.KeepInputTopicID("topic id"))
	require.NoError(t, s.Close())
	return h, opt
}

// TestMigrate: the new checkpoint has the graph, positions and event time of the other one, and its own settings,
// stream and numbers. Edges are identified by the ids that they had.
func TestMigrate(t *testing.T) {
	matchertest.NotUnderRace(t, "TestCrashAtEveryWrite has the same goroutines")
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			h, opt := wholeLife(t, seed)
			before := recovered(t, opt)
			to := opt.Settings
			to.Output, to.Mode, to.EdgeIDs = "topic new", "upsert", true
			m, err := Migrate(t.Context(), testDir, migratedDir, to, opt.FS, nil)
			require.NoError(t, err)
			require.Equal(t, before, recovered(t, opt), "the former one is not changed")
			fresh := opt
			fresh.Settings = to
			s, err := Open(migratedDir, fresh)
			require.NoError(t, err)
			require.Equal(t, m.StreamID, s.StreamID())
			require.True(t, s.Bootstrapped())
			id, err := s.InputTopicID()
			require.NoError(t, err)
			require.Equal(t, "topic id", id)
			st, err := s.Recover(t.Context())
			require.NoError(t, err)
			require.NoError(t, s.Close())
			require.True(t, st.Fresh)
			require.True(t, st.Graph.Options().EdgeIDs)
			got := dumpState(&stream.State{Batch: uint64(len(h.batches)), Graph: st.Graph, Positions: st.Positions,
				Mark: stream.Mark(fmt.Sprint("mark", len(h.batches))), Time: st.Time, Declaration: st.Declaration})
			var want []string
			for line := range strings.Lines(before) {
				if strings.HasPrefix(line, "queries ") {
					line = "queries []\n"
				}
				if strings.HasPrefix(line, "q0") { // their memory goes with them
					continue
				}
				want = append(want, line)
			}
			requireSame(t, strings.Join(want, ""), got)
			v, err := Verify(t.Context(), migratedDir, opt.FS, nil)
			require.NoError(t, err)
			require.Empty(t, v.Problems)

			_, err = Migrate(t.Context(), testDir, migratedDir, to, opt.FS, nil)
			require.ErrorContains(t, err, "is there already")
		})
	}
}

// TestMigrateRefuses: what cannot be migrated is refused by name, and leaves nothing.
func TestMigrateRefuses(t *testing.T) {
	h, opt := wholeLife(t, 3)
	refused := func(why string, change func(s *Settings)) {
		t.Helper()
		to := opt.Settings
		change(&to)
		_, err := Migrate(t.Context(), testDir, migratedDir, to, opt.FS, nil)
		require.ErrorContains(t, err, why)
		_, err = opt.FS.Stat(migratedDir)
		require.Error(t, err)
	}
	refused("graph.directed is", func(s *Settings) { s.Directed = !s.Directed })
	refused(`the input is "file in" there and "file other"`, func(s *Settings) { s.Input = "file other" })
	s, err := Open(testDir, opt)
	require.NoError(t, err)
	refused("another motifd runs on it", func(*Settings) {})
	b := stream.Batch{}
	b.Number = uint64(len(h.batches)) + 1
	require.NoError(t, s.Intent(t.Context(), &b))
	require.NoError(t, s.Close())
	refused("is in progress: start the daemon once", func(*Settings) {})
	opt.FS = vfs.NewMem()
	opt.Settings.EdgeIDs = true
	s, err = Open(testDir, opt)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	refused("graph.edge_identity is id there and ends", func(s *Settings) { s.EdgeIDs = false })
}

// TestMigrateCrashes kills a migration before each write: the new checkpoint is not there, or whole, and the next
// migration makes it.
func TestMigrateCrashes(t *testing.T) {
	matchertest.NotUnderRace(t, "TestCrashAtEveryWrite has the same goroutines")
	_, opt := wholeLife(t, 5)
	before := recovered(t, opt)
	c := &crasher{mem: opt.FS.(*vfs.MemFS), rng: newRand(1)}
	to := opt.Settings
	to.EdgeIDs, to.Output = true, "topic new"
	_, err := Migrate(t.Context(), testDir, migratedDir, to, errorfs.Wrap(c.mem, c), nil)
	require.NoError(t, err)
	fresh := opt
	fresh.Settings, fresh.FS = to, c.mem
	want := recoveredAt(t, migratedDir, fresh)
	c.images = append(c.images, image{0, c.mem.CrashClone(vfs.CrashCloneCfg{})})
	require.Greater(t, len(c.images), 30)
	whole := 0
	for i, im := range c.images {
		opt.FS, fresh.FS = im.fs, im.fs
		require.Equal(t, before, recovered(t, opt), "image %d", i)
		if _, err := im.fs.Stat(migratedDir); err == nil {
			whole++
		} else {
			_, err := Migrate(t.Context(), testDir, migratedDir, to, im.fs, nil)
			require.NoError(t, err, "image %d", i)
		}
		require.Equal(t, want, recoveredAt(t, migratedDir, fresh), "image %d", i)
	}
	require.Positive(t, whole)
}

// TestMigrateVertexLabels: the label of a vertex becomes one of several, and its values stay. There is no way back.
func TestMigrateVertexLabels(t *testing.T) {
	schema := &property.Schema{Vertices: property.Declarations{"A": {"risk": {Kind: property.Int64}}}}
	g := dyngraph.NewGraph(dyngraph.Options{Schema: schema})
	mustStage(g, []dyngraph.Update{
		{Op: dyngraph.InsertVertex, Key: "a", Label: "A",
			Attr: dyngraph.Attr{Values: []property.Value{property.Int(7)}}},
		{Op: dyngraph.InsertEdge, From: "a", To: "b", Label: "T"},
		{Op: dyngraph.InsertVertex, Key: "c", Label: "C"}})
	g.Commit()
	opt := Options{FS: vfs.NewMem(), Settings: Settings{Properties: schema}}
	s, err := Open(testDir, opt)
	require.NoError(t, err)
	require.NoError(t, s.Bootstrap(t.Context(), g))
	require.NoError(t, s.Close())
	to := opt.Settings
	to.Properties = &property.Schema{SeveralLabels: true}
	_, err = Migrate(t.Context(), testDir, migratedDir, to, opt.FS, nil)
	require.NoError(t, err)
	opt.Settings = to
	s, err = Open(migratedDir, opt)
	require.NoError(t, err)
	st, err := s.Recover(t.Context())
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.Equal(t, &property.Schema{Vertices: schema.Vertices, SeveralLabels: true}, st.Graph.Options().Schema)
	view := st.Graph.View(dyngraph.New)
	for key, want := range map[string][]property.Value{"a": {property.LabelSet("A"), property.Int(7)}, "b": nil,
		"c": {property.LabelSet("C")}} {
		id, ok := st.Graph.Lookup(key)
		require.True(t, ok)
		require.Equal(t, want, view.VertexValues(id))
		require.Equal(t, dyngraph.NoLabel, view.Label(id))
	}
	require.Equal(t, 1, st.Graph.Edges())
	to.Properties = nil
	_, err = Migrate(t.Context(), migratedDir, "dir/back", to, opt.FS, nil)
	require.ErrorContains(t, err, "graph.vertex_labels is several there and one in the configuration")

	two := &property.Schema{Vertices: property.Declarations{"A": {"risk": {Kind: property.Int64}},
		"B": {"risk": {Kind: property.Bool}}}}
	opt = Options{FS: vfs.NewMem(), Settings: Settings{Properties: two}}
	s, err = Open(testDir, opt)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	to.Properties = &property.Schema{SeveralLabels: true}
	_, err = Migrate(t.Context(), testDir, migratedDir, to, opt.FS, nil)
	require.ErrorContains(t, err, `property "risk" is declared int64 for the vertex label "A" and bool for "B"`)
}
