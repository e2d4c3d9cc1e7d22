package estimate

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"motifd/cmd/motifd/internal/command"
)

// Print writes the report as tables: what an update costs, what a thousand updates cost, and what was met.
func (r *Report) Print(w io.Writer) error {
	s := &r.Sample
	_, err := fmt.Fprintf(w, "sample: %s updates, %s records refused, in batches of %s; the graph has %s vertices and "+
		"%s edges\n\nan update that concerns the query\n", digits(s.Updates), digits(s.Refused),
		digits(s.Batch), digits(s.Vertices), digits(s.Edges))
	if err != nil {
		return err
	}
	err = r.table(w, "query\tupdates\tshare\tsteps: median\tworst\tus: median\tworst", func(q *Query) string {
		return fmt.Sprintf("%s\t%.1f %%\t%s", digits(q.Concerned), 100*q.Share, q.Update.row(1e6))
	})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprint(w, "\n1,000 updates\n"); err != nil {
		return err
	}
	err = r.table(w, "query\t+\t-\t~\tsteps: median\tworst\tms: median\tworst", func(q *Query) string {
		return fmt.Sprintf("%.1f\t%.1f\t%.1f\t%s", q.Positive, q.Negative, q.Changed, q.Thousand.row(1e3))
	})
	if err != nil {
		return err
	}
	for i := range r.Queries {
		if err := r.Queries[i].print(w); err != nil {
			return err
		}
	}
	return nil
}

// table writes a table with a row for each query.
func (r *Report) table(w io.Writer, head string, row func(*Query) string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "%s\t\n", head)
	for i := range r.Queries {
		fmt.Fprintf(t, "%s\t%s\t\n", r.Queries[i].Name, row(&r.Queries[i]))
	}
	return t.Flush()
}

// row writes four columns, with the time in parts of a second.
func (c *Cost) row(parts float64) string {
	return fmt.Sprintf("%s\t%s\t%.1f\t%.1f", digits(uint64(c.Steps.Median)), digits(uint64(c.Steps.Worst)),
		parts*c.Seconds.Median, parts*c.Seconds.Worst)
}

// print writes what there is to say of one query.
func (q *Query) print(w io.Writer) error {
	var lines []string
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if q.Worst != nil && q.Worst.Steps > 0 {
		say("worst update: %s, %s steps", q.Worst, digits(q.Worst.Steps))
	}
	if v := q.Vertex; v != nil {
		say("costliest vertex: %s, %.0f %% of the steps in %s of the updates", v.Key, 100*v.Share, digits(v.Updates))
	}
	if q.Hubs > 0 {
		say("state: %s hubs, %.1f KiB", digits(q.Hubs), float64(q.Bytes)/1024)
	}
	if q.Once > 0 {
		say("once: %s positives dropped", digits(q.Once))
	}
	for _, l := range q.Limits {
		switch {
		case l.Suspended:
			say("limit met: %s, and the query is suspended; what is behind is not in the figures", l.Name)
		case l.Batches > 0:
			say("limit met: %s, in %s batches", l.Name, digits(l.Batches))
		default:
			say("limit met: %s, %s groups left out", l.Name, digits(l.Groups))
		}
	}
	for _, text := range q.Warnings {
		say("warning: %s", text)
	}
	if len(lines) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "\n%s\n  %s\n", q.Name, strings.Join(lines, "\n  "))
	return err
}

// String draws the update.
func (u *Update) String() string {
	if u.Key != "" {
		return fmt.Sprintf("%s %s", u.Op, u.Key)
	}
	id := ""
	if u.ID != "" {
		id = " " + u.ID
	}
	return fmt.Sprintf("%s %s -[%s%s]-> %s", u.Op, u.From, u.Label, id, u.To)
}

// digits writes a whole number with commas.
func digits[N int | uint64](n N) string { return command.GroupDigits(fmt.Sprint(n)) }
