package cpu

import (
	"sync"
	"sync/atomic"
)

// pool hands searches that need no order to workers: those that are not begun in chunks, and parts of those that are, which a worker gave away
// because another one had nothing to do (see sharing). The caller is the first worker. Others begin when one has worked long enough that it is worth it, however
// many the searches are, and however few.
type pool struct {
	b    *Backend
	n    int // searches
	most int // of a chunk
	stop *atomic.Bool
	work func() // of one worker

	hungry atomic.Int32 // workers that wait for something to do, or were not begun; a hint

	mu      sync.Mutex
	changed sync.Cond // something that a worker may wait for
	workers sync.WaitGroup
	next    int // search that is in no chunk yet
	begun   int // workers
	idle    int // workers that have nothing to do
	waiting int // workers that wait for a portion of a sum, and do others meanwhile
	parts   []*part
	ended   bool
}

// run has n searches done, in chunks of at most so many.
func (p *pool) run(n, most int, work func()) {
	p.n, p.most, p.work, p.changed.L = n, most, work, &p.mu
	p.begun = 1
	p.hungry.Store(int32(p.b.opt.Threads - 1))
	work()
	p.workers.Wait()
}

// begin begins another worker. p.mu is held.
func (p *pool) begin() {
	p.begun++
	p.hungry.Add(-1)
	p.workers.Go(p.work)
}

// sharing is what a worker needs to give work away.
func (p *pool) sharing() sharing {
	if p.b.opt.Threads == 1 {
		return sharing{}
	}
	every := p.b.shareEvery
	return sharing{hungry: &p.hungry, give: p.give, wanted: func(*group) bool { return p.wanted() }, every: every, next: every, pool: p}
}

// take returns what a worker is to do next: a part, or the searches from..to-1. It answers false when there is nothing more to do.
func (p *pool) take(s *search) (from, to int, given *part, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.ended {
		if p.stop.Load() {
			p.end()
			break
		}
		if given = p.takePart(s); given != nil {
			return 0, 0, given, true
		}
		if from = p.next; from < p.n {
			size, threads := p.most, p.b.opt.Threads
			if threads > 1 {
				size = max(1, min(size, (p.n-from)/(4*threads)))
			}
			p.next = min(p.n, from+size)
			if p.next < p.n && p.begun < threads && s.steps >= p.b.shareEvery {
				p.begin()
			}
			return from, p.next, nil, true
		}
		if p.idle+1 == p.begun { // what would give anything away
			p.end()
			break
		}
		p.idle++
		p.wait(s)
		p.idle--
	}
	return 0, 0, nil, false
}

func (p *pool) end() {
	p.ended = true
	p.changed.Broadcast()
}

// wait waits for a change. What it takes is not time spent searching.
func (p *pool) wait(s *search) {
	began := p.b.clock()
	p.hungry.Add(1)
	p.changed.Wait()
	p.hungry.Add(-1)
	s.sharing.waited += p.b.clock() - began
}

// wanted tells whether there is a worker for a part that has not enough parts to choose from. Searches that are not begun come first.
func (p *pool) wanted() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next < p.n {
		if p.begun < p.b.opt.Threads {
			p.begin()
		}
		return false
	}
	return p.b.opt.Threads-p.begun+p.idle+p.waiting > len(p.parts)
}

// give takes over a part of a search.
func (p *pool) give(given *part) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.parts = append(p.parts, given)
	if p.idle+p.waiting < len(p.parts) && p.begun < p.b.opt.Threads {
		p.begin()
	}
	p.changed.Broadcast()
	p.b.holdGiver(&p.mu, given, p.stop)
}

// takePart returns the part that was given away first, nil if there is none. p.mu is held.
func (p *pool) takePart(s *search) *part {
	if len(p.parts) == 0 {
		return nil
	}
	given := p.parts[0]
	p.parts = p.parts[1:]
	p.b.noteTaken(given, s)
	return given
}

// finish notes that a portion is done.
func (p *pool) finish(done *portion) {
	p.mu.Lock()
	defer p.mu.Unlock()
	done.done = true
	p.changed.Broadcast()
}

// await waits for a portion, and does meanwhile what was given away: this one, or another.
func (p *pool) await(of *portion, c *counter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !of.done {
		if given := p.takePart(c.se); given != nil {
			p.mu.Unlock()
			c.portion(given.portion)
			p.mu.Lock()
			continue
		}
		p.waiting++
		p.wait(c.se)
		p.waiting--
	}
}
