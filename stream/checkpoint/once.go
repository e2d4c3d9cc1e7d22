package checkpoint

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"motifd/matcher"
)

// What queries with once remember (matcher.Query.Once) has a space of its own, an entry for each key. A batch says in
// its log entry what it changed there, before and after, so that the base of the log is found by going back.

// onceVersion is the first byte of entries of that space, and of the end of a batch that changes some of them or drops
// a positive. It holds what values of codecVersion hold, then perhaps event time, then the changes.
const onceVersion = 5

// changedVersion is the first byte of the end of a batch in which matches changed. It holds what a value of onceVersion
// does, and the numbers of changed matches.
const changedVersion = 6

// onceEntry names what is remembered: a key of a query, or its clock.
type onceEntry struct {
	query string
	clock bool
	key   matcher.OnceKey
}

func entryOf(c *matcher.OnceChange) onceEntry { return onceEntry{c.Query, c.Clock, c.Key} }

// onceKeyOf returns the key of an entry: the query's name behind its length, and the key unless it is the clock.
func onceKeyOf(e *onceEntry) []byte {
	key := append([]byte{spaceOnce, byte(len(e.query))}, e.query...)
	if e.clock {
		return key
	}
	return append(key, e.key[:]...)
}

// parseOnce is the inverse of onceKeyOf.
func parseOnce(key []byte) (e onceEntry, ok bool) {
	if len(key) < 2 || len(key) < 2+int(key[1]) {
		return e, false
	}
	e.query = string(key[2 : 2+int(key[1])])
	switch rest := key[2+int(key[1]):]; len(rest) {
	case 0:
		e.clock = true
	case len(e.key):
		copy(e.key[:], rest)
	default:
		return e, false
	}
	return e, true
}

// writeOnce puts changes into a write, in their order. It returns their size.
func writeOnce(b *pebble.Batch, changes []matcher.OnceChange) (size int64, err error) {
	for i := range changes {
		c := &changes[i]
		e := entryOf(c)
		key := onceKeyOf(&e)
		if size += int64(len(key)) + 32; size > maxWrite {
			return size, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, int64(maxWrite))
		}
		if c.After.Known {
			err = setChecksummed(b, key, binary.AppendVarint([]byte{onceVersion}, c.After.TS))
		} else {
			err = b.Delete(key, nil)
		}
		if err != nil {
			return size, err
		}
	}
	return size, nil
}

// readOnce reads what is remembered, by entry.
func readOnce(ctx context.Context, sc scanner) (map[onceEntry]int64, error) {
	all := map[onceEntry]int64{}
	return all, sc.scan(ctx, spaceOnce, func(key, value []byte) error {
		e, ok := parseOnce(key)
		if !ok {
			return damaged("the key %x of what a query with once remembers", key)
		}
		d, err := verified(key, value)
		if err != nil {
			return err
		}
		all[e] = d.varint()
		return d.finish("what query " + e.query + " remembers")
	})
}

// remembered returns the queries with what they remember.
func remembered(queries []matcher.QueryState, all map[onceEntry]int64) []matcher.QueryState {
	by := map[string][]matcher.OnceEntry{}
	for e, ts := range all {
		by[e.query] = append(by[e.query], matcher.OnceEntry{Clock: e.clock, Key: e.key, TS: ts})
	}
	out := make([]matcher.QueryState, len(queries))
	for i, q := range queries {
		q.Once = by[q.Query.Name]
		out[i] = q
	}
	return out
}

// undoOnce takes back what a batch changed.
func undoOnce(all map[onceEntry]int64, changes []matcher.OnceChange) error {
	var errs []error
	for i := len(changes) - 1; i >= 0; i-- {
		c := &changes[i]
		e := entryOf(c)
		if ts, known := all[e]; known != c.After.Known || ts != c.After.TS {
			errs = append(errs, damaged("query %q remembers %d (%v) of a key, where the batch left %d (%v)", e.query,
				ts, known, c.After.TS, c.After.Known))
		}
		if c.Before.Known {
			all[e] = c.Before.TS
		} else {
			delete(all, e)
		}
	}
	return errors.Join(errs...)
}

// The flags of a change.
const (
	onceClock = 1 << iota
	onceBefore
	onceAfter
)

func appendOnce(b []byte, changes []matcher.OnceChange) []byte {
	b = binary.AppendUvarint(b, uint64(len(changes)))
	for i := range changes {
		c := &changes[i]
		var flags byte
		if c.Clock {
			flags |= onceClock
		}
		if c.Before.Known {
			flags |= onceBefore
		}
		if c.After.Known {
			flags |= onceAfter
		}
		b = append(appendString(b, c.Query), flags)
		if !c.Clock {
			b = append(b, c.Key[:]...)
		}
		if c.Before.Known {
			b = binary.AppendVarint(b, c.Before.TS)
		}
		if c.After.Known {
			b = binary.AppendVarint(b, c.After.TS)
		}
	}
	return b
}

func (d *decoder) once() []matcher.OnceChange {
	n := d.count(2)
	if n == 0 {
		return nil
	}
	changes := make([]matcher.OnceChange, n)
	for i := range changes {
		c := &changes[i]
		c.Query = d.string()
		flags := d.byte()
		if flags > onceClock|onceBefore|onceAfter {
			d.fail()
		}
		c.Clock = flags&onceClock != 0
		if !c.Clock {
			if len(d.b) < len(c.Key) {
				d.fail()
				return nil
			}
			d.b = d.b[copy(c.Key[:], d.b):]
		}
		if c.Before.Known = flags&onceBefore != 0; c.Before.Known {
			c.Before.TS = d.varint()
		}
		if c.After.Known = flags&onceAfter != 0; c.After.Known {
			c.After.TS = d.varint()
		}
	}
	return changes
}
