//go:build cuda || emu

package cuda

import (
	"context"
	"errors"

	"motifd/kernels"
	"motifd/matcher/cuda/device"
)

// firstWave and maxWave bound the tasks of a wave. Where a request is capped, what follows the cap is not wanted: then
// the first wave is cappedWave at most. Where no search went before, it is not known what a task gives: then it is
// blindWave at most. From one wave to the next it grows by waveGrowth at most.
const (
	firstWave  = 1 << 12
	cappedWave = 1 << 8
	blindWave  = 1 << 5
	maxWave    = 1 << 22
	waveGrowth = 8
	// waveRows is how many rows a wave is to give: enough to keep the device busy, few enough for the next wave to be
	// under way soon.
	waveRows = 1 << 24
)

// errGone ends a producer whose consumer has ended.
var errGone = errors.New("the consumer has ended")

// producer searches waves and puts their rows in order, a part of a wave whenever they fill the ring.
type producer struct {
	*waves
	ctx            context.Context
	yield          func(*wave, error) bool
	number, buffer int
}

// produce yields all waves, and nothing whenever it would wait for the device.
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

// wave searches the first of the tasks, as many as give no more than there is room for, at least those of one anchor,
// and returns how many that were. Where rows may turn out not to be wanted, several anchors that give more than that
// are given up: the next wave is smaller.
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
			p.size = max(1, min(p.size, len(tasks))/2) // down to 1, which is one anchor
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

// beyond yields, in the place of a wave that ends before a net edge, that it is beyond a limit.
func (p *producer) beyond(end uint32) error {
	p.yield(&wave{end: end, err: errOver}, nil)
	return errGone
}

// order puts the rows in the ring in order and yields them: part of a wave, more of which follow or not. end is the net
// edge behind those of the wave.
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

// wait returns when all that was asked of the stream is done. The consumer goes on meanwhile.
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

// target is how many rows a wave is to give.
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

// grow chooses the size of the next wave by what one gave, so that it gives the target if it goes on like this.
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
