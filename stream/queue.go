package stream

import (
	"context"
	"sync"
)

// queue is a bounded first-in first-out queue between two goroutines, bounded by count and by cost. An element is
// admitted whatever its cost when the queue is empty, so that one larger than the bound passes alone. A producer that
// waits for room goes on when the queue is half empty, so that the two do not wake each other for each element.
type queue[T any] struct {
	maxCount int
	maxCost  int64

	mu     sync.Mutex
	parts  [][]queued[T] // of queuePart each: what waits is never moved
	head   int           // parts[0][:head] were taken
	count  int
	cost   int64
	closed bool
	spare  []queued[T]

	ready chan struct{} // holds a token when there may be something to take, or the queue was closed
	room  chan struct{} // holds a token when there may be room
}

// queued is an element with its cost.
type queued[T any] struct {
	x    T
	cost int64
}

// queuePart is the number of elements in one block of memory.
const queuePart = 64

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
		if n := q.count; n == 0 || n < q.maxCount && q.cost+cost <= q.maxCost {
			q.append(queued[T]{x, cost})
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

// append puts an element behind the others. q.mu is held.
func (q *queue[T]) append(e queued[T]) {
	last := len(q.parts) - 1
	if last < 0 || len(q.parts[last]) == queuePart {
		if q.spare == nil {
			q.spare = make([]queued[T], 0, queuePart)
		}
		q.parts, q.spare, last = append(q.parts, q.spare), nil, last+1
	}
	q.parts[last] = append(q.parts[last], e)
	q.count++
	q.cost += e.cost
}

// take removes the first element without waiting. ok is false when there is none; over tells that none will come.
func (q *queue[T]) take() (x T, ok, over bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.count == 0 {
		return x, false, q.closed
	}
	first := q.parts[0]
	e := &first[q.head]
	x = e.x
	q.count--
	q.cost -= e.cost
	*e = queued[T]{}
	if q.head++; q.head == len(first) { // taken as a whole, or all that there is
		q.parts[0], q.spare, q.head = nil, first[:0], 0
		if q.parts = q.parts[1:]; len(q.parts) == 0 {
			q.parts = nil
		}
	}
	if q.count <= q.maxCount/2 && q.cost <= q.maxCost/2 {
		signal(q.room)
	}
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
	return q.count, q.cost
}
