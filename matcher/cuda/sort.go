//go:build cuda || emu

package cuda

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
)

// rowSorter puts the rows of a group in canonical order. The device does plain plans only, whose vertices determine their edges,
// so that vertex ids in pattern order decide (DESIGN S7).
type rowSorter struct {
	keys []rowKey
}

// rowKey is a row's first two columns, which decide most comparisons, and where it is.
type rowKey struct {
	first uint64
	at    int
}

// sort writes the rows of the pieces, which are in data, to dst in order.
func (s *rowSorter) sort(dst, data []uint32, pieces []piece, vertices, width int) {
	s.keys = s.keys[:0]
	for _, p := range pieces {
		for at := p.from; at < p.to; at += width {
			s.keys = append(s.keys, rowKey{uint64(data[at])<<32 | uint64(data[at+1]), at})
		}
	}
	slices.SortFunc(s.keys, func(a, b rowKey) int {
		if a.first != b.first {
			return cmp.Compare(a.first, b.first)
		}
		return slices.Compare(data[a.at+2:a.at+vertices], data[b.at+2:b.at+vertices])
	})
	for i, k := range s.keys {
		copy(dst[i*width:(i+1)*width], data[k.at:k.at+width])
	}
}

// parallel calls work for 0 to n-1 on some goroutines, each with a worker of its own.
func parallel(threads, n int, worker func() func(int)) {
	const few = 8 // at a time
	if threads = min(threads, (n+few-1)/few); threads <= 1 {
		work := worker()
		for i := range n {
			work(i)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range threads {
		wg.Go(func() {
			work := worker()
			for {
				from := int(next.Add(few)) - few
				if from >= n {
					return
				}
				for i := from; i < min(from+few, n); i++ {
					work(i)
				}
			}
		})
	}
	wg.Wait()
}
