package health

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"motifd/stream"
)

// NotReady is why the daemon takes no input.
type NotReady struct {
	Class string // anybody may know it
	Text  string // names topics, brokers and queries, and has errors
}

// Error returns the text.
func (n NotReady) Error() string { return n.Text }

// Class returns what anybody may know of an error of Ready.
func Class(err error) string {
	var n NotReady
	if errors.As(err, &n) {
		return n.Class
	}
	return "not ready"
}

// Ready returns nil, or a NotReady that says why the pipeline takes no input at present. A step that takes longer than
// stepTimeout, unless that is 0, is such a reason.
func Ready(p *stream.Pipeline, w *Waits, stepTimeout time.Duration) error {
	ok, reason := p.Ready()
	state, _, _ := strings.Cut(reason, ":")
	waited, what := w.Longest()
	switch {
	case !ok && waited > 0:
		return NotReady{state + "; waiting for Kafka", reason + "; " + what}
	case !ok:
		return NotReady{state, reason}
	case waited >= Patience:
		return NotReady{"waiting for Kafka", what}
	}
	if step, ok := p.Step(); ok {
		return overdue(&step, stepTimeout)
	}
	return nil
}

// overdue returns nil, or that a step takes longer than the bound; 0 is no bound.
func overdue(s *stream.StepStatus, bound time.Duration) error {
	if bound > 0 && s.Seconds >= bound.Seconds() {
		return NotReady{
			"one batch or query change takes long",
			fmt.Sprintf("%s; admin.step_timeout is %s", describeStep(s), bound),
		}
	}
	return nil
}
