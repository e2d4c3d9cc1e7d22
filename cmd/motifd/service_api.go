package main

import (
	"context"
	"errors"
	"fmt"
	"time"

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
	*stream.Status
}

// queryActivity is what became of a query since the daemon was started. Counts are exact.
type queryActivity struct {
	Name             string        `json:"name"`
	Version          uint64        `json:"version"`
	Suspended        bool          `json:"suspended"`
	LastBatch        uint64        `json:"last_batch"` // that had matches of it
	Positive         matcher.Count `json:"positive"`
	Negative         matcher.Count `json:"negative"`
	Records          uint64        `json:"records"`
	TruncatedBatches uint64        `json:"truncated_batches"`
	SearchSeconds    float64       `json:"search_seconds"` // summed over threads
}

// Ready implements daemon.
func (s *service) Ready() error {
	p := s.pipeline.Load()
	if p == nil {
		return fmt.Errorf("%s", *s.doing.Load())
	}
	return ready(p, &s.metrics.waits, s.cfg.Admin.StepTimeout.Std())
}

// Status implements daemon.
func (s *service) Status() statusReport {
	r := statusReport{
		Version: version, UptimeSeconds: rounded(time.Since(s.started)), Ready: true, Queries: []queryActivity{},
	}
	if err := s.Ready(); err != nil {
		r.Ready, r.Reason = false, err.Error()
	}
	if p := s.pipeline.Load(); p != nil {
		st := p.Status()
		r.Status = &st
		for _, q := range st.Queries {
			r.Queries = append(r.Queries, queryActivity{
				Name: q.Query.Name, Version: q.Query.Version, Suspended: q.Suspended, LastBatch: q.Batch,
				Positive: q.TotalPositive, Negative: q.TotalNegative, Records: q.Records,
				TruncatedBatches: q.Truncated, SearchSeconds: rounded(time.Duration(q.SearchNS)),
			})
		}
	}
	return r
}

// Queries implements daemon.
func (s *service) Queries() []matcher.QueryState {
	p := s.pipeline.Load()
	if p == nil {
		return nil
	}
	var out []matcher.QueryState
	for _, q := range p.Status().Queries {
		out = append(out, matcher.QueryState{Query: q.Query, Suspended: q.Suspended})
	}
	return out
}

// Change implements daemon.
func (s *service) Change(ctx context.Context, ch *matcher.QueryChange) (changed, error) {
	p := s.pipeline.Load()
	if p == nil {
		return changed{}, fmt.Errorf("%w: %s", errNotReady, *s.doing.Load())
	}
	if p.Status().State == stream.StateRecovering {
		return changed{}, fmt.Errorf("%w: it is recovering", errNotReady)
	}
	batch, version, err := p.Change(ctx, ch)
	if errors.Is(err, stream.ErrStopped) {
		return changed{}, fmt.Errorf("%w: %w", errNotReady, err)
	}
	return changed{Batch: batch, Version: version}, err
}

// Directed implements daemon.
func (s *service) Directed() bool { return s.cfg.Graph.Directed }

// Mode implements daemon.
func (s *service) Mode() string { return s.cfg.Output.Mode }
