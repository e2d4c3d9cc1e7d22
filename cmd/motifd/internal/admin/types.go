package admin

import (
	"fmt"

	"motifd/config"
	"motifd/matcher"
	"motifd/stream"
)

// Status is the answer to GET /api/v1/status.
type Status struct {
	Version       string          `json:"version"`
	UptimeSeconds float64         `json:"uptime_seconds"`
	Ready         bool            `json:"ready"`
	Reason        string          `json:"reason,omitempty"` // why it is not ready
	Queries       []QueryActivity `json:"queries"`
	Pending       []PendingChange `json:"pending,omitempty"`
	VertexLabels  string          `json:"vertex_labels"` // one or several: graph.vertex_labels
	GPUs          []GPU           `json:"gpus,omitempty"`
	GPUGraph      *GPUGraph       `json:"gpu_graph,omitempty"` // if the graph does not fit the GPUs
	*stream.Status
}

// GPU is a GPU that the daemon was given.
type GPU struct {
	Device int    `json:"device"` // its number
	Name   string `json:"name"`
	State  string `json:"state"`            // GPUUsed or GPULost
	Reason string `json:"reason,omitempty"` // why it is lost
}

// GPUGraph tells where the graph is that the GPUs search, with what belongs to it, in bytes of all GPUs.
type GPUGraph struct {
	DeviceBytes uint64 `json:"device_bytes"` // in their memory
	MappedBytes uint64 `json:"mapped_bytes"` // in page-locked memory of the host
}

// The states of a GPU.
const (
	GPUUsed = "used"
	GPULost = "lost" // it has failed, and is not used before the next start
)

// QueryActivity counts what a query did since the daemon was started. Counts are exact.
type QueryActivity struct {
	Name             string        `json:"name"`
	Version          uint64        `json:"version"`
	Suspended        bool          `json:"suspended"`
	SuspendedBy      string        `json:"suspended_by,omitempty"` // a limit, or operator
	LastBatch        uint64        `json:"last_batch"`             // that had matches of it
	Positive         matcher.Count `json:"positive"`
	Negative         matcher.Count `json:"negative"`
	Changed          matcher.Count `json:"changed,omitzero"` // that went on with other values
	Records          uint64        `json:"records"`
	TruncatedBatches uint64        `json:"truncated_batches"`
	Skipped          uint64        `json:"skipped"` // groups of matches, or counts, beyond a limit
	OnceDropped      uint64        `json:"once_dropped,omitempty"`
	LossySince       uint64        `json:"lossy_since,omitempty"` // batch since which positives are left out
	SearchSeconds    float64       `json:"search_seconds"`        // summed over threads
	Warnings         []string      `json:"warnings,omitempty"`    // why it cannot match at present
}

// ChangeResult is the answer to a query change: the batch in which it took effect, and the query's version.
type ChangeResult struct {
	Batch   uint64 `json:"batch,omitempty"`
	Version uint64 `json:"version,omitempty"`
	// Warnings say why the query cannot match at present, and that the configuration will bring its own back.
	Warnings []string `json:"warnings,omitempty"`
	// Pending: the change waits for the engine; Batch and Version are not known yet.
	Pending bool `json:"pending,omitempty"`
	// Backfill is the number of matches in the graph, or "unknown" when it was not found within admin.count_time. It is
	// told where they are to be put out, and by a dry run.
	Backfill string `json:"backfill,omitempty"`
	// DryRun: nothing was changed.
	DryRun bool `json:"dry_run,omitempty"`
	// Unchanged: the query is registered just like that already; Batch is not told.
	Unchanged bool `json:"unchanged,omitempty"`
	// Cancelled: a registration that waited was withdrawn; nothing else was changed.
	Cancelled bool `json:"cancelled,omitempty"`
}

// PendingChange is a query change that is not in effect yet.
type PendingChange struct {
	Op      string  `json:"op"` // add, replace or remove
	Query   string  `json:"query"`
	State   string  `json:"state"` // waiting, counting (its matches) or running
	Seconds float64 `json:"seconds"`
	// Batch, Found and Records are of a running change: its batch, the matches that it has found, and the records
	// that it has emitted, which begins when all are found.
	Batch   uint64 `json:"batch,omitempty"`
	Found   uint64 `json:"found,omitempty"`
	Records uint64 `json:"records,omitempty"`

	// Backfill is the number of matches in the graph, or "unknown"; "" before it is counted.
	Backfill string `json:"backfill,omitempty"`
}

// QueryInfo is a query as the API shows it.
type QueryInfo struct {
	Name               string `json:"name"`
	Version            uint64 `json:"version"`
	Language           string `json:"language"`
	Pattern            string `json:"pattern"`
	Emit               string `json:"emit"`
	MatchMode          string `json:"match_mode"`
	Unit               string `json:"unit"`
	Backfill           string `json:"backfill"`
	MaxMatchesPerBatch uint64 `json:"max_matches_per_batch,omitempty"`
	ExactTotal         bool   `json:"exact_total,omitempty"`
	WorkBudget         uint64 `json:"work_budget,omitempty"`
	OverBudget         string `json:"over_budget"`
	Sample             uint64 `json:"sample,omitempty"`
	OnExpiry           string `json:"on_expiry"`
	OnChange           string `json:"on_change"`
	Mode               string `json:"mode"`
	Once               *Once  `json:"once,omitempty"`
	LossySince         uint64 `json:"lossy_since,omitempty"`
	Origin             string `json:"origin"`
	Suspended          bool   `json:"suspended"`
	SuspendedBy        string `json:"suspended_by,omitempty"` // a limit, or operator
	// Within is the greatest time between the edges of a match, Where the conditions with the parameters put in.
	Within string   `json:"within,omitempty"`
	Where  []string `json:"where,omitempty"`
	// Warnings say why the query cannot match at present.
	Warnings []string `json:"warnings,omitempty"`
	// Removed queries stay in the checkpoint, so that one of the same name is a new version.
	Removed bool `json:"removed,omitempty"`
}

// Query is a registered query.
type Query struct {
	matcher.QueryState
	Warnings []string // why it cannot match at present
}

// Info returns what the API shows of the query.
func (s *Query) Info() QueryInfo {
	q := s.Query
	var where []string
	for _, c := range q.Conditions {
		where = append(where, c.Format(q.ElementName))
	}
	edge := func(e int) string { return q.Edges[e].Name }
	for i := range q.Rises {
		where = append(where, q.Rises[i].Format(edge))
	}
	for i := range q.Spans {
		where = append(where, q.Spans[i].Format(edge))
	}
	if g := q.Groups; g != nil {
		union := matcher.Query{Vertices: g.Vertices, Edges: g.Edges}
		for i := range g.Stages {
			for _, c := range g.Stages[i].Conditions {
				where = append(where, c.Format(union.ElementName))
			}
			name := func(e int) string { return g.Edges[e].Name }
			for _, r := range g.Stages[i].Rises {
				where = append(where, r.Format(name))
			}
			for _, s := range g.Stages[i].Spans {
				where = append(where, s.Format(name))
			}
			for _, c := range g.Stages[i].Having {
				where = append(where, c.Format(q.ElementName))
			}
		}
	}
	within := ""
	if q.Within > 0 {
		within = config.Span(q.Within).String()
	}
	return QueryInfo{
		Within: within, Where: where,
		Name: q.Name, Version: q.Version, Language: q.Language, Pattern: q.Source,
		Emit: config.EmitName(q.Emit), MatchMode: q.MatchMode.String(), Unit: config.UnitName(q.Unit),
		Backfill:           config.BackfillName(q.Backfill),
		MaxMatchesPerBatch: q.MaxMatches, ExactTotal: q.ExactTotal, WorkBudget: q.WorkBudget,
		OverBudget: q.OverBudget.String(), Sample: q.Sample,
		OnExpiry: config.SilentName(q.SilentExpiry), OnChange: config.SilentName(q.SilentChange),
		Once: onceInfo(q),
		Mode: config.ModeName(q.Shadow), LossySince: s.LossySince,
		Warnings: s.Warnings, Origin: q.Origin, Suspended: s.Suspended, SuspendedBy: s.SuspendedBy, Removed: s.Removed,
	}
}

// QueryList is the answer to GET /api/v1/queries.
type QueryList struct {
	Queries []QueryInfo     `json:"queries"`
	Pending []PendingChange `json:"pending,omitempty"`
}

// NewQuery is the body of POST /api/v1/queries.
type NewQuery struct {
	Name               string `json:"name"`
	Cypher             string `json:"cypher,omitempty"`
	Text               string `json:"text,omitempty"`
	Emit               string `json:"emit,omitempty"`
	MatchMode          string `json:"match_mode,omitempty"`
	Unit               string `json:"unit,omitempty"`
	Backfill           string `json:"backfill,omitempty"`
	MaxMatchesPerBatch uint64 `json:"max_matches_per_batch,omitempty"`
	ExactTotal         bool   `json:"exact_total,omitempty"`
	WorkBudget         uint64 `json:"work_budget,omitempty"`
	OverBudget         string `json:"over_budget,omitempty"`
	Sample             uint64 `json:"sample,omitempty"`
	OnExpiry           string `json:"on_expiry,omitempty"`
	OnChange           string `json:"on_change,omitempty"`
	Mode               string `json:"mode,omitempty"`
	Once               *Once  `json:"once,omitempty"`

	Within string        `json:"within,omitempty"` // a span of time such as 24h
	Params config.Params `json:"params,omitempty"`
}

// Once is the option once of a query.
type Once struct {
	Per     []string `json:"per"`
	For     string   `json:"for"` // a span of time such as 24h
	MaxKeys uint64   `json:"max_keys,omitempty"`
}

// OnceOf returns an option as the API has it; nil is none.
func OnceOf(o *config.Once) *Once {
	if o == nil {
		return nil
	}
	return &Once{Per: o.Per, For: o.For.String(), MaxKeys: o.MaxKeys}
}

// option reads the option; nil is none.
func (o *Once) option() (*config.Once, error) {
	if o == nil {
		return nil, nil
	}
	out := &config.Once{Per: o.Per, MaxKeys: o.MaxKeys}
	if err := out.For.UnmarshalText([]byte(o.For)); err != nil {
		return nil, fmt.Errorf("%w: once.for: %w", matcher.ErrQuery, err)
	}
	return out, nil
}

// onceInfo returns the option of a query.
func onceInfo(q *matcher.Query) *Once {
	if q.Once == nil {
		return nil
	}
	o := &Once{For: config.Span(q.Once.For).String(), MaxKeys: q.Once.MaxKeys}
	for _, r := range q.Once.Per {
		o.Per = append(o.Per, q.ElementName(r))
	}
	return o
}

// LoadResult is the answer to POST /api/v1/vertices.
type LoadResult struct {
	Batch   uint64 `json:"batch"`
	Updates int    `json:"updates"`
}

// problem is the body of an error.
type problem struct {
	Error string `json:"error"`
}
