package dyngraph

import (
	"runtime"
	"sync"
	"unsafe"
)

// Columns grow by an eighth. The copy is the smaller part of the cost: the operating system provides memory page by
// page, when a page is first written, and on a virtual machine a hundred megabytes may take a tenth of a second, for
// which a batch would wait. So the memory that a large column needs next is made, and its pages written, in the
// background (Options.Background) while the column still has room.

// background runs work beside the caller; nil: there is no background, and memory is made when it is needed.
type background func(work func())

// grown returns s with a length of at least n; new elements are zero.
func grown[T any](s []T, n int) []T {
	if n <= len(s) {
		return s
	}
	if n <= cap(s) {
		return s[:n] // the memory beyond the length has never been used: no column shrinks
	}
	t := make([]T, n, max(n, larger(cap(s))))
	copy(t, s)
	return t
}

// larger is the capacity of a column that has outgrown one.
func larger(c int) int { return c + c/8 + 64 }

const (
	spareLeast = 1 << 20 // bytes of memory that are worth making in the background
	spareShare = 32      // a column's next memory is made when that part of its capacity is left
	page       = 4096
	yieldPages = 16
)

// making is held while memory is made: several goroutines that do so at once would take the processors from those
// that a batch waits for.
var making sync.Mutex

// spare is the memory that a column will grow into. A spare that is not used goes with its column.
type spare[T any] struct {
	made chan []T // of capacity 1; nil when nothing is made
}

// grown is as the function is, but takes the memory that was made.
func (s *spare[T]) grown(bg background, column []T, n int) []T {
	if n <= len(column) {
		return column
	}
	if n <= cap(column) {
		if left := cap(column) - n; left < cap(column)/spareShare {
			s.prepare(bg, larger(cap(column)))
		}
		return column[:n]
	}
	t := s.take(n, larger(cap(column)))
	copy(t, column)
	return t
}

// prepare begins to make memory for n elements, unless some is made, or it is little.
func (s *spare[T]) prepare(bg background, n int) {
	size := int(unsafe.Sizeof(*new(T)))
	if bg == nil || s.made != nil || n*size < spareLeast {
		return
	}
	made := make(chan []T, 1)
	s.made = made
	bg(func() {
		making.Lock()
		defer making.Unlock()
		t := inHugePages(make([]T, n))
		var zero T
		for i, pages := 0, 0; i < n; i, pages = i+max(1, page/size), pages+1 {
			t[i] = zero
			if pages%yieldPages == 0 {
				runtime.Gosched()
			}
		}
		made <- t[:0]
	})
}

// take returns n elements that are zero, with room for about as many as asked for. It waits for memory that is being
// made.
func (s *spare[T]) take(n, room int) []T {
	room = max(n, room)
	if s.made != nil {
		t := <-s.made
		s.made = nil
		if c := cap(t); c >= n && c <= room+room/2 {
			return t[:n]
		}
	}
	return inHugePages(make([]T, n, room))
}
