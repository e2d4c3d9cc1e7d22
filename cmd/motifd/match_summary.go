package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// matchSummary is the file that `match --summary` writes.
type matchSummary struct {
	Queries          []matchQuery `json:"queries"`
	Updates          uint64       `json:"updates"`
	EffectiveUpdates uint64       `json:"effective_updates"`
	Batches          uint64       `json:"batches"`
	LoadS            float64      `json:"load_s"`
	ApplyS           float64      `json:"apply_s"` // planning, candidate bits, writing
	MatchS           float64      `json:"match_s"`
	WallS            float64      `json:"wall_s"`
	PeakRSSMiB       float64      `json:"peak_rss_mib"`
	Backend          string       `json:"backend"`
	Threads          int          `json:"threads"`
}

// matchQuery is one query's part.
type matchQuery struct {
	Name    string  `json:"name"`
	Matches *total  `json:"matches,omitempty"` // found, or with a limit written
	Exists  *bool   `json:"exists,omitempty"`  // in place of Matches
	More    bool    `json:"more,omitempty"`    // there are more than the limit
	SameAs  string  `json:"same_as,omitempty"` // an equal query, which was counted in its place
	MatchS  float64 `json:"match_s"`           // SearchS, and the candidate space and its order
	FilterS float64 `json:"filter_s"`          // candidate bits and candidate space
	OrderS  float64 `json:"order_s"`           // planning, and the order by the candidate space
	SearchS float64 `json:"search_s"`
}

// found returns the text of the column of matches: yes or none for existence, else their number.
func (q *matchQuery) found() string {
	switch {
	case q.Exists != nil && *q.Exists:
		return "yes"
	case q.Exists != nil:
		return "none"
	}
	return q.Matches.String()
}

// print writes the summary as a table.
func (s *matchSummary) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "query\tmatches\tfilter s\torder s\tsearch s\t")
	for i := range s.Queries {
		q := &s.Queries[i]
		note := ""
		if q.More {
			note += "  there are more"
		}
		if q.SameAs != "" {
			note += "  as " + q.SameAs
		}
		fmt.Fprintf(t, "%s\t%s\t%.3f\t%.3f\t%.3f\t%s\n", q.Name, q.found(), q.FilterS, q.OrderS, q.SearchS, note)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "load %.2f s, match %.2f s, all %.2f s; %.0f MiB; %s, %s\n",
		s.LoadS, s.MatchS, s.WallS, s.PeakRSSMiB, s.Backend, plural(s.Threads, "thread"))
	return err
}
