package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"motifd/cmd/motifd/internal/timeline"
)

// replaySummary is the file that `replay --summary` writes.
type replaySummary struct {
	Queries          []replayQuery `json:"queries"`
	Updates          uint64        `json:"updates"`           // accepted
	EffectiveUpdates uint64        `json:"effective_updates"` // net edges: really inserted or deleted
	Batches          uint64        `json:"batches"`
	Refused          uint64        `json:"-"`              // records
	Time             *replayTime   `json:"time,omitempty"` // where edges expire
	LoadS            float64       `json:"load_s"`
	ApplyS           float64       `json:"apply_s"`
	MatchS           float64       `json:"match_s"`
	WallS            float64       `json:"wall_s"`
	PeakRSSMiB       float64       `json:"peak_rss_mib"`
	Backend          string        `json:"backend"`
	Threads          int           `json:"threads"`

	Timeline *timeline.Summary `json:"timeline,omitempty"` // with --trace
}

// replayTime counts the edges that expired and the updates that came late.
type replayTime struct {
	Expired uint64 `json:"expired"` // edges
	Late    uint64 `json:"late"`    // updates without effect
}

// replayQuery is one query's part.
type replayQuery struct {
	Name     string  `json:"name"`
	Positive total   `json:"positive"`
	Negative total   `json:"negative"`
	Changed  total   `json:"changed,omitzero"` // matches that went on with other values
	MatchS   float64 `json:"match_s"`

	searchNS  int64
	truncated uint64
	skipped   uint64 // groups
	suspended bool
}

// matched tells whether the query had a match in the stream.
func (q *replayQuery) matched() bool { return !q.Positive.n.IsZero() || !q.Negative.n.IsZero() }

// print writes the summary as a table.
func (s *replaySummary) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "query\tpositive\tnegative\tmatch s\t")
	for i := range s.Queries {
		q := &s.Queries[i]
		note := ""
		if !q.Changed.IsZero() {
			note += "  " + q.Changed.String() + " changed"
		}
		if q.truncated > 0 {
			note += "  truncated in " + plural(q.truncated, "batch")
		}
		if q.skipped > 0 {
			note += "  " + plural(q.skipped, "group") + " left out"
		}
		if q.suspended {
			note += "  suspended"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%.3f\t%s\n", q.Name, &q.Positive, &q.Negative, q.MatchS, note)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	expiry := ""
	if s.Time != nil {
		expiry = fmt.Sprintf(", %s expired, %s late", plural(s.Time.Expired, "edge"), plural(s.Time.Late, "update"))
	}
	_, err := fmt.Fprintf(w, "%s, %s inserted or deleted, in %s, %s refused%s; load %.2f s, apply %.2f s, "+
		"match %.2f s, all %.2f s; %.0f MiB; %s, %s\n",
		plural(s.Updates, "update"), plural(s.EffectiveUpdates, "edge"), plural(s.Batches, "batch"),
		plural(s.Refused, "record"), expiry, s.LoadS, s.ApplyS, s.MatchS, s.WallS, s.PeakRSSMiB, s.Backend,
		plural(s.Threads, "thread"))
	return err
}
