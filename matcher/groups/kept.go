package groups

import (
	"unsafe"

	"motifd/matcher"
)

// kept implements matcher.Capabilities.Kept.
func (b *Backend) kept(p *matcher.Plan) (k matcher.Kept) {
	x := b.programs[p]
	if x == nil || x.shape == nil {
		return k
	}
	for _, state := range x.shape.states {
		k.Hubs++
		k.Bytes += state.bytes()
	}
	return k
}

// mapEntry is about what a map takes for an entry of two words, with its share of empty places.
const mapEntry = 24

// bytes returns about how much memory the state of a hub takes.
func (s *hubState) bytes() uint64 {
	n := uint64(unsafe.Sizeof(*s)) + mapEntry
	if st := s.star; st != nil {
		n += uint64(unsafe.Sizeof(*st)) + st.tally.bytes()
		if st.edges != nil {
			n += st.edges.bytes()
		}
	}
	if w := s.window; w != nil {
		n += uint64(unsafe.Sizeof(*w)) + w.members.bytes() + w.pivots.bytes()
		if c := w.last; c != nil {
			n += uint64(unsafe.Sizeof(*c)) + c.tally.bytes() + mapEntry*uint64(len(c.others))
		}
	}
	return n
}

// bytes returns the memory behind a list.
func (l *timeList) bytes() uint64 { return uint64(cap(l.entries)) * uint64(unsafe.Sizeof(entry{})) }

// bytes returns the memory behind a tally.
func (t *tally) bytes() uint64 { return uint64(cap(t.sums)) * uint64(unsafe.Sizeof(int128{})) }
