package main

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"motifd/stream"
)

// patience is how long an operation on the brokers may be tried again before the daemon says that it is not ready: a
// leader that moves needs less.
const patience = 5 * time.Second

// waits are the operations on the brokers that are being tried again, and that nothing goes on without.
type waits struct {
	mu sync.Mutex
	at map[operation]wait
}

type operation struct {
	op, topic string
	partition int32
}

type wait struct {
	since time.Time
	err   error
}

// note takes note of kafka.Events.Blocked. It returns how long the operation had waited when it is over, 0 otherwise.
func (w *waits) note(op operation, since time.Time, err error) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		if w.at == nil {
			w.at = map[operation]wait{}
		}
		w.at[op] = wait{since, err}
		return 0
	}
	delete(w.at, op)
	return time.Since(since)
}

// longest returns how long the operation that has waited longest does so, and what it waits for; 0 when none waits.
func (w *waits) longest() (time.Duration, string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var first operation
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
	what := first.op
	switch {
	case first.partition >= 0:
		what += fmt.Sprintf(", topic %q, partition %d", first.topic, first.partition)
	case first.topic != "":
		what += fmt.Sprintf(", %q", first.topic)
	}
	return waited, fmt.Sprintf("waiting for Kafka for %s: %s: %v", waited.Round(time.Second), what, oldest.err)
}

// notReady is why the daemon takes no input.
type notReady struct {
	class string // anybody may know it
	text  string // names topics, brokers and queries, and has errors
}

// Error returns the text.
func (n notReady) Error() string { return n.text }

// classOf returns what anybody may know of an error of daemon.Ready.
func classOf(err error) string {
	var n notReady
	if errors.As(err, &n) {
		return n.class
	}
	return "not ready"
}

// ready returns nil, or a notReady that tells why the pipeline takes no input at present. A step that takes longer than
// stepTimeout, unless that is 0, is such a reason.
func ready(p *stream.Pipeline, w *waits, stepTimeout time.Duration) error {
	ok, reason := p.Ready()
	state, _, _ := strings.Cut(reason, ":")
	waited, what := w.longest()
	switch {
	case !ok && waited > 0:
		return notReady{state + "; waiting for Kafka", reason + "; " + what}
	case !ok:
		return notReady{state, reason}
	case waited >= patience:
		return notReady{"waiting for Kafka", what}
	}
	if step, ok := p.Step(); ok {
		return overdue(&step, stepTimeout)
	}
	return nil
}
