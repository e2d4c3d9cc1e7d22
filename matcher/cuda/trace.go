//go:build cuda || emu

package cuda

import (
	"fmt"
	"io"

	"motifd/kernels"
)

// Stage is how far rows go.
type Stage int

// The stages. What is found is dropped after the one that is named.
const (
	Emitted Stage = iota
	Searched
	Ordered
)

// Trace takes note of when a backend's waves of rows were searched, put in order, copied and handed out. Device times are by events on
// the streams, host times by a clock. A nil Trace notes nothing.
type Trace struct {
	Clock func() int64 // nanoseconds
	// Until has rows dropped on the way, to measure the way until there.
	Until Stage

	dev    kernels.Device
	origin kernels.Event
	began  int64
	spans  []traceSpan
	err    error
}

type traceSpan struct {
	what        string
	wave, n     int
	begin, end  kernels.Event // of the device
	from, until int64         // of the host
}

// open sets the origin of all times.
func (t *Trace) open(dev kernels.Device, on kernels.Stream) error {
	if t == nil || t.dev != nil {
		return nil
	}
	t.dev = dev
	t.origin = t.event(on)
	if t.err == nil {
		t.err = t.origin.Sync()
	}
	t.began = t.Clock()
	return t.err
}

func (t *Trace) event(on kernels.Stream) kernels.Event {
	if t.err != nil {
		return nil
	}
	e, err := t.dev.NewEvent()
	if err == nil {
		err = on.Record(e)
	}
	t.err = err
	return e
}

func (t *Trace) begin(on kernels.Stream, what string, wave int) {
	if t != nil {
		t.spans = append(t.spans, traceSpan{what: what, wave: wave, begin: t.event(on)})
	}
}

// end ends the last span of its kind; n is how much was done in it.
func (t *Trace) end(on kernels.Stream, what string, wave, n int) {
	if t == nil {
		return
	}
	for i := len(t.spans) - 1; i >= 0; i-- {
		if s := &t.spans[i]; s.what == what && s.wave == wave {
			s.end, s.n = t.event(on), n
			return
		}
	}
}

// host notes when rows began and ended to be handed out.
func (t *Trace) host(wave int, begins bool) {
	switch {
	case t == nil:
	case begins:
		t.spans = append(t.spans, traceSpan{what: "emit", wave: wave, from: t.Clock() - t.began})
	default:
		for i := len(t.spans) - 1; i >= 0; i-- {
			if s := &t.spans[i]; s.what == "emit" {
				s.until = t.Clock() - t.began
				return
			}
		}
	}
}

// drops tells whether rows go no further than a stage.
func (t *Trace) drops(after Stage) bool { return t != nil && t.Until == after }

// Took returns the milliseconds from the first begin on the device to the last end there.
func (t *Trace) Took() (float64, error) {
	first, last := -1.0, 0.0
	for _, s := range t.spans {
		from, until, err := t.times(s)
		if err != nil {
			return 0, err
		}
		if s.begin != nil {
			if first < 0 {
				first = from
			}
			first, last = min(first, from), max(last, until)
		}
	}
	return last - first, t.err
}

// Totals returns the milliseconds spent in each kind of work, and how much was done: rows searched and ordered, words copied.
func (t *Trace) Totals() (ms map[string]float64, n map[string]int, err error) {
	ms, n = map[string]float64{}, map[string]int{}
	for _, s := range t.spans {
		from, until, err := t.times(s)
		if err != nil {
			return nil, nil, err
		}
		ms[s.what] += until - from
		n[s.what] += s.n
	}
	return ms, n, t.err
}

func (t *Trace) times(s traceSpan) (from, until float64, err error) {
	if s.begin == nil { // of the host
		return float64(s.from) / 1e6, float64(s.until) / 1e6, t.err
	}
	if from, err = s.begin.Since(t.origin); err == nil && s.end != nil {
		until, err = s.end.Since(t.origin)
	}
	return from, until, err
}

// WriteTo writes a line for each span: what, which wave, from when to when in milliseconds.
func (t *Trace) WriteTo(w io.Writer) (int64, error) {
	written := int64(0)
	for _, s := range t.spans {
		from, until, err := t.times(s)
		if err != nil {
			return written, err
		}
		n, err := fmt.Fprintf(w, "wave %3d %-6s %9.3f to %9.3f ms\n", s.wave, s.what, from, until)
		written += int64(n)
		if err != nil {
			return written, err
		}
	}
	return written, t.err
}

// Reset forgets what was noted.
func (t *Trace) Reset() {
	for _, s := range t.spans {
		for _, e := range []kernels.Event{s.begin, s.end} {
			if e != nil && t.err == nil {
				t.err = e.Close()
			}
		}
	}
	t.spans = t.spans[:0]
}

// Waves returns the number of waves.
func (t *Trace) Waves() (n int) {
	for _, s := range t.spans {
		n = max(n, s.wave+1)
	}
	return n
}
