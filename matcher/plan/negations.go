package plan

import (
	"fmt"
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
		fmt.Fprintf(b, "  tested on the CPU for each match of the rest; a change of it is extended to %s, and on to "+
			"matches of the rest\n", strings.Join(names, ", "))
	}
	if q.Emit == matcher.EmitCounts {
		b.WriteString("counted one by one: each match of the rest is tested\n")
	}
}
