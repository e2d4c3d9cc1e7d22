package main

import (
	"context"
	"fmt"
	"time"

	"motifd/cmd/motifd/internal/command"
	"motifd/matcher"
	"motifd/stream"
)

var _ daemon = (*service)(nil)

// statusReport is the answer to GET /api/v1/status.
type statusReport struct {
	Version       string          `json:"version"`
	UptimeSeconds float64         `json:"uptime_seconds"`
	Ready         bool            `json:"ready"`
	Reason        string          `json:"reason,omitempty"` // why it is not ready
	Queries       []queryActivity `json:"queries"`
	Pending       []pendingChange `json:"pending,omitempty"`
	*stream.Status
}

// queryActivity is what became of a query since the daemon was started. Counts are exact.
type queryActivity struct {
	Name             string        `json:"name"`
	Version          uint64        `json:"version"`
	Suspended        bool          `json:"suspended"`
	SuspendedBy      string        `json:"suspended_by,omitempty"` // a limit, or operator
	LastBatch        uint64        `json:"last_batch"`             // that had matches of it
	Positive         matcher.Count `json:"positive"`
	Negative         matcher.Count `json:"negative"`
	Records          uint64        `json:"records"`
	TruncatedBatches uint64        `json:"truncated_batches"`
	SearchSeconds    float64       `json:"search_seconds"`     // summed over threads
	Warnings         []string      `json:"warnings,omitempty"` // why it cannot match at present
}

// Ready implements daemon.
func (s *service) Ready() error {
	p := s.pipeline.Load()
	if p == nil {
		return notReady{*s.doing.Load(), *s.doing.Load()}
	}
	return ready(p, &s.metrics.waits, s.cfg.Admin.StepTimeout.Std())
}

// Status implements daemon.
func (s *service) Status() statusReport {
	r := statusReport{
		Version: version, UptimeSeconds: command.Rounded(time.Since(s.started)), Ready: true,
		Queries: []queryActivity{},
		Pending: s.Pending(),
	}
	if err := s.Ready(); err != nil {
		r.Ready, r.Reason = false, err.Error()
	}
	if p := s.pipeline.Load(); p != nil {
		st := p.Status()
		r.Status = &st
		for _, q := range st.Queries {
			r.Queries = append(r.Queries, queryActivity{
				Name: q.Query.Name, Version: q.Query.Version, Suspended: q.Suspended, SuspendedBy: q.SuspendedBy,
				LastBatch: q.Batch,
				Positive:  q.TotalPositive, Negative: q.TotalNegative, Records: q.Records,
				TruncatedBatches: q.Truncated, SearchSeconds: command.Rounded(time.Duration(q.SearchNS)),
				Warnings: q.Warnings,
			})
		}
	}
	return r
}

// Queries implements daemon.
func (s *service) Queries() []knownQuery {
	p := s.pipeline.Load()
	if p == nil {
		return nil
	}
	var out []knownQuery
	for _, q := range p.Status().Queries {
		out = append(
			out,
			knownQuery{
				matcher.QueryState{Query: q.Query, Suspended: q.Suspended, SuspendedBy: q.SuspendedBy,
					LossySince: q.LossySince},
				q.Warnings,
			},
		)
	}
	return out
}

// Change implements daemon.
func (s *service) Change(ctx context.Context, ch *matcher.QueryChange, dry bool) (changed, error) {
	p := s.pipeline.Load()
	if p == nil {
		return changed{}, fmt.Errorf("%w: %s", errNotReady, *s.doing.Load())
	}
	if p.Status().State == stream.StateRecovering {
		return changed{}, fmt.Errorf("%w: it is recovering", errNotReady)
	}
	return s.pending.change(ctx, ch, dry, func() error { return s.room(ch) }, p.Change, s.log)
}

// admit counts the matches that a registration would backfill, and refuses it when they are too many.
func (s *service) admit(ctx context.Context, ch *matcher.QueryChange) (refused, err error) {
	if ch.Add == nil {
		return nil, nil
	}
	q, bound := ch.Add, s.cfg.Admin.MaxBackfill
	s.pending.warn(q.Name, matcher.Warnings(q, s.cfg.Graph.Directed, s.core.Load().Graph()))
	dry := s.pending.dry(q.Name)
	fills := q.Backfill == matcher.BackfillFull && q.Emit == matcher.EmitDeltas
	capped := q.MaxMatches > 0 && q.MaxMatches <= bound
	if !dry && (!fills || bound == 0 || capped) {
		s.pending.count(q.Name, "", false)
		return nil, nil
	}
	s.pending.count(q.Name, "", true)
	begin := time.Now()
	n, known, err := s.core.Load().Total(ctx, q, s.cfg.Admin.CountTime.Std())
	if err != nil {
		s.pending.count(q.Name, "", false)
		return nil, err
	}
	text := "unknown"
	if known {
		text = n.String()
	}
	s.pending.count(q.Name, text, false)
	s.log.Info().
		Str("query", q.Name).
		Str("matches", text).
		Stringer("took", time.Since(begin).Round(time.Millisecond)).
		Msg("matches in the graph were counted")
	if known && fills && bound > 0 && !capped && n.Cmp(matcher.CountOf(bound)) > 0 {
		advice := "register it without backfill, with max_matches_per_batch, or raise the bound"
		if s.cfg.Output.Mode == "upsert" { // which takes neither
			advice = "raise the bound, or narrow the pattern"
		}
		return fmt.Errorf("%w: query %q has %s matches in the graph, and backfill: full would emit all of them; "+
			"admin.max_backfill is %d: %s", errBackfill, q.Name, text, bound, advice), nil
	}
	if dry {
		return errDryRun, nil
	}
	return nil, nil
}

// Pending implements daemon.
func (s *service) Pending() []pendingChange {
	out := s.pending.list()
	if p := s.pipeline.Load(); p != nil {
		if step, ok := p.Step(); ok && step.Change != "" {
			c := pendingChange{
				Op: step.Change, Query: step.Query, State: "running",
				Seconds: command.Rounded(time.Duration(step.Seconds * 1e9)),
				Batch:   step.Batch, Found: step.Found, Records: step.Records,
			}
			if c.Op != "remove" {
				c.Backfill = s.pending.expected(c.Query)
			}
			out = append(out, c)
		}
	}
	return out
}

// Cancel implements daemon.
func (s *service) Cancel(ctx context.Context, name string) (withdrawn bool, err error) {
	if withdrawn, err = s.pending.withdraw(ctx, name); withdrawn || err != nil {
		return withdrawn, err
	}
	for _, c := range s.Pending() {
		if c.Query != name || c.State != "running" || c.Op == "remove" {
			continue
		}
		if e := s.core.Load(); e != nil && e.Interrupt(name) {
			s.log.Info().Str("query", name).Uint64("batch", c.Batch).Msg("the registration is ended on request")
		}
	}
	return false, nil
}

// room returns nil, or which bound keeps a query from being registered. Pending changes count.
func (s *service) room(ch *matcher.QueryChange) error {
	if ch.Add == nil {
		return nil
	}
	size := map[string]int{}
	for _, q := range s.Queries() {
		size[q.Query.Name] = len(q.Query.Source)
	}
	for _, q := range s.pending.adds() {
		size[q.Name] = len(q.Source)
	}
	size[ch.Add.Name] = len(ch.Add.Source)
	total := 0
	for _, n := range size {
		total += n
	}
	a := &s.cfg.Admin
	switch {
	case a.MaxQueries > 0 && len(size) > a.MaxQueries:
		return fmt.Errorf("%w: there would be %d queries; admin.max_queries is %d", errTooMany, len(size), a.MaxQueries)
	case a.MaxPatternBytes > 0 && total > int(a.MaxPatternBytes):
		return fmt.Errorf("%w: the patterns would have %d bytes; admin.max_pattern_bytes is %d", errTooMany, total,
			a.MaxPatternBytes)
	}
	return nil
}

// Directed implements daemon.
func (s *service) Directed() bool { return s.cfg.Graph.Directed }

// Mode implements daemon.
func (s *service) Mode() string { return s.cfg.Output.Mode }
