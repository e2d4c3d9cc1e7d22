package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"

	"motifd/stream"
)

// Replay reads the batch log of a checkpoint from its base on (DESIGN P2). The checkpoint is not changed; it is locked
// until Close. A Replay has one user.
type Replay struct {
	db      *database
	control *control
	past    *timeline // at the base, once it is made
}

// Logged is a batch as the log holds it.
type Logged struct {
	stream.Batch
	// Report is the batch record, nil for an open intent.
	Report *stream.BatchReport
	// Shape is Settings.Shape when the batch was cut.
	Shape string
	// Committed is false for an open intent: its records may not have been published, or in part.
	Committed bool
}

// OpenReplay opens the checkpoint in dir read-only; fs nil is the operating system's file system. It fails as Open
// does.
func OpenReplay(dir string, fs vfs.FS) (*Replay, error) {
	db, c, err := openExisting(dir, fs)
	if err != nil {
		return nil, err
	}
	return &Replay{db: db, control: c}, nil
}

// openExisting opens a checkpoint to read it.
func openExisting(dir string, fs vfs.FS) (*database, *control, error) {
	db, err := openDatabase(dir, Options{FS: fs, ReadOnly: true})
	if err != nil {
		return nil, nil, err
	}
	found, err := db.checkFormat()
	if err == nil && !found {
		err = fmt.Errorf("%s: %w", dir, ErrNone)
	}
	var c *control
	if err == nil {
		c, err = readControl(db)
	}
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return db, c, nil
}

// Settings returns the settings as they are stored; Shape is the present one, and Logged has each batch's.
func (r *Replay) Settings() Settings { return r.control.settings }

// Len returns how many batches the log holds, committed ones and open intents.
func (r *Replay) Len() (committed, open int) {
	return len(r.control.log.committed), len(r.control.log.open)
}

// Committed returns the first and the last committed batch in the log; of an empty one the first is the one behind the
// last.
func (r *Replay) Committed() (first, last uint64) {
	last = r.control.state.batch
	return last + 1 - uint64(len(r.control.log.committed)), last
}

// Base returns the state before the oldest batch in the log, or the present one when the log is empty. It is made by
// undoing the logged effects from the newest to the oldest. The caller owns the graph. State.Mark and State.Open are
// empty; State.Fresh tells that the base is the beginning.
func (r *Replay) Base(ctx context.Context) (*stream.State, error) {
	err := r.undo(ctx)
	if err == nil {
		var st *stream.State
		if st, err = r.stateOf(ctx, r.past); err == nil {
			return st, nil
		}
	}
	return nil, fmt.Errorf("checkpoint %s: base of the log: %w", r.db.dir, err)
}

// At is Base for the state after another batch: one of the committed ones, or the one before the first.
func (r *Replay) At(ctx context.Context, batch uint64) (*stream.State, error) {
	fail := func(err error) (*stream.State, error) {
		return nil, fmt.Errorf("checkpoint %s: the state after batch %d: %w", r.db.dir, batch, err)
	}
	if first, last := r.Committed(); batch+1 < first || batch > last {
		return fail(fmt.Errorf("the batch log goes from %d to %d", first, last))
	}
	t, err := undoLog(ctx, r.db, r.control, batch, nil)
	if err != nil {
		return fail(err)
	}
	st, err := r.stateOf(ctx, t)
	if err = errors.Join(err, t.content.close()); err != nil {
		return fail(err)
	}
	return st, nil
}

// stateOf returns the state that a timeline has come to.
func (r *Replay) stateOf(ctx context.Context, t *timeline) (*stream.State, error) {
	st := &t.state
	g, err := loadGraph(ctx, t.content, t.settings.graph(), st)
	if err != nil {
		return nil, err
	}
	return &stream.State{
		StreamID:  r.control.streamID,
		Fresh:     st.batch == 0,
		Batch:     st.batch,
		Graph:     g,
		Queries:   remembered(slices.Clone(t.queries), t.once),
		Positions: maps.Clone(st.positions),

		Declaration: t.settings.Declaration,
	}, nil
}

func (r *Replay) undo(ctx context.Context) error {
	if r.past != nil {
		return nil
	}
	past, err := undoLog(ctx, r.db, r.control, 0, nil)
	r.past = past
	return err
}

// undoLog returns the content as of after a batch or, if that is larger, before the oldest batch in the log. report is
// as in timeline.
func undoLog(ctx context.Context, db *database, c *control, batch uint64, report func(error) error) (*timeline, error) {
	t := &timeline{state: c.state, settings: c.settings, queries: c.queries, report: report}
	content, err := newOverlay(db, c.log.bytes, t.problem)
	if err != nil {
		return nil, err
	}
	t.content = content
	if t.once, err = readOnce(ctx, db); err != nil {
		return nil, errors.Join(err, content.close())
	}
	for _, e := range slices.Backward(c.log.committed) {
		if e.batch <= batch {
			break
		}
		if ctx.Err() != nil {
			return nil, errors.Join(context.Cause(ctx), content.close())
		}
		o, err := db.readDone(e.batch)
		if err == nil {
			err = t.undo(e.batch, o)
		}
		if err != nil {
			return nil, errors.Join(err, content.close())
		}
	}
	if err := content.flush(); err != nil {
		return nil, errors.Join(err, content.close())
	}
	return t, nil
}

// Batches yields the logged batches in order: committed ones, then open intents. After an error it ends. Every call
// starts over.
func (r *Replay) Batches() iter.Seq2[*Logged, error] {
	return func(yield func(*Logged, error) bool) {
		for _, e := range r.control.log.committed {
			l, err := r.logged(e, true)
			if !yield(l, err) || err != nil {
				return
			}
		}
		for _, e := range r.control.log.open {
			l, err := r.logged(e, false)
			if !yield(l, err) || err != nil {
				return
			}
		}
	}
}

func (r *Replay) logged(e logEntry, committed bool) (*Logged, error) {
	in, err := r.db.readIntent(e)
	if err != nil {
		return nil, fmt.Errorf("checkpoint %s: %w", r.db.dir, err)
	}
	l := &Logged{Batch: in.batch, Shape: in.shape, Committed: committed}
	if committed {
		o, err := r.db.readDone(e.batch)
		if err != nil {
			return nil, fmt.Errorf("checkpoint %s: %w", r.db.dir, err)
		}
		l.Report = o.report
	}
	return l, nil
}

// Close ends the replay.
func (r *Replay) Close() error {
	var err error
	if r.past != nil {
		err = r.past.content.close()
	}
	return errors.Join(err, r.db.Close())
}
