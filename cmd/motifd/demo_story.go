package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// demoStory is one case: a ring that was announced and withdrawn.
type demoStory struct {
	alert, withdrawal *demoAlert
	payments          []demoPayment // around the ring, the largest first
	cancelled         demoPayment
}

// follow keeps the first ring that is withdrawn as the story, of three accounts if there is one. The payments up to the
// alert's batch are applied.
func (c *demoChecker) follow(a *demoAlert) {
	if !strings.HasPrefix(a.Query, "ring") {
		return
	}
	if a.Op == "+" {
		c.rings[a.Match] = a
		return
	}
	alert := c.rings[a.Match]
	delete(c.rings, a.Match)
	if alert == nil || c.story.alert != nil && (c.story.alert.Query == demoRing(3) || a.Query != demoRing(3)) {
		return
	}
	story := demoStory{alert: alert, withdrawal: a}
	for _, e := range c.queries[a.Query].Edges {
		p := alert.Edges[e.Name]
		story.payments = append(story.payments, p)
		edge := p.demoEdge
		if edge.ID = ""; !c.edges[edge] {
			story.cancelled = p
		}
	}
	most := slices.IndexFunc(story.payments, func(p demoPayment) bool {
		return !slices.ContainsFunc(story.payments, func(q demoPayment) bool { return q.Props.Amount > p.Props.Amount })
	})
	story.payments = slices.Concat(story.payments[most:], story.payments[:most])
	c.story = story
}

// print tells the story; it prints nothing when no ring was withdrawn.
func (s *demoStory) print(w io.Writer) error {
	if s.alert == nil {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "\nOne case. Each account passes on nearly what it got, and the money comes back:\n\n")
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
	demoFields = regexp.MustCompile(`,"(match|vertices|edges|_e[1-9]\d*|anchor)":`)
	demoBody   = regexp.MustCompile(`"vertices":.*,"anchor":`)
)

// pretty breaks a record into lines.
func pretty(record []byte) string {
	return "  " + string(demoFields.ReplaceAll(record, []byte(",\n   \"$1\":")))
}

// short leaves out a record's vertices and edges.
func short(record []byte) string {
	return pretty(demoBody.ReplaceAll(record, []byte(`"vertices":{...},"edges":{...},"anchor":`)))
}

// euros writes an amount with its thousands apart.
func euros(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s + " EUR"
}
