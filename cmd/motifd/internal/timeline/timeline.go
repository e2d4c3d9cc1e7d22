package timeline

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"motifd/matcher"
	"motifd/stream"
)

// maxSpans is the default of Options.MaxSpans: some 30 MB of text.
const maxSpans = 1 << 18

// laneStep is the lane of the phases of a step, within the engine's.
const laneStep stream.Lane = "step"

// Options configure a Timeline.
type Options struct {
	File *os.File // the Timeline closes it
	// MaxBatches is the number of batches of updates to note.
	MaxBatches int
	// MaxSpans is the maximum number of spans, default 262144: the timeline ends early when it is reached.
	MaxSpans int
}

// Timeline notes the spans of the first batches of a stream, all by one clock. When the last of these batches is
// committed, it writes its file and notes nothing more. A nil Timeline notes nothing. It is safe for concurrent use.
type Timeline struct {
	opt   Options
	start time.Time

	mu    sync.Mutex
	spans []span
	reads []span // of the reader, of batches that are not cut yet
	phase span   // of the engine's step that is under way
	// batches of updates were searched, committed is the last number committed, last that of the last batch to note, 0
	// when it is not known.
	batches         int
	committed, last uint64
	closed          bool
	full            bool // closed by MaxSpans
	err             error
	deviceErr       func() error // tells what is missing of the device's spans; may be nil
	result          *Summary
}

// span is a piece of work of one part of the pipeline. Times are since the start.
type span struct {
	lane        stream.Lane
	what        string
	batch, last uint64        // the reader's may be of several
	read        time.Time     // of the reader's: when the records were there
	begin, end  time.Duration // since the start
	busy        time.Duration // if not all of it
	n, wave     int           // of the device's
}

// New returns a Timeline that starts now.
func New(opt Options) *Timeline {
	if opt.MaxSpans == 0 {
		opt.MaxSpans = maxSpans
	}
	return &Timeline{opt: opt, start: time.Now()}
}

// Clock is the time since the start in ns: the clock of the spans.
func (t *Timeline) Clock() int64 { return int64(time.Since(t.start)) }

// OnDeviceErr has the Summary say what err returns at the end: why spans of the device are missing.
func (t *Timeline) OnDeviceErr(err func() error) { t.deviceErr = err }

// add takes a span, unless nothing is taken any more.
func (t *Timeline) add(s span) {
	if t.closed || t.last > 0 && s.batch > t.last {
		return
	}
	if len(t.spans)+len(t.reads) >= t.opt.MaxSpans {
		t.full = true
		t.close()
		return
	}
	if s.batch == 0 {
		t.reads = append(t.reads, s)
	} else {
		t.spans = append(t.spans, s)
	}
}

// Span is a method of stream.Observer.
func (t *Timeline) Span(s stream.Span) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(span{lane: s.Lane, what: s.What, batch: s.Batch, last: s.Batch, read: s.Read,
		begin: s.Begin.Sub(t.start), end: s.End.Sub(t.start), busy: s.Busy})
}

// Phase is matcher.EngineOptions.Phase.
func (t *Timeline) Phase(batch uint64, p matcher.Phase) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Since(t.start)
	if s := t.phase; s.what != "" {
		s.end = now
		t.add(s)
	}
	t.phase = span{lane: laneStep, what: string(p), batch: batch, last: batch, begin: now}
}

// Device takes a span of the device for the current batch of the engine, with times by Clock. It reports whether more
// spans are wanted.
func (t *Timeline) Device(lane stream.Lane, what string, wave, n int, begin, end int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.phase.batch
	if b == 0 { // when a stored query was registered again
		return true
	}
	t.add(span{lane: lane, what: what, batch: b, last: b, begin: time.Duration(begin), end: time.Duration(end),
		n: n, wave: wave})
	return !t.closed && (t.last == 0 || b <= t.last)
}

// Step is a method of stream.Observer. What the reader did is given to the batch, and to later ones that have messages
// of the same read.
func (t *Timeline) Step(s stream.StepStats) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	n := s.Batch.Number
	if t.closed || t.last > 0 || s.Batch.Change != nil {
		return
	}
	if t.batches++; t.batches == t.opt.MaxBatches {
		t.last = n
	}
	if s.FirstRead.IsZero() { // of a batch log
		return
	}
	for i := range t.reads {
		r := &t.reads[i]
		if !r.read.Before(s.FirstRead) && !r.read.After(s.LastRead) {
			if r.batch == 0 {
				r.batch = n
			}
			r.last = n
		}
	}
	// The next batch begins with the last read at the earliest.
	t.reads = slices.DeleteFunc(t.reads, func(r span) bool {
		if !r.read.Before(s.LastRead) {
			return false
		}
		if r.batch > 0 {
			t.spans = append(t.spans, r)
		}
		return true
	})
}

// Commit is a method of stream.Observer: the last batch ends the timeline.
func (t *Timeline) Commit(s stream.CommitStats) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	if t.committed = s.Batch; s.Batch == t.last {
		t.close()
	}
}

// close writes the file: what is known of the batches that were committed.
func (t *Timeline) close() {
	t.closed = true
	all := slices.DeleteFunc(append(t.spans, t.reads...),
		func(s span) bool { return s.batch == 0 || s.batch > t.committed })
	t.spans, t.reads = nil, nil
	slices.SortStableFunc(all, func(a, b span) int { return int(a.begin - b.begin) })
	for i := range all {
		all[i].last = min(all[i].last, t.committed)
	}
	t.result = &Summary{File: t.opt.File.Name(), Spans: len(all), Stages: stages(all)}
	for _, s := range all {
		if s.lane == laneStep && s.what == string(matcher.PhaseApply) {
			t.result.Batches++
		}
	}
	if err := errors.Join(writeTraceEvents(t.opt.File, all), t.opt.File.Close()); err != nil {
		t.err = fmt.Errorf("writing the timeline: %w", err)
	}
}

// Finish ends the timeline, if its last batch has not, and returns its Summary; nil for a nil Timeline.
func (t *Timeline) Finish() (*Summary, error) {
	if t == nil {
		return nil, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.close()
	}
	if t.full {
		t.result.Note = fmt.Sprintf("it ends early, at its limit of %d spans", t.opt.MaxSpans)
	}
	if t.deviceErr != nil && t.err == nil {
		if err := t.deviceErr(); err != nil {
			t.result.Note = "of the device something is missing: " + err.Error()
		}
	}
	return t.result, t.err
}
