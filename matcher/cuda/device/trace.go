//go:build cuda || emu

package device

import (
	"fmt"

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

// TraceSpan is a piece of work of a backend: on a stream of the device, by events there, or as the host saw it.
type TraceSpan struct {
	Lane, What string
	Wave       int   // of rows; elsewhere 0
	N          int   // how much was done: operations, vertices, tasks or rows, words copied
	Begin, End int64 // nanoseconds of Trace.Clock
}

// The lanes of spans. Those of one lane do not overlap.
const (
	LaneArray  = "device array"  // stream: load, copy of operations, update, bits of candidates
	LaneTotals = "device totals" // stream: search for counts and existence, tasks made on the device first
	LaneRows   = "device rows"   // stream: search, tasks copied first; order
	LaneCopies = "device copies" // stream: copy
	LaneHost   = "rows"          // the host: emit
)

// maxSpans is how many spans of a batch are kept; each that was timed by events holds two of the device's.
const maxSpans = 1 << 14

// Trace takes note of what a backend does on the device, and when. Device times are by events on the streams, brought
// to the host's clock by an event that both saw: anew for each batch, as the clocks drift. Host times are by the
// clock. A nil Trace notes nothing.
type Trace struct {
	Clock func() int64 // nanoseconds
	// Dev is the device; the backend sets it.
	Dev kernels.Device
	// Until has rows dropped on the way, to measure the way until there.
	Until Stage
	// Each gets the spans of a batch or snapshot when it has ended, and tells whether to go on. nil: they are kept
	// until Reset.
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

// Err returns why there are no more spans, if it is not that Each wanted none: the device failed, or spans were left
// out. What is traced goes on without.
func (t *Trace) Err() error {
	if t == nil {
		return nil
	}
	if t.err == nil && t.left > 0 {
		return fmt.Errorf("%d spans of batches with more than %d were left out", t.left, maxSpans)
	}
	return t.err
}

// probes is how often the two clocks are compared; the time that took least says it best.
const probes = 3

// tune sets the origin of the device's times.
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

// Begin begins a span, on a stream or (nil) by the host's clock.
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

// End ends the last open span of its kind; n is how much was done in it.
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

// Flush hands the spans on, when nothing is under way on the device.
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

// Drops tells whether rows go no further than a stage.
func (t *Trace) Drops(after Stage) bool { return t != nil && t.Until == after }

// Spans returns what was noted since Reset, in the order in which it began to be asked for. What a failure ended is
// not among it.
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

// Reset forgets what was noted.
func (t *Trace) Reset() {
	for _, s := range t.spans {
		t.close(s.begin)
		t.close(s.end)
	}
	t.close(t.origin)
	t.origin, t.spans = nil, t.spans[:0]
}
