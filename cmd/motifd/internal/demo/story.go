package demo

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"motifd/cmd/motifd/internal/command"
	"motifd/cmd/motifd/internal/payments"
)

// story is one case: a ring that was announced and withdrawn.
type story struct {
	alert, withdrawal *delta
	payments          []payment // around the ring, the largest first
	cancelled         payment
}

// follow keeps the first ring that is withdrawn as the story, of three accounts if there is one. The payments up to the
// alert's batch are applied.
func (c *checker) follow(a *delta) {
	if !strings.HasPrefix(a.Query, "ring") {
		return
	}
	if a.Op == "+" {
		c.rings[a.Match] = a
		return
	}
	alert, three := c.rings[a.Match], payments.RingQuery(3)
	delete(c.rings, a.Match)
	if alert == nil || c.story.alert != nil && (c.story.alert.Query == three || a.Query != three) {
		return
	}
	s := story{alert: alert, withdrawal: a}
	for _, e := range c.queries[a.Query].Edges {
		p := alert.Edges[e.Name]
		s.payments = append(s.payments, p)
		edge := p.Edge
		if edge.ID = ""; !c.edges[edge] {
			s.cancelled = p
		}
	}
	most := slices.IndexFunc(s.payments, func(p payment) bool {
		return !slices.ContainsFunc(s.payments, func(q payment) bool { return q.Props.Amount > p.Props.Amount })
	})
	s.payments = slices.Concat(s.payments[most:], s.payments[:most])
	c.story = s
}

// print tells the story; it prints nothing when no ring was withdrawn.
func (s *story) print(w io.Writer) error {
	if s.alert == nil {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "\nOne case. Nearly the same amount goes from account to account, and comes back:\n\n")
	for _, p := range s.payments {
		fmt.Fprintf(t, "  %s\t-> %s\t%11s\t%s\n", p.From, p.To, euros(p.Props.Amount), p.ID)
	}
	fmt.Fprintf(t, "\nThe record that an analyst gets, when the last payment closes the ring:\n\n%s\n",
		pretty(s.alert.raw))
	fmt.Fprintf(t, "\nLater %s is cancelled. The withdrawal has the same match id:\n\n%s\n", s.cancelled.ID,
		short(s.withdrawal.raw))
	return t.Flush()
}

var (
	fieldNames = regexp.MustCompile(`,"(match|vertices|edges|_e[1-9]\d*|anchor)":`)
	matchBody  = regexp.MustCompile(`"vertices":.*,"anchor":`)
)

// pretty breaks a record into lines.
func pretty(record []byte) string {
	return "  " + string(fieldNames.ReplaceAll(record, []byte(",\n   \"$1\":")))
}

// short leaves out a record's vertices and edges.
func short(record []byte) string {
	return pretty(matchBody.ReplaceAll(record, []byte(`"vertices":{...},"edges":{...},"anchor":`)))
}

// euros writes an amount with its thousands apart.
func euros(n int) string { return command.GroupDigits(strconv.Itoa(n)) + " EUR" }
