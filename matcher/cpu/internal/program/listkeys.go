package program

import (
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
)

// ListKeys numbers the keys by which neighbor lists and suffixes are cached, for all orders of a backend. It
// knows which lists a candidate bit or an edge can be in, so that only these are outdated by a change.
type ListKeys struct {
	// Still tells that no list outlives the search, which has one order: it need not be known what a change is in.
	Still bool

	few         []ListKey       // that were numbered first, up to mostFew: they are found without hashing
	numbers     map[ListKey]int // the others
	Readers     [][]ListReader  // by class: the lists that its candidate bits decide
	AnyNeighbor bool            // some lists hold neighbors of any label
	suffixes    map[suffixKey]uint32
	tails       map[string]uint32
	mayRead     [64]uint64 // bitmap by readerHash
}

// Len returns how many list keys have numbers.
func (c *ListKeys) Len() int { return len(c.few) + len(c.numbers) }

// mostFew is the number of keys that are compared one by one.
const mostFew = 32

// number returns the number of a key.
func (c *ListKeys) number(key *ListKey) int {
	for i := range c.few {
		if c.few[i] == *key {
			return i
		}
	}
	if len(c.few) < mostFew {
		c.few = append(c.few, *key)
		return len(c.few) - 1
	}
	at, ok := c.numbers[*key]
	if !ok {
		if c.numbers == nil {
			c.numbers = map[ListKey]int{}
		}
		at = c.Len()
		c.numbers[*key] = at
	}
	return at
}

// Number returns the number and the epoch key of a list key. The lists belong to vertices with the label reader and
// hold neighbors with the label nbr, of any of the classes.
func (c *ListKeys) Number(key ListKey, reader, nbr dyngraph.LabelID, classes ...int) (int, EpochKey) {
	if c.Still {
		return c.number(&key), EpochKey{}
	}
	// Epochs know single labels and any label: lists of alternatives are outdated as those of any label.
	if matcher.SeveralLabels(reader) {
		reader = matcher.AnyLabel
	}
	if matcher.SeveralLabels(nbr) {
		nbr = matcher.AnyLabel
	}
	at := c.number(&key)
	l := EpochKey{LabelEpoch(nbr), ListEpoch(at)}
	c.AnyNeighbor = c.AnyNeighbor || nbr == matcher.AnyLabel
	for _, class := range classes {
		for class >= len(c.Readers) {
			c.Readers = append(c.Readers, nil)
		}
		if k := (ListReader{l.List, reader}); !slices.Contains(c.Readers[class], k) {
			c.Readers[class] = append(c.Readers[class], k)
		}
	}
	c.noteReader(reader, nbr)
	return at, l
}

// noteReader notes that vertices with the label reader have lists of neighbors with the label nbr.
func (c *ListKeys) noteReader(reader, nbr dyngraph.LabelID) {
	if reader == matcher.AnyLabel {
		for i := range c.mayRead {
			c.mayRead[i] = ^uint64(0)
		}
	}
	h := readerHash(reader, nbr)
	c.mayRead[h/64] |= 1 << (h % 64)
}

// MayRead reports whether vertices with the label reader may have lists of neighbors with the label nbr. False
// positives are possible: labels are hashed.
func (c *ListKeys) MayRead(reader, nbr dyngraph.LabelID) bool {
	h := readerHash(reader, nbr)
	return c.mayRead[h/64]>>(h%64)&1 != 0
}

// readerHash returns 12 bits.
func readerHash(reader, nbr dyngraph.LabelID) uint64 {
	return (uint64(reader)<<32 | uint64(nbr)) * 0x9e3779b97f4a7c15 >> 52
}

// ListKey is the key of a neighbor list within its vertex: the edges' direction and label, what they meet alone, and
// the class that the neighbors pass.
type ListKey struct {
	Dir    dyngraph.Dir
	Label  dyngraph.LabelID
	Class  int
	Others string // further classes, as text, of which any will do; empty for none
	Test   string // key of the test that the edges pass in some view; empty for none
}

// EpochKey names the two epochs of its vertex that a list depends on. The label epoch changes with an edge to a
// neighbor of that label, the list epoch with a candidate bit that decides whether a neighbor is in the list.
type EpochKey struct{ Label, List uint32 }

// ListReader names lists by their list epoch and by the label of their vertices, or AnyLabel.
type ListReader struct {
	Epoch uint32
	Label dyngraph.LabelID
}

// LabelEpoch returns the epoch of edges to neighbors with a label.
func LabelEpoch(l dyngraph.LabelID) uint32 { return uint32(l)<<1 | 1 }

// ListEpoch returns the epoch of the lists whose key has a number.
func ListEpoch(number int) uint32 { return uint32(number) << 1 }
