//go:build cuda || emu

package cuda

import (
	"context"
	"errors"
	"slices"

	"motifd/kernels"
	"motifd/matcher/cuda/device"
	"motifd/matcher/internal/rowsort"
)

// waves searches anchors in waves. A wave is a number of anchors whose rows are expected to fit into the device's
// memory, where they are sorted. The rows are handed out in order. While the rows of one wave are copied and handed
// out, the next waves are searched and sorted: each side has a producer, a coroutine that yields when it would wait for
// its device. The anchors are dealt to the producers in stretches. The producer of a stretch searches all of it, in a
// wave or several, and the stretches are handed out in the order in which they were dealt.
type waves struct {
	j         *job
	producers []*producer
	size      int      // tasks of the next wave
	slowStart bool     // waves start small and grow slowly, because a cap may make later rows unwanted
	rate      *float64 // rows per task in the last wave; negative: unknown
	// fill returns about size tasks, in the memory of some or elsewhere, of the anchors in [from, to), with the groups
	// of their rows in order. An anchor's tasks stay together. It returns no task if no further anchor has any. A
	// task's anchor is its Net.
	fill func(some []kernels.Task, from, to uint32, size int) (tasks []kernels.Task, groups []rowGroup)
	// tasks is the estimated number of tasks of the anchors in [from, before).
	tasks  int
	before uint32
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

	ctx       context.Context
	idle      bool     // there is nothing to do except wait for the only device
	stretches int      // number of stretches that are dealt
	undealt   uint32   // the first anchor of the next stretch
	steps     []uint64 // of the parts of a wave that are handed out, by request
	overflow  overflow
}

// rowGroup names the rows of one anchor and one request, and their layout.
type rowGroup struct {
	net, request uint32
	layout       *rowsort.Layout
}

// wave holds the sorted rows of a wave in an output buffer: all of them, or as many as the memory for rows held.
type wave struct {
	number, buffer int
	stretch        int
	groups         []rowGroup
	runs           []run
	more           bool     // further rows of the wave follow
	end            uint32   // the net edge after those of the wave
	steps          []uint64 // search steps, by request
	err            error    // errOver: the wave is not handed out
}

// waves returns the waves of a job that has about a number of tasks for the anchors in [from, before). The caller sets
// fill, take, wanted and leftOut. rate is kept for similar waves. There are as many sides as have a task for each of
// their warps.
func (b *Backend) waves(j *job, rate *float64, tasks int, from, before uint32) (*waves, error) {
	w := &waves{j: j, rate: rate, tasks: tasks, from: from, done: from, undealt: from, before: before}
	w.overflow.file.Open, w.overflow.memory = b.opt.CPU.TempFiles, b.opt.CPU.GroupMemory
	for _, s := range b.sides {
		p := &producer{waves: w, side: s, run: &s.run, j: j.on(s), stretch: none}
		if err := s.run.begin(p.j); err != nil {
			return nil, s.of(err)
		}
		w.producers = append(w.producers, p)
		if len(w.producers) >= tasks/p.j.shape.Warps() {
			break
		}
	}
	return w, nil
}

// all hands out the rows of all waves.
func (w *waves) all(ctx context.Context) (err error) {
	w.ctx = ctx
	defer func() {
		for _, p := range w.producers {
			p.stop()
		}
		w.overflow.close()
		for _, p := range w.producers {
			if e := p.side.of(errors.Join(p.run.order.settle(), p.widen())); err == nil {
				err = e
			}
		}
	}()
	w.size = w.producers[0].first()
	for _, p := range w.producers {
		p.start()
	}
	for {
		switch p := w.next(); {
		case p == nil && !w.alive():
			return nil
		case p == nil || len(p.ready) == 0 && !p.ended:
			w.idle = len(w.producers) == 1
			w.pump()
			w.idle = false
		case len(p.ready) == 0:
			return p.fault
		default:
			next := p.ready[0]
			p.ready = p.ready[1:]
			if err := w.deliver(p, next); err != nil {
				return err
			}
		}
	}
}

// next returns the producer whose stretch is handed out next; nil if no stretch is dealt that is not handed out.
func (w *waves) next() (first *producer) {
	least := none
	for _, p := range w.producers {
		at := p.stretch
		if len(p.ready) > 0 {
			at = p.ready[0].stretch
		}
		if at < least {
			first, least = p, at
		}
	}
	return first
}

// alive reports whether a producer has not ended.
func (w *waves) alive() bool {
	return slices.ContainsFunc(w.producers, func(p *producer) bool { return !p.ended })
}

// deliver hands out the rows of a wave, or keeps them until the last of them have arrived.
func (w *waves) deliver(p *producer, v *wave) (err error) {
	defer func() {
		switch {
		case err == errOver:
			w.to = v.end
		case err == nil:
			w.steps = append(w.steps, v.steps...)
			if v.more {
				return
			}
			for steps := range slices.Chunk(w.steps, max(1, len(v.steps))) {
				w.j.meter.keep(steps)
			}
			w.steps = w.steps[:0]
			if w.handedOut != nil {
				w.handedOut(w.done, v.end)
			}
			w.done = v.end
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
		return w.drain(p, v, func(r run, rows []uint32) error { return w.take(v.groups[r.group], rows) })
	}
	w.overflow.begin(v.groups, w.wanted)
	if !w.admits(v) {
		return errOver
	}
	if err := w.drain(p, v, w.overflow.add); err != nil {
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
		w.pump() // the next waves are searched meanwhile
		return nil
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

// pump resumes each producer until it would wait.
func (w *waves) pump() {
	for _, p := range w.producers {
		p.pump()
	}
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
func (w *waves) drain(p *producer, v *wave, take func(r run, rows []uint32) error) error {
	if len(v.runs) == 0 {
		return nil
	}
	o, trace := &p.run.order, p.run.trace
	chunks := cut(v.runs, len(o.chunk[0])/4)
	copied := func(i int) error {
		c := chunks[i]
		err := o.down.Read(o.chunk[i%2][:4*c.words], o.out[v.buffer]+kernels.Ptr(4*c.word))
		if err == nil {
			err = o.down.Record(o.copied[i%2])
		}
		if i+1 == len(chunks) {
			trace.End(o.down, device.LaneCopies, "copy", v.number, c.word+c.words)
		}
		return p.side.of(err)
	}
	trace.Begin(o.down, device.LaneCopies, "copy", v.number)
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
			return p.side.of(err)
		}
		if i+1 == len(chunks) {
			p.busy[v.buffer] = false
		}
		if i == 0 {
			trace.Begin(nil, device.LaneHost, "emit", v.number)
		}
		if err := w.hand(v.runs, c, kernels.WordsOf(o.chunk[i%2])[:c.words], take); err != nil {
			return err
		}
	}
	trace.End(nil, device.LaneHost, "emit", v.number, rowsIn(v.runs))
	return nil
}

// await waits for an event of a side while the producers work. They are resumed at least once, even if the event has
// happened: the receiver of rows may be slower than the copies, and the devices would be idle meanwhile.
func (w *waves) await(e kernels.Event) error {
	for {
		if !w.alive() {
			return e.Sync()
		}
		w.pump()
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
