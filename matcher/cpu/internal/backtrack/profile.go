package backtrack

import (
	"sync"

	"motifd/matcher/cpu/internal/program"
)

// Profile counts what searches do, step by step of each order. Searches that are attached while Shared.Profile is set
// add to it when they are detached. A search that is profiled takes the same steps as one that is not, and more time.
type Profile struct {
	mu     sync.Mutex
	orders map[*program.Order]*Levels
}

// Levels counts the work of searches along one order.
type Levels struct {
	Starts uint64 // anchors or roots that were tried
	Steps  []Level
}

// Level counts the work of searches at one step of an order. Steps that the anchor maps have none.
type Level struct {
	Tried  uint64 // search steps at this step: candidates, and what else is counted with them
	Mapped uint64 // partial matches up to this step; behind the last step matches, with their symmetric images
	Jumps  uint64 // times that the other candidates were left out, since the failure did not depend on the step
}

// Add adds what other searches did at the step.
func (l *Level) Add(other *Level) {
	l.Tried, l.Mapped, l.Jumps = l.Tried+other.Tried, l.Mapped+other.Mapped, l.Jumps+other.Jumps
}

// Each calls f for each order that was searched.
func (p *Profile) Each(f func(o *program.Order, l *Levels)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for o, l := range p.orders {
		f(o, l)
	}
}

// add adds what a search has counted.
func (p *Profile) add(counted map[*program.Order]*Levels) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.orders == nil {
		p.orders = map[*program.Order]*Levels{}
	}
	for o, l := range counted {
		all := p.orders[o]
		if all == nil {
			p.orders[o] = l
			continue
		}
		all.Starts += l.Starts
		for d := range l.Steps {
			all.Steps[d].Add(&l.Steps[d])
		}
	}
}

// profiler has the counters of one search.
type profiler struct {
	orders  map[*program.Order]*Levels // nil when nothing is counted
	entered bool                       // the step at hand is counted already
	deeper  spent                      // the cost of steps deeper than the one at hand
}

// spent is the cost of a part of a search, and what it found.
type spent struct{ steps, matches uint64 }

// of returns what is counted of an order.
func (p *profiler) of(o *program.Order) *Levels {
	l := p.orders[o]
	if l == nil {
		l = &Levels{Steps: make([]Level, len(o.Steps))}
		p.orders[o] = l
	}
	return l
}

// started counts an anchor or a root.
func (s *Search) started() {
	if s.profile.orders != nil {
		s.profile.of(s.order).Starts++
	}
}

// jumped counts a jump back over the candidates that are left at step d.
func (s *Search) jumped(d int) {
	if s.profile.orders != nil {
		s.profile.of(s.order).Steps[d].Jumps++
	}
}

// mapped counts partial matches up to step d whose next step was mapped in one go with it.
func (s *Search) mapped(d, n int) {
	if s.profile.orders != nil {
		s.profile.of(s.order).Steps[d].Mapped += uint64(n)
	}
}

// extendSpecial extends a search that is profiled or that jumps; extendWithin calls it first. done tells that nothing
// is left to do.
func (s *Search) extendSpecial(d int, lo, hi uint32) (done, going bool) {
	if s.profile.orders != nil && !s.profile.entered {
		return true, s.extendProfiled(d, lo, hi)
	}
	s.profile.entered = false
	if s.jumps {
		return true, s.extendJumping(d, lo, hi)
	}
	return false, false
}

// extendProfiled is extendWithin with what it does counted. A range that does not begin at the first candidate is of a
// partial match that the worker which gave it away has counted.
func (s *Search) extendProfiled(d int, lo, hi uint32) bool {
	p, o := &s.profile, s.order
	l, outer, steps, matches := p.of(o), p.deeper, s.Steps, s.matches()
	complete := d == len(o.Steps) && !o.GoesOn()
	if lo == 0 && d > 0 && !complete {
		l.Steps[d-1].Mapped++
	}
	p.deeper, p.entered = spent{}, true
	going := s.extendWithin(d, lo, hi)
	took := spent{s.Steps - steps, s.matches() - matches}
	l.Steps[min(d, len(o.Steps)-1)].Tried += took.steps - p.deeper.steps
	if !o.GoesOn() { // the last steps are mostly mapped in one go
		l.Steps[len(o.Steps)-1].Mapped += took.matches - p.deeper.matches
	}
	p.deeper = spent{outer.steps + took.steps, outer.matches + took.matches}
	return going
}
