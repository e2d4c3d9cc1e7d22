package work

import (
	"context"
	"sync"
	"sync/atomic"
)

// ShareEvery is the default of Options.ShareEvery.
const ShareEvery = 512

// Options configure the workers of a backend.
type Options struct {
	// Threads is the number of workers, the caller's goroutine included.
	Threads int
	// Clock returns the time in nanoseconds; nil measures no time.
	Clock func() int64
	// ShareEvery is the least number of search steps between two Parts that a worker gives away.
	ShareEvery uint64
	// Hold is for tests: it has a worker wait until a condition holds. Otherwise it depends on the machine whether
	// another worker is ever idle.
	Hold func(until func() bool)
	// Shared counts the Parts that another worker took than the one that gave them away.
	Shared atomic.Int64
}

// Now returns the time, or 0 without a clock.
func (o *Options) Now() int64 {
	if o.Clock == nil {
		return 0
	}
	return o.Clock()
}

// Taken notes that a worker takes a part. The lock that guards the part is held.
func (o *Options) Taken(p *Part, by *Worker) {
	p.taken = true
	if p.By != by {
		o.Shared.Add(1)
	}
}

// HoldGiver has a worker that Hold applies to wait until another one takes the part that it gave away, or stop is set.
// mu, which guards the part, is held, but not while it waits.
func (o *Options) HoldGiver(mu *sync.Mutex, p *Part, stop *atomic.Bool) {
	if o.Hold == nil {
		return
	}
	Unlocked(mu, func() {
		o.Hold(func() bool {
			mu.Lock()
			defer mu.Unlock()
			return p.taken || stop.Load()
		})
	})
}

// Unlocked calls do without the lock mu, which the caller holds and has again when do is over, even by a panic:
// otherwise the caller's deferred Unlock would fail and hide the panic's cause.
func Unlocked(mu *sync.Mutex, do func()) {
	mu.Unlock()
	defer mu.Lock()
	do()
}

// StopWith sets stop when ctx is done, until the returned function is called.
func StopWith(ctx context.Context, stop *atomic.Bool) func() {
	cancel := context.AfterFunc(ctx, func() { stop.Store(true) })
	return func() { cancel() }
}

// Parallel runs do on n goroutines and waits for them; with n = 1 on the caller's.
func Parallel(n int, do func()) {
	if n <= 1 {
		do()
		return
	}
	var wg sync.WaitGroup
	for range n {
		wg.Go(do)
	}
	wg.Wait()
}
