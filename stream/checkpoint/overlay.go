package checkpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// overlay is the content of a checkpoint with changes laid over it, which the checkpoint itself never sees. The
// changes are kept in a database of their own, so that undoing a long log needs no more memory than a short one.
type overlay struct {
	db    *database
	over  *pebble.DB
	fault fault  // of over
	tmp   string // directory to remove; "" when the changes are in memory
}

// overlayInMemory is the size of a log whose effects are undone in memory; those of a larger one go to a temporary
// directory.
const overlayInMemory = 64 << 20

// The first byte of an overlaid value.
const (
	overAbsent  = 0
	overPresent = 1
)

func newOverlay(db *database, logBytes int64) (*overlay, error) {
	o := &overlay{db: db}
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
	var err error
	if o.over, err = pebble.Open(dir, opt); err != nil {
		return nil, errors.Join(fmt.Errorf("checkpoint: replay: %w", err), o.remove())
	}
	return o, nil
}

func (o *overlay) close() error { return errors.Join(o.over.Close(), o.remove()) }

func (o *overlay) remove() error {
	if o.tmp == "" {
		return nil
	}
	return os.RemoveAll(o.tmp)
}

// put lays a value over a key; nil takes the record away.
func (o *overlay) put(key, value []byte) error {
	v := []byte{overAbsent}
	if value != nil {
		v = append([]byte{overPresent}, value...)
	}
	return errors.Join(o.over.Set(key, v, pebble.NoSync), o.failed())
}

// failed tells that changes could not be written to the temporary directory, so that nothing read from it counts.
func (o *overlay) failed() error {
	if err := o.fault.err(); err != nil {
		return fmt.Errorf("temporary files of a replay: %w", err)
	}
	return nil
}

// get returns the value of a key, nil when there is none.
func (o *overlay) get(key []byte) ([]byte, error) {
	v, closer, err := o.over.Get(key)
	if failed := o.failed(); failed != nil {
		if err == nil {
			_ = closer.Close()
		}
		return nil, failed
	}
	if err == nil {
		v = append([]byte{}, v...)
		if err := closer.Close(); err != nil {
			return nil, err
		}
		return overlaid(v), nil
	}
	if !errors.Is(err, pebble.ErrNotFound) {
		return nil, err
	}
	v, ok, err := o.db.get(key)
	if !ok {
		v = nil
	}
	return v, err
}

// overlaid returns the value that was laid over a key, nil for none.
func overlaid(v []byte) []byte {
	if v[0] == overAbsent {
		return nil
	}
	return v[1:]
}

// scan merges the two in key order.
func (o *overlay) scan(ctx context.Context, s byte, f func(key, value []byte) error) (err error) {
	lower, upper := space(s)
	it, err := o.over.NewIterWithContext(ctx, &pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close(), o.failed()) }()
	ok := it.First()
	// give passes on overlaid records up to a key of the database, and tells whether that key is overlaid too.
	give := func(key []byte) (hidden bool, err error) {
		for ; ok; ok = it.Next() {
			c := -1
			if key != nil {
				c = bytes.Compare(it.Key(), key)
			}
			if c > 0 {
				break
			}
			v, err := it.ValueAndErr()
			if err != nil {
				return false, err
			}
			if v = overlaid(v); v != nil {
				if err := f(it.Key(), v); err != nil {
					return false, err
				}
			}
			hidden = hidden || c == 0
		}
		return hidden, it.Error()
	}
	err = o.db.scan(ctx, s, func(key, value []byte) error {
		hidden, err := give(key)
		if err != nil || hidden {
			return err
		}
		return f(key, value)
	})
	if err != nil {
		return err
	}
	_, err = give(nil)
	return err
}

// changed calls f for every overlaid key with the value laid over it and the one in the database, nil for none.
func (o *overlay) changed(f func(key, over, stored []byte) error) (err error) {
	it, err := o.over.NewIter(nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close(), o.failed()) }()
	for ok := it.First(); ok; ok = it.Next() {
		v, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		stored, has, err := o.db.get(it.Key())
		if err != nil {
			return err
		}
		if !has {
			stored = nil
		}
		if err := f(it.Key(), overlaid(v), stored); err != nil {
			return err
		}
	}
	return nil
}
