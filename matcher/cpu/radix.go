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
// vertices. The keys are sorted by radix (LSD); rows with equal keys are sorted by the columns that are left.
type rowSorter struct {
	order *rowOrder
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
	for i := range s.keys {
		s.keys[i].row = uint32(i)
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
	next, width := s.pack(keys, column)
	switch {
	case width < 0: // in order
	case len(keys) <= fewKeys:
		for i := 1; i < len(keys); i++ {
			k := keys[i]
			j := i
			for ; j > 0 && keys[j-1].key > k.key; j-- {
				keys[j] = keys[j-1]
			}
			keys[j] = k
		}
	case len(keys) <= someKeys:
		slices.SortFunc(keys, func(a, b rowKey) int { return cmp.Compare(a.key, b.key) })
	default:
		s.radix(keys, width)
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

// pack fills in the keys from column on, as far as 64 bits go. It returns the first column that they do not hold, and the width of the keys in
// bits, -1 when they ascend already.
func (s *rowSorter) pack(keys []rowKey, column int) (next, width int) {
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
			return column + 2, -1
		}
		return column + 2, 64
	}
	var all, any [32]uint32
	first := int(keys[0].row)*w + column
	copy(all[:columns], data[first:])
	copy(any[:columns], data[first:])
	for i := range keys {
		at := int(keys[i].row)*w + column
		row := data[at : at+columns : at+columns]
		for c, v := range row {
			all[c&31] &= v
			any[c&31] |= v
		}
	}
	var shift [32]uint8
	var mask [32]uint32
	for next = 0; next < columns; next++ {
		n := bits.Len32(all[next] ^ any[next])
		if width+n > 64 {
			break
		}
		shift[next], mask[next] = uint8(n), 1<<n-1
		width += n
	}
	sorted, last := true, uint64(0)
	for i := range keys {
		at := int(keys[i].row)*w + column
		row := data[at : at+next : at+next]
		k := uint64(0)
		for c, v := range row {
			k = k<<(shift[c&31]&63) | uint64(v&mask[c&31])
		}
		keys[i].key = k
		sorted = sorted && last <= k
		last = k
	}
	if sorted {
		width = -1
	}
	return column + next, width
}

// radix sorts keys of the given width.
func (s *rowSorter) radix(keys []rowKey, width int) {
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
		k := keys[i].key
		for p := range passes {
			s.count[p][k&buckets]++
			k >>= digit
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
		shift := p * digit & 63
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
