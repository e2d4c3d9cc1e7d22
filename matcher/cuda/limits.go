//go:build cuda || emu

package cuda

import (
	"errors"
	"time"

	"motifd/kernels"
	"motifd/matcher"
)

// errOver ends a search on the device that is beyond a limit. It is not wrapped.
var errOver = errors.New("beyond a limit")

// meter measures what a job spends on the device, for each of its requests, and charges their budgets (DESIGN S11).
// After every launch it looks at the steps that each request has made; the time of a launch is divided among them in
// that proportion. The device searches many groups at once: which of them is beyond a limit, the CPU backend finds out.
// Steps that it makes again are given back; time has passed.
type meter struct {
	of      []int // requests
	budget  func(i int) *matcher.Budget
	each    []matcher.Meter  // by request
	results []matcher.Result // by request: the meter adds steps and time to them
	saw     []uint64         // by request: steps at the last look
	kept    []uint64         // by request: the part of saw whose rows were handed out
	share   []uint64         // by request: room for what a cost is divided by
}

// newMeter begins to measure requests. Some may be beyond their limits already: see over.
func newMeter(of []int, budget func(i int) *matcher.Budget, results []matcher.Result) *meter {
	n := len(results)
	m := &meter{
		of:      of,
		budget:  budget,
		each:    make([]matcher.Meter, n),
		results: results,
		saw:     make([]uint64, n),
		kept:    make([]uint64, n),
		share:   make([]uint64, n),
	}
	for _, i := range of {
		m.each[i].Begin(budget(i), true)
	}
	return m
}

// err returns errOver if some request is beyond a limit.
func (m *meter) err() error {
	for _, i := range m.of {
		if m.each[i].Over() != matcher.NoCause {
			return errOver
		}
	}
	return nil
}

// exhausted tells whether nothing more of the batch may be searched.
func (m *meter) exhausted() bool {
	for _, i := range m.of {
		if m.each[i].Over() == matcher.CauseBatch {
			return true
		}
	}
	return false
}

// parted returns the requests that are beyond a limit, and the others, of those that are to be answered yet.
func (m *meter) parted(open func(i int) bool) (over, others []int) {
	for _, i := range m.of {
		if !open(i) {
			continue
		}
		if m.each[i].Over() != matcher.NoCause {
			over = append(over, i)
		} else {
			others = append(others, i)
		}
	}
	return over, others
}

// look takes note of a launch, by what is counted since the job began and the nanoseconds that it took.
func (m *meter) look(t []kernels.Tally, ns int64) error {
	for _, i := range m.of {
		m.share[i] = t[i].Steps - m.saw[i]
		m.results[i].Steps += m.share[i]
		m.saw[i] = t[i].Steps
	}
	return m.spend(true, ns)
}

// spend charges time in proportion to shares, which are steps or not.
func (m *meter) spend(steps bool, ns int64) error {
	all := uint64(0)
	for _, i := range m.of {
		all += m.share[i]
	}
	for _, i := range m.of {
		part := 1 / float64(len(m.of))
		if all > 0 {
			part = float64(m.share[i]) / float64(all)
		}
		took, made := int64(part*float64(ns)), uint64(0)
		if steps {
			made = m.share[i]
		}
		m.results[i].SearchNS += took
		m.each[i].Spend(made, 0, took)
	}
	return m.err()
}

// ordered takes note of the nanoseconds that it took to put rows in order.
func (m *meter) ordered(runs []run, groups []rowGroup, ns int64) error {
	for _, i := range m.of {
		m.share[i] = 0
	}
	for _, r := range runs {
		m.share[groups[r.group].request] += uint64(r.rows)
	}
	return m.spend(false, ns)
}

// steps returns how many steps the requests have made.
func (m *meter) steps() []uint64 { return append([]uint64(nil), m.saw...) }

// giveBack takes off the budgets the steps that led to nothing that is kept. The job is over.
func (m *meter) giveBack() {
	for _, i := range m.of {
		m.each[i].GiveBack(m.saw[i] - m.kept[i])
	}
}

// leastTurns is how many turns a warp makes in a launch that is to end soon, unless Options.Slice is fewer.
const leastTurns = 1024

// turns bounds the turns of a launch by the time that is left to the requests; 0 is no bound. A turn takes one to three
// microseconds.
func (m *meter) turns() int {
	left := time.Duration(0)
	for _, i := range m.of {
		if p := m.budget(i).Patience(); p > 0 && (left == 0 || p < left) {
			left = p
		}
	}
	if left == 0 {
		return 0
	}
	return int(max(leastTurns, left.Microseconds()))
}
