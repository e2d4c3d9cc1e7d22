package backtrack

import (
	"motifd/dyngraph"
	"motifd/matcher/cpu/program"
)

// pairWords is the number of words of a pair of images: both images, the entry of the edge of s1 and those of s2.
const pairWords = 5

type pairOfWords = [pairWords]uint32

// addSuffixPairs is addSuffixes where s2 has two back edges: words are laid out as they go out.
func (s *Search) addSuffixPairs(words []uint32, staged bool) bool {
	near := s.Excluded(0, s.order.Suffix.MustDiffer[0])
	far := s.Excluded(1, s.order.Suffix.MustDiffer[1])
	x, check := s.beginRows(2), s.ChecksEdges(staged)
	for {
		for len(words) > 0 && !s.goesOut((*pairOfWords)(words), near, far, check) {
			words = words[pairWords:]
		}
		if len(words) == 0 {
			x.End()
			return true
		}
		if len(x.Words)+pairWords > x.Room && !x.Full() {
			return false
		}
		n := min(len(words), (x.Room-len(x.Words))/pairWords*pairWords)
		x.Words = s.appendPairs(x.Words, words[:n], near, far, check)
		words = words[n:]
	}
}

// goesOut reports whether a pair is admitted.
func (s *Search) goesOut(p *pairOfWords, near, far program.Excluded, check bool) bool {
	return !near.Has(p[0]) && !far.Has(p[1]) && (!check || s.sees((*[3]uint32)(p[2:])))
}

// sees reports whether all entries of a pair are admitted.
func (s *Search) sees(entries *[3]uint32) bool {
	for _, w := range entries {
		if e := dyngraph.Entry(w); !s.AdmitsEdge(e) {
			return false
		}
	}
	return true
}

// appendPairs appends the admitted pairs; there is room for all.
func (s *Search) appendPairs(to, words []uint32, near, far program.Excluded, check bool) []uint32 {
	at := len(to)
	to = to[:at+len(words)]
	for ; len(words) >= pairWords; words = words[pairWords:] {
		p, into := (*pairOfWords)(words), (*pairOfWords)(to[at:])
		if near.Has(p[0]) || far.Has(p[1]) {
			continue
		}
		if !check {
			*into = *p
			at += pairWords
			continue
		}
		a, b, c := dyngraph.Entry(p[2]), dyngraph.Entry(p[3]), dyngraph.Entry(p[4])
		if s.ChecksEdges((a | b | c).Staged()) && !s.sees((*[3]uint32)(p[2:])) {
			continue
		}
		into[0], into[1], into[2], into[3], into[4] = p[0], p[1], uint32(a.Index()), uint32(b.Index()), uint32(c.Index())
		at += pairWords
	}
	return to[:at]
}
