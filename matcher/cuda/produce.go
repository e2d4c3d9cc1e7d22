//go:build cuda || emu

package cuda

import (
	"errors"
	"iter"
	"math"

	"motifd/kernels"
	"motifd/matcher/cuda/device"
)

// Sizes of waves, in tasks. Not tuned but for waveRows.
const (
	firstWave  = 1 << 12 // maximum of the first wave
	cappedWave = 1 << 8  // the same if a request is capped: rows after the cap are not wanted
	blindWave  = 1 << 5  // the same if no search has shown how many rows a task gives
	maxWave    = 1 << 22
	waveGrowth = 8 // maximum ratio of a wave to the one before
	// waveRows is the target for the rows of a wave: enough to keep the device busy, and few enough that the first rows
	// are emitted while later waves are searched. With 24 M the rows of a tree were found faster, those of a sparse
	// pattern slower (docs/notebook/2026-11-gpu.md, Rows).
	waveRows = 1 << 24
)

// errGone ends a producer whose consumer has ended.
var errGone = errors.New("the consumer has ended")

// producer searches the waves of stretches of anchors on one side and sorts their rows. A wave whose rows fill the row
// buffer is sorted in parts.
type producer struct {
	*waves
	side  *side
	run   *runner
	j     *job
	task  []kernels.Task // memory for those of the next wave
	space space

	yield          func(*wave, error) bool
	number, buffer int
	stretch        int // number of the stretch that is searched, or none

	// Of the consumer.
	next  func() (*wave, error, bool)
	stop  func()
	ready []*wave
	busy  [2]bool // by output buffer
	ended bool
	fault error // returned after all waves that were yielded are handed out
}

// none is the stretch of a producer that has none.
const none = math.MaxInt

// start makes the producer a coroutine, which begins when it is resumed.
func (p *producer) start() {
	p.next, p.stop = iter.Pull2(func(yield func(*wave, error) bool) {
		p.yield = yield
		if err := p.produce(); err != nil && err != errGone {
			yield(nil, p.side.of(err))
		}
	})
}

// pump resumes the producer until it would wait.
func (p *producer) pump() {
	if p.ended {
		return
	}
	next, err, ok := p.next()
	if !ok {
		p.ended = true
	}
	if next != nil {
		p.ready = append(p.ready, next)
	}
	if err != nil { // a wave that is being handed out is handed out whole
		p.ended, p.fault = true, err
	}
}

// produce yields the waves of all stretches that are dealt to the producer. It yields nil whenever it would wait for
// the device. One producer gets all anchors as one stretch.
func (p *producer) produce() error {
	for {
		from, to := p.undealt, p.before
		tasks, groups := p.tasksOf(from, to, p.share())
		if len(tasks) == 0 {
			return nil
		}
		if len(p.producers) > 1 {
			to = tasks[len(tasks)-1].Net + 1
		}
		p.stretch = p.stretches
		p.stretches, p.undealt = p.stretches+1, to
		for len(tasks) > 0 {
			p.task = tasks[:0]
			done, err := p.wave(tasks, groups)
			if err != nil {
				return err
			}
			if done > 0 {
				from = tasks[done-1].Net + 1
				p.number++
			}
			if err := p.narrow(to - from); err != nil {
				return err
			}
			tasks, groups = p.tasksOf(from, to, p.size)
		}
		p.stretch = none
	}
}

// share returns the number of tasks of the next stretch: those of a wave, or fewer where the others are to get some of
// the tasks that are left.
func (p *producer) share() int {
	n := len(p.producers)
	if n == 1 {
		return p.size
	}
	return max(1, min(p.size, max(p.j.shape.Warps(), int(p.tasksIn(p.before-p.undealt))/(2*n))))
}

// tasksIn estimates the number of tasks of some anchors.
func (p *producer) tasksIn(anchors uint32) float64 {
	return float64(p.tasks) * float64(anchors) / float64(max(1, p.before-p.from))
}

// wave searches tasks from the first on and returns the number that it has done. It stops early, but not within an
// anchor, when the row buffer is nearly full. With slowStart, a wave of several anchors whose rows fill the row buffer
// is given up (0 is returned) and repeated with fewer tasks, because many of its rows may not be wanted.
func (p *producer) wave(tasks []kernels.Task, groups []rowGroup) (done int, err error) {
	if err := p.run.order.stream.Put(&p.run.task, kernels.Bytes(tasks)); err != nil {
		return 0, err
	}
	s, err := p.run.pass(p.j, len(tasks), len(tasks))
	if err != nil {
		return 0, err
	}
	if p.j.most == 0 {
		s.p.Queue.Closing = uint32(p.j.room / 4 * 3)
	}
	found := 0
	for more, part := true, 0; more; part++ {
		p.run.trace.Begin(p.run.stream.q, device.LaneRows, "search", p.number)
		rows, err := s.part(p.waves.ctx, p.wait, tasks)
		p.run.trace.End(p.run.stream.q, device.LaneRows, "search", p.number, rows)
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
	p.space.tasks, p.space.rows = p.space.tasks+int(s.p.Queue.Tasks), p.space.rows+uint64(found)
	return int(s.p.Queue.Tasks), nil
}

// beyond yields a wave without rows, which exceeds a limit and ends before net edge end.
func (p *producer) beyond(end uint32) error {
	p.yield(&wave{stretch: p.stretch, end: end, err: errOver}, nil)
	return errGone
}

// order sorts the rows in the row buffer and yields them as one part of a wave. more is true if it is not the last
// part. end is the net edge after those of the wave.
func (p *producer) order(rows int, groups []rowGroup, part int, more bool, end uint32) error {
	if p.run.trace.Drops(device.Searched) {
		return nil
	}
	v := &wave{number: p.number, stretch: p.stretch, groups: groups, more: more, end: end, steps: p.j.meter.steps()}
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
		p.run.trace.Begin(p.run.stream.q, device.LaneRows, "order", p.number)
		runs, err := p.run.order.sort(p.wait, rows, p.buffer, widths)
		p.run.trace.End(p.run.stream.q, device.LaneRows, "order", p.number, rows)
		if err != nil {
			return err
		}
		if p.run.trace.Drops(device.Ordered) {
			return nil
		}
		took, err := p.run.stream.elapsed()
		if err != nil {
			return err
		}
		p.run.busy += took
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
func (p *producer) target() int { return min(waveRows, p.j.room/2) }

// first returns the size of the first wave.
func (p *producer) first() int {
	size := firstWave
	if *p.rate > 0 {
		size = max(1, min(size, int(float64(p.target()) / *p.rate)))
	}
	if p.slowStart {
		size = min(size, cappedWave)
	}
	if *p.rate < 0 {
		size = min(size, blindWave)
	}
	return size
}

// grow sets the size of the next wave so that it gives the target at the rate of rows per task of this one.
func (p *producer) grow(tasks, rows int) {
	*p.rate = float64(rows) / float64(tasks)
	most := waveGrowth * tasks
	if p.slowStart {
		most = 2 * tasks
	}
	if rows > 0 {
		most = min(most, int(float64(p.target()) / *p.rate))
	}
	if p.run.short {
		most = min(most, p.run.opt.Tasks)
	}
	p.size = max(1, min(most, maxWave))
}
