package checkpoint

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
)

// Progress tells how far a verification is: Done of Total records or batches of a stage.
type Progress struct {
	Stage       string // "labels", "vertices", "edges", "log", "undo" or "base"
	Done, Total uint64
}

// Verification is the result of Verify.
type Verification struct {
	// Problems lists the first MaxProblems problems; More counts the others.
	Problems []string
	More     uint64
	// What was read.
	Labels, Vertices, Edges, Batches uint64
}

// MaxProblems bounds the problems that a Verification spells out.
const MaxProblems = 1000

// Verify reads everything in a checkpoint and checks that it fits together: that every record can be decoded; that
// labels and keys are unique and every edge's ends and labels exist; that pending ids are not in use; that the log
// has no gap; that every logged change found what the one before had left, the last of each record the present; and
// that undoing the logged batches leads to a base that loads. It reads the graph twice and the log three times, in
// order, and looks up nothing but the parts of each batch. fs nil is the operating system's file system; progress may
// be nil.
//
// What is wrong inside the checkpoint is in the Verification; the error tells that it could not be opened or read.
func Verify(ctx context.Context, dir string, fs vfs.FS, progress func(Progress)) (*Verification, error) {
	v := &verifier{ctx: ctx, out: new(Verification), progress: progress}
	if v.progress == nil {
		v.progress = func(Progress) {}
	}
	db, c, err := openExisting(dir, fs)
	if errors.Is(err, ErrDamaged) {
		_ = v.note(err)
		return v.out, nil
	}
	if err != nil {
		return nil, err
	}
	v.db, v.c = db, c
	err = errors.Join(v.run(), db.Close())
	if errors.Is(err, ErrDamaged) { // met where reading on made no sense
		_ = v.note(err)
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("checkpoint %s: verify: %w", dir, err)
	}
	return v.out, nil
}

type verifier struct {
	ctx      context.Context
	db       *database
	c        *control
	out      *Verification
	progress func(Progress)
	labels   []string // by id
	// the columns of edges, and of vertices
	columns, vertexColumns *property.Columns
}

// note records a problem; reading goes on.
func (v *verifier) note(err error) error {
	if len(v.out.Problems) == MaxProblems {
		v.out.More++
		return nil
	}
	v.out.Problems = append(v.out.Problems, err.Error())
	return nil
}

func (v *verifier) notef(format string, args ...any) error {
	return v.note(fmt.Errorf(format, args...))
}

func (v *verifier) run() error {
	if err := v.content(); err != nil {
		return err
	}
	if err := v.log(); err != nil {
		return err
	}
	if len(v.out.Problems) > 0 {
		return nil // going back from a present that is wrong would only repeat it
	}
	return v.past()
}

// each scans a space with progress.
func (v *verifier) each(s byte, stage string, total uint64, f func(key, value []byte) error) error {
	n := uint64(0)
	err := v.db.scan(v.ctx, s, func(key, value []byte) error {
		if n++; n%ctxEvery == 0 {
			v.progress(Progress{stage, n, max(n, total)})
		}
		return f(key, value)
	})
	v.progress(Progress{stage, n, max(n, total)})
	return err
}

// content checks labels, vertices, edges and what is pending.
func (v *verifier) content() error {
	var got digests
	want := &v.c.state.digests
	names := make(map[string]uint32)
	v.labels = []string{""}
	v.columns, v.vertexColumns = v.c.settings.columns()
	err := v.each(spaceLabel, "labels", want.labels.count, func(key, value []byte) error {
		got.labels.add(key, value)
		v.out.Labels++
		v.labels = append(v.labels, string(value))
		id, ok := parseID(key)
		if !ok || uint64(id) != v.out.Labels {
			return v.notef("label key %x where label %d was expected", key, v.out.Labels)
		}
		if first, twice := names[string(value)]; twice {
			return v.notef("label %q is there twice, as %d and %d", value, first, id)
		}
		names[string(value)] = id
		if len(value) == 0 {
			return v.notef("label %d is empty", id)
		}
		return nil
	})
	if err != nil {
		return err
	}
	var ids bitmap
	keys := make(map[string]dyngraph.VertexID)
	err = v.each(spaceVertex, "vertices", want.vertices.count, func(key, value []byte) error {
		got.vertices.add(key, value)
		v.out.Vertices++
		id, ok := parseID(key)
		if !ok {
			return v.notef("vertex key %x", key)
		}
		ids.set(id)
		r, ok := decodeVertex(id, value)
		if !ok {
			return v.notef("the record of vertex %d cannot be decoded", id)
		}
		if first, twice := keys[r.Key]; twice {
			return v.notef("key %q is there twice, as vertex %d and %d", r.Key, first, id)
		}
		keys[r.Key] = r.ID
		if uint64(r.Label) > v.out.Labels {
			return v.notef("vertex %d has label %d, but there are %d", id, r.Label, v.out.Labels)
		}
		if v.c.settings.Properties.Several() && r.Label != 0 {
			return v.notef("vertex %d has the one label %d, but vertices have several", id, r.Label)
		}
		if err := v.vertexColumns.CheckStored(v.labels[r.Label], r.Values); err != nil {
			return v.notef("vertex %d has %w", id, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = v.each(spaceEdge, "edges", want.edges.count, func(key, value []byte) error {
		got.edges.add(key, value)
		v.out.Edges++
		r, err := decodeEdge(key, value, v.c.settings.EdgeIDs)
		if err != nil {
			return v.note(err)
		}
		return v.edge(&r, &ids)
	})
	if err != nil {
		return err
	}
	if err := got.differ(*want); err != nil {
		_ = v.note(err)
	}
	seen := make(map[dyngraph.VertexID]bool)
	for _, list := range [...][]dyngraph.VertexID{v.c.state.older, v.c.state.newer} {
		for _, id := range list {
			if ids.has(uint32(id)) {
				_ = v.notef("vertex id %d is pending and in use", id)
			}
			if seen[id] {
				_ = v.notef("vertex id %d is pending twice", id)
			}
			seen[id] = true
		}
	}
	return nil
}

func (v *verifier) edge(r *dyngraph.EdgeRecord, ids *bitmap) error {
	name := edgeName(&dyngraph.EdgeRecord{From: r.From, Label: r.Label, To: r.To})
	if v.c.settings.EdgeIDs {
		name = edgeName(r)
	}
	for _, end := range [...]dyngraph.VertexID{r.From, r.To} {
		if !ids.has(uint32(end)) {
			_ = v.notef("%s ends at vertex %d, which is not there", name, end)
		}
	}
	switch {
	case uint64(r.Label) > v.out.Labels:
		return v.notef("%s has a label beyond the %d there are", name, v.out.Labels)
	case r.From == r.To:
		return v.notef("%s is a self-loop", name)
	case !v.c.settings.Directed && r.From > r.To:
		return v.notef("%s of an undirected graph is not under its lower end", name)
	}
	if err := v.columns.CheckStored(v.labels[r.Label], r.Attr.Values); err != nil {
		return v.notef("%s has %w", name, err)
	}
	return nil
}

// log decodes every entry.
func (v *verifier) log() error {
	committed, open := v.c.log.committed, v.c.log.open
	total := uint64(len(committed) + len(open))
	r := &Replay{db: v.db, control: v.c}
	for i := range total {
		e, done := logEntry{}, i < uint64(len(committed))
		if done {
			e = committed[i]
		} else {
			e = open[i-uint64(len(committed))]
		}
		if v.ctx.Err() != nil {
			return context.Cause(v.ctx)
		}
		l, err := r.logged(e, done)
		switch {
		case errors.Is(err, ErrDamaged):
			_ = v.note(err)
		case err != nil:
			return err
		case l.Report != nil && l.Report.Batch != e.batch:
			_ = v.notef("the record of batch %d is of batch %d", e.batch, l.Report.Batch)
		}
		v.out.Batches++
		v.progress(Progress{"log", i + 1, total})
	}
	return nil
}

// past undoes the log and loads the base. That doing the log again leads to the present follows: undoing compares
// every value with the one that the log left.
func (v *verifier) past() error {
	total := uint64(len(v.c.log.committed))
	t, err := undoLog(v.ctx, v.db, v.c, 0, v.note)
	if err != nil {
		return err
	}
	defer t.content.close()
	v.progress(Progress{"undo", total, total})
	if len(v.out.Problems) > 0 {
		return nil
	}
	if _, err := loadGraph(v.ctx, t.content, t.settings.graph(), &t.state); err != nil {
		return v.notef("the base of the log cannot be loaded: %w", err)
	}
	v.progress(Progress{"base", 1, 1})
	return nil
}

// bitmap is a set of ids.
type bitmap []uint64

func (b *bitmap) set(id uint32) {
	w := int(id >> 6)
	for w >= len(*b) {
		*b = append(*b, make([]uint64, max(1, len(*b)))...)
	}
	(*b)[w] |= 1 << (id & 63)
}

func (b *bitmap) has(id uint32) bool {
	w := int(id >> 6)
	return w < len(*b) && (*b)[w]>>(id&63)&1 != 0
}
