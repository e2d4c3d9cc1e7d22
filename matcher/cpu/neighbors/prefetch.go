package neighbors

import (
	"sync/atomic"

	"motifd/dyngraph"
	"motifd/matcher/cpu/program"
)

// Most lists are in no cache: neither the slot, nor the epochs, nor what they point to. A search that looks up one list
// after the other waits for each. So they are prefetched for the next candidates of a step together, as independent
// reads overlap.

// Prefetch looks up the lists of at most PrefetchSize vertices along a back edge: first all slots and epochs, then
// what these point to. It returns the lists that are cached, valid until the next call.
func (c *Lists) Prefetch(of []dyngraph.VertexID, b *program.BackEdge) []Cached {
	slots, read := c.table.slots, uint64(0)
	for _, v := range of {
		read += atomic.LoadUint64(&slots[listHash(listKey(v, b))&uint64(len(slots)-1)].key) +
			uint64(c.epochs.of(v, b.Epoch))
	}
	unbuilt := c.unbuilt[:0]
	for i, v := range of {
		l := &c.known[i&(PrefetchSize-1)]
		l.Built = true
		switch _, _, p := c.find(v, b); {
		case p > emptyList:
			l.List = c.at(p)
			read += uint64(l.List.Entries[0])
		case p == emptyList:
			l.List = List{}
		case p < emptyList:
			l.Built = false
			read += uint64(c.g.Degree(v, b.Dir))
			unbuilt = append(unbuilt, v)
		}
	}
	for _, v := range unbuilt {
		r := c.g.Range(v, b.Dir, b.Label)
		if nbr, ent, ok := r.Next(); ok {
			read += uint64(nbr[0]) + uint64(ent[0])
		}
	}
	c.unbuilt, c.read = unbuilt, c.read+read
	return c.known[:len(of)]
}

// Cached is the result of a look-up: a list, if it is Built.
type Cached struct {
	List  List
	Built bool
}

// PrefetchSize is the number of lists that are prefetched together.
const PrefetchSize = 64

// LookUp is Prefetch without reading the lists and ranges themselves; the result goes to known.
func (c *Lists) LookUp(of []dyngraph.VertexID, b *program.BackEdge, known *[PrefetchSize]Cached) {
	slots, read := c.table.slots, uint64(0)
	for _, v := range of {
		read += atomic.LoadUint64(&slots[listHash(listKey(v, b))&uint64(len(slots)-1)].key) +
			uint64(c.epochs.of(v, b.Epoch))
	}
	c.read += read
	for i, v := range of {
		l := &known[i]
		if _, _, p := c.find(v, b); p >= emptyList {
			l.List, l.Built = c.at(p), true
		} else {
			l.Built = false
		}
	}
}
