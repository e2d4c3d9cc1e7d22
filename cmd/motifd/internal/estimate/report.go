package estimate

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
)

// Report tells what queries cost.
type Report struct {
	Sample  Sample  `json:"sample"`
	Queries []Query `json:"queries"` // those that take most steps first
}

// Sample tells what was played.
type Sample struct {
	Updates  uint64 `json:"updates"` // accepted
	Refused  uint64 `json:"refused"` // records
	Batch    int    `json:"batch"`
	Vertices int    `json:"vertices"` // of the graph, at the end
	Edges    int    `json:"edges"`
}

// Spread tells of numbers the one in the middle and the greatest.
type Spread struct {
	Median float64 `json:"median"`
	Worst  float64 `json:"worst"`
}

// Cost is the effort of searches: candidates tried, and time summed over threads.
type Cost struct {
	Steps   Spread `json:"steps"`
	Seconds Spread `json:"seconds"`
}

// Query is the estimate of one query.
type Query struct {
	Name      string  `json:"name"`
	Concerned uint64  `json:"concerned"` // updates
	Share     float64 `json:"share"`     // of all updates
	// Update is the cost of an update that concerns the query, Thousand that of a thousand updates, whether they
	// concern it or not.
	Update   Cost     `json:"per_update"`
	Thousand Cost     `json:"per_1000_updates"`
	Positive float64  `json:"positive_per_1000"`
	Negative float64  `json:"negative_per_1000"`
	Changed  float64  `json:"changed_per_1000"`       // of queries with WITH
	Once     uint64   `json:"once_dropped,omitempty"` // positives that the query's once dropped
	Worst    *Update  `json:"worst_update,omitempty"`
	Vertex   *Vertex  `json:"costliest_vertex,omitempty"`
	Limits   []Limit  `json:"limits"` // that were met
	Hubs     int      `json:"hubs"`   // of which state is kept
	Bytes    uint64   `json:"state_bytes"`
	Warnings []string `json:"warnings"`

	steps uint64 // in all
}

// Update is the update that takes most steps.
type Update struct {
	Op      string  `json:"op"`
	Label   string  `json:"label,omitempty"`
	From    string  `json:"from,omitempty"`
	To      string  `json:"to,omitempty"`
	Key     string  `json:"key,omitempty"`
	ID      string  `json:"id,omitempty"`
	Steps   uint64  `json:"steps"`
	Seconds float64 `json:"seconds"`
}

// Vertex is the vertex whose updates take most steps.
type Vertex struct {
	Key     string  `json:"key"`
	Updates uint64  `json:"updates"` // of edges at it, or of itself
	Share   float64 `json:"share"`   // of the steps of all updates
}

// Limit is a limit that was met.
type Limit struct {
	Name   string `json:"limit"`            // as in the configuration
	Groups uint64 `json:"groups,omitempty"` // that were left out
	// Batches is the number of batches that max_matches_per_batch cut.
	Batches   uint64 `json:"batches,omitempty"`
	Suspended bool   `json:"suspended,omitempty"` // the query was: nothing behind is searched
}

// Subject is a query that was played.
type Subject struct {
	Name     string
	Kept     matcher.Kept // behind the sample
	Warnings []string
}

// New makes a report of two plays of one sample.
func New(u *Updates, b *Batches, g *dyngraph.Graph, queries []Subject) *Report {
	r := &Report{Sample: Sample{Updates: b.updates, Refused: b.refused, Batch: b.Size, Vertices: g.Vertices(),
		Edges: g.Edges()}, Queries: []Query{}}
	for _, s := range queries {
		q := Query{Name: s.Name, Hubs: s.Kept.Hubs, Bytes: s.Kept.Bytes, Warnings: s.Warnings, Limits: []Limit{}}
		if q.Warnings == nil {
			q.Warnings = []string{}
		}
		if of := u.queries[s.Name]; of != nil {
			q.updates(u, of)
		}
		if of := b.queries[s.Name]; of != nil {
			q.batches(b, of)
		}
		r.Queries = append(r.Queries, q)
	}
	slices.SortFunc(r.Queries, func(a, b Query) int {
		return cmp.Or(cmp.Compare(b.steps, a.steps), cmp.Compare(a.Name, b.Name))
	})
	return r
}

func (q *Query) updates(u *Updates, of *updatesOf) {
	q.Concerned = uint64(len(of.each))
	q.Share = float64(q.Concerned) / float64(u.count)
	var steps, seconds []float64
	for _, e := range of.each {
		steps, seconds = append(steps, float64(e.steps)), append(seconds, float64(e.ns)/1e9)
		q.steps += e.steps
	}
	q.Update = Cost{spread(steps), spread(seconds)}
	w := &of.worst
	q.Worst = &Update{Op: w.Op.String(), Label: w.Label, From: w.From, To: w.To, Key: w.Key, ID: w.Attr.ID,
		Steps: of.most.steps, Seconds: float64(of.most.ns) / 1e9}
	if key, cost := of.costliest(); cost.steps > 0 {
		q.Vertex = &Vertex{Key: key, Updates: cost.updates, Share: float64(cost.steps) / float64(q.steps)}
	}
}

func (q *Query) batches(b *Batches, of *batchesOf) {
	var steps, seconds []float64
	took, scale := b.perThousand(of)
	for i, e := range took {
		steps = append(steps, math.Round(float64(e.steps)*scale[i]))
		seconds = append(seconds, float64(e.ns)/1e9*scale[i])
	}
	q.Thousand = Cost{spread(steps), spread(seconds)}
	if b.updates > 0 {
		per := block / float64(b.updates)
		q.Positive, q.Negative, q.Changed = float(of.positive)*per, float(of.negative)*per, float(of.changed)*per
	}
	q.Once = of.once
	for _, name := range slices.Sorted(maps.Keys(of.left)) {
		q.Limits = append(q.Limits, Limit{Name: name, Groups: of.left[name]})
	}
	if of.truncated > 0 {
		q.Limits = append(q.Limits, Limit{Name: "max_matches_per_batch", Batches: of.truncated})
	}
	if of.suspended != "" {
		q.Limits = append(q.Limits, Limit{Name: of.suspended, Suspended: true})
	}
}
