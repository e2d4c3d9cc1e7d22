package stream

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"motifd/matcher"
)

// RunState is the state of the pipeline.
type RunState string

// The states, in the order in which they come; StatePaused and StateRunning may alternate.
const (
	StateRecovering RunState = "recovering" // finishing what an earlier run began, and the configuration's queries
	StateRunning    RunState = "running"
	StatePaused     RunState = "paused" // input waits; query changes are served
	StateStopping   RunState = "stopping"
	StateStopped    RunState = "stopped"
)

// Status is a snapshot of the pipeline.
type Status struct {
	Stream    string    `json:"stream"`
	State     RunState  `json:"state"`
	Reason    string    `json:"reason,omitempty"` // why it is paused
	Batch     uint64    `json:"batch"`            // last committed
	Stepped   uint64    `json:"stepped"`          // last searched; its records may be on their way
	Positions Positions `json:"positions"`        // after the last committed batch
	Vertices  int       `json:"vertices"`
	Edges     int       `json:"edges"`
	// QueueRecords and QueueBytes count the input that is decoded and waits for the engine, PublishBytes the output
	// that is encoded and waits for the sink.
	QueueRecords int   `json:"queue_records"`
	QueueBytes   int64 `json:"queue_bytes"`
	PublishBytes int64 `json:"publish_bytes"`
	InFlight     int   `json:"in_flight"` // batches begun and not committed
	// Time is event time, nil where no edge expires. It is not to be changed.
	Time *TimeStatus `json:"time,omitempty"`
	// Step is the step that the engine runs now; nil when it waits for input.
	Step    *StepStatus   `json:"step,omitempty"`
	Queries []QueryStatus `json:"queries"` // registered, by name
	// Lag is the distance of Positions from the end of the input, by partition, when the source can tell.
	Lag map[int32]int64 `json:"lag,omitempty"`
}

// QueryStatus is one registered query.
type QueryStatus struct {
	Query     *matcher.Query `json:"query"`
	Suspended bool           `json:"suspended,omitempty"`
	// SuspendedBy is the limit that suspended it, or operator.
	SuspendedBy string `json:"suspended_by,omitempty"`
	// LossySince is the batch since which some positives of the query are left out, 0 if none are.
	LossySince uint64 `json:"lossy_since,omitempty"`
	// Warnings say why the query cannot match at present; see matcher.Warnings.
	Warnings []string `json:"warnings,omitempty"`
	missing  int      // labels, when Warnings was made
	// Batch is the last batch that had results for the query; Positive and Negative are its counts.
	Batch    uint64        `json:"batch,omitempty"`
	Positive matcher.Count `json:"positive"`
	Negative matcher.Count `json:"negative"`
	// Since the start of the process, for this version:
	TotalPositive matcher.Count `json:"total_positive"`
	TotalNegative matcher.Count `json:"total_negative"`
	TotalChanged  matcher.Count `json:"total_changed,omitzero"` // of matches that went on with other values
	Records       uint64        `json:"records"`
	Truncated     uint64        `json:"truncated"` // batches in which a cap was reached
	Skipped       uint64        `json:"skipped"`   // groups of matches, or counts, left out beyond a limit
	OnceDropped   uint64        `json:"once_dropped,omitempty"`
	SearchNS      int64         `json:"search_ns"`
}

// Status returns a snapshot. It is safe to call from any goroutine, at any time.
func (p *Pipeline) Status() Status {
	p.mu.Lock()
	s := p.status
	s.Positions = maps.Clone(s.Positions)
	s.Queries = slices.Clone(s.Queries)
	seen := p.timeSeen
	p.mu.Unlock()
	s.QueueRecords, s.QueueBytes = p.in.fill()
	_, s.PublishBytes = p.out.fill()
	s.InFlight = len(p.slots)
	if step, ok := p.Step(); ok {
		s.Step = &step
	}
	s.Lag = p.lag(s.Positions)
	if seen != nil {
		var idle map[int32]bool
		if p.time.partitioned {
			idle = seen.arrivals.idleness(s.Positions, s.Lag, time.Now(), p.opt.Time.Idle)
		}
		s.Time = seen.status(idle)
	}
	return s
}

// Ready tells whether input is being taken, and if not, why.
func (p *Pipeline) Ready() (ok bool, reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.status.State == StateRunning {
		return true, ""
	}
	if p.status.Reason != "" {
		return false, string(p.status.State) + ": " + p.status.Reason
	}
	return false, string(p.status.State)
}

// setState moves on; a pipeline that is stopping does not run again.
func (p *Pipeline) setState(s RunState) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch p.status.State {
	case StateStopped:
		return
	case StateStopping:
		if s != StateStopped {
			return
		}
	}
	p.status.State, p.status.Reason = s, ""
}

// nearMaxEdges tells whether the batch at hand might reach the bound of edges: it is stepped before another message is
// taken, so that one message at most goes past the bound.
func (p *Pipeline) nearMaxEdges() bool {
	if p.opt.MaxEdges == 0 || p.opt.RejectEdges || p.batcher.Empty() {
		return false
	}
	return p.opt.Engine.Graph().Edges()+p.batcher.Updates() >= p.opt.MaxEdges
}

// pauseInput tells whether the graph has reached its bound of edges, and notes it.
func (p *Pipeline) pauseInput() bool {
	if p.opt.MaxEdges == 0 || p.opt.RejectEdges {
		return false
	}
	edges := p.opt.Engine.Graph().Edges()
	paused := edges >= p.opt.MaxEdges
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case paused && p.status.State == StateRunning:
		p.status.State = StatePaused
		more := "a higher limit"
		if p.time.state.Active() {
			more += ", or a shorter graph.retention,"
		}
		p.status.Reason = fmt.Sprintf("the graph has %d edges and graph.max_edges is %d; restart with %s to go on",
			edges, p.opt.MaxEdges, more)
		if p.opt.Paused != nil {
			p.opt.Paused(p.status.Reason)
		}
	case !paused && p.status.State == StatePaused:
		p.status.State, p.status.Reason = StateRunning, ""
	}
	return paused
}

// noteGraph updates the size of the graph.
func (p *Pipeline) noteGraph() {
	g := p.opt.Engine.Graph()
	if g == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.Vertices, p.status.Edges = g.Vertices(), g.Edges()
}

// noteQueries takes over the registered queries, keeping the counts of those that stay.
func (p *Pipeline) noteQueries() {
	states, g := p.opt.Engine.Queries(), p.opt.Engine.Graph()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.labels.now, p.labels.all = g.LabelsVersion(), g.LabelsVersion()
	old := p.status.Queries
	list := make([]QueryStatus, 0, len(states))
	for _, s := range states {
		if s.Removed {
			continue
		}
		q := QueryStatus{Query: s.Query}
		if i, ok := findQuery(old, s.Query.Name); ok && old[i].Query.Version == s.Query.Version {
			q = old[i]
		}
		q.Suspended, q.SuspendedBy, q.LossySince = s.Suspended, s.SuspendedBy, s.LossySince
		q.Warnings, q.missing = matcher.Warnings(s.Query, g.Options(), g), matcher.MissingLabels(s.Query, g)
		list = append(list, q)
	}
	p.status.Queries = list
}

// noteLabels looks anew at why queries could not match, when labels have appeared or gone: for those that have missed
// one at once, for all when there are an eighth more changes than at the last look, so that a stream of new labels
// costs little.
func (p *Pipeline) noteLabels() {
	g := p.opt.Engine.Graph()
	switch now := g.LabelsVersion(); {
	case now == p.labels.now:
		return
	case now > p.labels.all+p.labels.all/8:
		p.noteQueries()
		return
	default:
		p.labels.now = now
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.status.Queries {
		if q := &p.status.Queries[i]; q.missing > 0 && matcher.MissingLabels(q.Query, g) != q.missing {
			q.Warnings, q.missing = matcher.Warnings(q.Query, g.Options(), g), matcher.MissingLabels(q.Query, g)
		}
	}
}

// findQuery finds a query in a list sorted by name.
func findQuery(list []QueryStatus, name string) (int, bool) {
	return slices.BinarySearchFunc(list, name, func(q QueryStatus, name string) int {
		return cmp.Compare(q.Query.Name, name)
	})
}

// noteStep adds a batch's counts.
func (p *Pipeline) noteStep(sum *matcher.Summary) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.Stepped = sum.Number
	list := p.status.Queries
	for i := range sum.Queries {
		s := &sum.Queries[i]
		k, ok := findQuery(list, s.Query.Name)
		if !ok || list[k].Query.Version != s.Query.Version {
			continue
		}
		q := &list[k]
		q.SearchNS += s.SearchNS
		q.Records += s.Emitted
		if s.Truncated {
			q.Truncated++
		}
		q.Skipped += s.Skipped
		q.OnceDropped += s.Once
		q.TotalChanged = q.TotalChanged.Add(s.Changed)
		if s.Positive.IsZero() && s.Negative.IsZero() && s.Changed.IsZero() {
			continue
		}
		q.Batch, q.Positive, q.Negative = sum.Number, s.Positive, s.Negative
		q.TotalPositive = q.TotalPositive.Add(s.Positive)
		q.TotalNegative = q.TotalNegative.Add(s.Negative)
	}
}

// noteCommit updates what is durable.
func (p *Pipeline) noteCommit(c *CommitInfo) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.Batch = c.Batch
	p.status.Positions = maps.Clone(c.Positions)
}
