//go:build cuda || emu

package cuda

import (
	"errors"
	"slices"
	"sync"

	"motifd/kernels"
	"motifd/matcher"
)

// errOver ends a search on the device that exceeds a limit. It is never wrapped.
var errOver = errors.New("beyond a limit")

// meter measures the steps and the time of a job on one side and charges them to the budgets of its requests (DESIGN
// S11). Steps are counted by request. The time of a launch is divided among the requests in proportion to their steps
// in it. A device searches many groups at once, so the meter cannot tell which group exceeds a limit: the CPU backend
// searches these groups again and finds out. The steps that it repeats are given back to the budget, the time is not.
type meter struct {
	*bill
	saw  []uint64 // by request: steps of the side that are charged
	told []uint64 // by request: the part of saw that steps has returned
}

// bill is the account that the meters of all sides charge.
type bill struct {
	of      []int // requests
	budget  func(i int) *matcher.Budget
	mu      sync.Mutex
	each    []matcher.Meter  // by request
	results []matcher.Result // by request: the meters add steps and time to them
	charged []uint64         // by request: steps
	kept    []uint64         // by request: the part of charged whose rows were handed out
	share   []uint64         // by request: share of the cost that is charged next
}

// newMeter begins to measure the requests of. Some may exceed their limits already: see err.
func newMeter(of []int, budget func(i int) *matcher.Budget, results []matcher.Result) *meter {
	n := len(results)
	b := &bill{
		of:      of,
		budget:  budget,
		each:    make([]matcher.Meter, n),
		results: results,
		charged: make([]uint64, n),
		kept:    make([]uint64, n),
		share:   make([]uint64, n),
	}
	for _, i := range of {
		b.each[i].Begin(budget(i), true)
	}
	return &meter{b, make([]uint64, n), make([]uint64, n)}
}

// another returns the meter of another side for the same job.
func (m *meter) another() *meter {
	return &meter{m.bill, make([]uint64, len(m.saw)), make([]uint64, len(m.saw))}
}

// err returns errOver if some request exceeds a limit.
func (m *bill) err() error {
	for _, i := range m.of {
		if m.each[i].Over() != matcher.NoCause {
			return errOver
		}
	}
	return nil
}

// exhausted reports whether the batch has reached its limit, so that no request may be searched.
func (m *bill) exhausted() bool {
	for _, i := range m.of {
		if m.each[i].Over() == matcher.CauseBatch {
			return true
		}
	}
	return false
}

// parted divides the requests for which open returns true into those that exceed a limit and the others.
func (m *bill) parted(open func(i int) bool) (over, others []int) {
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

// charge charges a launch. t has the totals of the side since the beginning of the job, ns is the time of the launch in
// nanoseconds.
func (m *meter) charge(t []kernels.Tally, ns int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, i := range m.of {
		m.share[i] = t[i].Steps - m.saw[i]
		m.results[i].Steps += m.share[i]
		m.charged[i] += m.share[i]
		m.saw[i] = t[i].Steps
	}
	return m.spend(true, ns)
}

// spend charges ns nanoseconds in proportion to the shares. If steps is true, the shares are steps and are charged too.
func (m *bill) spend(steps bool, ns int64) error {
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

// ordered charges the time of sorting rows, in nanoseconds, in proportion to the rows of each request.
func (m *bill) ordered(runs []run, groups []rowGroup, ns int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, i := range m.of {
		m.share[i] = 0
	}
	for _, r := range runs {
		m.share[groups[r.group].request] += uint64(r.rows)
	}
	return m.spend(false, ns)
}

// steps returns, by request, the steps of the side that were charged since the last call.
func (m *meter) steps() []uint64 {
	all := make([]uint64, len(m.saw))
	for _, i := range m.of {
		all[i], m.told[i] = m.saw[i]-m.told[i], m.saw[i]
	}
	return all
}

// keep says that rows were handed out that took some steps, by request.
func (m *bill) keep(steps []uint64) {
	for _, i := range m.of {
		m.kept[i] += steps[i]
	}
}

// giveBack returns to the budgets the steps whose rows were not handed out. The job has ended.
func (m *bill) giveBack() {
	for _, i := range m.of {
		m.each[i].GiveBack(m.charged[i] - m.kept[i])
	}
}

// timed reports whether a request has a time limit.
func (m *bill) timed() bool {
	return slices.ContainsFunc(m.of, func(i int) bool { return m.budget(i).Patience() > 0 })
}
