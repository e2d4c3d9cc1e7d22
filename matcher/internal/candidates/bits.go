package candidates

import (
	"math/bits"

	"motifd/dyngraph"
	"motifd/matcher"
)

// Test tells how the candidate bit of a class is read: a vertex has the bit if its word number Word, under Mask, equals
// Want. A class that no vertex can fit has a Test that nothing passes.
type Test struct {
	Word       int
	Mask, Want uint64
}

// Of reports whether a vertex with these words passes the test.
func (t Test) Of(words []uint64) bool { return words[t.Word]&t.Mask == t.Want }

// Bit returns the index of the one bit that marks a vertex of the class's label; false if nothing passes.
func (t Test) Bit() (uint32, bool) {
	bit := t.Want &^ tagMask
	return uint32(t.Word)<<6 | uint32(bits.TrailingZeros64(bit)), t.Mask != 0
}

// noneTest is passed by nothing.
var noneTest = Test{Want: 1}

// candidates holds the candidate bits of all vertices. A vertex can fit only classes of its own label and of several
// labels, so it has bits for those alone: each label has its own numbering of classes. Bits of several numberings share
// a position, so the top byte of a word is the tag of its numbering, and one word tells both. If there are more labels
// than tags, labels share a numbering.
type candidates struct {
	words int // of a vertex, with room for more classes
	used  int
	bits  []uint64

	numberings []numbering // by tag
	tags       map[dyngraph.LabelID]uint8
	any        []int   // the words of numbering 0, of the classes of several labels
	labelled   []int   // the words that the other numberings share
	nth        []int32 // by word: which one of its numbering it is
	numbered   int     // classes
	perVertex  int     // words for a bit for each class, with room for more
}

type numbering []int32 // the classes, by position

const (
	tagShift = 56
	tagMask  = uint64(255) << tagShift
)

// put gives the next class, of a label, its bit.
func (c *candidates) put(l dyngraph.LabelID) Test {
	tag := c.tag(l)
	s, words := &c.numberings[tag], &c.labelled
	if tag == 0 {
		words = &c.any
	}
	n := len(*s)
	*s = append(*s, int32(c.numbered))
	c.numbered++
	k := n / tagShift
	if k == len(*words) {
		*words = append(*words, c.used)
		c.nth = append(c.nth, int32(k))
		c.used++
	}
	bit := uint64(1) << (n % tagShift)
	return Test{Word: (*words)[k], Mask: tagMask | bit, Want: uint64(tag)<<tagShift | bit}
}

// pass gives the next class no bit: nothing fits it.
func (c *candidates) pass() Test {
	c.numbered++
	return noneTest
}

// tag returns the tag of a label's numbering.
func (c *candidates) tag(l dyngraph.LabelID) uint8 {
	if c.numberings == nil {
		c.numberings, c.tags = make([]numbering, 1), map[dyngraph.LabelID]uint8{}
	}
	if matcher.SeveralLabels(l) {
		return 0
	}
	tag, ok := c.tags[l]
	if !ok {
		if n := len(c.numberings); n <= 255 {
			c.numberings = append(c.numberings, nil)
			tag = uint8(n)
		} else {
			tag = 1
			for t := range c.numberings[1:] {
				if len(c.numberings[1+t]) < len(c.numberings[tag]) {
					tag = uint8(1 + t)
				}
			}
		}
		c.tags[l] = tag
	}
	return tag
}

// widen makes room in n rows for the bits of all classes, and some more.
func (c *candidates) widen(n int) {
	if need := (c.numbered + 63) / 64; need > c.perVertex {
		c.perVertex = max(need, c.perVertex+c.perVertex/2)
	}
	if need := max(1, c.used); need > c.words {
		words := max(need, c.words+c.words/2)
		rows := make([]uint64, n*words)
		for v := 0; c.words > 0 && v < min(n, len(c.bits)/c.words); v++ {
			copy(rows[v*words:], c.bits[v*c.words:(v+1)*c.words])
		}
		c.bits, c.words = rows, words
	}
	c.grow(n)
}

// grow makes room for n rows.
func (c *candidates) grow(n int) {
	if need := n * c.words; need > len(c.bits) {
		c.bits = append(c.bits, make([]uint64, need-len(c.bits))...)
	}
}

func (c *candidates) has(v dyngraph.VertexID, t *Test) bool {
	return t.Of(c.bits[int(v)*c.words:])
}

// set sets a bit. It drops the bits of a former vertex of another label that had the same id.
func (c *candidates) set(v dyngraph.VertexID, t *Test) {
	w := &c.bits[int(v)*c.words+t.Word]
	*w = *w&^t.Mask | t.Want
}

func (c *candidates) clear(v dyngraph.VertexID, t *Test) {
	c.bits[int(v)*c.words+t.Word] &^= t.Want &^ tagMask
}

// byNumber fills row with a bit for each class that a vertex has the bit of, by the number of the class.
func (c *candidates) byNumber(v int, row []uint64) {
	clear(row)
	for i, nth := range c.nth {
		x := c.bits[v*c.words+i]
		if x&^tagMask == 0 {
			continue
		}
		s := c.numberings[x>>tagShift][nth*tagShift:]
		for x &^= tagMask; x != 0; x &= x - 1 {
			class := s[bits.TrailingZeros64(x)]
			row[class>>6] |= 1 << (class & 63)
		}
	}
}
