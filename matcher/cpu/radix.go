package cpu

import (
	"cmp"
	"math/bits"
	"slices"
)

// rowKey is a row's number, with some of its columns packed into one integer that orders like them.
type rowKey struct {
	key uint64
	row uint32
}

// rowSorter puts the rows of one group in order, by numbers: the rows stay where they are. As many columns as 64 bits hold
// are packed into a key, each with only the bits in which the rows at hand differ: in a group most do not, as the anchor fixes two
// vertices. The keys are sorted by radix; rows with equal keys are sorted by the columns that are left.
//
// A search puts rows out in the order of its steps. The last columns that come in the order of the steps are therefore in order
// among rows that agree in the others, and a stable sort need not look at them. Where that is not so, as rows of several searches
// are mixed, it is seen and mended.
type rowSorter struct {
	order *rowOrder
	tail  int  // columns at the end of the vertices that rows of one search bring in order
	fresh bool // keys are those of all rows, and not filled in yet
	data  []uint32
	keys  []rowKey
	tmp   []rowKey
	count [8][]uint32 // by digit
}

// Below these numbers of keys insertion sort and comparison sort beat radix sort.
const (
	fewKeys  = 24
	someKeys = 160
	manyKeys = 1 << 13 // from here on digits are wide
)

// sort returns the rows of data in order, valid until the next call.
func (s *rowSorter) sort(order *rowOrder, data []uint32) []rowKey {
	s.order, s.data = order, data
	n := len(data) / order.width()
	s.keys = slices.Grow(s.keys[:0], n)[:n]
	if s.fresh = n > fewKeys; !s.fresh {
		for i := range s.keys {
			s.keys[i].row = uint32(i)
		}
	}
	s.from(s.keys, 0)
	return s.keys
}

// from sorts keys by the columns from column on; those before are equal.
func (s *rowSorter) from(keys []rowKey, column int) {
	if len(keys) < 2 {
		return
	}
	if column == s.order.vertices {
		if !s.order.simple {
			slices.SortFunc(keys, func(a, b rowKey) int {
				w := s.order.width()
				return s.order.compareEdgesOf(s.data[int(a.row)*w:], s.data[int(b.row)*w:])
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
	if next == s.order.vertices && s.order.simple {
		return
	}
	for i := 0; i < len(keys); {
		j := i + 1
		for j < len(keys) && keys[j].key == keys[i].key {
			j++
		}
		if j > i+1 {
			s.from(keys[i:j], next)
		}
		i = j
	}
}

// pack fills in the keys from column on, as far as 64 bits go. It returns the first column that they do not hold, the width of the keys in
// bits, -1 when they ascend already, and how many of these are of the tail.
func (s *rowSorter) pack(keys []rowKey, column int) (next, width, low int) {
	w, data := s.order.width(), s.data
	columns := s.order.vertices - column
	if len(keys) <= fewKeys && columns > 1 {
		// Looking for the bits that differ costs more than it saves.
		sorted, last := true, uint64(0)
		for i := range keys {
			at := int(keys[i].row)*w + column
			k := uint64(data[at])<<32 | uint64(data[at+1])
			keys[i].key = k
			sorted = sorted && last <= k
			last = k
		}
		if sorted {
			return column + 2, -1, 0
		}
		return column + 2, 64, 0
	}
	differ := s.differ(keys, column)
	// Only columns that differ go into the keys.
	var of [32]int
	var shift [32]uint8
	var mask [32]uint32
	used := 0
	for next = 0; next < columns; next++ {
		n := bits.Len32(differ[next])
		if width+n > 64 {
			break
		}
		if width += n; column+next >= s.order.vertices-s.tail {
			low += n
		}
		if n > 0 {
			of[used], shift[used], mask[used] = column+next, uint8(n), 1<<n-1
			used++
		}
	}
	sorted, last := true, uint64(0)
	for i := range keys {
		at := uint32(i)
		if !s.fresh {
			at = keys[i].row
		}
		row := data[int(at)*w:][:w]
		k := uint64(0)
		for c, from := range of[:used] {
			k = k<<(shift[c&31]&63) | uint64(row[from]&mask[c&31])
		}
		keys[i] = rowKey{k, at}
		sorted = sorted && last <= k
		last = k
	}
	s.fresh = false
	if sorted {
		width = -1
	}
	return column + next, width, low
}

// differ returns, for each column from column on, the bits in which the rows of keys differ.
func (s *rowSorter) differ(keys []rowKey, column int) (bits [32]uint32) {
	const some = 64 // rows whose columns are read one after the other while they are in the cache
	w, columns := s.order.width(), s.order.vertices-column
	var all, any [32]uint32
	first := column
	if !s.fresh {
		first += int(keys[0].row) * w
	}
	copy(all[:columns], s.data[first:])
	copy(any[:columns], s.data[first:])
	for at, n := 0, len(keys); at < n; at += some {
		rows := min(some, n-at)
		for c := range columns {
			x, y := all[c], any[c]
			if s.fresh {
				for i := at*w + c; i < (at+rows)*w; i += w {
					v := s.data[i]
					x &= v
					y |= v
				}
			} else {
				for _, k := range keys[at : at+rows] {
					v := s.data[int(k.row)*w+column+c]
					x &= v
					y |= v
				}
			}
			all[c], any[c] = x, y
		}
	}
	for c := range columns {
		bits[c] = all[c] ^ any[c]
	}
	return bits
}

// radix sorts keys of the given width by all but the low bits, and leaves those that agree as they are.
func (s *rowSorter) radix(keys []rowKey, width, low int) {
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
	s.tmp = slices.Grow(s.tmp[:0], len(keys))[:len(keys)]
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
func byKey(keys []rowKey) {
	if len(keys) > fewKeys {
		slices.SortFunc(keys, func(a, b rowKey) int { return cmp.Compare(a.key, b.key) })
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

// mend sorts keys that are in order but for the low bits, 64 at most: of those that agree in the others it sorts the ones that are not.
func (s *rowSorter) mend(keys []rowKey, low int) {
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
