package demo

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"motifd/cmd/motifd/internal/command"
)

// summary is the content of the file of --summary.
type summary struct {
	Planted      int     `json:"planted"`
	Found        int     `json:"found"`
	Missed       int     `json:"missed"`
	Unexpected   int     `json:"unexpected"`
	Wrong        int     `json:"wrong"`
	Positive     uint64  `json:"positive"`
	Negative     uint64  `json:"negative"`
	Updates      uint64  `json:"updates"`
	UpdatesPerS  float64 `json:"updates_per_s"`
	LatencyP50MS float64 `json:"latency_p50_ms"`
	LatencyP99MS float64 `json:"latency_p99_ms"`
}

// summarize returns the summary, once run has returned.
func (c *checker) summarize(took time.Duration) *summary {
	s := c.sum
	s.Planted, s.Missed = c.in.plants, len(c.in.planted)
	s.Updates = c.in.updates
	s.UpdatesPerS = float64(int64(float64(s.Updates) / took.Seconds()))
	slices.Sort(c.latency)
	s.LatencyP50MS, s.LatencyP99MS = quantile(c.latency, 0.50), quantile(c.latency, 0.99)
	return &s
}

// quantile is the q-quantile of sorted durations in milliseconds, 0 when there are none.
func quantile(sorted []time.Duration, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return command.Rounded(sorted[min(int(q*float64(len(sorted))), len(sorted)-1)] * 1000)
}

// print writes the table.
func (s *summary) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\nplanted\t%d\trings, fan-ins and fan-outs that were completed\n", s.Planted)
	fmt.Fprintf(t, "found\t%d\tof them\n", s.Found)
	fmt.Fprintf(t, "missed\t%d\t\n", s.Missed)
	fmt.Fprintf(t, "unexpected\t%d\tfound, not planted, confirmed by the oracle\n", s.Unexpected)
	fmt.Fprintf(t, "wrong\t%d\treported, denied by the oracle\n", s.Wrong)
	fmt.Fprintf(t, "deltas\t+%d -%d\t\n", s.Positive, s.Negative)
	fmt.Fprintf(t, "updates\t%d\t%.0f/s\n", s.Updates, s.UpdatesPerS)
	fmt.Fprintf(t, "latency\t%.1f ms\tmedian, from payment to alert; 99%%: %.1f ms\n", s.LatencyP50MS, s.LatencyP99MS)
	return t.Flush()
}
