package main

import (
	"fmt"
	"strings"

	"motifd/stream"
)

// Read implements stream.Observer.
func (r *replay) Read(stream.ReadStats) {}

// Span implements stream.Observer.
func (r *replay) Span(s stream.Span) { r.trace.Span(s) }

// Step implements stream.Observer.
func (r *replay) Step(s stream.StepStats) {
	r.trace.Step(s)
	searched := r.backend.search - r.before
	r.before = r.backend.search
	for _, d := range s.Batch.DeadLetters {
		if d.Refused() {
			r.sum.Refused++
		}
		if d.Reason == stream.ReasonCompression && r.cmd.BatchLog == "" { // a log has all that there was
			r.lost = r.place(d)
		}
		if r.cmd.DeadLetter == "" && r.logged < maxLogged {
			r.logged++
			r.app.log.Warn().Str("at", r.place(d)).Str("reason", d.Reason).Msg(d.Error)
		}
	}
	for i := range s.Summary.Queries {
		q := &s.Summary.Queries[i]
		into := r.query(q.Query.Name)
		into.Positive.add(q.Positive)
		into.Negative.add(q.Negative)
		into.Changed.add(q.Changed)
		into.searchNS += q.SearchNS
		if q.Truncated {
			into.truncated++
		}
		into.skipped += q.Skipped
		into.suspended = into.suspended || q.Suspended != nil
	}
	if s.Batch.Change != nil || s.Batch.Time != nil && s.Batch.Time.Retention != nil {
		return // a change is neither an update nor a batch of the stream
	}
	r.sum.Batches++
	r.sum.Updates += uint64(s.Summary.Updates)
	r.unnamed += uint64(s.Summary.Unnamed)
	if s.Batch.Time != nil {
		if r.sum.Time == nil {
			r.sum.Time = &replayTime{}
		}
		r.sum.Time.Expired += uint64(s.Summary.Expired)
		r.sum.Time.Late += uint64(s.Summary.Late)
	}
	r.sum.EffectiveUpdates += uint64(s.Summary.NetInserted + s.Summary.NetDeleted)
	r.match += searched
	other := s.Encode + s.Publish
	if r.backend.whole {
		other = 0 // it is part of what was searched
	}
	r.apply += max(0, s.Accept+s.Step-other-searched)
	r.progress.Update(r.sum.Updates, r.part(s.Batch.Positions))
}

// part tells how much of the updates was stepped over, 0 when it is not known: positions are in decompressed bytes.
func (r *replay) part(at stream.Positions) float64 {
	if r.src == nil || len(r.src.Files()) != 1 {
		return 0
	}
	_, total := r.src.Progress()
	if name := r.src.Files()[0]; total == 0 || strings.HasSuffix(name, ".gz") || strings.HasSuffix(name, ".zst") {
		return 0
	}
	return float64(at[0]) / float64(total)
}

// maxLogged is the number of dead letters that are logged one by one; all records that are refused are counted.
const maxLogged = 20

func (r *replay) place(d stream.DeadLetter) string {
	if r.src == nil {
		return fmt.Sprintf("partition %d, offset %d", d.Partition, d.Offset)
	}
	return placeIn(r.app.ctx, r.src.Files()[d.Partition], d.Offset)
}

// Commit implements stream.Observer.
func (r *replay) Commit(s stream.CommitStats) { r.trace.Commit(s) }
