package work

import (
	"sync"
	"sync/atomic"
)

// Pool hands searches whose order does not matter to workers: in chunks those that are not begun, and Parts of those
// that are. The caller is the first worker. Others start once it has worked long enough to be worth it, however many
// the searches are.
type Pool struct {
	Options *Options
	Stop    *atomic.Bool // ends all workers

	n    int    // searches
	most int    // of a chunk
	work func() // of one worker

	hungry atomic.Int32 // workers that have nothing to do or have not started; a hint

	mu      sync.Mutex
	changed sync.Cond // anything that a worker may wait for
	workers sync.WaitGroup
	next    int // first search that is in no chunk
	started int // workers
	idle    int // workers that have nothing to do
	waiting int // workers that wait for a part's result and take others meanwhile
	parts   []*Part
	ended   bool
}

// Run has n searches done in chunks of at most most. work is run once by each worker; it calls Take until there is
// nothing left.
func (p *Pool) Run(n, most int, work func()) {
	p.n, p.most, p.work, p.changed.L = n, most, work, &p.mu
	p.started = 1
	p.hungry.Store(int32(p.Options.Threads - 1))
	work()
	p.workers.Wait()
}

// Taken returns how many of the searches were taken, when Run has ended.
func (p *Pool) Taken() int { return p.next }

// start starts another worker. p.mu is held.
func (p *Pool) start() {
	p.started++
	p.hungry.Add(-1)
	p.workers.Go(p.work)
}

// Join makes a worker give work away to the others of the pool.
func (p *Pool) Join(w *Worker) {
	w.Sharing = Sharing{}
	if p.Options.Threads == 1 {
		return
	}
	every := p.Options.ShareEvery
	give := func(work any) { p.give(&Part{Work: work, By: w}) }
	w.Sharing = Sharing{Hungry: &p.hungry, Give: give, Wanted: p.wanted, Every: every, Next: every, Pool: p}
}

// Take returns what a worker is to do next: a part, or the searches from..to-1. It answers false when there is nothing
// left to do.
func (p *Pool) Take(w *Worker) (from, to int, part *Part, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.ended {
		if p.Stop.Load() {
			p.end()
			break
		}
		if part = p.takePart(w); part != nil {
			return 0, 0, part, true
		}
		if from = p.next; from < p.n {
			size, threads := p.most, p.Options.Threads
			if threads > 1 {
				size = max(1, min(size, (p.n-from)/(4*threads)))
			}
			p.next = min(p.n, from+size)
			if p.next < p.n && p.started < threads && w.Steps >= p.Options.ShareEvery {
				p.start()
			}
			return from, p.next, nil, true
		}
		if p.idle+1 == p.started { // nobody is left who could give anything away
			p.end()
			break
		}
		p.idle++
		p.wait(w)
		p.idle--
	}
	return 0, 0, nil, false
}

func (p *Pool) end() {
	p.ended = true
	p.changed.Broadcast()
}

// wait waits for a change. The time it takes is not spent searching.
func (p *Pool) wait(w *Worker) {
	began := p.Options.Now()
	p.hungry.Add(1)
	p.changed.Wait()
	p.hungry.Add(-1)
	w.Waited += p.Options.Now() - began
}

// wanted reports whether some worker would have no part to take. Searches that are not begun come first.
func (p *Pool) wanted() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next < p.n {
		if p.started < p.Options.Threads {
			p.start()
		}
		return false
	}
	return p.Options.Threads-p.started+p.idle+p.waiting > len(p.parts)
}

// give takes over a part of a search.
func (p *Pool) give(part *Part) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.parts = append(p.parts, part)
	if p.idle+p.waiting < len(p.parts) && p.started < p.Options.Threads {
		p.start()
	}
	p.changed.Broadcast()
	p.Options.HoldGiver(&p.mu, part, p.Stop)
}

// takePart returns the part that was given away first, nil if there is none. p.mu is held.
func (p *Pool) takePart(w *Worker) *Part {
	if len(p.parts) == 0 {
		return nil
	}
	part := p.parts[0]
	p.parts = p.parts[1:]
	p.Options.Taken(part, w)
	return part
}

// Finish sets done, which Await waits for.
func (p *Pool) Finish(done *bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*done = true
	p.changed.Broadcast()
}

// Await waits until done is set by Finish. Meanwhile it resumes parts, the awaited one among them.
func (p *Pool) Await(done *bool, w *Worker, resume func(*Part)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !*done {
		if part := p.takePart(w); part != nil {
			Unlocked(&p.mu, func() { resume(part) })
			continue
		}
		p.waiting++
		p.wait(w)
		p.waiting--
	}
}
