package backtrack

import "motifd/dyngraph"

// pairWords is how many words a pair of images of an ending takes: these, the entry of the near step's edge, and those of the far step's two.
const pairWords = 5

type pairOfWords = [pairWords]uint32

// addSuffixPairs is addEnding where the far step has two edges: what it found is laid out as it goes out.
func (s *Search) addSuffixPairs(words []uint32, staged bool) bool {
	near := s.images(&s.apart[0], s.order.Suffix.MustDiffer[0])
	far := s.images(&s.apart[1], s.order.Suffix.MustDiffer[1])
	x := s.beginRows(2)
	for {
		for len(words) > 0 && !s.goesOut((*pairOfWords)(words), near, far, staged) {
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
		x.Words = s.appendPairs(x.Words, words[:n], near, far, staged)
		words = words[n:]
	}
}

// goesOut tells whether a pair is free, as its images are none of those given, and visible.
func (s *Search) goesOut(p *pairOfWords, near, far []uint32, staged bool) bool {
	return !anyOf(near, p[0]) && !anyOf(far, p[1]) && (!staged || s.sees((*[3]uint32)(p[2:])))
}

// sees tells whether some entries are visible.
func (s *Search) sees(entries *[3]uint32) bool {
	for _, w := range entries {
		if e := dyngraph.Entry(w); e.Staged() && !s.Visible(e) {
			return false
		}
	}
	return true
}

// appendPairs appends the suffixes of the pairs that go out; there is room for all.
func (s *Search) appendPairs(to, words, near, far []uint32, staged bool) []uint32 {
	at := len(to)
	to = to[:at+len(words)]
	for ; len(words) >= pairWords; words = words[pairWords:] {
		p, into := (*pairOfWords)(words), (*pairOfWords)(to[at:])
		if anyOf(near, p[0]) || anyOf(far, p[1]) {
			continue
		}
		if !staged {
			*into = *p
			at += pairWords
			continue
		}
		a, b, c := dyngraph.Entry(p[2]), dyngraph.Entry(p[3]), dyngraph.Entry(p[4])
		if (a | b | c).Staged() && !s.sees((*[3]uint32)(p[2:])) {
			continue
		}
		into[0], into[1], into[2], into[3], into[4] = p[0], p[1], uint32(a.Index()), uint32(b.Index()), uint32(c.Index())
		at += pairWords
	}
	return to[:at]
}

// anyOf tells whether a vertex is one of a few.
func anyOf(few []uint32, v uint32) bool {
	for _, w := range few {
		if w == v {
			return true
		}
	}
	return false
}
