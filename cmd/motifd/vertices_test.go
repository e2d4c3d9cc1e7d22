package main

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher/matchertest"
)

const vertexPropertiesYAML = `edges: {T: {amount: int64}}, vertices: {A: {risk: int64, country: string}, ` +
	`"*": {blocked: bool, note: string}}`

const vertexConfig = `
graph: {properties: {` + vertexPropertiesYAML + `}}
input: {file: {path: in.jsonl}}
output: {file: {path: out.jsonl, dead_letter: dead.jsonl}}
batch: {max_updates: 5, linger: 10s}
checkpoint: {dir: state}
admin: {listen: ""}
queries:
  - {name: flagged, file: flagged.cypher, backfill: full}
  - {name: count, cypher: "MATCH (a:A {blocked: true})-[t:T]->(b)", emit: counts}
  - {name: any, cypher: "MATCH (a:A)-[t:T]->(b:A) WHERE a.risk > 2 AND b.blocked", emit: exists}
`

const flaggedCypher = `MATCH (a:A)-[t:T]->(b:A)-[u:T]->(c:A)
WHERE a.risk >= 1 AND (b.blocked IS NULL OR NOT b.blocked) AND (a.country <> c.country OR t.amount >= c.risk)
RETURN a.risk + c.risk AS risk, b AS middle`

// flaggedLines are updates of few accounts and of their properties; every seventh is bad.
func flaggedLines(rng *rand.Rand, n int) (all, good []string) {
	for i := range n {
		from := rng.IntN(5)
		to := (from + 1 + rng.IntN(4)) % 5
		line := fmt.Sprintf(`{"op":"+","from":"k%d","to":"k%d","from_label":"A","to_label":"A","label":"T",`+
			`"props":{"amount":%d}}`, from, to, rng.IntN(4))
		switch r := rng.IntN(8); {
		case r == 0:
			line = fmt.Sprintf(`{"op":"-","from":"k%d","to":"k%d","label":"T"}`, from, to)
		case r == 1:
			line = fmt.Sprintf(`{"op":"+v","key":"k%d","props":{"risk":%d,"country":"c%d","blocked":false,"memo":1}}`,
				from, rng.IntN(4), rng.IntN(2))
		case r == 2:
			line = fmt.Sprintf(`{"op":"=v","key":"k%d","props":{"blocked":null}}`, from)
		case r > 4:
			line = fmt.Sprintf(`{"op":"=v","key":"k%d","props":{"risk":%d,"blocked":%v}}`, from, rng.IntN(4),
				rng.IntN(3) == 0)
		}
		if i%7 == 6 {
			all = append(all, fmt.Sprintf(`{"op":"=v","key":"k%d","props":{"risk":1.5}}`, from))
			continue
		}
		all, good = append(all, line), append(good, line)
	}
	return all, good
}

// TestS16VertexPropertiesThroughTheDaemon is a growth with declared properties of vertices; a start with another type
// of one that a query reads is refused.
func TestS16VertexPropertiesThroughTheDaemon(t *testing.T) {
	matchertest.NotUnderRace(t, "TestRunOnFiles has the goroutines of the daemon")
	t.Parallel()
	for seed := range uint64(3) {
		rng := rand.New(rand.NewPCG(seed, 31))
		g := growth{
			config: vertexConfig, query: "flagged", cypher: flaggedCypher,
			lines:   func() (all, good []string) { return flaggedLines(rng, 70) },
			initial: seed == 2,
			flags:   []string{"--properties={" + vertexPropertiesYAML + "}"},
		}
		out, info := g.play(t, seed)
		require.Contains(t, out, `"anchor":{"op":"=v"`)
		require.Contains(t, out, `"label":"A","props":{"blocked":false,"country":"c`)
		require.Contains(t, info, "risk int64")
		g.refuses(t, "risk: int64", "risk: decimal(1)", 2,
			"risk as int64, which graph.properties declares as decimal(1); remove or change the query first")
	}
}
