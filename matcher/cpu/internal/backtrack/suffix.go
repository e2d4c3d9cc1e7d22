package backtrack

import (
	"cmp"

	"motifd/dyngraph"
	"motifd/matcher/cpu/internal/program"
)

// suffixes is one worker's access to the memo of a search: the pairs of images that a program.Suffix finds, by the
// image of its root.
//
// A memo entry is a sequence of words behind a head. For each image of s1 the words are the image, the entry of its
// edge, a number n, and n images of s2, each followed by the entries of its back edges, in their order. All of it is
// kept, whether the anchor at hand sees it or not.
type suffixes struct {
	shared *Memo       // nil: there is no memo
	table  *memoTable  // nil before its first use
	room   []uint32    // unwritten part of this worker's chunk
	at     memoPlace   // of the room
	use    [16]memoUse // by suffix number, hashed
	limits MemoLimits
	// Scratch memory for the entry that is being made.
	words  []uint32 // head and words
	staged bool     // some entries may be staged
	long   bool     // there are too many words to keep
}

// memoUse tells whether the memo pays: look-ups since it was last judged, words made, words found again, and look-ups
// to go without it.
type memoUse struct{ tries, made, again, rest uint32 }

// MemoLimits are for tests; 0 is the constant below.
type MemoLimits struct{ Words, Longest, Judged int }

const (
	// maxSuffixWords is the longest entry. The search below a hub is better shared between workers.
	maxSuffixWords = 1 << 16
	// The memo pays for a suffix when as many words are found again as were made. After memoJudged words this is
	// judged; if it does not pay, memoRest times as many look-ups go without the memo.
	memoJudged = 1 << 18
	memoRest   = 16
)

// attach makes a worker use no memo until share is called.
func (x *suffixes) attach(h *Shared) {
	x.limits = h.Options.Memo
	x.share(nil)
}

// share makes a worker use a memo; nil for none.
func (x *suffixes) share(with *Memo) { x.shared, x.table, x.room = with, nil, nil }

// worth reports whether a suffix is to be looked up in the memo.
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

// replay maps the suffix, from step d on, and the steps after it by way of the memo. done tells that it did, ok
// whether the search goes on.
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
	if d+2 == len(s.order.Steps) && !s.StepBy(1+len(words)/(2+len(s.order.Steps[d+1].Back))) {
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

// addSuffixes adds a row for each admitted pair of an entry; false reports an error.
func (s *Search) addSuffixes(d int, words []uint32, staged bool) bool {
	e, s1, s2 := s.order.Suffix, &s.order.Steps[d], &s.order.Steps[d+1]
	each := 1 + len(s2.Back)
	excluded, excludedEnd, check := s.Excluded(0, e.MustDiffer[0]), s.Excluded(1, e.MustDiffer[1]),
		s.ChecksEdges(staged)
	x := s.beginRows(&s.order.Forms[0], 2)
	for len(words) > 0 {
		var first suffixImages
		first, words = nextImages(words, each)
		if excluded.Has(uint32(first.image)) || !s.AdmitsListed(&s1.Back[0], first.by) {
			continue
		}
		edge := uint32(first.by.Index())
		for ends := first.ends; len(ends) >= each; ends = ends[each:] {
			end := ends[:each]
			if excludedEnd.Has(end[0]) || check && !s.admitsAll(s2, end[1:]) {
				continue
			}
			if len(x.Words)+2+each > x.Room && !x.Full() {
				return false
			}
			at := len(x.Words)
			x.Words = x.Words[:at+2+each]
			into := x.Words[at : at+2+each : at+2+each]
			into[0], into[1], into[2] = uint32(first.image), end[0], edge
			for k, by := range end[1:] {
				into[3+k] = uint32(dyngraph.Entry(by).Index())
			}
		}
	}
	x.End()
	return true
}

// admitsAll reports whether the entries of a step's back edges are all admitted.
func (s *Search) admitsAll(st *program.Step, entries []uint32) bool {
	for k, by := range entries {
		if !s.AdmitsListed(&st.Back[k], dyngraph.Entry(by)) {
			return false
		}
	}
	return true
}

// UseMemo makes the search use a memo, together with other workers.
func (s *Search) UseMemo(m *Memo) { s.suffixes.share(m) }

// MemoUse reports whether something was found again in the memo, and whether a suffix goes without it.
func (s *Search) MemoUse() (again, rest bool) {
	for _, u := range s.suffixes.use {
		again, rest = again || u.again > 0, rest || u.rest > 0
	}
	return again, rest
}
