//go:build cuda || emu

package device

import (
	"fmt"

	"motifd/kernels"
)

// Stage is the last stage that rows pass before they are dropped.
type Stage int

// The stages.
const (
	Emitted Stage = iota
	Searched
	Ordered
)

// TraceSpan is one unit of work of a backend: on a stream of the device, timed by events, or on the host.
type TraceSpan struct {
	Lane, What string
	Wave       int   // the wave of rows; 0 for other work
	N          int   // number of operations, vertices, tasks, rows or copied words
	Begin, End int64 // nanoseconds of Trace.Clock
}

// The lanes of spans. Spans of one lane do not overlap.
const (
	LaneArray  = "device array"  // stream: load, copy of operations, update, bits of candidates
	LaneTotals = "device totals" // stream: search for counts and existence, tasks made on the device first
	LaneRows   = "device rows"   // stream: search, tasks copied first; order
	LaneCopies = "device copies" // stream: copy
	LaneHost   = "rows"          // the host: emit
)

// maxSpans is the maximum number of spans of a batch. Each span on the device holds two events. Not tuned.
const maxSpans = 1 << 14

// Trace records the work of a backend with its times. Times on the device come from events. They are converted to the
// host's clock by an event whose time on both clocks is known; it is taken again for each batch, because the clocks
// drift. A nil Trace records nothing.
type Trace struct {
	Clock func() int64 // nanoseconds
	// Dev is the device; the backend sets it.
	Dev kernels.Device
	// Until is the stage after which rows are dropped, to measure the stages up to it.
	Until Stage
	// Each receives the spans of a batch or snapshot when it has ended; the trace ends when it returns false. nil:
	// spans are kept until Reset.
	Each func(TraceSpan) bool

	origin kernels.Event
	began  int64
	spans  []traceSpan
	left   int // spans beyond maxSpans
	err    error
	off    bool
}

type traceSpan struct {
	TraceSpan
	begin, end kernels.Event // of the device
	open       bool
}

// Err returns why spans are missing: the device failed, or a batch had more than maxSpans. The traced work is not
// affected.
func (t *Trace) Err() error {
	if t == nil {
		return nil
	}
	if t.err == nil && t.left > 0 {
		return fmt.Errorf("%d spans of batches with more than %d were left out", t.left, maxSpans)
	}
	return t.err
}

// probes is the number of comparisons of the two clocks. The shortest is the most precise. Not tuned.
const probes = 3

// tune takes the event that relates the two clocks.
func (t *Trace) tune(on kernels.Stream) {
	least := int64(-1)
	for range probes {
		before := t.Clock()
		e := t.event(on)
		if t.err == nil {
			t.err = e.Sync()
		}
		if t.err != nil {
			return
		}
		after := t.Clock()
		if least >= 0 && after-before >= least {
			t.close(e)
			continue
		}
		t.close(t.origin)
		t.origin, t.began, least = e, before+(after-before)/2, after-before
	}
}

func (t *Trace) event(on kernels.Stream) kernels.Event {
	if t.err != nil {
		return nil
	}
	e, err := t.Dev.NewEvent()
	if err == nil {
		err = on.Record(e)
	}
	t.err = err
	return e
}

func (t *Trace) close(e kernels.Event) {
	if e != nil && t.err == nil {
		t.err = e.Close()
	}
}

// Begin begins a span on a stream, or on the host if on is nil.
func (t *Trace) Begin(on kernels.Stream, lane, what string, wave int) {
	if t == nil || t.off || t.err != nil {
		return
	}
	if len(t.spans) == maxSpans {
		t.left++
		return
	}
	s := traceSpan{TraceSpan: TraceSpan{Lane: lane, What: what, Wave: wave}, open: true}
	if on == nil {
		s.Begin = t.Clock()
	} else {
		if t.origin == nil {
			t.tune(on)
		}
		s.begin = t.event(on)
	}
	t.spans = append(t.spans, s)
}

// End ends the last open span with the same lane, what and wave; n is the amount of work, see TraceSpan.N.
func (t *Trace) End(on kernels.Stream, lane, what string, wave, n int) {
	if t == nil {
		return
	}
	for i := len(t.spans) - 1; i >= 0; i-- {
		s := &t.spans[i]
		if !s.open || s.Lane != lane || s.What != what || s.Wave != wave {
			continue
		}
		if on == nil {
			s.End = t.Clock()
		} else {
			s.end = t.event(on)
		}
		s.open, s.N = false, n
		return
	}
}

// Flush hands the spans to Each. The device must be idle.
func (t *Trace) Flush() {
	if t == nil || t.Each == nil || t.off || len(t.spans) == 0 {
		return
	}
	spans, err := t.Spans()
	if err != nil {
		t.err = err
	}
	for _, s := range spans {
		if !t.off && !t.Each(s) {
			t.off = true
		}
	}
	t.Reset()
}

// Drops reports whether rows are dropped after a stage.
func (t *Trace) Drops(after Stage) bool { return t != nil && t.Until == after }

// Spans returns the spans since Reset, in the order in which they began. Spans that a failure interrupted are left out.
func (t *Trace) Spans() ([]TraceSpan, error) {
	var all []TraceSpan
	for _, s := range t.spans {
		if s.open || t.err != nil {
			continue
		}
		if s.begin != nil {
			for _, at := range []struct {
				e  kernels.Event
				to *int64
			}{{s.begin, &s.Begin}, {s.end, &s.End}} {
				err := at.e.Sync()
				ms := 0.0
				if err == nil {
					ms, err = at.e.Since(t.origin)
				}
				if err != nil {
					return nil, err
				}
				*at.to = t.began + int64(ms*1e6)
			}
		}
		all = append(all, s.TraceSpan)
	}
	return all, t.err
}

// Reset removes all spans.
func (t *Trace) Reset() {
	for _, s := range t.spans {
		t.close(s.begin)
		t.close(s.end)
	}
	t.close(t.origin)
	t.origin, t.spans = nil, t.spans[:0]
}
