package checkpoint

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"

	"motifd/dyngraph/property"
	"motifd/matcher"
)

// unfinished is the suffix of the name of a directory in which Migrate works.
const unfinished = ".unfinished"

// Migration is the result of Migrate.
type Migration struct {
	StreamID                string // of the new checkpoint
	Labels, Vertices, Edges uint64
	// Left are the queries that were registered, and are not in the new checkpoint.
	Left []matcher.QueryState
}

// ErrMigrate is wrapped by the error of a checkpoint that cannot be brought to other settings.
var ErrMigrate = errors.New("the checkpoint cannot be migrated")

// Migrate makes a checkpoint at to, which must not exist, from the one in dir, on which no daemon may run. Settings
// that may differ are the edge identity, several labels of a vertex in place of one, the decoding, the output and its
// mode. The new checkpoint has the graph, the input's positions, event time, and the declared properties, which a
// daemon then changes. It is a new stream, with an empty batch log and no queries: numbers of batches and ids of
// matches begin anew. The checkpoint in dir is not changed.
//
// Records are copied in order, and are not kept in memory. Migrate works in a directory beside to, and gives it its
// name when everything is written and verified; what a run before has left there is removed. fs nil is the operating
// system's file system; progress may be nil.
func Migrate(ctx context.Context, dir, to string, settings Settings, fs vfs.FS, progress func(Progress)) (_ *Migration,
	err error) {
	if fs == nil {
		fs = vfs.Default
	}
	if progress == nil {
		progress = func(Progress) {}
	}
	if _, err := fs.Stat(to); err == nil {
		return nil, fmt.Errorf("%w: %s is there already; in the new configuration, checkpoint.dir is a directory that "+
			"is not there yet", ErrMigrate, to)
	}
	db, c, err := openExisting(dir, fs)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := migratable(c, &settings); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", dir, ErrMigrate, err)
	}
	work := to + unfinished
	if err := fs.RemoveAll(work); err != nil {
		return nil, err
	}
	settings.Properties, settings.Declaration = migratedSchema(c, &settings), c.settings.Declaration
	m := &Migration{}
	for _, q := range c.queries {
		if !q.Removed {
			m.Left = append(m.Left, q)
		}
	}
	if err := m.write(ctx, db, c, work, Options{Settings: settings, FS: fs}, progress); err != nil {
		return nil, fmt.Errorf("checkpoint %s: migrate: %w", dir, err)
	}
	v, err := Verify(ctx, work, fs, progress)
	if err != nil {
		return nil, err
	}
	if len(v.Problems) > 0 {
		return nil, fmt.Errorf("checkpoint %s: migrate: %w", work, damaged("%s", v.Problems[0]))
	}
	m.Labels, m.Vertices, m.Edges = v.Labels, v.Vertices, v.Edges
	if err := fs.Rename(work, to); err != nil {
		return nil, err
	}
	return m, syncParent(fs, to)
}

// migratable checks that a checkpoint can be brought to settings.
func migratable(c *control, to *Settings) error {
	from := &c.settings
	switch {
	case len(c.log.open) > 0:
		return fmt.Errorf("batch %d is in progress: start the daemon once with the former configuration, and stop it",
			c.log.open[0].batch)
	case from.Directed != to.Directed:
		return fmt.Errorf("graph.directed is %v there and %v in the configuration", from.Directed, to.Directed)
	case from.Input != to.Input:
		return fmt.Errorf("the input is %q there and %q in the configuration; the positions are those of the former",
			from.Input, to.Input)
	case from.EdgeIDs && !to.EdgeIDs:
		return fmt.Errorf("%s is id there and ends in the configuration: parallel edges would be one", edgeIdentity)
	case from.Properties.Several() && !to.Properties.Several():
		return errors.New("graph.vertex_labels is several there and one in the configuration: a vertex may have more " +
			"than one")
	case from.Declaration != nil && from.Properties.Several() != to.Properties.Several():
		return errors.New("the declared properties are being changed: start the daemon once with the former " +
			"configuration, and stop it")
	}
	if s := migratedSchema(c, to); s != from.Properties {
		if err := s.Validate(); err != nil {
			return fmt.Errorf("graph.vertex_labels is one there and several in the configuration: %w", err)
		}
	}
	return nil
}

// migratedSchema returns the declared properties of a checkpoint, with as many labels of a vertex as others say.
func migratedSchema(c *control, to *Settings) *property.Schema {
	s := c.settings.Properties
	if s.Several() || !to.Properties.Several() {
		return s
	}
	several := property.Schema{SeveralLabels: true}
	if s != nil {
		several = *s
		several.SeveralLabels = true
	}
	return &several
}

// relabelled returns the value of a vertex whose label becomes one of several.
func relabelled(value []byte, labels []string) ([]byte, error) {
	r, ok := decodeVertex(0, value)
	if !ok || int(r.Label) > len(labels) {
		return nil, damaged("a vertex cannot be decoded")
	}
	set := property.Value{}
	if r.Label != 0 {
		set = property.LabelSet(labels[r.Label-1])
	}
	r.Label, r.Values = 0, append([]property.Value{set}, r.Values...)
	return appendVertex(nil, &r), nil
}

// write makes the new checkpoint.
func (m *Migration) write(ctx context.Context, from *database, c *control, dir string, opt Options,
	progress func(Progress)) (err error) {
	s, err := Open(dir, opt)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	m.StreamID = s.streamID
	defer s.db.removeStaged()
	w := &tableWriter{db: s.db}
	st := state{bootstrapped: true, positions: c.state.positions, older: c.state.older, newer: c.state.newer,
		time: c.state.time}
	err = errors.Join(w.copied(ctx, from, c, &st, &s.settings, progress), w.close())
	if err == nil {
		if err = s.db.broken(); err == nil {
			err = s.db.Ingest(ctx, w.paths)
		}
	}
	for _, key := range [][]byte{keyTopic, keyEpochs, keyFiles} { // the state of the input
		v, ok, gerr := from.get(key)
		if err = errors.Join(err, gerr); err == nil && ok {
			b := s.db.NewBatch()
			err = errors.Join(b.Set(key, v, nil), s.db.apply(b), b.Close())
		}
	}
	if err != nil {
		return err
	}
	return s.upgrade(max(from.format, s.settings.format()))
}

// copied writes the content of a checkpoint, and the state that goes with it. Edges get keys with their ids where these
// identify edges now and did not: the others of their ends and label do not exist, so that the order stays. The label
// of a vertex that may have several now becomes one of them.
func (w *tableWriter) copied(ctx context.Context, from *database, c *control, st *state, to *Settings,
	progress func(Progress)) error {
	var read digests
	var labels []string // by id, less 1
	several := to.Properties.Several() && !c.settings.Properties.Several()
	total := &c.state.digests
	for _, x := range []struct {
		space byte
		name  string
		total uint64
	}{{spaceLabel, "labels", total.labels.count}, {spaceVertex, "vertices", total.vertices.count},
		{spaceEdge, "edges", total.edges.count}} {
		n := uint64(0)
		err := from.scan(ctx, x.space, func(key, value []byte) error {
			if n++; n%ctxEvery == 0 {
				progress(Progress{"copying " + x.name, n, max(n, x.total)})
			}
			read.of(key).add(key, value)
			switch {
			case x.space == spaceLabel:
				labels = append(labels, string(value))
			case x.space == spaceVertex && several:
				var err error
				if value, err = relabelled(value, labels); err != nil {
					return err
				}
			case x.space == spaceEdge && to.EdgeIDs && !c.settings.EdgeIDs:
				r, err := decodeEdge(key, value, false)
				if err != nil {
					return err
				}
				key, value = edgeKey(nil, r.From, r.Label, r.To, r.Attr.ID), appendEdge(nil, &r.Attr, true)
			}
			st.digests.of(key).add(key, value)
			return w.set(key, value)
		})
		if err != nil {
			return err
		}
	}
	if err := read.differ(*total); err != nil {
		return damaged("%v", err)
	}
	if err := w.close(); err != nil { // the state sorts before all of it: it has a table of its own
		return err
	}
	return w.set(keyState, withChecksum(keyState, appendState([]byte{versionOf(st.time != nil)}, st)))
}

// syncParent makes the name of a directory durable.
func syncParent(fs vfs.FS, dir string) error {
	parent, err := fs.OpenDir(fs.PathDir(dir))
	if err != nil {
		return err
	}
	return errors.Join(parent.Sync(), parent.Close())
}
