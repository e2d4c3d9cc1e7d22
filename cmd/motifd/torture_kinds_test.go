//go:build kafka && unix

package main

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/stretchr/testify/require"

	"motifd/matcher"
	"motifd/matcher/matchertest"
)

// tortureKinds are patterns whose matches are not those of their MATCH clause alone, with what an oracle makes of them:
// it takes the graph as two maps, and shares no code with the backends.
var tortureKinds = map[string]func(g *matchertest.Graph, q *matcher.Query) []matchertest.Match{
	"MATCH (a:A)-[:T]->(b:B) WHERE NOT (b)-[:U]->(a)": func(g *matchertest.Graph,
		q *matcher.Query) []matchertest.Match {
		return unless(g, q, func(m matchertest.Match, e matchertest.Edge) bool {
			return e.Label == "U" && e.From == m.Vertices[1] && e.To == m.Vertices[0]
		})
	},
	"MATCH (a)-[:T]->(b:B)-[:T]->(c) WHERE NOT EXISTS { (b)-[:U]->(x:A) }": func(g *matchertest.Graph,
		q *matcher.Query) []matchertest.Match {
		return unless(g, q, func(m matchertest.Match, e matchertest.Edge) bool {
			return e.Label == "U" && e.From == m.Vertices[1] && e.To.Label == "A"
		})
	},
	"MATCH (a:A)-[p:T*1..3]->(b:B)": func(g *matchertest.Graph, q *matcher.Query) (all []matchertest.Match) {
		for _, v := range q.Variants() {
			found, ok := g.Matches(v, 10_000_000)
			if !ok {
				panic("too many matches for the oracle")
			}
			all = append(all, found...)
		}
		return all
	},
	"MATCH (s)-[:T]->(m:B) WITH m, count(DISTINCT s) AS n WHERE n >= 3 RETURN m, n": func(g *matchertest.Graph,
		_ *matcher.Query) (all []matchertest.Match) {
		senders := map[matchertest.Vertex]int{} // of distinct ones: there are no parallel edges
		for _, e := range g.Sorted() {
			if e.Label != "T" || e.To.Label != "B" {
				continue
			}
			if senders[e.To]++; senders[e.To] == 3 {
				all = append(all, matchertest.Match{Vertices: []matchertest.Vertex{e.To}})
			}
		}
		return all
	},
}

// unless returns the matches of a query's MATCH clause that no edge blocks.
func unless(g *matchertest.Graph, q *matcher.Query,
	blocks func(m matchertest.Match, e matchertest.Edge) bool) (left []matchertest.Match) {
	found, ok := g.Matches(q, 10_000_000)
	if !ok {
		panic("too many matches for the oracle")
	}
	edges := g.Sorted()
next:
	for _, m := range found {
		for _, e := range edges {
			if blocks(m, e) {
				continue next
			}
		}
		left = append(left, m)
	}
	return left
}

// tortureOnce are a query of the changelog with once, which emits no negatives, and its plain twin: what a restart
// forgot of the keys would be told again, and what it made up would be missing.
const tortureOnce = `
  - {name: alert, cypher: "MATCH (a:A)-[:T]->(b:B)", once: {per: [b], for: 600ms}}
  - {name: pairs, cypher: "MATCH (a:A)-[:T]->(b:B)", backfill: full}
`

// onceTold holds what the records of alert say beside those of pairs, which are its matches: no negative, one positive
// a batch and key, each of which is one of its twin's, and all first positives of a key. It returns how many positives
// were told and how many dropped.
func (x *torture) onceTold(records []string) (told, dropped int) {
	type positive struct {
		batch uint64
		of    string // both vertices, or the key
	}
	alerts, pairs := map[positive]bool{}, map[positive]bool{}
	inBatch, first, firstTold := map[positive]bool{}, map[string]uint64{}, map[string]uint64{}
	for _, text := range records {
		var r struct {
			Op, Query string
			Batch     uint64
			Vertices  map[string]struct{ Key, Label string }
		}
		require.NoError(x.t, json.Unmarshal([]byte(text), &r))
		key := fmt.Sprint(r.Vertices["b"])
		at := positive{r.Batch, fmt.Sprint(r.Vertices["a"], key)}
		switch {
		case r.Query == "alert":
			require.Equal(x.t, "+", r.Op, text)
			require.False(x.t, inBatch[positive{r.Batch, key}], "a key is told once in a batch: %s", text)
			alerts[at], inBatch[positive{r.Batch, key}] = true, true
			if firstTold[key] == 0 {
				firstTold[key] = r.Batch
			}
		case r.Op == "+":
			if pairs[at] = true; first[key] == 0 {
				first[key] = r.Batch
			}
		}
	}
	for at := range alerts {
		require.True(x.t, pairs[at], "%v is a match", at)
	}
	require.Equal(x.t, first, firstTold, "by key, the batch of its first positive")
	return len(alerts), len(pairs) - len(alerts)
}

// lengthsOf is the field of a match id that tells the lengths of paths; ok is false for a pattern without.
func lengthsOf(q *matcher.Query, m matchertest.Match) (text string, ok bool) {
	if len(q.Paths()) == 0 {
		return "", false
	}
	single := len(q.Edges) - len(q.Paths())
	return strconv.Itoa(len(m.Edges) - single), true // of one path
}
