package rowsort

import (
	"cmp"
	"slices"
)

// keySorter puts the rows of one group in order by their keys; the rows stay where they are. As many vertex columns as
// 64 bits hold are packed into a key, each with only the bits in which the rows at hand differ: in a group most do
// not, as the anchor fixes two vertices. The keys are sorted by radix (LSD); rows with equal keys are sorted by the
// columns that are left. Of rows that share a prefix most of that is done with the prefixes alone (see band).
//
// A search finds rows in the order of its steps. The last vertex columns that come in the order of the steps are
// therefore presorted: in order among rows that agree in the others, so that a stable sort need not look at them.
// Where that is not so, as rows of several searches are mixed, it is seen and mended. Without it deltas on the data
// sets take 1.24 times as long.
type keySorter struct {
	of        *Layout
	presorted int // of the last vertex columns
	buf       *buffer
	keyRoom
	count [8][]uint32 // by digit
	pair  [2][]uint32 // two rows that are compared

	// What the sort by bands needs.
	prefixesOf []int // by split: how many prefixes have it
	bands      []band
	bandOf     []int // by split
	starts     []int // of ascending runs
}

// Below these numbers of keys insertion sort and comparison sort beat radix sort.
const (
	fewKeys  = 24
	someKeys = 160
	manyKeys = 1 << 13 // from here on digits are wide
)

// sort returns the rows of buf in order, valid until the next call.
func (s *keySorter) sort(of *Layout, buf *buffer) []key {
	s.of, s.buf = of, buf
	if buf.rows <= fewKeys {
		s.keys = buf.keys(s.keys)
		s.from(s.keys, 0)
	} else {
		s.keys = keysFor(buf.rows, s.keys)
		s.all()
	}
	return s.keys
}

// from sorts keys by the columns from column on; those before are equal.
func (s *keySorter) from(keys []key, column int) {
	if len(keys) < 2 {
		return
	}
	if column == s.of.Vertices {
		if !s.of.Determined {
			slices.SortFunc(keys, func(a, b key) int {
				s.pair[0], s.pair[1] = s.buf.row(s.pair[0], &a), s.buf.row(s.pair[1], &b)
				return s.of.compareEdges(s.pair[0], s.pair[1])
			})
		}
		return
	}
	next, width, low := s.pack(keys, column)
	switch {
	case width < 0: // in order
	case len(keys) <= someKeys:
		byKey(keys)
	default:
		s.radix(keys, width, low)
		if low > 0 {
			s.mend(keys, low)
		}
	}
	s.sortTies(keys, next, false)
}

// sortTies sorts runs of equal keys by the columns from next on; the keys are sorted by the columns before it. bands
// reports that they are all rows, sorted by bands.
func (s *keySorter) sortTies(keys []key, next int, bands bool) {
	if next == s.of.Vertices && s.of.Determined {
		return
	}
	for i := 0; i < len(keys); {
		j := i + 1
		for j < len(keys) && keys[j].key == keys[i].key {
			j++
		}
		if j > i+1 && !(bands && s.inOrder(keys[i:j])) {
			s.from(keys[i:j], next)
		}
		i = j
	}
}

// pack fills in the keys from column on, as far as 64 bits go. It returns the first column that they do not hold, the
// width of the keys in bits, -1 when they ascend already, and how many of these are of presorted columns.
func (s *keySorter) pack(keys []key, column int) (next, width, low int) {
	columns := s.of.Vertices - column
	if len(keys) <= fewKeys && columns > 1 {
		// Looking for the bits that differ costs more than it saves.
		sorted, last := true, uint64(0)
		for i := range keys {
			k := uint64(s.buf.value(&keys[i], column))<<32 | uint64(s.buf.value(&keys[i], column+1))
			keys[i].key = k
			sorted = sorted && last <= k
			last = k
		}
		if sorted {
			return column + 2, -1, 0
		}
		return column + 2, 64, 0
	}
	var fs fields
	differ := s.differ(keys, column)
	next, width, low = s.layout(&fs, &differ, column)
	if s.packColumns(keys, &fs, column, next) {
		width = -1
	}
	return next, width, low
}

// radix sorts keys of the given width by all but the low bits, stably.
func (s *keySorter) radix(keys []key, width, low int) {
	if width -= low; width <= 0 {
		return
	}
	digit := 8
	if len(keys) >= manyKeys {
		digit = 11
	}
	passes := (width + digit - 1) / digit
	digit = (width + passes - 1) / passes
	buckets := uint64(1)<<digit - 1
	for p := range passes {
		if cap(s.count[p]) <= int(buckets) {
			s.count[p] = make([]uint32, buckets+1)
		}
		s.count[p] = s.count[p][:buckets+1]
		clear(s.count[p])
	}
	for i := range keys {
		k := keys[i].key >> (low & 63)
		for p := range passes {
			s.count[p][k&buckets]++
			k >>= digit & 63
		}
	}
	s.tmp = keysFor(len(keys), s.tmp)
	from, to := keys, s.tmp
	for p := range passes {
		count, at := s.count[p], uint32(0)
		for b, n := range count {
			count[b] = at
			at += n
		}
		shift := (low + p*digit) & 63
		for _, k := range from {
			b := k.key >> shift & buckets
			to[count[b]] = k
			count[b]++
		}
		from, to = to, from
	}
	if passes%2 == 1 {
		copy(keys, from)
	}
}

// byKey sorts few keys.
func byKey(keys []key) {
	if len(keys) > fewKeys {
		slices.SortFunc(keys, func(a, b key) int { return cmp.Compare(a.key, b.key) })
		return
	}
	for i := 1; i < len(keys); i++ {
		k := keys[i]
		j := i
		for ; j > 0 && keys[j-1].key > k.key; j-- {
			keys[j] = keys[j-1]
		}
		keys[j] = k
	}
}

// mend sorts keys that are in order but for the low bits, 64 at most: it looks for runs that agree in the high bits
// and are not in order.
func (s *keySorter) mend(keys []key, low int) {
	for i := 1; i < len(keys); i++ {
		if keys[i-1].key <= keys[i].key {
			continue
		}
		from, same := i-1, keys[i].key>>low
		for from > 0 && keys[from-1].key>>low == same {
			from--
		}
		for i++; i < len(keys) && keys[i].key>>low == same; {
			i++
		}
		if part := keys[from:i]; len(part) > someKeys {
			s.radix(part, low, 0)
		} else {
			byKey(part)
		}
	}
}
