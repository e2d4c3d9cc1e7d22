//go:build cuda || emu

package cuda

import (
	"context"
	"errors"
	"iter"

	"motifd/kernels"
)

// firstWave and maxWave bound the tasks of a wave. Where a request is capped, what follows the cap is not wanted: then the first
// wave is cappedWave. From one wave to the next it grows by waveGrowth at most.
const (
	firstWave  = 1 << 12
	cappedWave = 1 << 8
	maxWave    = 1 << 22
	waveGrowth = 8
	// waveRows is how many rows a wave is to give: enough to keep the device busy, few enough for the next wave to be under way soon.
	waveRows = 1 << 24
)

// waves has anchors searched in waves, so that their rows can be put in order while memory is bounded, and hands the rows out in that
// order. While rows of one wave are copied and handed out, the next waves are searched and put in order: the producer is a
// coroutine, which gives way whenever it would wait for the device.
type waves struct {
	run  *runner
	j    *job
	size int  // tasks of the next wave
	calm bool // waves grow slowly: rows may turn out not to be wanted
	// fill returns about size tasks from an anchor on, the groups that they are of, in order, the number of anchors, and the first
	// anchor that is left; no tasks when none is.
	fill func(from, size int) (tasks []kernels.Task, groups []rowGroup, anchors, to int)
	// take gets the rows of a group, in order, in one call or several. They are borrowed.
	take func(g rowGroup, rows []uint32) error

	next  func() (*wave, error, bool)
	ready []*wave
	busy  [2]bool // by output buffer
	idle  bool    // there is nothing to do but to wait for the device
	ended bool
	full  bool // a single anchor gave too much, and the waves end before it
	trace *Trace
}

// rowGroup is what rows are of, and their width.
type rowGroup struct {
	net, request uint32
	width        int
}

// wave is a wave whose rows are in an output buffer, in order.
type wave struct {
	number, out int
	groups      []rowGroup
	runs        []run
}

// errGone ends a producer that nobody listens to.
var errGone = errors.New("nobody listens")

// all hands out the rows of all waves. It returns errFull when the rows of a single anchor are too many: those of the
// anchors before it are out then.
func (w *waves) all(ctx context.Context) (err error) {
	var stop func()
	w.next, stop = iter.Pull2(func(yield func(*wave, error) bool) {
		if err := w.produce(ctx, yield); err != nil && err != errGone {
			yield(nil, err)
		}
	})
	defer func() {
		stop()
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
		if err := w.drain(next); err != nil {
			return err
		}
	}
	if w.full {
		return errFull
	}
	return nil
}

// pump has the producer go on until it would wait.
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
	return err
}

// produce searches waves and puts their rows in order.
func (w *waves) produce(ctx context.Context, yield func(*wave, error) bool) error {
	o := &w.run.order
	wait := func() error {
		if err := o.lane.q.Record(o.computed); err != nil {
			return err
		}
		for {
			if w.idle {
				return o.computed.Sync()
			}
			done, err := o.computed.Done()
			if done || err != nil {
				return err
			}
			if !yield(nil, nil) {
				return errGone
			}
		}
	}
	out := 0
	for number, from := 0, 0; ; {
		tasks, groups, anchors, to := w.fill(from, w.size)
		if len(tasks) == 0 {
			return nil
		}
		w.trace.begin(o.lane.q, LaneRows, "search", number)
		rows, err := 0, o.lane.put(&w.run.task, kernels.Bytes(tasks))
		if err == nil {
			rows, err = w.run.search(ctx, wait, w.j, len(tasks))
		}
		w.trace.end(o.lane.q, LaneRows, "search", number, rows)
		if errors.Is(err, errFull) {
			if anchors == 1 {
				w.full = true
				return nil
			}
			w.size = max(1, min(w.size, len(tasks))/2) // down to 1, which is one anchor
			continue
		}
		if err != nil {
			return err
		}
		w.grow(len(tasks), rows)
		from = to
		if rows == 0 || w.trace.drops(Searched) {
			number++
			continue
		}
		for w.busy[out] {
			if !yield(nil, nil) {
				return errGone
			}
		}
		widths := make([]int, len(groups))
		for i, g := range groups {
			widths[i] = g.width
		}
		w.trace.begin(o.lane.q, LaneRows, "order", number)
		runs, err := o.sort(wait, rows, out, widths)
		w.trace.end(o.lane.q, LaneRows, "order", number, rows)
		if err != nil {
			return err
		}
		if w.trace.drops(Ordered) {
			number++
			continue
		}
		w.busy[out] = true
		if !yield(&wave{number, out, groups, runs}, nil) {
			return errGone
		}
		out = 1 - out
		number++
	}
}

// grow chooses the size of the next wave by what one gave: waveRows, or half of what there is room for, if it
// goes on like this.
func (w *waves) grow(tasks, rows int) {
	most := waveGrowth * tasks
	if w.calm {
		most = 2 * tasks
	}
	if rows > 0 {
		most = min(most, int(float64(tasks)*float64(min(waveRows, w.j.room/2))/float64(rows)))
	}
	w.size = max(1, min(most, maxWave))
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

// drain copies the rows of a wave to host memory and hands them out, a chunk after the other, each while the next is copied.
func (w *waves) drain(v *wave) error {
	o := &w.run.order
	chunks := cut(v.runs, len(o.chunk[0])/4)
	copied := func(i int) error {
		c := chunks[i]
		err := o.down.Read(o.chunk[i%2][:4*c.words], o.out[v.out]+kernels.Ptr(4*c.word))
		if err == nil {
			err = o.down.Record(o.copied[i%2])
		}
		if i+1 == len(chunks) {
			w.trace.end(o.down, LaneCopies, "copy", v.number, c.word+c.words)
		}
		return err
	}
	w.trace.begin(o.down, LaneCopies, "copy", v.number)
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
			w.trace.begin(nil, LaneHost, "emit", v.number)
		}
		if err := w.hand(v, c, kernels.WordsOf(o.chunk[i%2])[:c.words]); err != nil {
			return err
		}
	}
	w.trace.end(nil, LaneHost, "emit", v.number, rowsIn(v.runs))
	return nil
}

// await waits for an event while the producer goes on. It goes on once if the event has happened, too: who takes rows may be slower than copies are, and the
// device would have nothing to do meanwhile.
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
func (w *waves) hand(v *wave, c chunk, words []uint32) error {
	for i, row := c.run, c.row; len(words) > 0; i, row = i+1, 0 {
		r := v.runs[i]
		n := min(len(words), (r.rows-row)*r.width)
		if err := w.take(v.groups[r.group], words[:n:n]); err != nil {
			return err
		}
		words = words[n:]
	}
	return nil
}
