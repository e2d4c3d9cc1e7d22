package checkpoint

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// overlay is the content of a checkpoint before the batches of its log: the changes of the log, sorted by key in a
// database of their own, and merged with the content when that is read. So both are read in order, nothing is looked
// up, and undoing a long log needs no more memory than a short one. The checkpoint itself never sees it.
type overlay struct {
	db      *database
	over    *pebble.DB
	fault   fault  // of over
	tmp     string // directory to remove; "" when the changes are in memory
	problem func(error) error

	batch      *pebble.Batch // of changes on their way to over
	sorted     writes
	key, value []byte
}

// overlayInMemory is the size of a log whose effects are undone in memory; those of a larger one go to a temporary
// directory.
const overlayInMemory = 64 << 20

// newOverlay returns an overlay without changes. problem takes what does not fit; it returns an error to stop.
func newOverlay(db *database, logBytes int64, problem func(error) error) (*overlay, error) {
	o := &overlay{db: db, problem: problem}
	fs, dir := vfs.FS(vfs.NewMem()), "overlay"
	if logBytes > overlayInMemory {
		tmp, err := os.MkdirTemp("", "motifd-replay-")
		if err != nil {
			return nil, fmt.Errorf("checkpoint: replay: %w", err)
		}
		o.tmp, fs, dir = tmp, vfs.Default, tmp
	}
	opt := pebbleOptions(&failStop{FS: fs, fault: &o.fault}, &o.fault)
	opt.DisableWAL = true
	// It is written once and read once or twice: merging tables would cost more than it saves.
	opt.DisableAutomaticCompactions = true
	opt.L0StopWritesThreshold = math.MaxInt32
	var err error
	if o.over, err = pebble.Open(dir, opt); err != nil {
		return nil, errors.Join(fmt.Errorf("checkpoint: replay: %w", err), o.remove())
	}
	o.batch = o.over.NewBatch()
	return o, nil
}

func (o *overlay) close() error { return errors.Join(o.batch.Close(), o.over.Close(), o.remove()) }

func (o *overlay) remove() error {
	if o.tmp == "" {
		return nil
	}
	return os.RemoveAll(o.tmp)
}

// add takes note of the change number n of a batch; nil stands for no record. Changes of one key are added in any
// order.
func (o *overlay) add(batch uint64, n uint32, key, before, after []byte) error {
	o.key = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(append(o.key[:0], key...), batch), n)
	o.value = appendSide(appendSide(o.value[:0], before), after)
	if err := o.sorted.add(o.batch, o.key, o.value); err != nil {
		return err
	}
	if o.batch.Len() < writesRun {
		return nil
	}
	return o.apply()
}

// appendSide encodes one side of a change.
func appendSide(b, v []byte) []byte {
	b = appendBool(b, v != nil)
	if v == nil {
		return b
	}
	return appendString(b, v)
}

// side decodes what appendSide wrote; nil stands for no record. The value is borrowed.
func (d *decoder) side() []byte {
	if !d.bool() {
		return nil
	}
	return d.raw()
}

// flush makes the changes that were added visible to scan.
func (o *overlay) flush() error {
	if err := o.sorted.flush(o.batch); err != nil {
		return err
	}
	return o.apply()
}

// apply hands the batch to the database of the changes.
func (o *overlay) apply() error {
	err := errors.Join(o.over.Apply(o.batch, pebble.NoSync), o.batch.Close(), o.failed())
	o.batch = o.over.NewBatch()
	return err
}

// failed tells that changes could not be written to the temporary directory, so that nothing read from it counts.
func (o *overlay) failed() error {
	if err := o.fault.err(); err != nil {
		return fmt.Errorf("temporary files of a replay: %w", err)
	}
	return nil
}

// changedKey is the log's state of one key.
type changedKey struct {
	key    []byte
	base   []byte // before its first change, nil for no record
	now    []byte // after its last one
	batch  uint64 // of that
	exists bool
}

// orderLen is the length of batch and number behind a key.
const orderLen = 12

// next reads the changes of the key at the iterator and compares each with the one before.
func (o *overlay) next(it *pebble.Iterator, c *changedKey) error {
	c.exists = false
	for ; it.Valid(); it.Next() {
		k := it.Key()
		key, order := k[:len(k)-orderLen], k[len(k)-orderLen:]
		if c.exists && !bytes.Equal(key, c.key) {
			break
		}
		v, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		d := decoder{b: v}
		before, after := d.side(), d.side()
		if err := d.finish("a temporary record"); err != nil {
			return err
		}
		if !c.exists {
			c.exists, c.key, c.base = true, append(c.key[:0], key...), bytes.Clone(before)
		} else if !sameValue(c.now, before) {
			if err := o.unexpected(c, before); err != nil {
				return err
			}
		}
		c.now, c.batch = bytes.Clone(after), binary.BigEndian.Uint64(order)
	}
	return errors.Join(it.Error(), o.failed())
}

// sameValue compares two values; nil stands for no record.
func sameValue(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

// unexpected reports that a key has another value than its change left.
func (o *overlay) unexpected(c *changedKey, found []byte) error {
	return o.problem(fmt.Errorf("undoing batch %d: %w", c.batch,
		damaged("record %s is %s instead of %s", keyName(c.key), valueName(found), valueName(c.now))))
}

// scan merges the checkpoint and the changes in key order, and passes what was there before them. Every value that it
// meets must be the one that the log expects.
func (o *overlay) scan(ctx context.Context, s byte, f func(key, value []byte) error) (err error) {
	lower, upper := space(s)
	it, err := o.over.NewIterWithContext(ctx, &pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	it.First()
	var c changedKey
	// pass goes past the key in c, which the checkpoint has with the value stored, nil for none.
	pass := func(stored []byte) error {
		if !sameValue(stored, c.now) {
			if err := o.unexpected(&c, stored); err != nil {
				return err
			}
		}
		if c.base != nil {
			if err := f(c.key, c.base); err != nil {
				return err
			}
		}
		return o.next(it, &c)
	}
	if err := o.next(it, &c); err != nil {
		return err
	}
	err = o.db.scan(ctx, s, func(key, value []byte) error {
		for c.exists {
			order := bytes.Compare(c.key, key)
			if order > 0 {
				break
			}
			if order == 0 {
				if value == nil {
					value = []byte{}
				}
				return pass(value)
			}
			if err := pass(nil); err != nil {
				return err
			}
		}
		return f(key, value)
	})
	for err == nil && c.exists {
		if err = ctx.Err(); err == nil {
			err = pass(nil)
		}
	}
	return err
}
