package main

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

// maxTimeline bounds the spans of a timeline: some 30 MB of text.
const maxTimeline = 1 << 18

// laneStep is the lane of the phases of a step, within the engine's.
const laneStep stream.Lane = "step"

// timeline notes when what was done to the first batches of a stream, all by one clock: what the pipeline, the engine
// and the backend tell. When the last of them is committed it writes its file and notes nothing more. A nil timeline
// notes nothing.
type timeline struct {
	file *os.File
	most int // batches of updates
	// limit bounds the spans: maxTimeline, or less in tests.
	limit int
	start time.Time

	mu    sync.Mutex
	spans []timelineSpan
	reads []timelineSpan // of the reader, of batches that are not cut yet
	phase timelineSpan   // of the engine's step that is under way
	// batches of updates were searched, committed is the last number committed, last that of the last batch to note, 0
	// when it is not known.
	batches         int
	committed, last uint64
	closed          bool
	full            bool // closed by limit
	err             error
	device          func() error // tells what is missing of the device's part
	result          *timelineSummary
}

// timelineSpan is a span, in time since the start.
type timelineSpan struct {
	lane        stream.Lane
	what        string
	batch, last uint64        // the reader's may be of several
	read        time.Time     // of the reader's: when the records were there
	begin, end  time.Duration // since the start
	busy        time.Duration // if not all of it
	n, wave     int           // of the device's
}

// newTimeline returns a timeline of so many batches of updates, which goes to a file.
func newTimeline(file *os.File, most int) *timeline {
	return &timeline{file: file, most: most, limit: maxTimeline, start: time.Now()}
}

// add takes a span, unless nothing is taken any more.
func (t *timeline) add(s timelineSpan) {
	if t.closed || t.last > 0 && s.batch > t.last {
		return
	}
	if len(t.spans)+len(t.reads) >= t.limit {
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

// Span is stream.Observer's.
func (t *timeline) Span(s stream.Span) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(timelineSpan{lane: s.Lane, what: s.What, batch: s.Batch, last: s.Batch, read: s.Read,
		begin: s.Begin.Sub(t.start), end: s.End.Sub(t.start), busy: s.Busy})
}

// Phase is matcher.EngineOptions.Phase.
func (t *timeline) Phase(batch uint64, p matcher.Phase) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Since(t.start)
	if s := t.phase; s.what != "" {
		s.end = now
		t.add(s)
	}
	t.phase = timelineSpan{lane: laneStep, what: string(p), batch: batch, last: batch, begin: now}
}

// Device takes a span of the batch that the engine is at, and tells whether more are wanted.
func (t *timeline) Device(lane stream.Lane, what string, wave, n int, begin, end int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.phase.batch
	if b == 0 { // when a stored query was registered again
		return true
	}
	t.add(timelineSpan{lane: lane, what: what, batch: b, last: b, begin: time.Duration(begin), end: time.Duration(end),
		n: n, wave: wave})
	return !t.closed && (t.last == 0 || b <= t.last)
}

// Step is stream.Observer's. What the reader did is given to the batch, and to later ones that have messages of the
// same read.
func (t *timeline) Step(s stream.StepStats) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	n := s.Batch.Number
	if t.closed || t.last > 0 || s.Batch.Change != nil {
		return
	}
	if t.batches++; t.batches == t.most {
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
	t.reads = slices.DeleteFunc(t.reads, func(r timelineSpan) bool {
		if !r.read.Before(s.LastRead) {
			return false
		}
		if r.batch > 0 {
			t.spans = append(t.spans, r)
		}
		return true
	})
}

// Commit is stream.Observer's: the last batch ends the timeline.
func (t *timeline) Commit(s stream.CommitStats) {
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
func (t *timeline) close() {
	t.closed = true
	all := slices.DeleteFunc(append(t.spans, t.reads...),
		func(s timelineSpan) bool { return s.batch == 0 || s.batch > t.committed })
	t.spans, t.reads = nil, nil
	slices.SortStableFunc(all, func(a, b timelineSpan) int { return int(a.begin - b.begin) })
	for i := range all {
		all[i].last = min(all[i].last, t.committed)
	}
	t.result = &timelineSummary{File: t.file.Name(), Spans: len(all), Stages: underSearch(all)}
	for _, s := range all {
		if s.lane == laneStep && s.what == string(matcher.PhaseApply) {
			t.result.Batches++
		}
	}
	if err := errors.Join(writeTraceEvents(t.file, all), t.file.Close()); err != nil {
		t.err = fmt.Errorf("writing the timeline: %w", err)
	}
}

// finish ends the timeline, if its last batch has not, and returns what it showed.
func (t *timeline) finish() (*timelineSummary, error) {
	if t == nil {
		return nil, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.close()
	}
	if t.full {
		t.result.Note = fmt.Sprintf("it ends early, at its limit of %d spans", t.limit)
	}
	if t.device != nil && t.err == nil {
		if err := t.device(); err != nil {
			t.result.Note = "of the device something is missing: " + err.Error()
		}
	}
	return t.result, t.err
}
