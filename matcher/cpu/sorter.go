package cpu

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"motifd/matcher/cpu/program"
)

// errStopped is the error of a sorter whose search was stopped: its rows are not needed any more.
var errStopped = errors.New("the search was stopped")

// sorter collects the rows of one group at a time and gives them back in order. A group that fits into the sorter's
// buffer is sorted there. A larger one is sorted piece by piece, each packed as a run; runs beyond the group's memory
// go to a temporary file (DESIGN P4). With a limit only as many of the smallest rows are kept as the limit asks for,
// plus the count of all.
type sorter struct {
	memory int // bytes of one group's rows in memory
	// stop ends packing, merging and spilling with errStopped; nil is never.
	stop *atomic.Bool

	file  *spillFile // of the group
	order *rowOrder
	limit uint64 // rows kept; 0 keeps all
	count uint64 // rows added

	buf   rowBuffer
	small sortSpace // the first buffer, and memory for its keys, while it has a larger one
	room  int       // rows are added to the buffer up to here, in words
	over  func()    // empties the buffer when it can grow no more; nil packs it
	rows  rowSorter
	space *sortSpace // where larger buffers come from
	spare []uint32
	image []uint32 // the row at hand of those that come with another one

	runs []*run
	held int // bytes of packed runs in memory
	err  error
}

const (
	firstRows = 16 << 10 // words of an empty sorter's buffer
	// mostRows bounds the buffer, in words. Larger buffers would make larger runs, but fall out of the cache, and the keys
	// of their rows, which take more, before them.
	mostRows = 1 << 20
)

// begin makes the sorter ready for a group.
func (s *sorter) begin(o *rowOrder, limit uint64, file *spillFile) {
	s.order, s.limit, s.file, s.count = o, limit, file, 0
	s.err, s.rows.tail = nil, 0
	if n := min(firstRows, s.most()); cap(s.buf.words) < n { // none, or one for narrower rows
		s.buf.words = make([]uint32, 0, n)
	}
	s.buf.begin(o)
	s.bound()
}

// sorterRoom is the memory that a sorter has to begin with, from one search to the next: new memory would cost page
// faults in each batch.
type sorterRoom struct {
	words []uint32
	rows  rowSorter
}

// reuse makes the sorter begin with what another one has left.
func (s *sorter) reuse(room sorterRoom) { s.buf.words, s.rows = room.words, room.rows }

// sortSpace is memory for rows and their keys, mostly of large groups. Making it anew for each batch would take longer
// than to fill it.
type sortSpace struct {
	data []uint32
	keyRoom
}

var spaces = sync.Pool{New: func() any { return new(sortSpace) }}

// grow moves the rows to a buffer for n words.
func (s *sorter) grow(n int) {
	if s.space == nil {
		s.space = spaces.Get().(*sortSpace)
		s.small = sortSpace{s.buf.words[:0], s.rows.keyRoom}
		s.rows.keyRoom = s.space.keyRoom
	}
	if cap(s.space.data) < n {
		s.space.data = make([]uint32, n)
	}
	s.buf.words = append(s.space.data[:0], s.buf.words...)
	s.bound()
}

// release gives the memory back that the sorter has for large groups, and returns what it began with. Nothing must be
// in it any more.
func (s *sorter) release() sorterRoom {
	if s.space != nil {
		s.space.keyRoom, s.rows.keyRoom = s.rows.keyRoom, s.small.keyRoom
		spaces.Put(s.space)
		s.space, s.buf.words = nil, s.small.data
	}
	s.rows.order, s.rows.buf = nil, nil
	return sorterRoom{s.buf.words[:0], s.rows}
}

// most is the size of the buffer when it may not grow any more, in words: an eighth of the group's memory, as the keys
// of rows that share their heads take, with those of the heads, up to four times as much.
func (s *sorter) most() int {
	return max(min(s.memory/32, mostRows), headWords+2*s.order.width())
}

// bound sets the room, from the buffer's size and the limit.
func (s *sorter) bound() {
	s.room = min(cap(s.buf.words), s.most())
	if w := uint64(headWords + 2*s.order.width()); s.limit > 0 && s.limit < 1<<40 && (2*s.limit+1024)*w < uint64(s.room) {
		s.room = int((2*s.limit + 1024) * w)
	}
}

// add adds a row for each of the candidates from to before to of a search's last step that are free: what is mapped,
// with the candidate and its edges. false tells of an error.
func (s *sorter) add(se *search, st *program.Step, f *frame, from, to int) bool {
	d := len(se.o.Steps) - 1
	if len(st.Back) == 1 && len(st.Less) == 0 {
		return s.addList(se, st, list{nbr: f.nbr[from:to], ent: f.ent[0][from:to]})
	}
	apart := se.images(&se.apart[0], st.MustDiffer)
	nbr, ent := f.nbr[from:to], f.ent[0][from:to]
	ent = ent[:len(nbr)]
	each := 1 + len(st.Back)
	t := s.tails(se.o.Steps[d:], se.row[:])
next:
	for i, v := range nbr {
		for _, c := range apart {
			if c == uint32(v) {
				continue next
			}
		}
		if len(st.Less) > 0 && !se.free(d, v) {
			continue
		}
		if len(t.words)+each > t.room && !t.full() {
			return false
		}
		at := len(t.words)
		t.words = t.words[:at+each]
		into := t.words[at : at+each : at+each]
		into[0], into[1] = uint32(v), uint32(ent[i].Index())
		for k := 1; k < len(st.Back); k++ {
			into[1+k] = uint32(f.ent[k][from+i].Index())
		}
	}
	t.end()
	return true
}

// tails is where the rows go that a search has from one mapping of its first steps.
type tails struct {
	s     *sorter
	words []uint32 // of the buffer
	room  int
	from  int // where the tails of the head begin, 0 if there is no head
	form  uint32
	each  int
	row   []uint32
}

// tails begins rows that have the given steps in their tails, in the order vertices, then the edges of one step after
// the other, and all else as in row. Nothing else is added before they end.
func (s *sorter) tails(steps []program.Step, row []uint32) tails {
	form := s.buf.formOf(s.order, steps)
	return tails{s: s, form: form, each: len(s.buf.forms[form].columns), row: row[:s.order.width()]}
}

// full makes room for a tail, behind a head if there is none with room; false tells of an error.
func (t *tails) full() bool {
	s := t.s
	if t.from > 0 {
		t.end()
		if !s.full() {
			return false
		}
	} else if len(s.buf.words)+headWords+len(t.row)+t.each > s.room && !s.full() {
		return false
	}
	s.buf.open(t.form, t.row)
	t.words, t.room, t.from = s.buf.words, s.room, len(s.buf.words)
	return true
}

// end takes note of the tails.
func (t *tails) end() {
	if t.from == 0 {
		return
	}
	n := (len(t.words) - t.from) / t.each
	b := &t.s.buf
	b.words = t.words
	b.words[b.head+1] = uint32(n)
	b.rows += n
	t.s.count += uint64(n)
	t.words, t.room, t.from = nil, 0, 0
}

// addRow adds a row; false tells of an error.
func (s *sorter) addRow(row []uint32) bool {
	if len(s.buf.words)+headWords+len(row) > s.room && !s.full() {
		return false
	}
	s.buf.whole(row)
	s.count++
	return true
}

// full makes room for a row with a head; false tells of an error.
func (s *sorter) full() bool {
	need := headWords + 2*s.order.width()
	if s.limit > 0 && uint64(s.buf.rows) > s.limit {
		s.cut()
	}
	if len(s.buf.words)+need > s.room {
		if n := min(s.most(), max(2*cap(s.buf.words), firstRows)); n > cap(s.buf.words) {
			s.grow(n)
		} else if s.over != nil {
			s.over()
		} else {
			s.pack()
		}
	}
	return s.err == nil
}

// cut drops all rows of the buffer that are beyond the limit.
func (s *sorter) cut() {
	w := s.order.width()
	keys := s.rows.sort(s.order, &s.buf)[:s.limit]
	s.spare = s.buf.write(slices.Grow(s.spare[:0], len(keys)*w), w, keys)
	s.buf.empty()
	for row := range slices.Chunk(s.spare, w) {
		s.buf.whole(row)
	}
}

// pack makes a run of the rows in the buffer.
func (s *sorter) pack() {
	if s.buf.rows == 0 || s.err != nil || s.stopped() {
		return
	}
	keys := s.rows.sort(s.order, &s.buf)
	if s.limit > 0 && uint64(len(keys)) > s.limit {
		keys = keys[:s.limit]
	}
	r := newRun(s.order, &s.buf, keys)
	s.buf.empty()
	s.runs = append(s.runs, r)
	if s.held += r.bytes(); s.held > s.memory-4*s.most() {
		s.spill()
	}
	for level := 0; s.err == nil && s.atLevel(level) >= mostRuns; level++ {
		s.compact(level)
	}
}

// stopped reports whether the search was stopped, and makes that the sorter's error.
func (s *sorter) stopped() bool {
	if s.stop == nil || !s.stop.Load() {
		return false
	}
	if s.err == nil {
		s.err = errStopped
	}
	return true
}

// mostRuns is how many runs of one level are merged into one of the next: each run takes memory while it is read.
const mostRuns = 256

func (s *sorter) atLevel(level int) (n int) {
	for _, r := range s.runs {
		if r.level == level {
			n++
		}
	}
	return n
}

// compact merges all runs of a level into one, on disk.
func (s *sorter) compact(level int) {
	var from, rest []*run
	for _, r := range s.runs {
		if r.level == level {
			from = append(from, r)
		} else {
			rest = append(rest, r)
		}
	}
	m, err := newMerge(s.order, from, nil, nil)
	if err != nil {
		s.err = err
		return
	}
	// What is merged is packed from a block, as a packer looks at the row before; the blocks that are complete go to disk.
	p := packer{run: &run{order: s.order, level: level + 1}}
	w := s.order.width()
	for left := s.limit; s.err == nil && (s.limit == 0 || left > 0); {
		if s.stopped() {
			break
		}
		most := blockWords / w
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
			s.err = p.run.spillBlocks(s.file, done)
		}
	}
	r := p.finish()
	if s.err == nil {
		s.err = r.spill(s.file)
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
func (s *sorter) spill() {
	s.held = 0
	for _, r := range s.runs {
		if s.stopped() {
			return
		}
		if s.err = r.spill(s.file); s.err != nil {
			return
		}
	}
}

// close gives back what the sorter holds of a group.
func (s *sorter) close() {
	for _, r := range s.runs {
		r.close()
	}
	s.runs, s.held = nil, 0
	s.buf.empty()
}

// finish hands over the group's rows, sorted. When they are all in the buffer they go to w as they are, otherwise, or
// when w is nil, they are packed. The sorter may begin again afterwards.
func (s *sorter) finish(w *rowWriter) sorted {
	r := sorted{order: s.order, count: s.count}
	if len(s.runs) == 0 && w != nil && s.err == nil {
		keys := s.rows.sort(s.order, &s.buf)
		if s.limit > 0 && uint64(len(keys)) > s.limit {
			keys = keys[:s.limit]
		}
		r.segments = w.write(s.order.width(), &s.buf, keys)
	} else {
		s.pack()
		r.runs, r.err = s.runs, s.err
		s.runs, s.held = nil, 0
	}
	s.count = 0
	s.buf.empty()
	return r
}

// rowWriter writes rows to blocks.
type rowWriter struct{ b *block }

// write writes the rows that keys name, w columns each, and returns where they are. The caller is one of the blocks'
// users for each segment.
func (rw *rowWriter) write(w int, buf *rowBuffer, keys []rowKey) (segments []segment) {
	for len(keys) > 0 {
		if rw.b != nil && len(rw.b.words)+w > cap(rw.b.words) {
			rw.close()
		}
		if rw.b == nil {
			rw.b = newBlock()
		}
		n := min(len(keys), (cap(rw.b.words)-len(rw.b.words))/w)
		from := len(rw.b.words)
		rw.b.words = buf.write(rw.b.words, w, keys[:n])
		rw.b.use()
		segments = append(segments, segment{rw.b, from, len(rw.b.words)})
		keys = keys[n:]
	}
	return segments
}

// close lets go of the block at hand.
func (rw *rowWriter) close() {
	if rw.b != nil {
		rw.b.release()
		rw.b = nil
	}
}
