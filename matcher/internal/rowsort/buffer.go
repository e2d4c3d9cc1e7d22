package rowsort

import "slices"

// buffer holds the rows of a group before they are sorted, factorised: a backtracking search finds rows that differ
// from the row before in the columns of its last steps only. Such rows share a prefix, the row as the earlier steps
// fill it, and have a suffix each, the columns of the last steps. That takes a third or a quarter of the words of
// whole rows, so that large groups stay in the cache.
//
// In words each prefix begins with the number of its split and the number of its suffixes; then comes a row, in which
// the suffix columns of the split are not set, then the suffixes. Split 0 is that of rows that are all suffix, with no
// row before them.
type buffer struct {
	words  []uint32
	splits []split
	prefix int // index in words of the last prefix
	rows   int
}

// split says which columns of a row are in the suffix. The vertex columns come first.
type split struct {
	of       *uint16 // the first of the caller's columns, which names the split; nil for whole rows
	columns  []uint16
	vertices int     // how many of the columns are vertices
	row      int     // words of the row before the suffixes: 0 or the width
	at       []int16 // by column: its place in a suffix, or -1
}

// prefixWords is the number of words of a prefix before its row.
const prefixWords = 2

// begin makes the buffer ready for the rows of a group.
func (b *buffer) begin(l *Layout) {
	b.empty()
	b.splits = b.splits[:0]
	s := b.addSplit(0, l.Width())
	for c := range l.Width() {
		s.add(uint16(c))
	}
	s.vertices = l.Vertices
}

// addSplit adds a split without columns, of rows of a width.
func (b *buffer) addSplit(row, width int) *split {
	if n := len(b.splits); n < cap(b.splits) {
		b.splits = b.splits[:n+1] // with the memory of its columns
	} else {
		b.splits = append(b.splits, split{})
	}
	s := &b.splits[len(b.splits)-1]
	s.of, s.row, s.columns, s.vertices = nil, row, s.columns[:0], 0
	s.at = slices.Grow(s.at[:0], width)[:width]
	for c := range s.at {
		s.at[c] = -1
	}
	return s
}

// add adds a column to a split.
func (s *split) add(c uint16) {
	s.at[c] = int16(len(s.columns))
	s.columns = append(s.columns, c)
}

// splitOf returns the number of the split with these columns, vertices first.
func (b *buffer) splitOf(l *Layout, columns []uint16) uint32 {
	for i := range b.splits {
		if b.splits[i].of == &columns[0] {
			return uint32(i)
		}
	}
	s := b.addSplit(l.Width(), l.Width())
	s.of = &columns[0]
	for _, c := range columns {
		s.add(c)
		if int(c) < l.Vertices {
			s.vertices++
		}
	}
	return uint32(len(b.splits) - 1)
}

// empty drops the rows.
func (b *buffer) empty() { b.words, b.prefix, b.rows = b.words[:0], 0, 0 }

// open adds a prefix, for which there is room.
func (b *buffer) open(split uint32, row []uint32) {
	b.prefix = len(b.words)
	b.words = append(append(b.words, split, 0), row...)
}

// whole adds a whole row, for which there is room, with a prefix.
func (b *buffer) whole(row []uint32) {
	if b.rows == 0 || b.words[b.prefix] != 0 {
		b.open(0, nil)
	}
	b.words = append(b.words, row...)
	b.words[b.prefix+1]++
	b.rows++
}

// value returns a column of a row.
func (b *buffer) value(k *key, column int) uint32 {
	if i := int(b.splits[b.words[k.prefix]].at[column]); i >= 0 {
		return b.words[int(k.suffix)+i]
	}
	return b.words[int(k.prefix)+prefixWords+column]
}

// row returns a row, in the memory of into if that is enough.
func (b *buffer) row(into []uint32, k *key) []uint32 {
	w := len(b.splits[0].columns)
	return b.write(slices.Grow(into[:0], w), w, []key{*k})
}

// write appends the rows that keys name, w columns each, to dst, which has room for them.
func (b *buffer) write(dst []uint32, w int, keys []key) []uint32 {
	words := b.words
	for i := range keys {
		prefix, suffix := int(keys[i].prefix), int(keys[i].suffix)
		s := &b.splits[words[prefix]]
		at := len(dst)
		dst = dst[:at+w]
		into := dst[at : at+w : at+w]
		if s.row == 0 {
			copy(into, words[suffix:suffix+w])
			continue
		}
		copy(into, words[prefix+prefixWords:][:w])
		last := words[suffix:][:len(s.columns)]
		for j, c := range s.columns {
			into[c] = last[j]
		}
	}
	return dst
}

// keys names all rows, in the order in which they were added.
func (b *buffer) keys(keys []key) []key {
	keys = keysFor(b.rows, keys)[:0]
	b.each(func(prefix int, s *split, suffixes []uint32, at int) {
		for i := 0; i < len(suffixes); i += len(s.columns) {
			keys = append(keys, key{suffix: uint32(at + i), prefix: uint32(prefix)})
		}
	})
	return keys
}

// each calls do for each prefix, with its suffixes, the first of which is at at.
func (b *buffer) each(do func(prefix int, s *split, suffixes []uint32, at int)) {
	for prefix := 0; prefix < len(b.words); {
		s := &b.splits[b.words[prefix]]
		at := prefix + prefixWords + s.row
		end := at + int(b.words[prefix+1])*len(s.columns)
		do(prefix, s, b.words[at:end], at)
		prefix = end
	}
}
