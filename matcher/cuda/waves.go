//go:build cuda || emu

package cuda

import (
	"context"
	"iter"

	"motifd/kernels"
	"motifd/matcher/cuda/device"
	"motifd/matcher/internal/rowsort"
)

// waves searches anchors in waves. A wave is a number of anchors whose rows are expected to fit into the device's
// memory, where they are sorted. The rows are handed out in order. While the rows of one wave are copied and handed
// out, the next waves are searched and sorted: the producer is a coroutine, which yields when it would wait for the
// device.
type waves struct {
	run       *runner
	j         *job
	size      int      // tasks of the next wave
	slowStart bool     // waves start small and grow slowly, because a cap may make later rows unwanted
	rate      *float64 // rows per task in the last wave; negative: unknown
	// fill returns about size tasks, from an anchor on, with the groups of their rows in order. An anchor's tasks stay
	// together. It returns no task after the last anchor. A task's anchor is its Net.
	fill func(from uint32, size int) (tasks []kernels.Task, groups []rowGroup)
	// take receives the rows of a group, in order, in one call or several. They are valid during the call.
	take func(g rowGroup, rows []uint32) error
	// wanted returns the number of rows of a group that are wanted, negative for all. Rows beyond it may be left out;
	// leftOut receives their number, after take received the others.
	wanted  func(g rowGroup) int
	leftOut func(g rowGroup, rows int) error

	// withinLimit reports whether the number of rows of a group is within its limit; nil is no limit. If a group is
	// beyond its limit, or the job's meter finds a request beyond one during the wave, the wave is not handed out and
	// the search ends with errOver.
	withinLimit func(g rowGroup, rows int) bool
	// from is the first anchor. The waves up to anchor done are handed out. After errOver, [done, to) are the anchors
	// of the wave that is not handed out.
	from, done, to uint32
	// handedOut, if not nil, receives the range of anchors whose rows have all been handed out.
	handedOut func(from, to uint32)

	ctx      context.Context
	next     func() (*wave, error, bool)
	ready    []*wave
	busy     [2]bool // by output buffer
	idle     bool    // there is nothing to do except wait for the device
	ended    bool
	fault    error // of the producer; returned after all waves that it yielded are handed out
	overflow overflow
	trace    *device.Trace
}

// rowGroup names the rows of one anchor and one request, and their layout.
type rowGroup struct {
	net, request uint32
	layout       *rowsort.Layout
}

// wave holds the sorted rows of a wave in an output buffer: all of them, or as many as the memory for rows held.
type wave struct {
	number, buffer int
	groups         []rowGroup
	runs           []run
	more           bool     // further rows of the wave follow
	end            uint32   // the net edge after those of the wave
	steps          []uint64 // search steps so far, by request
	err            error    // errOver: the wave is not handed out
}

// waves returns the waves of a job. The caller sets fill, take, wanted and leftOut. rate is kept for similar waves.
func (b *Backend) waves(j *job, rate *float64) *waves {
	w := &waves{run: &b.run, j: j, rate: rate, trace: b.opt.Trace}
	w.overflow.file.Open, w.overflow.memory = b.opt.CPU.TempFiles, b.opt.CPU.GroupMemory
	return w
}

// all hands out the rows of all waves.
func (w *waves) all(ctx context.Context) (err error) {
	w.ctx = ctx
	var stop func()
	w.next, stop = iter.Pull2(func(yield func(*wave, error) bool) {
		if err := w.produce(ctx, yield); err != nil && err != errGone {
			yield(nil, err)
		}
	})
	defer func() {
		stop()
		w.overflow.close()
		if e := w.run.order.settle(); err == nil {
			err = e
		}
	}()
	for {
		for len(w.ready) == 0 && !w.ended {
			w.idle = true
			err := w.pump()
			w.idle = false
			if err != nil {
				return err
			}
		}
		if len(w.ready) == 0 {
			break
		}
		next := w.ready[0]
		w.ready = w.ready[1:]
		if err := w.deliver(next); err != nil {
			return err
		}
	}
	return w.fault
}

// deliver hands out the rows of a wave, or keeps them until the last of them have arrived.
func (w *waves) deliver(v *wave) (err error) {
	defer func() {
		switch {
		case err == errOver:
			w.to = v.end
		case err == nil && !v.more:
			if w.handedOut != nil {
				w.handedOut(w.done, v.end)
			}
			w.done, w.j.meter.kept = v.end, v.steps
		}
	}()
	if v.err != nil {
		return v.err
	}
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if !v.more && len(w.overflow.groups) == 0 {
		if !w.admits(v) {
			return errOver
		}
		return w.drain(v, func(r run, rows []uint32) error { return w.take(v.groups[r.group], rows) })
	}
	w.overflow.begin(v.groups, w.wanted)
	if !w.admits(v) {
		return errOver
	}
	if err := w.drain(v, w.overflow.add); err != nil {
		return err
	}
	w.overflow.end()
	if v.more {
		return nil
	}
	return w.overflow.merge(w.ctx, v.groups, func(g rowGroup, rows []uint32) error {
		if err := w.take(g, rows); err != nil {
			return err
		}
		return w.pump() // the next waves are searched meanwhile
	}, w.leftOut)
}

// admits reports whether the groups of a wave, with the parts of it that overflow keeps, are within their limits.
func (w *waves) admits(v *wave) bool {
	if w.withinLimit == nil {
		return true
	}
	rows := make([]int, len(v.groups))
	for i := range rows {
		rows[i] = w.overflow.rows(i)
	}
	for _, r := range v.runs {
		rows[r.group] += r.rows
	}
	for i, g := range v.groups {
		if rows[i] > 0 && !w.withinLimit(g, rows[i]) {
			return false
		}
	}
	return true
}

// pump resumes the producer until it would wait.
func (w *waves) pump() error {
	if w.ended {
		return nil
	}
	next, err, ok := w.next()
	if !ok {
		w.ended = true
	}
	if next != nil {
		w.ready = append(w.ready, next)
	}
	if err != nil { // a wave that is being handed out is handed out whole
		w.ended, w.fault = true, err
	}
	return nil
}

// chunk is a range of the rows of a wave that is copied at once.
type chunk struct {
	word, words int // the range in the output buffer
	run, row    int // the first row: its run, and its number there
}

// cut divides the rows of a wave into chunks of whole rows, each of a maximum of words.
func cut(runs []run, words int) []chunk {
	var all []chunk
	c, word := chunk{}, 0
	for i, r := range runs {
		for row := 0; row < r.rows; {
			n := min(r.rows-row, (words-c.words)/r.width)
			if n == 0 {
				all = append(all, c)
				c = chunk{word: word, run: i, row: row}
				continue
			}
			c.words += n * r.width
			word += n * r.width
			row += n
		}
	}
	return append(all, c)
}

// drain copies the rows of a wave to host memory and hands them to take, chunk by chunk. One chunk is copied while the
// one before is handed out.
func (w *waves) drain(v *wave, take func(r run, rows []uint32) error) error {
	if len(v.runs) == 0 {
		return nil
	}
	o := &w.run.order
	chunks := cut(v.runs, len(o.chunk[0])/4)
	copied := func(i int) error {
		c := chunks[i]
		err := o.down.Read(o.chunk[i%2][:4*c.words], o.out[v.buffer]+kernels.Ptr(4*c.word))
		if err == nil {
			err = o.down.Record(o.copied[i%2])
		}
		if i+1 == len(chunks) {
			w.trace.End(o.down, device.LaneCopies, "copy", v.number, c.word+c.words)
		}
		return err
	}
	w.trace.Begin(o.down, device.LaneCopies, "copy", v.number)
	if err := copied(0); err != nil {
		return err
	}
	for i, c := range chunks {
		if i+1 < len(chunks) {
			if err := copied(i + 1); err != nil {
				return err
			}
		}
		if err := w.await(o.copied[i%2]); err != nil {
			return err
		}
		if i+1 == len(chunks) {
			w.busy[v.buffer] = false
		}
		if i == 0 {
			w.trace.Begin(nil, device.LaneHost, "emit", v.number)
		}
		if err := w.hand(v.runs, c, kernels.WordsOf(o.chunk[i%2])[:c.words], take); err != nil {
			return err
		}
	}
	w.trace.End(nil, device.LaneHost, "emit", v.number, rowsIn(v.runs))
	return nil
}

// await waits for an event while the producer works. The producer is resumed at least once, even if the event has
// happened: the receiver of rows may be slower than the copies, and the device would be idle meanwhile.
func (w *waves) await(e kernels.Event) error {
	for {
		if w.ended {
			return e.Sync()
		}
		if err := w.pump(); err != nil {
			return err
		}
		if done, err := e.Done(); done || err != nil {
			return err
		}
	}
}

// rowsIn counts the rows of runs.
func rowsIn(runs []run) (n int) {
	for _, r := range runs {
		n += r.rows
	}
	return n
}

// hand hands out the rows of a chunk.
func (w *waves) hand(runs []run, c chunk, words []uint32, take func(r run, rows []uint32) error) error {
	for i, row := c.run, c.row; len(words) > 0; i, row = i+1, 0 {
		r := runs[i]
		n := min(len(words), (r.rows-row)*r.width)
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if err := take(r, words[:n:n]); err != nil {
			return err
		}
		words = words[n:]
	}
	return nil
}
