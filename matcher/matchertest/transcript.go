package matchertest

import (
	"fmt"
	"strings"

	"motifd/matcher"
)

// Line writes the record by keys.
func (r *Record) Line() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%+d %s v%d", r.Sign, r.Query, r.Version)
	if r.Snapshot {
		s.WriteString(" snapshot")
	}
	switch {
	case r.Kind == matcher.EventCount:
		fmt.Fprintf(&s, " count %v", r.Count)
	case r.Kind == matcher.EventExists:
		s.WriteString(" exists")
	default:
		if r.Kind == matcher.EventNotice {
			fmt.Fprintf(&s, " ! %s %s rest=%v", r.Notice.Reason, r.Notice.Cause, r.Notice.Rest)
		}
		if r.LossySince > 0 {
			fmt.Fprintf(&s, " lossy since %d", r.LossySince)
		}
		if r.Expired {
			fmt.Fprintf(&s, " [expired at %d: %v]", r.AnchorTS, r.AnchorEdge)
		} else if r.Anchored {
			fmt.Fprintf(&s, " [%d/%d/%d %v]", r.Anchor.Partition, r.Anchor.Offset, r.Anchor.Element, r.AnchorEdge)
		}
		if r.Kind == matcher.EventMatches {
			fmt.Fprintf(&s, " %v", r.Match)
			if r.Aggregates != nil {
				fmt.Fprintf(&s, " %v", r.Aggregates)
			}
		}
	}
	return s.String()
}

// Lines writes the records by keys, in order.
func (o *Output) Lines() []string {
	lines := make([]string, len(o.Records))
	for i := range o.Records {
		lines[i] = o.Records[i].Line()
	}
	return lines
}

// Transcript writes everything that the driver's engine put out, by keys and by ids.
func (d *Driver) Transcript() []string {
	var lines []string
	for _, o := range d.Batches {
		for i := range o.Records {
			r := &o.Records[i]
			lines = append(lines, fmt.Sprintf("%d %d %s %v", o.Number, r.Index, r.Line(), r.IDs))
		}
		for _, q := range o.Summary.Queries {
			if q.Emitted == 0 && q.Positive.IsZero() && q.Negative.IsZero() && q.Changed.IsZero() &&
				q.Skipped == 0 && q.Suspended == nil && !q.NoPositive && !q.NoNegative {
				continue // it is there for the time that its search took
			}
			lines = append(lines, fmt.Sprintf(
				"%d %s +%v -%v ~%v truncated=%v suspended=%v emitted=%d skipped=%d %v unknown=%v,%v lossy=%d",
				o.Number, q.Query.Name, q.Positive, q.Negative, q.Changed, q.Truncated, q.Suspended != nil, q.Emitted,
				q.Skipped, q.Cause, q.NoPositive, q.NoNegative, q.LossySince))
		}
	}
	return lines
}

// Net sums what was put out up to now, by query and match name: positives less negatives, zeros left out.
func (d *Driver) Net(name func(query string, m Match) string) map[string]int {
	net := map[string]int{}
	for _, o := range d.Batches {
		for i := range o.Records {
			r := &o.Records[i]
			if r.Kind != matcher.EventMatches {
				continue
			}
			key := r.Query + " " + name(r.Query, r.Match)
			if net[key] += int(r.Sign); net[key] == 0 {
				delete(net, key)
			}
		}
	}
	return net
}

// Diff returns the first place where two lists of lines differ, or "".
func Diff(a, b []string) string {
	for i := range max(len(a), len(b)) {
		x, y := "(end)", "(end)"
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			return fmt.Sprintf("line %d:\n%s\n%s", i, x, y)
		}
	}
	return ""
}
