package cpu

import (
	"bufio"
	"container/heap"
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"motifd/matcher"
)

// sorter collects the rows of one group and gives them back in order. Rows beyond its memory are sorted and spilled
// to a temporary file, run by run, and merged when read (DESIGN P4). With a limit it keeps only as many of the smallest rows as
// the limit asks for, plus the count of all.
type sorter struct {
	order  rowOrder
	dir    string // of spill files
	memory int    // bytes of rows held in memory
	limit  uint64 // rows kept; 0 keeps all

	data  []uint32
	tmp   []uint32
	count uint64 // rows added
	runs  []*run
	err   error
}

// run is a sorted run in a file without a name.
type run struct {
	f *os.File
	r *bufio.Reader
}

// add appends a row; after an error it does nothing.
func (s *sorter) add(row []uint32) {
	s.data = append(s.data, row...)
	s.added()
}

// added accounts for a row that was appended to s.data.
func (s *sorter) added() {
	s.count++
	w := s.order.width()
	if s.limit > 0 && s.limit < 1<<40 && uint64(len(s.data)/w) >= 2*s.limit+1024 {
		s.tmp = s.order.sort(s.data, s.tmp)
		s.data = s.data[:int(s.limit)*w]
	}
	if 4*len(s.data) >= s.memory {
		s.spill()
	}
}

func (s *sorter) spill() {
	if s.err != nil || len(s.data) == 0 {
		s.data = s.data[:0]
		return
	}
	s.tmp = s.order.sort(s.data, s.tmp)
	f, err := os.CreateTemp(s.dir, "motifd-sort-*")
	if err == nil {
		// Nothing is left behind however the process ends.
		if err = os.Remove(f.Name()); err != nil {
			f.Close()
		}
	}
	if err != nil {
		s.err = fmt.Errorf("spilling matches for sorting: %w", err)
		return
	}
	w := bufio.NewWriterSize(f, 1<<16)
	var b [4]byte
	for _, x := range s.data {
		binary.LittleEndian.PutUint32(b[:], x)
		if _, err := w.Write(b[:]); err != nil {
			break // Flush reports it
		}
	}
	if err := w.Flush(); err != nil {
		f.Close()
		s.err = fmt.Errorf("spilling matches for sorting: %w", err)
		return
	}
	s.runs = append(s.runs, &run{f: f})
	s.data = s.data[:0]
}

// close releases spill files.
func (s *sorter) close() {
	for _, r := range s.runs {
		r.f.Close()
	}
	s.runs = nil
}

// sorted is the result of one or several sorters over the same order.
type sorted struct {
	order rowOrder
	count uint64     // rows added
	mem   [][]uint32 // sorted runs in memory
	runs  []*run
	err   error
}

// finish sorts what is in memory and hands everything over. The sorter may be used again afterwards.
func (s *sorter) finish() sorted {
	r := sorted{order: s.order, count: s.count, runs: s.runs, err: s.err}
	if len(s.data) > 0 {
		s.tmp = s.order.sort(s.data, s.tmp)
		keep := len(s.data)
		if s.limit > 0 {
			keep = min(keep, int(min(s.limit, uint64(keep)))*s.order.width())
		}
		r.mem = [][]uint32{append([]uint32(nil), s.data[:keep]...)}
	}
	s.data, s.count, s.runs, s.err = s.data[:0], 0, nil, nil
	return r
}

// join adds another sorter's result.
func (r *sorted) join(o sorted) {
	r.count += o.count
	r.mem = append(r.mem, o.mem...)
	r.runs = append(r.runs, o.runs...)
	if r.err == nil {
		r.err = o.err
	}
}

// bytes returns the memory that the result holds.
func (r *sorted) bytes() int {
	n := 0
	for _, m := range r.mem {
		n += 4 * len(m)
	}
	return n
}

func (r *sorted) close() {
	for _, f := range r.runs {
		f.f.Close()
	}
	r.runs = nil
}

// emitRows is the number of rows handed on at a time when runs are merged.
const emitRows = 4096

// each hands the rows on in order, at most limit of them (0: all), and releases the result.
func (r *sorted) each(limit uint64, emit func(matcher.Rows) error) error {
	defer r.close()
	if r.err != nil {
		return r.err
	}
	w := r.order.width()
	rows := matcher.Rows{Vertices: r.order.vertices, Edges: r.order.edges}
	if len(r.runs) == 0 && len(r.mem) == 1 {
		rows.Data = r.mem[0]
		if limit > 0 && uint64(rows.Len()) > limit {
			rows = rows.Slice(0, int(limit))
		}
		return emit(rows)
	}
	m := merge{order: &r.order}
	for _, mem := range r.mem {
		m.push(&cursor{mem: mem})
	}
	for _, f := range r.runs {
		if _, err := f.f.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("reading spilled matches: %w", err)
		}
		f.r = bufio.NewReaderSize(f.f, 1<<16)
		m.push(&cursor{run: f})
	}
	var left = limit
	for len(m.heads) > 0 && m.err == nil && (limit == 0 || left > 0) {
		rows.Data = append(rows.Data, m.heads[0].row...)
		left--
		m.advance()
		if len(rows.Data) >= emitRows*w {
			if err := emit(rows); err != nil {
				return err
			}
			rows.Data = rows.Data[:0]
		}
	}
	if m.err != nil {
		return fmt.Errorf("reading spilled matches: %w", m.err)
	}
	if len(rows.Data) > 0 {
		return emit(rows)
	}
	return nil
}

// cursor reads one sorted run.
type cursor struct {
	mem []uint32
	run *run
	row []uint32
	buf []byte
}

func (c *cursor) next(w int) (bool, error) {
	if c.run == nil {
		if len(c.mem) == 0 {
			return false, nil
		}
		c.row, c.mem = c.mem[:w], c.mem[w:]
		return true, nil
	}
	if c.buf == nil {
		c.buf, c.row = make([]byte, 4*w), make([]uint32, w)
	}
	if _, err := io.ReadFull(c.run.r, c.buf); err != nil {
		if err == io.EOF {
			err = nil
		}
		return false, err
	}
	for i := range c.row {
		c.row[i] = binary.LittleEndian.Uint32(c.buf[4*i:])
	}
	return true, nil
}

// merge is a heap of cursors.
type merge struct {
	order *rowOrder
	heads []*cursor
	err   error
}

func (m *merge) Len() int           { return len(m.heads) }
func (m *merge) Less(i, j int) bool { return m.order.compare(m.heads[i].row, m.heads[j].row) < 0 }
func (m *merge) Swap(i, j int)      { m.heads[i], m.heads[j] = m.heads[j], m.heads[i] }

// Push implements heap.Interface.
func (m *merge) Push(x any) { m.heads = append(m.heads, x.(*cursor)) }

// Pop implements heap.Interface.
func (m *merge) Pop() any {
	c := m.heads[len(m.heads)-1]
	m.heads = m.heads[:len(m.heads)-1]
	return c
}

func (m *merge) push(c *cursor) {
	ok, err := c.next(m.order.width())
	if err != nil {
		m.err = err
	} else if ok {
		heap.Push(m, c)
	}
}

// advance moves the first cursor on.
func (m *merge) advance() {
	ok, err := m.heads[0].next(m.order.width())
	switch {
	case err != nil:
		m.err = err
	case ok:
		heap.Fix(m, 0)
	default:
		heap.Pop(m)
	}
}
