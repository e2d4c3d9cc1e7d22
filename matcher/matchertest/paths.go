package matchertest

import (
	"fmt"
	"math/rand/v2"

	"motifd/matcher"
)

// RandomCasePaths draws a case of RandomCaseWhere whose queries have paths, one or two each.
func RandomCasePaths(rng *rand.Rand, queries int) *Case {
	for {
		c := RandomCaseWhere(rng, 1, rng.IntN(2) == 0)
		c.Queries, c.Where = nil, Where{}
		for range 40 * queries {
			if len(c.Queries) == queries {
				return c
			}
			if q := c.randomPaths(rng, fmt.Sprintf("q%02d", len(c.Queries))); q != nil {
				c.Queries = append(c.Queries, q)
			}
		}
	}
}

// randomPaths draws a query with paths; nil if it has too many matches or few others hope for any.
func (c *Case) randomPaths(rng *rand.Rand, name string) *matcher.Query {
	q := RandomQueryOf(rng, 2+rng.IntN(2), name, c.Directed, c.Labels)
	for i := range q.Edges {
		if i == 0 || rng.IntN(3) == 0 && len(q.Paths()) < 2 {
			least := 1 + rng.IntN(2)
			q.Edges[i].Hops = &matcher.Hops{Least: least, Most: least + rng.IntN(3)}
		}
	}
	if e := &q.Edges[0]; rng.IntN(6) == 0 && len(q.Vertices) == 2 && len(q.Edges) == 1 { // back to where it begins
		q.Vertices = q.Vertices[:1]
		e.From, e.To, e.Hops.Least = 0, 0, 2
		e.Hops.Most = max(2, e.Hops.Most)
	}
	if c.Schema.SeveralLabels {
		c.Demand(rng, q)
	}
	most := 0
	for _, v := range q.Variants() {
		n, ok := c.mostMatches(v)
		if most += n; !ok || most > MostMatches {
			return nil
		}
	}
	if most == 0 && rng.IntN(8) > 0 {
		return nil
	}
	if rng.IntN(3) > 0 {
		c.AskRandomly(rng, q, rng.IntN(2) == 0)
	}
	c.askTimes(rng, q)
	if q.Validate(c.Directed) != nil { // a condition that reads two paths
		q.Conditions = labelConditions(q)
	}
	return q
}

// askTimes gives a query rises and spans, where its edges declare ts.
func (c *Case) askTimes(rng *rand.Rand, q *matcher.Query) {
	w := &whereSource{Rand: rng, scope: ScopeOf(c.Schema, q), q: q}
	var timed []int
	for i, e := range q.Edges {
		if w.declares(e.Name, "ts") && (e.Hops != nil || rng.IntN(2) == 0) {
			timed = append(timed, i)
		}
	}
	if len(timed) == 0 {
		return
	}
	rng.Shuffle(len(timed), func(i, j int) { timed[i], timed[j] = timed[j], timed[i] })
	if rng.IntN(3) == 0 {
		q.Rises = []matcher.Rise{{Edges: timed}}
	}
	if rng.IntN(3) == 0 {
		q.Spans = []matcher.Span{{Edges: timed[:1+rng.IntN(len(timed))], Most: rng.Int64N(4)}}
	}
}
