//go:build cuda || emu

package device

import "sync"

// Chunk is the least number of small things, such as net edges, that a thread of its own is worth.
const Chunk = 1 << 15

// InParallel calls f with 0 to n-1 at once and waits.
func InParallel(n int, f func(i int)) {
	if n == 1 {
		f(0)
		return
	}
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

// InParts has up to so many threads do parts of the numbers below n.
func InParts(n, threads int, f func(from, to int)) {
	threads = max(1, min(threads, n/Chunk))
	InParallel(threads, func(t int) { f(t*n/threads, (t+1)*n/threads) })
}
