//go:build cuda || emu

package cuda

import (
	"context"
	"iter"

	"motifd/kernels"
	"motifd/matcher/cpu/rowsort"
	"motifd/matcher/cuda/device"
)

// waves searches anchors in waves: as many at a time as give rows that fit the device's memory, where they are put in
// order. It hands the rows out in that order. While the rows of one wave are copied and handed out, the next waves are
// searched and put in order: the producer is a coroutine, which yields whenever it would wait for the device.
type waves struct {
	run       *runner
	j         *job
	size      int      // tasks of the next wave
	slowStart bool     // waves start small and grow slowly: a cap may leave later rows unwanted
	rate      *float64 // rows per task in the last wave; negative: not known
	// fill returns about size tasks for the anchors from one on, all tasks of each anchor, with the groups of their
	// rows in order; none when no anchor is left. A task's anchor is its Net.
	fill func(from uint32, size int) (tasks []kernels.Task, groups []rowGroup)
	// take receives the rows of a group, in order, in one call or several. They are valid during the call.
	take func(g rowGroup, rows []uint32) error
	// most returns the number of rows of a group that are wanted, negative for all. Rows beyond it may be left out;
	// left receives their number, after take received the others.
	most func(g rowGroup) int
	left func(g rowGroup, rows int) error

	// within reports whether the number of rows of a group is within its limit; nil is no limit. A wave with a group
	// beyond it, or during which the job's meter finds that a request is beyond a limit, is not handed out: the search
	// ends with errOver.
	within func(g rowGroup, rows int) bool
	// from is the anchor to begin with, done the one from which on no wave was handed out, to, after errOver, the one
	// behind the wave that is not.
	from, done, to uint32
	// out, if not nil, receives the range of anchors whose rows have all been handed out.
	out func(from, to uint32)

	ctx      context.Context
	next     func() (*wave, error, bool)
	ready    []*wave
	busy     [2]bool // by output buffer
	idle     bool    // nothing is left to do but to wait for the device
	ended    bool
	fault    error // of the producer; returned once all that it yielded is handed out
	overflow overflow
	trace    *device.Trace
}

// rowGroup is an anchor and a request that have rows in common, and the layout of these.
type rowGroup struct {
	net, request uint32
	layout       *rowsort.Layout
}

// wave is the rows of a wave in an output buffer, in order: all of them, or as many as the memory for rows held.
type wave struct {
	number, out int
	groups      []rowGroup
	runs        []run
	more        bool     // others of the wave follow
	end         uint32   // net edge behind those of the wave
	steps       []uint64 // search steps so far, by request
	err         error    // errOver: the wave is not handed out
}

// waves returns waves of a job, without what they are filled with and who takes the rows. rate is of such waves.
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
			if w.out != nil {
				w.out(w.done, v.end)
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
	w.overflow.begin(v.groups, w.most)
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
	}, w.left)
}

// admits reports whether the groups of a wave, with the parts of it that overflow keeps, are within their limits.
func (w *waves) admits(v *wave) bool {
	if w.within == nil {
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
		if rows[i] > 0 && !w.within(g, rows[i]) {
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

// chunk is a piece of a wave: some rows, from a run and a row in it on.
type chunk struct {
	word, words int
	run, row    int
}

// cut returns the chunks of a wave: of whole rows, of so many words at most.
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

// drain copies the rows of a wave to host memory and hands them out to take, a chunk after the other, each while the
// next is copied.
func (w *waves) drain(v *wave, take func(r run, rows []uint32) error) error {
	if len(v.runs) == 0 {
		return nil
	}
	o := &w.run.order
	chunks := cut(v.runs, len(o.chunk[0])/4)
	copied := func(i int) error {
		c := chunks[i]
		err := o.down.Read(o.chunk[i%2][:4*c.words], o.out[v.out]+kernels.Ptr(4*c.word))
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
			w.busy[v.out] = false
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
