package count

import (
	"motifd/dyngraph"
	"motifd/matcher"
)

// memo keeps counts of components by the images of their separators. It is a hash table. A new generation empties it in
// constant time, so that a small batch does not pay for the entries of a large one.
type memo struct {
	gen   uint32
	used  int
	slots []memoSlot
	wide  []matcher.Count // counts of more than 128 bits
	LookedUp
}

// LookedUp tells how many counts of components were looked up since the counter was made, and how many of these were
// known.
type LookedUp struct{ Asked, Known uint64 }

// LookedUp returns what the counter has looked up.
func (c *Counter) LookedUp() LookedUp { return c.memo.LookedUp }

type memoKey struct {
	component uint32 // of componentKey, with its version
	a, b      dyngraph.VertexID
}

// memoSlot holds no pointer, so the garbage collector does not scan the table. A count beyond 128 bits is wide[lo]; hi
// is then inWide.
type memoSlot struct {
	key    memoKey
	gen    uint32
	hi, lo uint64
}

const inWide = ^uint64(0)

// maxMemo limits the counts of one worker, which take 32 bytes and a free slot each. Beyond it the memo is emptied.
const maxMemo = 1 << 20

func (m *memo) reset() {
	m.gen++
	m.used, m.wide = 0, nil
	if m.gen == 0 || m.slots == nil {
		m.gen, m.slots = 1, make([]memoSlot, 256)
	}
}

func (k memoKey) hash() uint64 {
	h := (uint64(k.a)<<32 | uint64(k.b)) * 0x9e3779b97f4a7c15
	return (h ^ h>>29 ^ uint64(k.component)) * 0xbf58476d1ce4e5b9 >> 32
}

func (m *memo) get(k memoKey) (matcher.Count, bool) {
	m.Asked++
	mask := uint64(len(m.slots) - 1)
	for i := k.hash() & mask; m.slots[i].gen == m.gen; i = (i + 1) & mask {
		if m.slots[i].key == k {
			m.Known++
			return m.count(&m.slots[i]), true
		}
	}
	return matcher.Count{}, false
}

func (m *memo) count(s *memoSlot) matcher.Count {
	if s.hi == inWide {
		return m.wide[s.lo]
	}
	return matcher.Count{Hi: s.hi, Lo: s.lo}
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
	hi, lo := n.Hi, n.Lo
	if hi == inWide || n.IsWide() {
		hi, lo = inWide, uint64(len(m.wide))
		m.wide = append(m.wide, n)
	}
	m.insert(memoSlot{k, m.gen, hi, lo})
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
