package checkpoint

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"motifd/dyngraph"
)

// stagingDir, inside the checkpoint, holds the tables of a bootstrap until they are taken in at once.
const stagingDir = "bootstrap"

// tableBytes is the size at which a new table is begun.
const tableBytes = 64 << 20

// Bootstrap stores a graph that was loaded from a file as batch 0. The checkpoint must be fresh. The records are
// written to tables beside the database, which takes them in with the new state in one step, so that a crash leaves
// a checkpoint that is fresh or one that is bootstrapped.
func (s *Store) Bootstrap(ctx context.Context, g *dyngraph.Graph) error {
	s.intents.Lock()
	defer s.intents.Unlock()
	s.commits.Lock()
	defer s.commits.Unlock()
	if s.opt.ReadOnly {
		return errReadOnly
	}
	s.mu.Lock()
	st := s.state
	begun := st.batch > 0 || len(s.log.open) > 0
	s.mu.Unlock()
	fail := func(err error) error { return fmt.Errorf("checkpoint: bootstrap: %w", err) }
	switch {
	case begun:
		return fail(errors.New("the checkpoint holds batches already"))
	case st.bootstrapped:
		return fail(errors.New("the checkpoint holds a graph already"))
	case g.Directed() != s.settings.Directed:
		return fail(fmt.Errorf("the graph is directed: %v, the checkpoint's: %v", g.Directed(), s.settings.Directed))
	case g.Options().EdgeIDs != s.settings.EdgeIDs:
		return fail(fmt.Errorf("an edge of the graph is %s, one of the checkpoint is %s",
			identity(g.Options().EdgeIDs), identity(s.settings.EdgeIDs)))
	case g.Options().Schema.Several() != s.settings.Properties.Several():
		return fail(fmt.Errorf("a vertex of the graph may have %s label(s), one of the checkpoint %s",
			vertexLabels(g.Options().Schema.Several()), vertexLabels(s.settings.Properties.Several())))
	case len(g.Options().Schema.Differences(s.settings.Properties)) > 0:
		return fail(errors.New("the graph declares other properties than the checkpoint"))
	}
	if err := s.db.broken(); err != nil {
		return fail(err)
	}
	defer s.db.removeStaged()
	st.bootstrapped = true
	w := &tableWriter{db: s.db}
	err := errors.Join(w.content(ctx, g, &st), w.close())
	if err == nil && s.db.broken() == nil {
		if err := s.db.Ingest(ctx, w.paths); err != nil {
			s.db.fault.trip("ingest", s.db.dir, err) // whether the tables are in is not known
		}
	}
	if broken := s.db.broken(); broken != nil {
		err = broken
	}
	if err != nil {
		return fail(err)
	}
	s.mu.Lock()
	s.state = st
	s.mu.Unlock()
	return nil
}

// removeStaged removes what a bootstrap left. What cannot be removed does no harm but take room.
func (d *database) removeStaged() {
	dir := d.fs.PathJoin(d.dir, stagingDir)
	if _, err := d.fs.Stat(dir); err != nil {
		return // most often: there is nothing
	}
	if err := d.fs.RemoveAll(dir); err != nil && d.fault.log != nil {
		d.fault.log(err.Error())
	}
}

// tableWriter writes records in ascending key order into tables of bounded size.
type tableWriter struct {
	db    *database
	w     *sstable.Writer
	size  int
	paths []string
}

// content writes the graph, and the state that goes with it. st gets the digests of what was written.
func (w *tableWriter) content(ctx context.Context, g *dyngraph.Graph, st *state) error {
	view := g.View(dyngraph.New)
	n := 0
	put := func(key, value []byte) error {
		if n++; n%ctxEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		st.digests.of(key).add(key, value)
		return w.set(key, value)
	}
	key, value := make([]byte, 0, edgeKeyLen), make([]byte, 0, 256)
	for id := 1; id < g.Labels(); id++ {
		l := dyngraph.LabelID(id)
		if err := put(labelKey(key, l), append(value, g.LabelName(l)...)); err != nil {
			return err
		}
	}
	for id := range view.VerticesSeq() {
		v := dyngraph.VertexRecord{ID: id, Key: view.Key(id), Label: view.Label(id),
			Values: view.VertexValues(id)}
		if err := put(vertexKey(key, id), appendVertex(value, &v)); err != nil {
			return err
		}
	}
	for e := range view.EdgesSeq() {
		from, to, label := view.Edge(e)
		attr := view.Attr(e)
		id := ""
		if g.Options().EdgeIDs {
			id = attr.ID
		}
		if err := put(edgeKey(key, from, label, to, id), appendEdge(value, &attr, g.Options().EdgeIDs)); err != nil {
			return err
		}
	}
	older, newer := g.PendingFree()
	st.older, st.newer = append(st.older, older...), append(st.newer, newer...)
	// The state sorts before all of it: it has a table of its own.
	if err := w.close(); err != nil {
		return err
	}
	return w.set(keyState, withChecksum(keyState, appendState([]byte{codecVersion}, st)))
}

func (w *tableWriter) set(key, value []byte) error {
	if w.w == nil {
		if err := w.begin(); err != nil {
			return err
		}
	}
	if err := w.w.Set(key, value); err != nil {
		return err
	}
	if w.size += len(key) + len(value); w.size >= tableBytes {
		return w.close()
	}
	return nil
}

func (w *tableWriter) begin() error {
	fs := w.db.fs
	dir := fs.PathJoin(w.db.dir, stagingDir)
	if err := fs.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	path := fs.PathJoin(dir, fmt.Sprintf("%06d.sst", len(w.paths)))
	f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	opt := pebbleOptions(fs, w.db.fault)
	opt.EnsureDefaults()
	const bottom = 6 // the lowest level, where most of the tables will lie
	w.w = sstable.NewWriter(objstorageprovider.NewFileWritable(f),
		opt.MakeWriterOptions(bottom, w.db.FormatMajorVersion().MaxTableFormat()))
	w.paths = append(w.paths, path)
	w.size = 0
	return nil
}

// close ends the table in hand.
func (w *tableWriter) close() error {
	if w.w == nil {
		return nil
	}
	t := w.w
	w.w = nil
	return t.Close()
}
