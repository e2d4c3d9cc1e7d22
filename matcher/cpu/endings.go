package cpu

import (
	"cmp"

	"motifd/dyngraph"
	"motifd/matcher"
)

// endings remembers for one search what endings find, by the image of their root. It is a worker's own.
//
// It lies in words, in the order of the steps. Where the far step has one edge: for each image of the near step that image, the entry of its edge
// and a number; then so many images of the far step, and as many entries. Where it has two, which few images of the far step have: for each pair of
// images these, and the entries of the near step's edge and of the far step's, pairWords in all, as they go out. All of it is there, whether the
// anchor at hand sees it or not.
type endings struct {
	search uint32 // number of the search, from 1 on
	slots  []endingSlot
	words  []uint32
	use    [16]endingUse // of kinds by their lowest bits
	limits endingLimits
	off    bool // nothing is remembered
	// For what is just being found.
	sieve [64]uint64
	roots []dyngraph.VertexID // of which something is read ahead
	met   []met
	next  [ahead]knownList
	read  uint64 // what is read ahead comes together here, so that it is read
}

// knownList is a list that is there already, or not.
type knownList struct {
	list  list
	built bool
}

// endingSlot says where in the words something is.
type endingSlot struct {
	key      uint64 // kind and root
	search   uint32
	from, to uint32
	staged   bool // some entries, perhaps
	long     bool // it is not there: it takes too much room
}

// endingUse says whether remembering pays: how many endings were looked for since it was last judged, and the words that were found, and
// found again.
type endingUse struct{ tries, made, again, rest uint32 }

// endingLimits are for tests; 0 is what is said below.
type endingLimits struct{ words, longest, judged int }

const (
	endingSlots = 1 << 13
	// maxEndingWords bounds the words, about: then all is forgotten.
	maxEndingWords = 1 << 20
	// longestEnding bounds those of one root: the search of what hangs from a hub is rather shared.
	longestEnding = 1 << 16
	// Remembering pays when as many words are found again as were made. It is judged after some words; if it does not pay, nothing is remembered
	// for endingRest times as long.
	endingJudged = 1 << 18
	endingRest   = 16
)

// attach makes a search begin, with nothing remembered.
func (x *endings) attach(b *Backend) {
	x.limits, x.off = b.endingLimits, b.forgets
	x.forget()
}

func (x *endings) forget() {
	x.words = x.words[:0]
	if x.search++; x.search == 0 {
		clear(x.slots)
		x.search = 1
	}
}

// slot returns the place for what an ending finds from v, and whether it is to be found yet.
func (x *endings) slot(kind uint32, v dyngraph.VertexID) (slot *endingSlot, found bool) {
	if x.slots == nil {
		x.slots = make([]endingSlot, endingSlots)
	}
	slot, key := x.at(kind, v)
	if slot.key == key && slot.search == x.search {
		return slot, true
	}
	if len(x.words) >= cmp.Or(x.limits.words, maxEndingWords) {
		x.forget()
	}
	*slot = endingSlot{key: key, from: uint32(len(x.words))}
	return slot, false
}

// at returns the place for what an ending finds from v, and the key that it has if it is there.
func (x *endings) at(kind uint32, v dyngraph.VertexID) (slot *endingSlot, key uint64) {
	key = uint64(kind)<<32 | uint64(v)
	return &x.slots[key*0x9e3779b97f4a7c15>>32%endingSlots], key
}

// worth reports whether endings of a kind are to be remembered.
func (x *endings) worth(u *endingUse) bool {
	if x.off {
		return false
	}
	if u.rest > 0 {
		u.rest--
		return false
	}
	if int(u.made) >= cmp.Or(x.limits.judged, endingJudged) {
		if u.again < u.made {
			u.rest = endingRest * u.tries
		}
		u.tries, u.made, u.again = 0, 0, 0
	}
	u.tries++
	return true
}

// end maps the two steps of the ending, from d on, and what comes after them, as they are remembered; done tells that it did, ok whether the
// search goes on.
func (s *search) end(d int) (done, ok bool) {
	e, x := s.o.ending, &s.endings
	u := &x.use[e.kind%uint32(len(x.use))]
	if !x.worth(u) {
		return false, true
	}
	slot, found := x.slot(e.kind, s.m[e.root])
	if !found {
		if !s.find(d, slot) {
			return true, false
		}
		u.made += uint32(len(x.words)) - slot.from + 1
		if slot.long {
			x.words = x.words[:slot.from]
		}
		slot.to, slot.search = uint32(len(x.words)), x.search
	} else {
		u.again += slot.to - slot.from + 1
	}
	if slot.long {
		return false, true
	}
	words := x.words[slot.from:slot.to]
	if d+2 == len(s.o.steps) && !s.stepBy(1+len(words)/(1+2*len(s.o.steps[d+1].back))) {
		return true, false
	}
	if d+2 < len(s.o.steps) {
		return true, s.through(d, words, slot.staged)
	}
	if !s.out.addEnding(s, d, words, slot.staged) {
		s.stopped = true
		return true, false
	}
	return true, true
}

// addEnding adds a row for each of what an ending found that is free and visible; false tells of an error.
func (s *sorter) addEnding(se *search, d int, words []uint32, staged bool) bool {
	if len(se.o.steps[d+1].back) == 2 {
		return s.addPairs(se, d, words, staged)
	}
	e := se.o.ending
	apart := se.images(&se.apart[0], e.apart[1])
	t := s.tails(se.o.steps[d:d+2], se.row[:])
near:
	for len(words) > 0 {
		near, by, many := words[0], dyngraph.Entry(words[1]), int(words[2])
		images, entries := words[3:][:many], words[3+many:][:many]
		words = words[3+2*many:]
		for _, k := range e.apart[0] {
			if uint32(se.m[k]) == near {
				continue near
			}
		}
		if by.Staged() && !se.visible(by) {
			continue
		}
		edge := uint32(by.Index())
	far:
		for i, v := range images {
			for _, c := range apart {
				if c == v {
					continue far
				}
			}
			a := dyngraph.Entry(entries[i])
			if staged && a.Staged() && !se.visible(a) {
				continue
			}
			if len(t.words)+4 > t.room && !t.full() {
				return false
			}
			at := len(t.words)
			t.words = t.words[:at+4]
			into := t.words[at : at+4 : at+4]
			into[0], into[1], into[2], into[3] = near, v, edge, uint32(a.Index())
		}
	}
	t.end()
	return true
}

// images returns the images of some steps.
func (s *search) images(room *[matcher.MaxVertices]uint32, steps []int) []uint32 {
	for i, k := range steps {
		room[i&31] = uint32(s.m[k])
	}
	return room[:len(steps)]
}
