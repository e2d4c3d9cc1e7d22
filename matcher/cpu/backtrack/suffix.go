package backtrack

import (
	"cmp"

	"motifd/dyngraph"
	"motifd/matcher/cpu/neighbors"
)

// suffixes is one worker's way to what the workers of a search remember of what endings find, by the image of their root.
//
// That lies in words, behind a head, in the order of the steps. Where the far step has one edge: for each image of the near step that image, the entry of its edge
// and a number; then so many images of the far step, and as many entries. Where it has two, which few images of the far step have: for each pair of
// images these, and the entries of the near step's edge and of the far step's, pairWords in all, as they go out. All of it is there, whether the
// anchor at hand sees it or not.
type suffixes struct {
	shared *Memo       // nil: nothing is remembered
	table  *memoTable  // nil before it is asked for
	room   []uint32    // of a chunk of its own: what is not written yet
	at     memoPlace   // of the room
	use    [16]memoUse // of kinds by their lowest bits
	limits MemoLimits
	// For what is just being found.
	words  []uint32 // its head, and what is behind it
	staged bool     // some entries are, perhaps
	long   bool     // it takes too much room
	marks  [64]uint64
	roots  []dyngraph.VertexID // of which something is read ahead
	joined []joinedImage
	next   [neighbors.PrefetchSize]neighbors.Cached
}

// memoUse says whether remembering pays: how many endings were looked for since it was last judged, and the words that were found, and
// found again.
type memoUse struct{ tries, made, again, rest uint32 }

// MemoLimits are for tests; 0 is what is said below.
type MemoLimits struct{ Words, Longest, Judged int }

const (
	// maxSuffixWords bounds those of one root: the search of what hangs from a hub is rather shared.
	maxSuffixWords = 1 << 16
	// Remembering pays when as many words are found again as were made. It is judged after some words; if it does not pay, nothing is remembered
	// for endingRest times as long.
	memoJudged = 1 << 18
	memoRest   = 16
)

// attach makes a worker remember nothing, until it shares what others do.
func (x *suffixes) attach(h *Shared) {
	x.limits = h.Options.Memo
	x.share(nil)
}

// share makes a worker remember together with others.
func (x *suffixes) share(with *Memo) { x.shared, x.table, x.room = with, nil, nil }

// worth reports whether endings of a kind are to be remembered.
func (x *suffixes) worth(u *memoUse) bool {
	if x.shared == nil || x.shared.Shared.Options.NoMemo {
		return false
	}
	if u.rest > 0 {
		u.rest--
		return false
	}
	if int(u.made) >= cmp.Or(x.limits.Judged, memoJudged) {
		if u.again < u.made {
			u.rest = memoRest * u.tries
		}
		u.tries, u.made, u.again = 0, 0, 0
	}
	u.tries++
	return true
}

// replay maps the two steps of the ending, from d on, and what comes after them, as they are remembered; done tells that it did, ok whether the
// search goes on.
func (s *Search) replay(d int) (done, ok bool) {
	e, x := s.order.Suffix, &s.suffixes
	u := &x.use[e.Number%uint32(len(x.use))]
	if !x.worth(u) {
		return false, true
	}
	words := x.lookUp(e.Number, s.Images[e.Root])
	if words == nil {
		x.begin(e.Number, s.Images[e.Root])
		if !s.findSuffix(d) {
			return true, false
		}
		u.made += uint32(len(x.words) - memoHead + 1)
		words = x.keep()
	} else {
		u.again += uint32(len(words) - memoHead + 1)
	}
	staged, long := words[1]&memoStaged != 0, words[1]&memoLong != 0
	if long {
		return false, true
	}
	words = words[memoHead:]
	if d+2 == len(s.order.Steps) && !s.StepBy(1+len(words)/(1+2*len(s.order.Steps[d+1].Back))) {
		return true, false
	}
	if d+2 < len(s.order.Steps) {
		return true, s.extendSuffix(d, words, staged)
	}
	if !s.addSuffixes(d, words, staged) {
		s.Stopped = true
		return true, false
	}
	return true, true
}

// addSuffixes adds a row for each of what an ending found that is free and visible; false tells of an error.
func (s *Search) addSuffixes(d int, words []uint32, staged bool) bool {
	if len(s.order.Steps[d+1].Back) == 2 {
		return s.addSuffixPairs(words, staged)
	}
	e := s.order.Suffix
	excluded, excludedFar, check := s.Excluded(0, e.MustDiffer[0]), s.Excluded(1, e.MustDiffer[1]), s.ChecksEdges(staged)
	x := s.beginRows(2)
	for len(words) > 0 {
		near, by, many := words[0], dyngraph.Entry(words[1]), int(words[2])
		images, entries := words[3:][:many], words[3+many:][:many]
		words = words[3+2*many:]
		if excluded.Has(near) || !s.AdmitsEdge(by) {
			continue
		}
		edge := uint32(by.Index())
		for i, v := range images {
			a := dyngraph.Entry(entries[i])
			if excludedFar.Has(v) || check && !s.AdmitsEdge(a) {
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

// UseMemo has the search remember what suffixes find, together with other workers.
func (s *Search) UseMemo(m *Memo) { s.suffixes.share(m) }

// MemoUse reports whether something remembered was found again, and whether remembering has been judged not to pay.
func (s *Search) MemoUse() (again, rest bool) {
	for _, u := range s.suffixes.use {
		again, rest = again || u.again > 0, rest || u.rest > 0
	}
	return again, rest
}
