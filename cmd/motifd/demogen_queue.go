package main

import "container/heap"

// demoQueue is a first-in, first-out queue whose memory follows its length.
type demoQueue[T any] struct {
	items []T
	head  int
}

func (q *demoQueue[T]) len() int { return len(q.items) - q.head }
func (q *demoQueue[T]) front() T { return q.items[q.head] }
func (q *demoQueue[T]) push(v T) { q.items = append(q.items, v) }

func (q *demoQueue[T]) pop() T {
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

// demoStep is a payment of a plant to be made or deleted at event due or, when others are in its way, soon after.
type demoStep struct {
	due    uint64
	pay    demoPay
	life   *demoLife
	remove bool
	seq    uint64
}

// demoSchedule holds steps by due event, then in the order in which they were added.
type demoSchedule struct {
	steps demoHeap
	seq   uint64
}

func (s *demoSchedule) add(x demoStep) {
	s.seq++
	x.seq = s.seq
	heap.Push(&s.steps, x)
}

// due takes the first step that is due at event now.
func (s *demoSchedule) due(now uint64) (demoStep, bool) {
	if len(s.steps) == 0 || s.steps[0].due > now {
		return demoStep{}, false
	}
	return heap.Pop(&s.steps).(demoStep), true
}

type demoHeap []demoStep

func (h demoHeap) Len() int { return len(h) }
func (h demoHeap) Less(i, j int) bool {
	return h[i].due < h[j].due || h[i].due == h[j].due && h[i].seq < h[j].seq
}
func (h demoHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *demoHeap) Push(x any)   { *h = append(*h, x.(demoStep)) }
func (h *demoHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	old[len(old)-1] = demoStep{}
	*h = old[:len(old)-1]
	return x
}
