package checkpoint

import (
	"encoding/binary"
	"fmt"
)

// digest tells two sets of records apart: their number, and the sum, modulo 2^64, of a hash of each record. A sum
// follows insertions and deletions without reading the rest. It guards against mistakes and damage, not against
// malice.
type digest struct {
	count uint64
	sum   uint64
	bytes uint64 // of keys and values; it is not stored
}

// digests are those of the three spaces of the content.
type digests struct {
	labels, vertices, edges digest
}

// of returns the digest of the space that the key is in, nil for a key outside the content.
func (d *digests) of(key []byte) *digest {
	switch key[0] {
	case spaceLabel:
		return &d.labels
	case spaceVertex:
		return &d.vertices
	case spaceEdge:
		return &d.edges
	}
	return nil
}

func (d *digest) add(key, value []byte) {
	d.count++
	d.bytes += uint64(len(key) + len(value))
	d.sum += hashRecord(key, value)
}

func (d *digest) remove(key, value []byte) {
	d.count--
	d.bytes -= uint64(len(key) + len(value))
	d.sum -= hashRecord(key, value)
}

// replace takes note of a change of one record; nil stands for no record.
func (d *digests) replace(key, before, after []byte) {
	s := d.of(key)
	if before != nil {
		s.remove(key, before)
	}
	if after != nil {
		s.add(key, after)
	}
}

// hashRecord hashes the words of key and value one after the other, each through the finalizer of splitmix64 (Steele,
// Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014).
func hashRecord(key, value []byte) uint64 {
	return absorb(absorb(uint64(len(key))<<32|uint64(len(value)), key), value)
}

func absorb(h uint64, b []byte) uint64 {
	for ; len(b) >= 8; b = b[8:] {
		h = mix(h ^ binary.LittleEndian.Uint64(b))
	}
	if len(b) > 0 {
		var tail [8]byte
		copy(tail[:], b)
		h = mix(h ^ binary.LittleEndian.Uint64(tail[:]))
	}
	return h
}

func mix(h uint64) uint64 {
	h += 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

func (d *digests) append(b []byte) []byte {
	for _, s := range [...]digest{d.labels, d.vertices, d.edges} {
		b = binary.AppendUvarint(b, s.count)
		b = binary.LittleEndian.AppendUint64(b, s.sum)
	}
	return b
}

func (d *decoder) digests() (s digests) {
	for _, p := range [...]*digest{&s.labels, &s.vertices, &s.edges} {
		p.count = d.uvarint()
		p.sum = d.uint64()
	}
	return s
}

// differ says how what was found differs from what is expected, or returns nil.
func (d digests) differ(want digests) error {
	for _, c := range [...]struct {
		what      string
		got, want digest
	}{{"labels", d.labels, want.labels}, {"vertices", d.vertices, want.vertices}, {"edges", d.edges, want.edges}} {
		if c.got.count != c.want.count {
			return fmt.Errorf("there are %d %s instead of %d", c.got.count, c.what, c.want.count)
		}
		if c.got.sum != c.want.sum {
			return fmt.Errorf("the digest of the %d %s does not match", c.got.count, c.what)
		}
	}
	return nil
}
