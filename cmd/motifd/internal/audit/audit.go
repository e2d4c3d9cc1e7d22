package audit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/stream/checkpoint"
)

// Count counts the matches of queries in the graph after a batch, which it owns; of one for existence 1 or 0.
type Count func(ctx context.Context, batch uint64, g *dyngraph.Graph, queries []*matcher.Query) ([]matcher.Count, error)

// Report is the result of an audit.
type Report struct {
	First   uint64    `json:"first"` // batches of the log
	Last    uint64    `json:"last"`
	Queries []Query   `json:"queries"`
	LeftOut []LeftOut `json:"left_out"`
}

// Query is a query that was compared.
type Query struct {
	Name     string        `json:"name"`
	Version  uint64        `json:"version"`
	Since    uint64        `json:"since"` // the batch behind which positives and negatives are added up
	Baseline matcher.Count `json:"baseline"`
	Positive matcher.Count `json:"positive"`
	Negative matcher.Count `json:"negative"`
	Expected matcher.Count `json:"expected"` // Baseline and Positive less Negative
	Found    matcher.Count `json:"found"`    // in the graph after Last
}

// Agrees reports whether the query has as many matches as expected.
func (q *Query) Agrees() bool { return q.Expected.Cmp(q.Found) == 0 }

// LeftOut is a query that was not compared.
type LeftOut struct {
	Name    string `json:"name"`
	Version uint64 `json:"version"`
	Reason  string `json:"reason"`
}

// ErrEmpty: the log has no batches.
var ErrEmpty = errors.New("the batch log is empty: there is nothing to add up (checkpoint.retention says how long it " +
	"keeps batches)")

// auditor is one audit.
type auditor struct {
	log    *checkpoint.Replay
	count  Count
	report *Report
	due    []due
}

// due is a query that is to be compared.
type due struct {
	query *matcher.Query
	*sums
	found matcher.Count
}

// Run compares the queries of a checkpoint, or only those of some names. An unknown name is matcher.ErrNoQuery.
func Run(ctx context.Context, log *checkpoint.Replay, only []string, count Count) (*Report, error) {
	a := &auditor{log: log, count: count, report: &Report{Queries: []Query{}, LeftOut: []LeftOut{}}}
	first, last := log.Committed()
	if first > last {
		return nil, ErrEmpty
	}
	a.report.First, a.report.Last = first, last
	all, err := sumsOf(log.Batches(), first)
	if err != nil {
		return nil, err
	}
	now, err := log.At(ctx, last)
	if err != nil {
		return nil, err
	}
	if err := a.choose(now.Queries, only, all); err != nil {
		return nil, err
	}
	found, err := a.counted(ctx, last, now.Graph, a.due)
	if err != nil {
		return nil, err
	}
	now = nil // one graph at a time
	for i := range a.due {
		a.due[i].found = found[i]
	}
	if err := a.baselines(ctx); err != nil {
		return nil, err
	}
	for i := range a.due {
		a.compare(&a.due[i])
	}
	slices.SortFunc(a.report.LeftOut, func(x, y LeftOut) int { return strings.Compare(x.Name, y.Name) })
	return a.report, nil
}

// choose lists the queries that can be compared, and tells why others cannot.
func (a *auditor) choose(states []matcher.QueryState, only []string, all map[version]*sums) error {
	there := map[string]bool{}
	for i := range states {
		s := &states[i]
		q := s.Query
		if s.Removed || len(only) > 0 && !slices.Contains(only, q.Name) {
			continue
		}
		there[q.Name] = true
		of := all[version{q.Name, q.Version}]
		if of == nil { // nothing happened to it
			of = &sums{graph: a.report.First - 1}
		}
		why := reason(s)
		if why == "" {
			why = of.why(q)
		}
		if why != "" {
			a.leaveOut(q, why)
			continue
		}
		a.due = append(a.due, due{query: q, sums: of})
	}
	for _, name := range only {
		if !there[name] {
			return fmt.Errorf("%w: %q", matcher.ErrNoQuery, name)
		}
	}
	return nil
}

// reason says why positives less negatives of a query do not follow its matches; "" if they do.
func reason(s *matcher.QueryState) string {
	q := s.Query
	switch {
	case s.Suspended && s.SuspendedBy != "":
		return "suspended: " + s.SuspendedBy
	case s.Suspended:
		return "suspended"
	case q.Sample > 1:
		return fmt.Sprintf("sampled: one match in %d", q.Sample)
	case q.Once != nil:
		return "once: the ends of matches are not searched"
	case q.SilentExpiry:
		return "on_expiry: silent: the ends of matches whose edges expire are not searched"
	case s.Announced != nil:
		return "undecided: whether there is a match was beyond a limit"
	}
	return ""
}

func (a *auditor) leaveOut(q *matcher.Query, why string) {
	a.report.LeftOut = append(a.report.LeftOut, LeftOut{q.Name, q.Version, why})
}

// baselines counts the baselines, graph by graph. Queries that were undecided then are left out.
func (a *auditor) baselines(ctx context.Context) error {
	at := map[uint64][]int{}
	for i, d := range a.due {
		if !d.snapshot {
			at[d.graph] = append(at[d.graph], i)
		}
	}
	undecided := map[string]bool{}
	for _, batch := range slices.Sorted(maps.Keys(at)) {
		then, err := a.log.At(ctx, batch)
		if err != nil {
			return err
		}
		for i := range then.Queries {
			if s := &then.Queries[i]; s.Announced != nil {
				undecided[s.Query.Name] = true
			}
		}
		some := make([]due, len(at[batch]))
		for k, i := range at[batch] {
			some[k] = a.due[i]
		}
		counts, err := a.counted(ctx, batch, then.Graph, some)
		if err != nil {
			return err
		}
		for k, i := range at[batch] {
			a.due[i].baseline = counts[k]
		}
	}
	a.due = slices.DeleteFunc(a.due, func(d due) bool {
		left := d.registered == 0 && undecided[d.query.Name]
		if left {
			a.leaveOut(d.query, "undecided: whether there was a match before the log was beyond a limit")
		}
		return left
	})
	return nil
}

// counted counts queries in a graph.
func (a *auditor) counted(ctx context.Context, batch uint64, g *dyngraph.Graph, some []due) ([]matcher.Count, error) {
	if len(some) == 0 {
		return nil, nil
	}
	queries := make([]*matcher.Query, len(some))
	for i := range some {
		queries[i] = some[i].query
	}
	return a.count(ctx, batch, g, queries)
}

// compare adds a query to the report.
func (a *auditor) compare(d *due) {
	q := Query{Name: d.query.Name, Version: d.query.Version, Since: max(d.registered, a.report.First-1),
		Baseline: d.baseline, Positive: d.positive, Negative: d.negative, Found: d.found}
	q.Expected = q.Baseline.Add(q.Positive).Sub(q.Negative)
	a.report.Queries = append(a.report.Queries, q)
}

// Differ returns the queries that have not as many matches as expected.
func (r *Report) Differ() (some []Query) {
	for _, q := range r.Queries {
		if !q.Agrees() {
			some = append(some, q)
		}
	}
	return some
}
