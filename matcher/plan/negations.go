package plan

import (
	"fmt"
	"slices"
	"strings"

	"motifd/matcher"
)

// negationsText shows the negations of a query, and how a search goes on from a change of what blocks matches.
func negationsText(b *strings.Builder, p *matcher.Plan) {
	q := p.Query
	if len(q.Negations) == 0 {
		return
	}
	for i := range q.Negations {
		n := &q.Negations[i]
		fmt.Fprintf(b, "where %s\n", q.FormatNegation(n))
		var names []string
		for _, v := range q.Named(n) {
			names = append(names, q.Vertices[v].Name)
		}
		fmt.Fprintf(b, "  tested %son the CPU for each match of the rest; a change of it is extended to %s, and on to "+
			"matches of the rest\n", onDevice(p, i), strings.Join(names, ", "))
	}
	if q.Emit == matcher.EmitCounts {
		b.WriteString("counted one by one: each match of the rest is tested\n")
	}
}

// onDevice says where a GPU tests a negation, if it does.
func onDevice(p *matcher.Plan, negation int) string {
	at := slices.IndexFunc(p.Absent, func(a matcher.Absent) bool { return a.Negation == negation })
	if at < 0 || len(p.NotOnGPU()) > 0 {
		return ""
	}
	a, q := &p.Absent[at], p.Query
	var names []string
	note := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	from, to, _ := a.Ends()
	note(q.Vertices[from].Name)
	if to != matcher.Free {
		note(q.Vertices[to].Name)
	}
	for i := range a.Conditions {
		for _, r := range a.Conditions[i].Elements {
			if r.Index < len(q.Edges) {
				note(q.Edges[r.Index].Name)
			}
		}
	}
	return "on a GPU once " + strings.Join(names, ", ") + " are mapped, before a row is written, and "
}
