package payments

import "container/heap"

// queue is a first-in, first-out queue whose memory follows its length.
type queue[T any] struct {
	items []T
	head  int
}

func (q *queue[T]) len() int { return len(q.items) - q.head }
func (q *queue[T]) front() T { return q.items[q.head] }
func (q *queue[T]) push(v T) { q.items = append(q.items, v) }

func (q *queue[T]) pop() T {
	var zero T
	v := q.items[q.head]
	q.items[q.head] = zero
	if q.head++; q.head > 64 && q.head > len(q.items)/2 {
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	return v
}

// step is a payment of a plant to be made or deleted at event due or, when others are in its way, soon after.
type step struct {
	due    uint64
	pay    payment
	plant  *plantState
	remove bool
	seq    uint64
}

// schedule holds steps by due event, then in the order in which they were added.
type schedule struct {
	steps stepHeap
	seq   uint64
}

func (s *schedule) add(x step) {
	s.seq++
	x.seq = s.seq
	heap.Push(&s.steps, x)
}

// due takes the first step that is due at event now.
func (s *schedule) due(now uint64) (step, bool) {
	if len(s.steps) == 0 || s.steps[0].due > now {
		return step{}, false
	}
	return heap.Pop(&s.steps).(step), true
}

type stepHeap []step

func (h stepHeap) Len() int { return len(h) }
func (h stepHeap) Less(i, j int) bool {
	return h[i].due < h[j].due || h[i].due == h[j].due && h[i].seq < h[j].seq
}
func (h stepHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *stepHeap) Push(x any)   { *h = append(*h, x.(step)) }
func (h *stepHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	old[len(old)-1] = step{}
	*h = old[:len(old)-1]
	return x
}
