package checkpoint

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// writes are records on their way to a batch. They go there in the order of their keys: Pebble enters them in a skip
// list, and finds the place of a key fast from that of the key before, if they are neighbours. Sorted and not, a
// batch of edges takes the same place in the log and the tables.
type writes struct {
	buf []byte // keys and values
	at  []write
}

type write struct {
	order           uint64 // the key's first eight bytes, which is order enough
	key, value, end int    // where they begin and end in buf
	gone            bool   // the record is deleted
}

// writesRun is the bytes of records that are sorted at a time: an effect may be very large.
const writesRun = 1 << 20

// add takes note of a record; nil deletes it. The slices are the caller's again.
func (w *writes) add(b *pebble.Batch, key, value []byte) error {
	var first [8]byte
	copy(first[:], key)
	r := write{order: binary.BigEndian.Uint64(first[:]), key: len(w.buf), gone: value == nil}
	w.buf = append(w.buf, key...)
	r.value = len(w.buf)
	w.buf = append(w.buf, value...)
	r.end = len(w.buf)
	if w.at = append(w.at, r); len(w.buf) < writesRun {
		return nil
	}
	return w.flush(b)
}

// flush puts the records into the batch. Those of one key keep their order.
func (w *writes) flush(b *pebble.Batch) error {
	slices.SortFunc(w.at, func(x, y write) int {
		return cmp.Or(cmp.Compare(x.order, y.order),
			cmp.Compare(x.key, y.key))
	})
	for i := range w.at {
		r := &w.at[i]
		key := w.buf[r.key:r.value]
		var err error
		if r.gone {
			err = b.Delete(key, nil)
		} else {
			err = b.Set(key, w.buf[r.value:r.end], nil)
		}
		if err != nil {
			return err
		}
	}
	w.reset()
	return nil
}

// reset drops what was not flushed.
func (w *writes) reset() { w.buf, w.at = keepBuffer(w.buf)[:0], w.at[:0] }
