package timeline

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"motifd/cmd/motifd/internal/command"
	"motifd/matcher"
	"motifd/stream"
)

// Summary has the totals of a Timeline.
type Summary struct {
	File    string  `json:"file"`
	Batches int     `json:"batches"` // of updates
	Spans   int     `json:"spans"`
	Note    string  `json:"note,omitempty"`
	Stages  []Stage `json:"stages"`
}

// Stage is the total time of one kind of span, and how much of it was during searches: of other batches, which is what
// the pipeline overlaps (DESIGN A12), and of the same batch.
type Stage struct {
	Lane         stream.Lane `json:"lane"`
	What         string      `json:"what"`
	Spans        int         `json:"spans"`
	TotalS       float64     `json:"total_s"`
	OtherSearchS float64     `json:"other_search_s"`
	OwnSearchS   float64     `json:"own_search_s"`
}

// stages sums spans by lane and kind.
func stages(spans []span) []Stage {
	var searches []span // one after the other
	for _, s := range spans {
		if s.lane == laneStep && s.what == string(matcher.PhaseSearch) {
			searches = append(searches, s)
		}
	}
	type sums struct {
		n                 int
		total, other, own float64
	}
	type key struct {
		lane stream.Lane
		what string
	}
	by := map[key]*sums{}
	var order []key
	for _, s := range spans {
		k := key{s.lane, s.what}
		if by[k] == nil {
			by[k] = &sums{}
			order = append(order, k)
		}
		all, share := s.end-s.begin, 1.0
		if s.busy > 0 && all > 0 {
			share = float64(s.busy) / float64(all)
		}
		into := by[k]
		into.n++
		into.total += share * all.Seconds()
		from, _ := slices.BinarySearchFunc(searches, s.begin,
			func(x span, at time.Duration) int { return int(x.end - at) })
		for _, x := range searches[from:] {
			if x.begin >= s.end {
				break
			}
			common := share * (min(x.end, s.end) - max(x.begin, s.begin)).Seconds()
			if s.batch <= x.batch && x.batch <= s.last {
				into.own += common
			} else {
				into.other += common
			}
		}
	}
	lanes := laneOrder(spans)
	slices.SortStableFunc(order, func(a, b key) int {
		return slices.Index(lanes, a.lane) -
			slices.Index(lanes, b.lane)
	})
	out := make([]Stage, 0, len(order))
	seconds := func(s float64) float64 { return command.Rounded(time.Duration(s * 1e9)) }
	for _, k := range order {
		s := by[k]
		out = append(out, Stage{k.lane, k.what, s.n, seconds(s.total), seconds(s.other), seconds(s.own)})
	}
	return out
}

// Print writes the summary as a table.
func (s *Summary) Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "lane\tstage\ttotal ms\tunder a search of other batches\tof its own\t")
	for _, x := range s.Stages {
		part := func(of float64) string {
			if x.TotalS == 0 {
				return "-"
			}
			return fmt.Sprintf("%.0f%%", 100*of/x.TotalS)
		}
		fmt.Fprintf(t, "%s\t%s\t%.3f\t%s\t%s\t\n", x.Lane, x.What, 1000*x.TotalS, part(x.OtherSearchS),
			part(x.OwnSearchS))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	note := s.Note
	if note != "" {
		note = "; " + note
	}
	_, err := fmt.Fprintf(w, "timeline of %d batches, %d spans: %s%s\n", s.Batches, s.Spans, s.File, note)
	return err
}
