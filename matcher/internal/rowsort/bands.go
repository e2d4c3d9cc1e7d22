package rowsort

import (
	"math/bits"
	"slices"
)

// A band is the half-open bit range [lo, hi) of the sort key that varies among the rows of one prefix, for some
// splits; the other bits are the same for all rows of a prefix.
//
// Prefixes are few, rows are many. So the prefixes of a band are sorted first, by the bits outside the band. Rows that
// follow their prefixes are then in order but for the bits of the band, among those that agree in the bits above it.
// What is left to do with rows is often little, as the rows of one prefix ascend, and works on groups of rows that
// stay in the near cache. The rows of different bands are merged. With one band for all, deltas on the data sets take
// 1.19 times as long.
type band struct {
	lo, hi int
	// inPrefixes reports that there are columns that keys do not hold, and that all of them are in prefixes. The
	// prefixes are sorted by those first: rows of the band that have the same key then come in order.
	inPrefixes bool
}

const (
	// A sort by bands pays where a prefix has some rows, and where rows of bands are not merged too often.
	bandRows  = 4
	mostBands = 4
	// Up to fewRuns ascending runs are merged sooner than sorted by radix, if they are long.
	fewRuns = 4
)

// bandsOf finds the bands of all splits, for keys of a width that hold the columns before next and whose low bits are
// presorted. rest reports that there are more columns, which a second key holds. Where bands would not pay there is
// one, with all bits.
func (s *keySorter) bandsOf(fs *fields, next, width, low int, rest bool) {
	s.bands, s.bandOf = s.bands[:0], append(s.bandOf[:0], make([]int, len(s.buf.splits))...)
	prefixes := 0
	for i := range s.buf.splits {
		if s.prefixesOf[i] == 0 {
			continue
		}
		prefixes += s.prefixesOf[i]
		f, b := &s.buf.splits[i], band{lo: width, inPrefixes: rest}
		for _, c := range f.columns[:f.vertices] {
			if f := fs[c]; f.width > 0 {
				b.lo, b.hi = min(b.lo, int(f.shift)), max(b.hi, int(f.shift+f.width))
			}
			b.inPrefixes = b.inPrefixes && int(c) < next
		}
		if b.lo < low && !b.inPrefixes || b.hi == 0 {
			// Presorted bits need not be touched as long as prefixes that agree above the band stay as they are.
			b.lo = 0
		}
		at := slices.IndexFunc(s.bands, func(o band) bool { return o.lo == b.lo && o.hi == b.hi })
		if at < 0 {
			at, s.bands = len(s.bands), append(s.bands, b)
		}
		s.bands[at].inPrefixes = s.bands[at].inPrefixes && b.inPrefixes
		s.bandOf[i] = at
	}
	if len(s.bands) > mostBands || prefixes*bandRows > s.buf.rows || s.buf.rows <= someKeys {
		s.bands = append(s.bands[:0], band{hi: width})
		clear(s.bandOf)
	}
}

// all fills in the keys of all rows and sorts them.
func (s *keySorter) all() {
	var fs, rest fields
	differ := s.differAll()
	next, width, low := s.layout(&fs, &differ, 0)
	behind, more, _ := s.layout(&rest, &differ, next)
	s.bandsOf(&fs, next, width, low, next < behind && behind == s.of.Vertices && s.of.Determined)
	n, starts := 0, make([]int, 0, mostBands)
	for i, b := range s.bands {
		starts = append(starts, n)
		s.prefixesIn(i)
		ordered := low
		if b.inPrefixes {
			s.keyPrefixes(&rest)
			s.sortPrefixes(0, 0, more)
			ordered = 0
		}
		s.keyPrefixes(&fs)
		s.sortPrefixes(b.lo, b.hi, width)
		n = s.follow(n, b, ordered, &fs)
	}
	if keys := s.merge(s.keys, starts); &keys[0] != &s.keys[0] {
		s.keys, s.tmp = keys, s.keys
	}
	if len(s.bands) > 1 || !s.bands[0].inPrefixes {
		s.sortTies(s.keys, next, true)
	}
}

// prefixesIn collects the prefixes of a band.
func (s *keySorter) prefixesIn(band int) {
	s.prefixes = s.prefixes[:0]
	s.buf.each(func(prefix int, _ *split, _ []uint32, _ int) {
		if s.bandOf[s.buf.words[prefix]] == band {
			s.prefixes = append(s.prefixes, key{prefix: uint32(prefix)})
		}
	})
}

// keyPrefixes fills in the keys of prefixes: what their rows have in common.
func (s *keySorter) keyPrefixes(fs *fields) {
	words, vertices := s.buf.words, s.of.Vertices
	for i := range s.prefixes {
		p := &s.prefixes[i]
		p.key = 0
		if f := &s.buf.splits[words[p.prefix]]; f.row > 0 {
			for c, v := range words[p.prefix+prefixWords:][:vertices] {
				if f.at[c] < 0 {
					p.key |= fs[c].of(v)
				}
			}
		}
	}
}

// inOrder reports whether rows with equal keys are in order: those of one band with inPrefixes are, as no step has
// exchanged them.
func (s *keySorter) inOrder(keys []key) bool {
	words := s.buf.words
	of := s.bandOf[words[keys[0].prefix]]
	if !s.bands[of].inPrefixes {
		return false
	}
	for i := range keys {
		if s.bandOf[words[keys[i].prefix]] != of {
			return false
		}
	}
	return true
}

// sortPrefixes sorts prefixes by the bits below lo and those in [hi, width), stably.
func (s *keySorter) sortPrefixes(lo, hi, width int) {
	prefixes := s.prefixes
	if len(prefixes) > fewKeys {
		s.radix(prefixes, lo, 0)
		s.radix(prefixes, width, hi)
		return
	}
	outside := ^uint64(0)<<hi | (1<<lo - 1)
	for i := 1; i < len(prefixes); i++ {
		p := prefixes[i]
		j := i
		for ; j > 0 && prefixes[j-1].key&outside > p.key&outside; j-- {
			prefixes[j] = prefixes[j-1]
		}
		prefixes[j] = p
	}
}

// follow fills in the keys of the rows of the prefixes, from the nth on, sorts them, and returns where they end.
func (s *keySorter) follow(n int, b band, low int, fs *fields) int {
	keys := s.keys
	from, last, ragged, starts := n, uint64(0), uint64(0), s.starts[:0]
	for i := range s.prefixes {
		p := &s.prefixes[i]
		if i > 0 && p.key>>b.hi != s.prefixes[i-1].key>>b.hi {
			s.settle(keys[from:n], starts, ragged > 0, b, low)
			from, last, ragged, starts = n, 0, 0, starts[:0]
		}
		into := keys[n : n+int(s.buf.words[p.prefix+1])]
		if len(into) == 0 {
			continue
		}
		ragged |= s.fill(into, p, fs)
		if n == from || into[0].key < last {
			starts = append(starts, n-from)
		}
		n, last = n+len(into), into[len(into)-1].key
	}
	s.settle(keys[from:n], starts, ragged > 0, b, low)
	s.starts = starts
	return n
}

// fill fills in the keys of all rows of a prefix. It returns 0 if they ascend.
func (s *keySorter) fill(into []key, p *key, fs *fields) (ragged uint64) {
	words := s.buf.words
	f := &s.buf.splits[words[p.prefix]]
	at, each, columns := p.prefix+prefixWords+uint32(f.row), uint32(len(f.columns)), f.columns[:f.vertices]
	last, less := uint64(0), uint64(0)
	if len(columns) == 1 {
		f0 := fs[columns[0]]
		for r := range into {
			k := p.key | f0.of(words[at])
			into[r] = key{k, at, p.prefix}
			_, less = bits.Sub64(k, last, 0)
			ragged |= less
			at, last = at+each, k
		}
		return ragged
	}
	for r := range into {
		k := p.key
		for j, v := range words[at:][:len(columns)] {
			k |= fs[columns[j]].of(v)
		}
		into[r] = key{k, at, p.prefix}
		_, less = bits.Sub64(k, last, 0)
		ragged |= less
		at, last = at+each, k
	}
	return ragged
}

// settle sorts rows that agree in the bits above their band and come in the order of those below it. They are
// ascending runs that begin at starts, unless they are ragged.
func (s *keySorter) settle(keys []key, starts []int, ragged bool, b band, low int) {
	switch {
	case !ragged && len(starts) < 2:
	case !ragged && (len(starts) <= fewRuns || len(keys) <= someKeys):
		if merged := s.merge(keys, starts); &merged[0] != &keys[0] {
			copy(keys, merged)
		}
	case len(keys) <= fewKeys || len(keys) <= someKeys && !b.inPrefixes:
		byKey(keys) // which is not stable for more than a few
	default:
		s.radix(keys, b.hi, max(b.lo, low))
		if low > b.lo {
			s.mend(keys, low)
		}
	}
}

// merge merges runs of keys, each of which ascends; they begin at starts, which it overwrites. It returns keys, or as
// much of s.tmp.
func (s *keySorter) merge(keys []key, starts []int) []key {
	if len(starts) < 2 {
		return keys
	}
	s.tmp = keysFor(len(keys), s.tmp)
	from, to := keys, s.tmp
	for len(starts) > 1 {
		pairs := starts[:0]
		for i := 0; i < len(starts); i += 2 {
			a, mid, end := starts[i], len(keys), len(keys)
			if i+1 < len(starts) {
				mid = starts[i+1]
			}
			if i+2 < len(starts) {
				end = starts[i+2]
			}
			mergeTwo(to[a:end], from[a:end], mid-a)
			pairs = append(pairs, a)
		}
		starts = pairs
		from, to = to, from
	}
	return from
}

// mergeTwo merges two ascending runs, from[:mid] and from[mid:]. Which of them the next key comes from cannot be
// predicted, so no branch depends on it.
func mergeTwo(to, from []key, mid int) {
	i, j := 0, mid
	for n := 0; i < mid && j < len(from); n++ {
		_, second := bits.Sub64(from[j].key, from[i].key, 0)
		to[n] = from[i+(j-i)*int(second)]
		i, j = i+1-int(second), j+int(second)
	}
	n := i + j - mid
	n += copy(to[n:], from[i:mid])
	copy(to[n:], from[j:])
}
