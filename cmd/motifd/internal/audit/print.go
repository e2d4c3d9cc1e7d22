package audit

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Print writes the report as a table, with a line for each query that was left out.
func (r *Report) Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "query\tversion\tsince\tbaseline\t+\t-\texpected\tfound\t")
	for i := range r.Queries {
		q := &r.Queries[i]
		note := ""
		if !q.Agrees() {
			note = "  differs"
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\n", q.Name, q.Version, q.Since, q.Baseline, q.Positive,
			q.Negative, q.Expected, q.Found, note)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for i := range r.LeftOut {
		l := &r.LeftOut[i]
		if _, err := fmt.Fprintf(w, "left out: %s, version %d: %s\n", l.Name, l.Version, l.Reason); err != nil {
			return err
		}
	}
	differ := len(r.Differ())
	_, err := fmt.Fprintf(w, "batches %d to %d: %d agree, %d differ, %d left out\n", r.First, r.Last,
		len(r.Queries)-differ, differ, len(r.LeftOut))
	return err
}
