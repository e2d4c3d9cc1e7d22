package rowsort

// Suffixes adds rows that share a prefix: all that a search finds from one mapping of its first steps. The caller
// writes each suffix to Words itself, after a look whether there is room:
//
//	if len(x.Words)+n > x.Room && !x.Full() {
//		return false
//	}
//	x.Words = append(x.Words, ...) // n words, in the order of the columns
//
// It belongs to its Sorter, to which nothing else is added before End.
type Suffixes struct {
	Words []uint32
	Room  int // how long Words may become

	s     *Sorter
	from  int // where the suffixes of the prefix begin, 0 before there is one
	split uint32
	each  int
	row   []uint32
}

// Suffixes begins rows that have these columns, vertices first, in their suffixes and all others as in row. Calls for
// the same columns pass the same slice: its address names them.
func (s *Sorter) Suffixes(columns []uint16, row []uint32) Suffixes {
	split := s.buf.splitOf(s.layout, columns)
	return Suffixes{s: s, split: split, each: len(columns), row: row[:s.layout.Width()]}
}

// Full makes room for a suffix, after a prefix if none has room; false reports an error, which is the sorter's.
func (x *Suffixes) Full() bool {
	s := x.s
	if x.from > 0 {
		x.End()
		if !s.full() {
			return false
		}
	} else if len(s.buf.words)+prefixWords+len(x.row)+x.each > s.room && !s.full() {
		return false
	}
	s.buf.open(x.split, x.row)
	x.Words, x.Room, x.from = s.buf.words, s.room, len(s.buf.words)
	return true
}

// End adds what was written.
func (x *Suffixes) End() {
	if x.from == 0 {
		return
	}
	n := (len(x.Words) - x.from) / x.each
	b := &x.s.buf
	b.words = x.Words
	b.words[b.prefix+1] = uint32(n)
	b.rows += n
	x.s.count += uint64(n)
	x.Words, x.Room, x.from = nil, 0, 0
}
