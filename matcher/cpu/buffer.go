package cpu

import (
	"slices"

	"motifd/matcher/cpu/program"
)

// rowBuffer is where the rows of a group lie before they are sorted. A search puts rows out that differ from the row
// before in what its last steps map. So a row lies there in two parts: a head, which it shares with the rows that came
// with it, and a tail, the columns of those steps. That is a third or a quarter of what whole rows would take: large
// groups then stay in a cache, or in a worker's part of one that is shared, where whole rows would not.
//
// Of the words, each head begins with the number of a form, then the number of its tails; then comes a row, whose
// columns of the form are not set, then the tails. The first form is that of rows that have all in the tail: there is
// no row before them.
type rowBuffer struct {
	words []uint32
	forms []form
	head  int // the last one's index in words
	rows  int
}

// form says which columns are in tails: the vertices first.
type form struct {
	of       *program.Step // that begins the steps that are mapped last; nil for whole rows
	columns  []uint16
	vertices int
	row      int     // words of the row before the tails
	at       []int16 // by column: its place in a tail, or -1
}

// headWords is what a head has before its row.
const headWords = 2

// begin makes the buffer ready for the rows of a group.
func (b *rowBuffer) begin(o *rowOrder) {
	b.empty()
	b.forms = b.forms[:0]
	f := b.addForm(nil, 0, o.width())
	for c := range o.width() {
		f.column(c)
	}
	f.vertices = o.vertices
}

// addForm adds a form without columns, of rows of a width.
func (b *rowBuffer) addForm(of *program.Step, row, width int) *form {
	if n := len(b.forms); n < cap(b.forms) {
		b.forms = b.forms[:n+1] // with the memory of its columns
	} else {
		b.forms = append(b.forms, form{})
	}
	f := &b.forms[len(b.forms)-1]
	f.of, f.row, f.columns, f.vertices = of, row, f.columns[:0], 0
	f.at = slices.Grow(f.at[:0], width)[:width]
	for c := range f.at {
		f.at[c] = -1
	}
	return f
}

// column adds a column to a form.
func (f *form) column(c int) {
	f.at[c] = int16(len(f.columns))
	f.columns = append(f.columns, uint16(c))
}

// formOf returns the number of the form of rows whose last steps are steps, one after the other.
func (b *rowBuffer) formOf(o *rowOrder, steps []program.Step) uint32 {
	for i := range b.forms {
		if b.forms[i].of == &steps[0] {
			return uint32(i)
		}
	}
	f := b.addForm(&steps[0], o.width(), o.width())
	for i := range steps {
		f.column(steps[i].Vertex)
	}
	f.vertices = len(steps)
	for i := range steps {
		for k := range steps[i].Back {
			f.column(o.vertices + steps[i].Back[k].Edge)
		}
	}
	return uint32(len(b.forms) - 1)
}

// empty drops the rows.
func (b *rowBuffer) empty() { b.words, b.head, b.rows = b.words[:0], 0, 0 }

// open adds a head, with its row, for which there is room.
func (b *rowBuffer) open(form uint32, row []uint32) {
	b.head = len(b.words)
	b.words = append(append(b.words, form, 0), row...)
}

// whole adds a row that has all in its tail, for which there is room, with a head.
func (b *rowBuffer) whole(row []uint32) {
	if b.rows == 0 || b.words[b.head] != 0 {
		b.open(0, nil)
	}
	b.words = append(b.words, row...)
	b.words[b.head+1]++
	b.rows++
}

// value returns a column of a row.
func (b *rowBuffer) value(k *rowKey, column int) uint32 {
	if i := int(b.forms[b.words[k.head]].at[column]); i >= 0 {
		return b.words[int(k.row)+i]
	}
	return b.words[int(k.head)+headWords+column]
}

// row returns a row, in the memory of into if that is enough.
func (b *rowBuffer) row(into []uint32, k *rowKey) []uint32 {
	w := len(b.forms[0].columns)
	return b.write(slices.Grow(into[:0], w), w, []rowKey{*k})
}

// write appends the rows that keys name, w columns each, to dst, which has room for them.
func (b *rowBuffer) write(dst []uint32, w int, keys []rowKey) []uint32 {
	words := b.words
	for i := range keys {
		head, tail := int(keys[i].head), int(keys[i].row)
		f := &b.forms[words[head]]
		at := len(dst)
		dst = dst[:at+w]
		into := dst[at : at+w : at+w]
		if f.row == 0 {
			copy(into, words[tail:tail+w])
			continue
		}
		copy(into, words[head+headWords:][:w])
		last := words[tail:][:len(f.columns)]
		for j, c := range f.columns {
			into[c] = last[j]
		}
	}
	return dst
}

// keys names all rows, in the order in which they came.
func (b *rowBuffer) keys(keys []rowKey) []rowKey {
	keys = keysFor(b.rows, keys)[:0]
	b.each(func(head int, f *form, tails []uint32, at int) {
		for i := 0; i < len(tails); i += len(f.columns) {
			keys = append(keys, rowKey{row: uint32(at + i), head: uint32(head)})
		}
	})
	return keys
}

// each calls do for each head, with the tails, the first of which is at at.
func (b *rowBuffer) each(do func(head int, f *form, tails []uint32, at int)) {
	for head := 0; head < len(b.words); {
		f := &b.forms[b.words[head]]
		at := head + headWords + f.row
		end := at + int(b.words[head+1])*len(f.columns)
		do(head, f, b.words[at:end], at)
		head = end
	}
}
