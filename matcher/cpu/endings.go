package cpu

import (
	"cmp"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/neighbors"
)

// endings is one worker's way to what the workers of a search remember of what endings find, by the image of their root.
//
// That lies in words, behind a head, in the order of the steps. Where the far step has one edge: for each image of the near step that image, the entry of its edge
// and a number; then so many images of the far step, and as many entries. Where it has two, which few images of the far step have: for each pair of
// images these, and the entries of the near step's edge and of the far step's, pairWords in all, as they go out. All of it is there, whether the
// anchor at hand sees it or not.
type endings struct {
	shared *sharedEndings // nil: nothing is remembered
	table  *endingTable   // nil before it is asked for
	room   []uint32       // of a chunk of its own: what is not written yet
	at     memoPlace      // of the room
	use    [16]endingUse  // of kinds by their lowest bits
	limits endingLimits
	// For what is just being found.
	words  []uint32 // its head, and what is behind it
	staged bool     // some entries are, perhaps
	long   bool     // it takes too much room
	sieve  [64]uint64
	roots  []dyngraph.VertexID // of which something is read ahead
	met    []met
	next   [neighbors.PrefetchSize]neighbors.Cached
}

// endingUse says whether remembering pays: how many endings were looked for since it was last judged, and the words that were found, and
// found again.
type endingUse struct{ tries, made, again, rest uint32 }

// endingLimits are for tests; 0 is what is said below.
type endingLimits struct{ words, longest, judged int }

const (
	// longestEnding bounds those of one root: the search of what hangs from a hub is rather shared.
	longestEnding = 1 << 16
	// Remembering pays when as many words are found again as were made. It is judged after some words; if it does not pay, nothing is remembered
	// for endingRest times as long.
	endingJudged = 1 << 18
	endingRest   = 16
)

// attach makes a worker remember nothing, until it shares what others do.
func (x *endings) attach(h *shared) {
	x.limits = h.options.memo
	x.share(nil)
}

// share makes a worker remember together with others.
func (x *endings) share(with *sharedEndings) { x.shared, x.table, x.room = with, nil, nil }

// worth reports whether endings of a kind are to be remembered.
func (x *endings) worth(u *endingUse) bool {
	if x.shared == nil || x.shared.h.options.noMemo {
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
	e, x := s.o.Suffix, &s.endings
	u := &x.use[e.Number%uint32(len(x.use))]
	if !x.worth(u) {
		return false, true
	}
	words := x.look(e.Number, s.m[e.Root])
	if words == nil {
		x.begin(e.Number, s.m[e.Root])
		if !s.find(d) {
			return true, false
		}
		u.made += uint32(len(x.words) - endingHead + 1)
		words = x.keep()
	} else {
		u.again += uint32(len(words) - endingHead + 1)
	}
	staged, long := words[1]&endingStaged != 0, words[1]&endingLong != 0
	if long {
		return false, true
	}
	words = words[endingHead:]
	if d+2 == len(s.o.Steps) && !s.StepBy(1+len(words)/(1+2*len(s.o.Steps[d+1].Back))) {
		return true, false
	}
	if d+2 < len(s.o.Steps) {
		return true, s.through(d, words, staged)
	}
	if !s.addEnding(d, words, staged) {
		s.Stopped = true
		return true, false
	}
	return true, true
}

// addEnding adds a row for each of what an ending found that is free and visible; false tells of an error.
func (s *search) addEnding(d int, words []uint32, staged bool) bool {
	if len(s.o.Steps[d+1].Back) == 2 {
		return s.addPairs(words, staged)
	}
	e := s.o.Suffix
	apart := s.images(&s.apart[0], e.MustDiffer[1])
	x := s.suffixes(2)
near:
	for len(words) > 0 {
		near, by, many := words[0], dyngraph.Entry(words[1]), int(words[2])
		images, entries := words[3:][:many], words[3+many:][:many]
		words = words[3+2*many:]
		for _, k := range e.MustDiffer[0] {
			if uint32(s.m[k]) == near {
				continue near
			}
		}
		if by.Staged() && !s.visible(by) {
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
			if staged && a.Staged() && !s.visible(a) {
				continue
			}
			if len(x.Words)+4 > x.Room && !x.Full() {
				return false
			}
			at := len(x.Words)
			x.Words = x.Words[:at+4]
			into := x.Words[at : at+4 : at+4]
			into[0], into[1], into[2], into[3] = near, v, edge, uint32(a.Index())
		}
	}
	x.End()
	return true
}

// images returns the images of some steps.
func (s *search) images(room *[matcher.MaxVertices]uint32, steps []int) []uint32 {
	for i, k := range steps {
		room[i&31] = uint32(s.m[k])
	}
	return room[:len(steps)]
}
