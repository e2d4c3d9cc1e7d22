package stream

import (
	"context"
	"sync"
)

// queue is a bounded first-in first-out queue between two goroutines, bounded by count and by cost. An element is
// admitted whatever its cost when the queue is empty, so that one larger than the bound passes alone.
type queue[T any] struct {
	maxCount int
	maxCost  int64

	mu     sync.Mutex
	items  []T
	costs  []int64
	head   int // items[:head] were taken
	cost   int64
	closed bool

	ready chan struct{} // holds a token when there may be something to take, or the queue was closed
	room  chan struct{} // holds a token when there may be room
}

func newQueue[T any](maxCount int, maxCost int64) *queue[T] {
	return &queue[T]{
		maxCount: maxCount, maxCost: maxCost,
		ready: make(chan struct{}, 1), room: make(chan struct{}, 1),
	}
}

// signal leaves a token in a channel of capacity 1.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// put appends x, waiting for room. It returns the cause when ctx is done.
func (q *queue[T]) put(ctx context.Context, x T, cost int64) error {
	for {
		q.mu.Lock()
		if n := len(q.items) - q.head; n == 0 || n < q.maxCount && q.cost+cost <= q.maxCost {
			q.items = append(q.items, x)
			q.costs = append(q.costs, cost)
			q.cost += cost
			q.mu.Unlock()
			signal(q.ready)
			return nil
		}
		q.mu.Unlock()
		select {
		case <-q.room:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// take removes the first element without waiting. ok is false when there is none; over tells that none will come.
func (q *queue[T]) take() (x T, ok, over bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.head == len(q.items) {
		return x, false, q.closed
	}
	var zero T
	x, q.items[q.head] = q.items[q.head], zero
	q.cost -= q.costs[q.head]
	q.head++
	if q.head == len(q.items) {
		q.items, q.costs, q.head = q.items[:0], q.costs[:0], 0
	} else if q.head >= 1024 && q.head*2 >= len(q.items) {
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		copy(q.costs, q.costs[q.head:])
		q.items, q.costs, q.head = q.items[:n], q.costs[:n], 0
	}
	signal(q.room)
	return x, true, false
}

// takeWait removes the first element, waiting for one. ok is false when the queue is closed and empty.
func (q *queue[T]) takeWait(ctx context.Context) (x T, ok bool, err error) {
	for {
		x, ok, over := q.take()
		if ok || over {
			return x, ok, nil
		}
		select {
		case <-q.ready:
		case <-ctx.Done():
			return x, false, context.Cause(ctx)
		}
	}
}

// close tells the taker that no more elements will come.
func (q *queue[T]) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	signal(q.ready)
}

// fill returns how many elements are waiting, and their cost.
func (q *queue[T]) fill() (count int, cost int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items) - q.head, q.cost
}
