//go:build cuda || emu

package device

import "sync"

// Chunk is the minimum number of small items, such as net edges, for which another thread pays. Not tuned.
const Chunk = 1 << 15

// InParallel calls f(0) to f(n-1) concurrently and waits.
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

// InParts divides [0, n) into ranges of at least Chunk numbers, calls f for each on up to threads threads, and waits.
func InParts(n, threads int, f func(from, to int)) {
	threads = max(1, min(threads, n/Chunk))
	InParallel(threads, func(t int) { f(t*n/threads, (t+1)*n/threads) })
}
