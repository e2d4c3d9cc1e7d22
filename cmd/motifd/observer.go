package main

import (
	"github.com/rs/zerolog"

	"motifd/cmd/motifd/internal/metrics"
	"motifd/config"
	"motifd/matcher"
	"motifd/stream"
)

// observer counts, and logs what an operator has to know.
type observer struct {
	*metrics.Metrics
	log zerolog.Logger
	// often logs what may happen in every batch: five lines in ten seconds. The metrics count all.
	often zerolog.Logger
}

// unnamedText says what deletions do that name no edge.
const unnamedText = "deletions without id found only edges with ids, and had no effect; " +
	"a deletion names the id of its edge"

// Step implements stream.Observer.
func (o *observer) Step(s stream.StepStats) {
	o.Metrics.Step(s)
	var first *stream.DeadLetter
	refused := 0
	for i := range s.Batch.DeadLetters {
		d := &s.Batch.DeadLetters[i]
		o.log.Debug().Int32("partition", d.Partition).Int64("offset", d.Offset).Str("reason", d.Reason).Msg(d.Error)
		if !d.Refused() {
			continue
		}
		if refused++; first == nil {
			first = d
		}
	}
	if first != nil {
		o.often.Warn().Uint64("batch", s.Batch.Number).Int("records", refused).Int32("partition", first.Partition).
			Int64("offset", first.Offset).
			Str("first", first.Error).Msg("records were refused")
	}
	if n := s.Summary.Unnamed; n > 0 {
		o.often.Warn().Uint64("batch", s.Batch.Number).Int("updates", n).Msg(unnamedText)
	}
	for i := range s.Summary.Queries {
		q := &s.Summary.Queries[i]
		switch {
		case q.Suspended == nil:
		case q.Suspended.Cause == matcher.CauseOperator:
			o.log.Warn().
				Str("query", q.Query.Name).
				Uint64("batch", s.Batch.Number).
				Msg("the query is suspended on request; resume it with motifd query resume")
		default:
			o.log.Warn().Str("query", q.Query.Name).Uint64("batch", s.Batch.Number).Uint64("steps", q.Steps).
				Stringer("limit", q.Suspended.Cause).
				Msg("the query exceeded a limit and is suspended; resume it with motifd query resume")
		}
		if q.Skipped > 0 {
			o.often.Warn().Str("query", q.Query.Name).Uint64("batch", s.Batch.Number).Uint64("groups", q.Skipped).
				Stringer("limit", q.Cause).Uint64("lossy_since", q.LossySince).
				Msg("matches beyond a limit were left out; the output says so")
		}
		if q.Truncated {
			o.often.Warn().Str("query", q.Query.Name).Uint64("batch", s.Batch.Number).
				Msg("max_matches_per_batch was reached; the rest was left out")
		}
	}
	if d := s.Batch.Declaration; d != nil {
		o.log.Info().Uint64("batch", s.Batch.Number).Int("changed", s.Summary.Redeclared).Bool("last", d.Last()).
			Str("properties", config.FormatProperties(d.Schema)).Msg("the declared properties change")
	}
	if ch := s.Batch.Change; ch != nil {
		e := o.log.Info().Uint64("batch", s.Batch.Number)
		if ch.Add == nil {
			e.Str("query", ch.Remove).Msg("query removed")
		} else {
			e.Str("query", ch.Add.Name).Uint64("version", ch.Add.Version).Msg("query registered")
		}
	}
}
