package cpu

import (
	"math/bits"
	"slices"
)

// band is which bits of the keys come from the tails of some forms: from lo to before hi. The others are the same for all rows of a head.
//
// Heads are few, and rows are many. So the heads of a band are put in order first, by the bits that are not in it; rows that follow their heads
// are then in order but for the bits of the band, among those that agree in the bits above it. That is what is left to do with rows: often
// little, as the rows of one head ascend, and for groups of rows that stay in the near cache. The rows of different bands are merged.
type band struct {
	lo, hi int
	// inHeads tells that there are columns that keys do not hold, all in heads. They are put in order by those first: rows of the band that have
	// the same key then come in order.
	inHeads bool
}

const (
	// A sort by bands pays where a head has some rows, and where rows of bands are not merged too often.
	bandRows  = 4
	mostBands = 4
	// fewRuns is how many runs are merged sooner than sorted by radix, if they are long.
	fewRuns = 4
)

// bandsOf finds the bands of all forms, for keys of some width, whose low bits come in order, that hold the columns before next. rest tells that there
// are others, which other keys hold. It is one band with all bits where more would not pay.
func (s *rowSorter) bandsOf(parts *keyParts, next, width, low int, rest bool) {
	s.bands, s.bandOf = s.bands[:0], append(s.bandOf[:0], make([]int, len(s.buf.forms))...)
	heads := 0
	for i := range s.buf.forms {
		if s.headsOf[i] == 0 {
			continue
		}
		heads += s.headsOf[i]
		f, b := &s.buf.forms[i], band{lo: width, inHeads: rest}
		for _, c := range f.columns[:f.vertices] {
			if p := parts[c]; p.width > 0 {
				b.lo, b.hi = min(b.lo, int(p.shift)), max(b.hi, int(p.shift+p.width))
			}
			b.inHeads = b.inHeads && int(c) < next
		}
		if b.lo < low && !b.inHeads || b.hi == 0 {
			// What is in order among rows that agree in the rest need not be touched, as long as heads that agree above the band stay as they are.
			b.lo = 0
		}
		at := slices.IndexFunc(s.bands, func(o band) bool { return o.lo == b.lo && o.hi == b.hi })
		if at < 0 {
			at, s.bands = len(s.bands), append(s.bands, b)
		}
		s.bands[at].inHeads = s.bands[at].inHeads && b.inHeads
		s.bandOf[i] = at
	}
	if len(s.bands) > mostBands || heads*bandRows > s.buf.rows || s.buf.rows <= someKeys {
		s.bands = append(s.bands[:0], band{hi: width})
		clear(s.bandOf)
	}
}

// all fills in the keys of all rows and puts them in order.
func (s *rowSorter) all() {
	var parts, rest keyParts
	differ := s.differAll()
	next, width, low := s.layout(&parts, &differ, 0)
	behind, more, _ := s.layout(&rest, &differ, next)
	s.bandsOf(&parts, next, width, low, next < behind && behind == s.order.vertices && s.order.simple)
	n, starts := 0, make([]int, 0, mostBands)
	for i, b := range s.bands {
		starts = append(starts, n)
		s.headsIn(i)
		ordered := low
		if b.inHeads {
			s.nameHeads(&rest)
			s.sortHeads(0, 0, more)
			ordered = 0
		}
		s.nameHeads(&parts)
		s.sortHeads(b.lo, b.hi, width)
		n = s.follow(n, b, ordered, &parts)
	}
	if keys := s.merge(s.keys, starts); &keys[0] != &s.keys[0] {
		s.keys, s.tmp = keys, s.keys
	}
	if len(s.bands) > 1 || !s.bands[0].inHeads {
		s.ties(s.keys, next, true)
	}
}

// headsIn collects the heads of a band.
func (s *rowSorter) headsIn(band int) {
	s.heads = s.heads[:0]
	s.buf.each(func(head int, _ *form, _ []uint32, _ int) {
		if s.bandOf[s.buf.words[head]] == band {
			s.heads = append(s.heads, rowKey{head: uint32(head)})
		}
	})
}

// nameHeads fills in what the rows of heads have in common as their keys.
func (s *rowSorter) nameHeads(parts *keyParts) {
	words, vertices := s.buf.words, s.order.vertices
	for i := range s.heads {
		h := &s.heads[i]
		h.key = 0
		if f := &s.buf.forms[words[h.head]]; f.row > 0 {
			for c, v := range words[h.head+headWords:][:vertices] {
				if f.at[c] < 0 {
					h.key |= parts[c].of(v)
				}
			}
		}
	}
}

// inOrder tells whether rows that agree in their keys are in order: those of one band that says so are, as no step has exchanged them.
func (s *rowSorter) inOrder(keys []rowKey) bool {
	words := s.buf.words
	of := s.bandOf[words[keys[0].head]]
	if !s.bands[of].inHeads {
		return false
	}
	for i := range keys {
		if s.bandOf[words[keys[i].head]] != of {
			return false
		}
	}
	return true
}

// sortHeads puts heads in order by the bits below lo and from hi to before width; those that agree in them stay as they are.
func (s *rowSorter) sortHeads(lo, hi, width int) {
	heads := s.heads
	if len(heads) > fewKeys {
		s.radix(heads, lo, 0)
		s.radix(heads, width, hi)
		return
	}
	outside := ^uint64(0)<<hi | (1<<lo - 1)
	for i := 1; i < len(heads); i++ {
		h := heads[i]
		j := i
		for ; j > 0 && heads[j-1].key&outside > h.key&outside; j-- {
			heads[j] = heads[j-1]
		}
		heads[j] = h
	}
}

// follow fills in the keys of the heads' rows, from the nth on, puts them in order, and returns where they end.
func (s *rowSorter) follow(n int, b band, low int, parts *keyParts) int {
	keys := s.keys
	from, last, ragged, starts := n, uint64(0), uint64(0), s.starts[:0]
	for i := range s.heads {
		h := &s.heads[i]
		if i > 0 && h.key>>b.hi != s.heads[i-1].key>>b.hi {
			s.settle(keys[from:n], starts, ragged > 0, b, low)
			from, last, ragged, starts = n, 0, 0, starts[:0]
		}
		into := keys[n : n+int(s.buf.words[h.head+1])]
		if len(into) == 0 {
			continue
		}
		ragged |= s.fill(into, h, parts)
		if n == from || into[0].key < last {
			starts = append(starts, n-from)
		}
		n, last = n+len(into), into[len(into)-1].key
	}
	s.settle(keys[from:n], starts, ragged > 0, b, low)
	s.starts = starts
	return n
}

// fill fills in the keys of all rows of a head. It returns 0 if they ascend.
func (s *rowSorter) fill(into []rowKey, h *rowKey, parts *keyParts) (ragged uint64) {
	words := s.buf.words
	f := &s.buf.forms[words[h.head]]
	at, each, columns := h.head+headWords+uint32(f.row), uint32(len(f.columns)), f.columns[:f.vertices]
	last, less := uint64(0), uint64(0)
	if len(columns) == 1 {
		p := parts[columns[0]]
		for r := range into {
			k := h.key | p.of(words[at])
			into[r] = rowKey{k, at, h.head}
			_, less = bits.Sub64(k, last, 0)
			ragged |= less
			at, last = at+each, k
		}
		return ragged
	}
	for r := range into {
		k := h.key
		for j, v := range words[at:][:len(columns)] {
			k |= parts[columns[j]].of(v)
		}
		into[r] = rowKey{k, at, h.head}
		_, less = bits.Sub64(k, last, 0)
		ragged |= less
		at, last = at+each, k
	}
	return ragged
}

// settle puts rows in order that agree in the bits above their band, and come in the order of those below it. They are in runs that ascend,
// unless they are ragged.
func (s *rowSorter) settle(keys []rowKey, starts []int, ragged bool, b band, low int) {
	switch {
	case !ragged && len(starts) < 2:
	case !ragged && (len(starts) <= fewRuns || len(keys) <= someKeys):
		if merged := s.merge(keys, starts); &merged[0] != &keys[0] {
			copy(keys, merged)
		}
	case len(keys) <= fewKeys || len(keys) <= someKeys && !b.inHeads:
		byKey(keys) // of more than a few it may exchange some that agree
	default:
		s.radix(keys, b.hi, max(b.lo, low))
		if low > b.lo {
			s.mend(keys, low)
		}
	}
}
