package cpu

import (
	"motifd/dyngraph"
	"motifd/matcher"
)

// memo keeps counts of pieces by the images of their boundary. It is a hash table that is emptied by counting up its
// generation, since small batches must not pay for what a large one left.
type memo struct {
	gen   uint32
	used  int
	slots []memoSlot
}

type memoKey struct {
	piece uint32 // id and version
	a, b  dyngraph.VertexID
}

type memoSlot struct {
	key memoKey
	gen uint32
	n   matcher.Count
}

// maxMemo bounds the counts kept by one worker, at 32 bytes and a free slot each; beyond it they are forgotten.
const maxMemo = 1 << 20

func (m *memo) reset() {
	m.gen++
	m.used = 0
	if m.gen == 0 || m.slots == nil {
		m.gen, m.slots = 1, make([]memoSlot, 256)
	}
}

func (k memoKey) hash() uint64 {
	h := (uint64(k.a)<<32 | uint64(k.b)) * 0x9e3779b97f4a7c15
	return (h ^ h>>29 ^ uint64(k.piece)) * 0xbf58476d1ce4e5b9 >> 32
}

func (m *memo) get(k memoKey) (matcher.Count, bool) {
	mask := uint64(len(m.slots) - 1)
	for i := k.hash() & mask; m.slots[i].gen == m.gen; i = (i + 1) & mask {
		if m.slots[i].key == k {
			return m.slots[i].n, true
		}
	}
	return matcher.Count{}, false
}

// put adds a key that is not there.
func (m *memo) put(k memoKey, n matcher.Count) {
	if m.used >= maxMemo {
		m.reset()
	}
	if 4*m.used >= 3*len(m.slots) {
		old := m.slots
		m.slots = make([]memoSlot, 2*len(old))
		for i := range old {
			if old[i].gen == m.gen {
				m.insert(old[i])
			}
		}
	}
	m.insert(memoSlot{k, m.gen, n})
	m.used++
}

func (m *memo) insert(s memoSlot) {
	mask := uint64(len(m.slots) - 1)
	i := s.key.hash() & mask
	for m.slots[i].gen == m.gen {
		i = (i + 1) & mask
	}
	m.slots[i] = s
}
