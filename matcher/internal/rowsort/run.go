package rowsort

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sync"

	"motifd/matcher"
)

// packedWords is the size of a packed block: 16 KiB.
const packedWords = 4 << 10

// run is a sorted run of rows with prefix compression: of each row it keeps the number of leading vertices that are
// those of the row before, the other vertices, and the edges that these determine. That is a third or less of the row.
// Blocks are packed one by one, so that reading may begin at any.
type run struct {
	of     *Layout
	rows   uint64
	blocks []packed
	level  int // how often its rows were merged
}

// packed is a block of a run, in memory or in a file.
type packed struct {
	first []uint32 // vertices of the first row
	rows  int
	n     int
	words []uint32 // nil when in a file
	file  matcher.TempFile
	off   int64
}

var packs = sync.Pool{New: func() any { return new([packedWords]uint32) }}

// freeWords gives the memory of a packed block back.
func freeWords(w []uint32) {
	if cap(w) == packedWords {
		packs.Put((*[packedWords]uint32)(w[:packedWords]))
	}
}

// bytes returns the memory that the run holds.
func (r *run) bytes() int {
	n := 0
	for i := range r.blocks {
		if r.blocks[i].words != nil {
			n += 4 * cap(r.blocks[i].words)
		}
	}
	return n
}

// close gives the memory back.
func (r *run) close() {
	for i := range r.blocks {
		freeWords(r.blocks[i].words)
	}
	r.blocks = nil
}

// packer makes a run of rows, which are added in order.
type packer struct {
	run  *run
	last []uint32 // the row before
	n    int      // words in the last block
}

// add packs a row. The row before it must not have changed.
func (p *packer) add(row []uint32) {
	o := p.run.of
	v, k := o.Vertices, 0
	if len(p.run.blocks) == 0 || p.n+1+len(row) > packedWords {
		p.end()
		words := packs.Get().(*[packedWords]uint32)
		p.run.blocks = append(p.run.blocks, packed{first: slices.Clone(row[:v]), words: words[:]})
		p.n = 0
	} else {
		for k < v && row[k] == p.last[k] {
			k++
		}
	}
	p.last = row
	p.run.rows++
	into := &p.run.blocks[len(p.run.blocks)-1]
	into.rows++
	words, n := into.words, p.n
	words[n] = uint32(k)
	n++
	n += copy(words[n:], row[k:v])
	for _, c := range o.later[k] {
		words[n] = row[c]
		n++
	}
	p.n = n
}

// end completes the last block.
func (p *packer) end() {
	if n := len(p.run.blocks); n > 0 && p.run.blocks[n-1].words != nil {
		p.run.blocks[n-1].n = p.n
	}
}

// finish completes the run. A small block does not keep the memory of a full one.
func (p *packer) finish() *run {
	p.end()
	if n := len(p.run.blocks); n > 0 && p.n < packedWords/2 {
		b := &p.run.blocks[n-1]
		words := b.words
		b.words = slices.Clone(words[:p.n])
		freeWords(words)
	}
	return p.run
}

// newRun packs the rows of buf that keys name, in their order.
func newRun(l *Layout, buf *buffer, keys []key) *run {
	p := packer{run: &run{of: l}}
	var rows [2][]uint32 // this one and the one before, by turns
	for i := range keys {
		rows[i%2] = buf.row(rows[i%2], &keys[i])
		p.add(rows[i%2])
	}
	return p.finish()
}

// RunWriter makes a run of rows that come in order, such as those that a device has sorted. One goroutine owns it.
type RunWriter struct {
	p    packer
	last []uint32 // memory for the row before those of the next Add
	done int      // blocks that are in a file
}

// NewRunWriter returns a writer of a run without rows.
func NewRunWriter(l *Layout) *RunWriter { return &RunWriter{p: packer{run: &run{of: l}}} }

// Add adds rows, which are borrowed.
func (w *RunWriter) Add(rows []uint32) {
	n := w.p.run.of.Width()
	for at := 0; at < len(rows); at += n {
		w.p.add(rows[at : at+n : at+n])
	}
	if len(rows) > 0 {
		w.last = append(w.last[:0], w.p.last...)
		w.p.last = w.last
	}
}

// Rows returns how many rows were added.
func (w *RunWriter) Rows() uint64 { return w.p.run.rows }

// Bytes returns the memory that the run takes.
func (w *RunWriter) Bytes() (n int) {
	for _, b := range w.p.run.blocks[w.done:] {
		n += 4 * cap(b.words)
	}
	return n
}

// Spill moves the rows to a file. The next row begins another block.
func (w *RunWriter) Spill(f *File) error {
	w.p.end()
	w.p.n = packedWords
	err := f.spill(w.p.run.blocks[w.done:])
	w.done = len(w.p.run.blocks)
	return err
}

// cursor reads a run.
type cursor struct {
	run        *run
	block      int // that comes next
	words      []uint32
	row        []uint32 // the present row
	key        uint64   // its first two vertices
	space      []uint32
	buf        []byte // like space, of the size of the largest block that was read
	hi         []uint32
	mayReachHi bool // some rows of the block may be at or after hi
}

// newCursor returns a cursor at the first row that is not before lo, nil if there is none. With lo nil that is the
// run's first. mayReachHi is kept up to date unless hi is nil.
func newCursor(r *run, lo, hi []uint32) (*cursor, error) {
	c := &cursor{run: r, row: make([]uint32, r.of.Width()), hi: hi}
	if lo != nil {
		at, _ := slices.BinarySearchFunc(r.blocks, lo, func(b packed, lo []uint32) int {
			return cmp.Or(slices.Compare(b.first, lo), 1) // rows equal to lo may end the block before
		})
		c.block = max(at-1, 0)
	}
	for {
		if ok, err := c.next(); !ok {
			return nil, err
		}
		if lo == nil || slices.Compare(c.row[:r.of.Vertices], lo) >= 0 {
			return c, nil
		}
	}
}

// next moves on to the next row; false at the end.
func (c *cursor) next() (bool, error) {
	if len(c.words) == 0 {
		if c.block == len(c.run.blocks) {
			return false, nil
		}
		b := &c.run.blocks[c.block]
		c.block++
		// The next block's first row is not before any of this one.
		c.mayReachHi = c.hi != nil &&
			(c.block == len(c.run.blocks) || slices.Compare(c.run.blocks[c.block].first, c.hi) >= 0)
		if b.words != nil {
			c.words = b.words[:b.n]
		} else if err := c.read(b); err != nil {
			return false, err
		}
	}
	o := c.run.of
	k := int(c.words[0])
	n := copy(c.row[k:o.Vertices], c.words[1:]) + 1
	for _, column := range o.later[k] {
		c.row[column] = c.words[n]
		n++
	}
	c.words = c.words[n:]
	if k < 2 {
		if c.key = uint64(c.row[0]) << 32; o.Vertices > 1 {
			c.key |= uint64(c.row[1])
		}
	}
	return true, nil
}

func (c *cursor) read(b *packed) error {
	if len(c.space) < b.n {
		c.buf, c.space = make([]byte, 4*b.n), make([]uint32, b.n)
	}
	if n, err := b.file.ReadAt(c.buf[:4*b.n], b.off); n < 4*b.n {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("reading spilled matches: %w", err)
	}
	for i := range b.n {
		c.space[i] = binary.LittleEndian.Uint32(c.buf[4*i:])
	}
	c.words = c.space[:b.n]
	return nil
}
