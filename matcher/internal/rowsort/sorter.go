package rowsort

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
)

// ErrStopped is the error of a sorter that was stopped: its rows are not needed any more.
var ErrStopped = errors.New("the search was stopped")

// Sorter collects the rows of one group at a time and gives them back in order. A group that fits into the sorter's
// buffer is sorted there. A larger one is sorted in pieces, each of which becomes a run; runs beyond the group's
// memory go to a file (DESIGN P4). With a limit it keeps only as many of the smallest rows as the limit asks for, plus
// the count of all. One goroutine owns it.
type Sorter struct {
	// Memory bounds the bytes of a group's rows in memory.
	Memory int
	// Stop ends packing, merging and spilling with ErrStopped; nil is never.
	Stop *atomic.Bool
	// Presorted is the number of last vertex columns that are, as a rule, in order among rows that agree in the others.
	// It is a hint, for one group.
	Presorted int
	// Overflow, if not nil, empties the buffer when it is full (Arrived, Discard), in the place of packing it. For
	// tests, and for benchmarks of searches alone.
	Overflow func()

	file   *File // of the group
	layout *Layout
	limit  uint64 // rows kept; 0 keeps all
	count  uint64 // rows added

	buf   buffer
	small space // the first buffer, and memory for its keys, while it has a larger one
	room  int   // rows are added to the buffer up to here, in words
	rows  keySorter
	space *space // where larger buffers come from
	spare []uint32

	runs []*run
	held int // bytes of packed runs in memory
	err  error
}

const (
	firstRows = 16 << 10 // words of an empty sorter's buffer
	// mostRows bounds the buffer, in words. Larger buffers would make larger runs, but fall out of the cache, and the
	// keys of their rows, which take more, before them.
	mostRows = 1 << 20
)

// Begin makes the sorter ready for a group. The layout and the file are shared; the file may be nil until rows are
// spilled.
func (s *Sorter) Begin(l *Layout, limit uint64, file *File) {
	s.layout, s.limit, s.file, s.count = l, limit, file, 0
	s.err, s.Presorted = nil, 0
	if n := min(firstRows, s.most()); cap(s.buf.words) < n { // none, or one for narrower rows
		s.buf.words = make([]uint32, 0, n)
	}
	s.buf.begin(l)
	s.setRoom()
}

// Count returns how many rows of the group were added.
func (s *Sorter) Count() uint64 { return s.count }

// Err returns why rows of the group are missing.
func (s *Sorter) Err() error { return s.err }

// Room is the memory that a sorter begins with. It goes from one search to the next: new memory would cost page faults
// in each batch.
type Room struct {
	words []uint32
	rows  keySorter
}

// Reuse makes the sorter begin with what another one has left.
func (s *Sorter) Reuse(r Room) { s.buf.words, s.rows = r.words, r.rows }

// space is memory for the rows and keys of large groups. Making it anew for each batch would take longer than filling
// it.
type space struct {
	data []uint32
	keyRoom
}

var spaces = sync.Pool{New: func() any { return new(space) }}

// grow moves the rows to a buffer for n words.
func (s *Sorter) grow(n int) {
	if s.space == nil {
		s.space = spaces.Get().(*space)
		s.small = space{s.buf.words[:0], s.rows.keyRoom}
		s.rows.keyRoom = s.space.keyRoom
	}
	if cap(s.space.data) < n {
		s.space.data = make([]uint32, n)
	}
	s.buf.words = append(s.space.data[:0], s.buf.words...)
	s.setRoom()
}

// Release gives back the memory for large groups and returns what the sorter began with. It holds no rows any more.
func (s *Sorter) Release() Room {
	if s.space != nil {
		s.space.keyRoom, s.rows.keyRoom = s.rows.keyRoom, s.small.keyRoom
		spaces.Put(s.space)
		s.space, s.buf.words = nil, s.small.data
	}
	s.rows.of, s.rows.buf = nil, nil
	return Room{s.buf.words[:0], s.rows}
}

// most is the largest size of the buffer, in words: an eighth of the group's memory, as the keys of rows that share
// their prefixes take, with those of the prefixes, up to four times as much.
func (s *Sorter) most() int {
	return max(min(s.Memory/32, mostRows), prefixWords+2*s.layout.Width())
}

// setRoom sets the room from the buffer's size and the limit.
func (s *Sorter) setRoom() {
	s.room = min(cap(s.buf.words), s.most())
	if w := uint64(prefixWords + 2*s.layout.Width()); s.limit > 0 && s.limit < 1<<40 &&
		(2*s.limit+1024)*w < uint64(s.room) {
		s.room = int((2*s.limit + 1024) * w)
	}
}

// Add adds a row; false reports an error.
func (s *Sorter) Add(row []uint32) bool {
	if len(s.buf.words)+prefixWords+len(row) > s.room && !s.full() {
		return false
	}
	s.buf.whole(row)
	s.count++
	return true
}

// full makes room for a row with a prefix; false reports an error.
func (s *Sorter) full() bool {
	need := prefixWords + 2*s.layout.Width()
	if s.limit > 0 && uint64(s.buf.rows) > s.limit {
		s.cut()
	}
	if len(s.buf.words)+need > s.room {
		if n := min(s.most(), max(2*cap(s.buf.words), firstRows)); n > cap(s.buf.words) {
			s.grow(n)
		} else if s.Overflow != nil {
			s.Overflow()
		} else {
			s.Pack()
		}
	}
	return s.err == nil
}

// sort returns the rows of the buffer in order.
func (s *Sorter) sort() []key {
	s.rows.presorted = s.Presorted
	return s.rows.sort(s.layout, &s.buf)
}

// cut drops all rows of the buffer that are beyond the limit.
func (s *Sorter) cut() {
	w := s.layout.Width()
	keys := s.sort()[:s.limit]
	s.spare = s.buf.write(slices.Grow(s.spare[:0], len(keys)*w), w, keys)
	s.buf.empty()
	for row := range slices.Chunk(s.spare, w) {
		s.buf.whole(row)
	}
}

// Pack makes a run of the rows in the buffer.
func (s *Sorter) Pack() {
	if s.buf.rows == 0 || s.err != nil || s.stopped() {
		return
	}
	keys := s.sort()
	if s.limit > 0 && uint64(len(keys)) > s.limit {
		keys = keys[:s.limit]
	}
	r := newRun(s.layout, &s.buf, keys)
	s.buf.empty()
	s.runs = append(s.runs, r)
	if s.held += r.bytes(); s.held > s.Memory-4*s.most() {
		s.spill()
	}
	for level := 0; s.err == nil && s.atLevel(level) >= mostRuns; level++ {
		s.compact(level)
	}
}

// stopped reports whether the search was stopped, and makes that the sorter's error.
func (s *Sorter) stopped() bool {
	if s.Stop == nil || !s.Stop.Load() {
		return false
	}
	if s.err == nil {
		s.err = ErrStopped
	}
	return true
}

// mostRuns is the number of runs of one level that are merged into one of the next: each run takes memory while it is
// read.
const mostRuns = 256

func (s *Sorter) atLevel(level int) (n int) {
	for _, r := range s.runs {
		if r.level == level {
			n++
		}
	}
	return n
}

// compact merges all runs of a level into one, on disk.
func (s *Sorter) compact(level int) {
	var from, rest []*run
	for _, r := range s.runs {
		if r.level == level {
			from = append(from, r)
		} else {
			rest = append(rest, r)
		}
	}
	m, err := newMerge(s.layout, from, nil, nil)
	if err != nil {
		s.err = err
		return
	}
	// What is merged is packed from a block, as a packer looks at the row before; the blocks that are complete go to
	// disk.
	p := packer{run: &run{of: s.layout, level: level + 1}}
	w := s.layout.Width()
	for left := s.limit; s.err == nil && (s.limit == 0 || left > 0); {
		if s.stopped() {
			break
		}
		most := BlockWords / w
		if s.limit > 0 {
			most = int(min(uint64(most), left))
		}
		var words []uint32
		if words, s.err = m.append(make([]uint32, 0, most*w), most); len(words) == 0 {
			break
		}
		left -= uint64(len(words) / w)
		for at := 0; at < len(words); at += w {
			p.add(words[at : at+w : at+w])
		}
		if done := len(p.run.blocks) - 1; s.err == nil && done > 0 {
			s.err = s.file.spill(p.run.blocks[:done])
		}
	}
	r := p.finish()
	if s.err == nil {
		s.err = s.file.spill(r.blocks)
	}
	for _, old := range from {
		old.close()
	}
	s.runs, s.held = append(rest, r), 0
	for _, r := range s.runs {
		s.held += r.bytes()
	}
}

// spill moves the runs to disk.
func (s *Sorter) spill() {
	s.held = 0
	for _, r := range s.runs {
		if s.stopped() {
			return
		}
		if s.err = s.file.spill(r.blocks); s.err != nil {
			return
		}
	}
}

// Drop drops the rows of the group.
func (s *Sorter) Drop() {
	for _, r := range s.runs {
		r.close()
	}
	s.runs, s.held, s.count = nil, 0, 0
	s.buf.empty()
}

// Replace drops the rows of the group and takes those of another sorter of the same group, which are packed.
func (s *Sorter) Replace(by *Sorter) {
	s.Drop()
	s.runs, s.held, s.count, s.err = by.runs, by.held, by.count, by.err
	by.runs, by.held = nil, 0
	by.Drop()
}

// Discard empties the buffer. What was added counts on.
func (s *Sorter) Discard() { s.buf.empty() }

// Arrived returns the rows of the buffer in the order in which they were added.
func (s *Sorter) Arrived() (rows []uint32) {
	keys := s.buf.keys(nil)
	for i := range keys {
		rows = append(rows, s.buf.row(nil, &keys[i])...)
	}
	return rows
}

// Finish hands over the rows of the group. When they are all in the buffer they go to w, sorted, otherwise, or when w
// is nil, they become runs. The sorter may begin another group afterwards.
func (s *Sorter) Finish(w *Writer) Sorted {
	r := Sorted{Layout: s.layout, Count: s.count}
	if len(s.runs) == 0 && w != nil && s.err == nil {
		keys := s.sort()
		if s.limit > 0 && uint64(len(keys)) > s.limit {
			keys = keys[:s.limit]
		}
		r.segments = w.write(s.layout.Width(), &s.buf, keys)
	} else {
		s.Pack()
		r.runs, r.Err = s.runs, s.err
		s.runs, s.held = nil, 0
	}
	s.count = 0
	s.buf.empty()
	return r
}
