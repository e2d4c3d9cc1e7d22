//go:build cuda || emu

package cuda

import (
	"context"
	"errors"

	"motifd/kernels"
	"motifd/matcher/cuda/device"
)

// Sizes of waves, in tasks.
const (
	firstWave  = 1 << 12 // maximum of the first wave
	cappedWave = 1 << 8  // the same if a request is capped: rows after the cap are not wanted
	blindWave  = 1 << 5  // the same if no search has shown how many rows a task gives
	maxWave    = 1 << 22
	waveGrowth = 8 // maximum ratio of a wave to the one before
	// waveRows is the target for the rows of a wave: enough to keep the device busy, and few enough that the first rows
	// are emitted while later waves are searched.
	waveRows = 1 << 24
)

// errGone ends a producer whose consumer has ended.
var errGone = errors.New("the consumer has ended")

// producer searches waves and sorts their rows. A wave whose rows fill the row buffer is sorted in parts.
type producer struct {
	*waves
	ctx            context.Context
	yield          func(*wave, error) bool
	number, buffer int
}

// produce yields all waves. It yields nil whenever it would wait for the device.
func (w *waves) produce(ctx context.Context, yield func(*wave, error) bool) error {
	p := &producer{waves: w, ctx: ctx, yield: yield}
	w.size = w.first()
	for from := w.from; ; {
		tasks, groups := w.fill(from, w.size)
		if len(tasks) == 0 {
			return nil
		}
		done, err := p.wave(tasks, groups)
		if err != nil {
			return err
		}
		if done > 0 {
			from = tasks[done-1].Net + 1
			p.number++
		}
	}
}

// wave searches tasks from the first on and returns the number that it has done. It stops early, but not within an
// anchor, when the row buffer is nearly full. With slowStart, a wave of several anchors whose rows fill the row buffer
// is given up (0 is returned) and repeated with fewer tasks, because many of its rows may not be wanted.
func (p *producer) wave(tasks []kernels.Task, groups []rowGroup) (done int, err error) {
	if err := p.run.order.stream.Put(&p.run.task, kernels.Bytes(tasks)); err != nil {
		return 0, err
	}
	s, err := p.run.pass(p.j, len(tasks))
	if err != nil {
		return 0, err
	}
	s.p.Queue.Closing = uint32(p.j.room / 4 * 3)
	found := 0
	for more, part := true, 0; more; part++ {
		p.trace.Begin(p.run.stream.q, device.LaneRows, "search", p.number)
		rows, err := s.part(p.ctx, p.wait, tasks)
		p.trace.End(p.run.stream.q, device.LaneRows, "search", p.number, rows)
		end := tasks[s.p.Queue.Tasks-1].Net + 1
		if err == errOver {
			return 0, p.beyond(end)
		}
		if err != nil {
			return 0, err
		}
		more = !s.done()
		if more && p.slowStart && tasks[0].Net != tasks[s.p.Queue.Tasks-1].Net {
			p.size = max(1, min(p.size, len(tasks))/2) // 1 is the tasks of one anchor
			return 0, nil
		}
		found += rows
		if err := p.order(rows, groups, part, more, end); err != nil {
			return 0, err
		}
	}
	p.grow(int(s.p.Queue.Tasks), found)
	return int(s.p.Queue.Tasks), nil
}

// beyond yields a wave without rows, which exceeds a limit and ends before net edge end.
func (p *producer) beyond(end uint32) error {
	p.yield(&wave{end: end, err: errOver}, nil)
	return errGone
}

// order sorts the rows in the row buffer and yields them as one part of a wave. more is true if it is not the last
// part. end is the net edge after those of the wave.
func (p *producer) order(rows int, groups []rowGroup, part int, more bool, end uint32) error {
	if p.trace.Drops(device.Searched) {
		return nil
	}
	v := &wave{number: p.number, groups: groups, more: more, end: end, steps: p.j.meter.steps()}
	if rows > 0 {
		for p.busy[p.buffer] {
			if !p.yield(nil, nil) {
				return errGone
			}
		}
		widths := make([]int, len(groups))
		for i, g := range groups {
			widths[i] = g.layout.Width()
		}
		p.trace.Begin(p.run.stream.q, device.LaneRows, "order", p.number)
		runs, err := p.run.order.sort(p.wait, rows, p.buffer, widths)
		p.trace.End(p.run.stream.q, device.LaneRows, "order", p.number, rows)
		if err != nil {
			return err
		}
		if p.trace.Drops(device.Ordered) {
			return nil
		}
		took, err := p.run.stream.elapsed()
		if err != nil {
			return err
		}
		if err := p.j.meter.ordered(runs, groups, took); err != nil {
			return p.beyond(end)
		}
		v.buffer, v.runs = p.buffer, runs
		p.busy[p.buffer] = true
		p.buffer = 1 - p.buffer
	}
	if !p.yield(v, nil) {
		return errGone
	}
	return nil
}

// wait waits for the stream. The consumer works meanwhile.
func (p *producer) wait() error {
	o := &p.run.order
	if err := o.stream.q.Record(o.computed); err != nil {
		return err
	}
	for {
		if p.idle {
			return o.computed.Sync()
		}
		done, err := o.computed.Done()
		if done || err != nil {
			return err
		}
		if !p.yield(nil, nil) {
			return errGone
		}
	}
}

// target returns the target for the rows of a wave.
func (w *waves) target() int { return min(waveRows, w.j.room/2) }

// first returns the size of the first wave.
func (w *waves) first() int {
	size := firstWave
	if *w.rate > 0 {
		size = max(1, min(size, int(float64(w.target()) / *w.rate)))
	}
	if w.slowStart {
		size = min(size, cappedWave)
	}
	if *w.rate < 0 {
		size = min(size, blindWave)
	}
	return size
}

// grow sets the size of the next wave so that it gives the target at the rate of rows per task of this one.
func (w *waves) grow(tasks, rows int) {
	*w.rate = float64(rows) / float64(tasks)
	most := waveGrowth * tasks
	if w.slowStart {
		most = 2 * tasks
	}
	if rows > 0 {
		most = min(most, int(float64(w.target()) / *w.rate))
	}
	w.size = max(1, min(most, maxWave))
}
