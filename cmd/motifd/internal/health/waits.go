package health

import (
	"fmt"
	"sync"
	"time"
)

// Patience is the time for which an operation on the brokers is retried before the daemon says that it is not ready. A
// leader that moves needs less.
const Patience = 5 * time.Second

// Waits are the operations on the brokers that are being tried again, and that nothing goes on without. The zero value
// is ready for use, by several goroutines.
type Waits struct {
	mu sync.Mutex
	at map[Operation]wait
}

// Operation names an operation on the brokers.
type Operation struct {
	Op, Topic string // Topic may be empty
	Partition int32  // -1 for none
}

type wait struct {
	since time.Time
	err   error
}

// Note takes the arguments of kafka.Events.Blocked. It returns how long the operation had waited when the wait is over
// (err is nil), else 0.
func (w *Waits) Note(op Operation, since time.Time, err error) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		if w.at == nil {
			w.at = map[Operation]wait{}
		}
		w.at[op] = wait{since, err}
		return 0
	}
	delete(w.at, op)
	return time.Since(since)
}

// Longest returns the longest time that an operation has waited, and what it waits for; 0 when none waits.
func (w *Waits) Longest() (time.Duration, string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var first Operation
	var oldest wait
	for op, x := range w.at {
		if oldest.err == nil || x.since.Before(oldest.since) {
			first, oldest = op, x
		}
	}
	if oldest.err == nil {
		return 0, ""
	}
	waited := time.Since(oldest.since)
	what := first.Op
	switch {
	case first.Partition >= 0:
		what += fmt.Sprintf(", topic %q, partition %d", first.Topic, first.Partition)
	case first.Topic != "":
		what += fmt.Sprintf(", %q", first.Topic)
	}
	return waited, fmt.Sprintf("waiting for Kafka for %s: %s: %v", waited.Round(time.Second), what, oldest.err)
}
