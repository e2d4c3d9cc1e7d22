package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"motifd/cmd/motifd/internal/admin"
	"motifd/cmd/motifd/internal/command"
	"motifd/cmd/motifd/internal/health"
	"motifd/cmd/motifd/internal/metrics"
	"motifd/config"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/stream"
	"motifd/stream/checkpoint"
	"motifd/stream/codec"
)

var (
	_ admin.Daemon   = (*service)(nil)
	_ metrics.Daemon = (*service)(nil)
)

// Ready implements admin.Daemon and metrics.Daemon.
func (s *service) Ready() error {
	p := s.pipeline.Load()
	if p == nil {
		return health.NotReady{Class: *s.doing.Load(), Text: *s.doing.Load()}
	}
	return health.Ready(p, &s.waits, s.cfg.Admin.StepTimeout.Std())
}

// Status implements admin.Daemon.
func (s *service) Status() admin.Status {
	r := admin.Status{
		Version: version, UptimeSeconds: command.Rounded(time.Since(s.started)), Ready: true,
		Queries: []admin.QueryActivity{},
		Pending: s.Pending(), VertexLabels: cmp.Or(s.cfg.Graph.VertexLabels, config.VertexLabelsOne),
		GPUs: s.gpus.Load().list(), GPUGraph: s.gpus.Load().graphPlace(),
	}
	if err := s.Ready(); err != nil {
		r.Ready, r.Reason = false, err.Error()
	}
	if p := s.pipeline.Load(); p != nil {
		st := p.Status()
		r.Status = &st
		for _, q := range st.Queries {
			r.Queries = append(r.Queries, admin.QueryActivity{
				Name: q.Query.Name, Version: q.Query.Version, Suspended: q.Suspended, SuspendedBy: q.SuspendedBy,
				LastBatch: q.Batch,
				Positive:  q.TotalPositive, Negative: q.TotalNegative, Changed: q.TotalChanged, Records: q.Records,
				TruncatedBatches: q.Truncated, Skipped: q.Skipped, OnceDropped: q.OnceDropped,
				SearchSeconds: command.Rounded(time.Duration(q.SearchNS)), LossySince: q.LossySince,
				Warnings: q.Warnings,
			})
		}
	}
	return r
}

// Queries implements admin.Daemon.
func (s *service) Queries() []admin.Query {
	p := s.pipeline.Load()
	if p == nil {
		return nil
	}
	var out []admin.Query
	for _, q := range p.Status().Queries {
		out = append(out, admin.Query{
			QueryState: matcher.QueryState{Query: q.Query, Suspended: q.Suspended, SuspendedBy: q.SuspendedBy,
				LossySince: q.LossySince},
			Warnings: q.Warnings,
		})
	}
	return out
}

// Change implements admin.Daemon.
func (s *service) Change(ctx context.Context, ch *matcher.QueryChange, dry bool) (admin.ChangeResult, error) {
	p := s.pipeline.Load()
	if p == nil {
		return admin.ChangeResult{}, fmt.Errorf("%w: %s", admin.ErrNotReady, *s.doing.Load())
	}
	if p.Status().State == stream.StateRecovering {
		return admin.ChangeResult{}, fmt.Errorf("%w: it is recovering", admin.ErrNotReady)
	}
	return s.changes.Make(ctx, ch, dry, s.Queries, p.Change)
}

// LoadVertices implements admin.Daemon.
func (s *service) LoadVertices(ctx context.Context, text []byte) (admin.LoadResult, error) {
	p := s.pipeline.Load()
	if p == nil {
		return admin.LoadResult{}, fmt.Errorf("%w: %s", admin.ErrNotReady, *s.doing.Load())
	}
	if p.Status().State == stream.StateRecovering {
		return admin.LoadResult{}, fmt.Errorf("%w: it is recovering", admin.ErrNotReady)
	}
	decoder, err := newDecoder(codec.FormatJSON, "",
		codec.DecoderOptions{EdgeIDs: s.cfg.Graph.EdgeIDs(), Schema: s.schema})
	if err != nil {
		return admin.LoadResult{}, err
	}
	updates, err := decoder.Decode(stream.Record{Value: text}, nil)
	if err != nil {
		return admin.LoadResult{}, fmt.Errorf("%w: %w", admin.ErrVertices, err)
	}
	if err := declaredNames(s.cfg.Graph.Schema(), text); err != nil {
		return admin.LoadResult{}, fmt.Errorf("%w: %w", admin.ErrVertices, err)
	}
	batch, err := p.Load(ctx, updates)
	switch {
	case errors.Is(err, stream.ErrLoad):
		err = fmt.Errorf("%w: %w", admin.ErrVertices, err)
	case errors.Is(err, stream.ErrStopped):
		err = fmt.Errorf("%w: %w", admin.ErrNotReady, err)
	}
	return admin.LoadResult{Batch: batch, Updates: len(updates)}, err
}

// declaredNames refuses a property of vertices that is not declared: the input ignores it, but a list that is loaded by
// hand is wrong. The text has been decoded.
func declaredNames(schema *property.Schema, text []byte) error {
	var updates []struct {
		Label string                     `json:"label"`
		Props map[string]json.RawMessage `json:"props"`
	}
	if err := json.Unmarshal(text, &updates); err != nil {
		return errors.New("the body has to be an array of updates")
	}
	for i, u := range updates {
		for name := range u.Props {
			declared := schema.VertexDeclarations()
			labels := declared.Labels(name)
			if len(labels) == 0 {
				return fmt.Errorf("update %d: the property %q is not declared for vertices", i, name)
			}
			if _, ok := declared.Lookup(u.Label, name); !ok && u.Label != "" {
				return fmt.Errorf("update %d: the property %q is not declared for the label %q; it is for %s", i, name,
					u.Label, strings.Join(labels, ", "))
			}
		}
	}
	return nil
}

// admit counts the matches that a registration would backfill, and refuses it when they are too many.
func (s *service) admit(ctx context.Context, ch *matcher.QueryChange) (refused, err error) {
	if ch.Add == nil {
		return nil, nil
	}
	q, bound := ch.Add, s.cfg.Admin.MaxBackfill
	s.changes.Warn(q.Name, append(matcher.Warnings(q, s.cfg.GraphOptions(), s.core.Load().Graph()),
		s.cfg.Graph.RetentionWarnings(q)...))
	dry := s.changes.Dry(q.Name)
	// A shadow puts nothing out.
	fills := q.Backfill == matcher.BackfillFull && q.Emit == matcher.EmitDeltas && !q.Shadow
	capped := q.MaxMatches > 0 && q.MaxMatches <= bound
	if !dry && (!fills || bound == 0 || capped) {
		s.changes.Count(q.Name, "", false)
		return nil, nil
	}
	s.changes.Count(q.Name, "", true)
	begin := time.Now()
	n, known, err := s.core.Load().Total(ctx, q, s.cfg.Admin.CountTime.Std())
	if err != nil {
		s.changes.Count(q.Name, "", false)
		return nil, err
	}
	text := "unknown"
	if known {
		text = n.String()
	}
	s.changes.Count(q.Name, text, false)
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
			"admin.max_backfill is %d: %s", admin.ErrBackfill, q.Name, text, bound, advice), nil
	}
	if dry {
		return admin.ErrDryRun, nil
	}
	return nil, nil
}

// Pending implements admin.Daemon.
func (s *service) Pending() []admin.PendingChange {
	out := s.changes.List()
	if p := s.pipeline.Load(); p != nil {
		if step, ok := p.Step(); ok && step.Change != "" {
			c := admin.PendingChange{
				Op: step.Change, Query: step.Query, State: "running",
				Seconds: command.Rounded(time.Duration(step.Seconds * 1e9)),
				Batch:   step.Batch, Found: step.Found, Records: step.Records,
			}
			if c.Op != "remove" {
				c.Backfill = s.changes.Expected(c.Query)
			}
			out = append(out, c)
		}
	}
	return out
}

// Cancel implements admin.Daemon.
func (s *service) Cancel(ctx context.Context, name string) (withdrawn bool, err error) {
	if withdrawn, err = s.changes.Withdraw(ctx, name); withdrawn || err != nil {
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

// Pipeline implements metrics.Daemon.
func (s *service) Pipeline() *stream.Pipeline { return s.pipeline.Load() }

// Checkpoint implements metrics.Daemon.
func (s *service) Checkpoint() *checkpoint.Store { return s.store.Load() }

// Waited implements metrics.Daemon.
func (s *service) Waited() time.Duration {
	waited, _ := s.waits.Longest()
	return waited
}

// Directed implements admin.Daemon.
func (s *service) Directed() bool { return s.cfg.Graph.Directed }

// Schema implements admin.Daemon.
func (s *service) Schema() *property.Schema { return s.cfg.Graph.Schema() }

// Mode implements admin.Daemon.
func (s *service) Mode() string { return s.cfg.Output.Mode }
