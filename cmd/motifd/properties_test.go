package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher/matchertest"
)

const propertiesYAML = `edges: {T: {amount: decimal(2), ts: timestamp}, "*": {flag: bool}}`

const propertiesConfig = `
graph: {edge_identity: IDENTITY, properties: {` + propertiesYAML + `}}
input: {file: {path: in.jsonl}}
output: {file: {path: out.jsonl, dead_letter: dead.jsonl}}
batch: {max_updates: 5, linger: 10s}
checkpoint: {dir: state}
admin: {listen: ""}
queries:
  - {name: big, file: big.cypher, within: 50s, params: {big: 10.50}, backfill: full}
  - {name: count, cypher: "MATCH (a)-[t:T {flag: true}]->(b)", emit: counts}
`

const bigCypher = `MATCH (a)-[t:T]->(b)-[u:T]->(c)
WHERE t.amount >= $big AND t.ts <= u.ts
RETURN t.amount + u.amount AS total, u AS second`

// valuedLines are updates among few accounts, so that edges are replaced again and again; every seventh is bad. ids
// gives most edges one of few.
func valuedLines(rng *rand.Rand, n int, ids bool) (all, good []string) {
	for i := range n {
		from := rng.IntN(5)
		to := (from + 1 + rng.IntN(4)) % 5
		line := fmt.Sprintf(`{"op":"+","from":"k%d","to":"k%d","label":"T","ts":%d,"props":{"memo":%d,"amount":%d.%d,`+
			`"flag":%v}}`, from, to, 1000*rng.IntN(60), rng.IntN(3), 8+rng.IntN(5), 5*rng.IntN(2), rng.IntN(2) == 0)
		switch {
		case i%7 == 6:
			all = append(all, strings.Replace(line, `"amount":`, `"amount":0.001,"x":`, 1))
			continue
		case rng.IntN(5) == 0:
			line = fmt.Sprintf(`{"op":"-","from":"k%d","to":"k%d","label":"T"}`, from, to)
		case rng.IntN(6) == 0:
			line = strings.Replace(line, `,"flag":true`, "", 1)
		}
		if ids && rng.IntN(4) > 0 {
			line = strings.Replace(line, `{"op"`, fmt.Sprintf(`{"id":"%d","op"`, rng.IntN(3)), 1)
		}
		all, good = append(all, line), append(good, line)
	}
	return all, good
}

// TestS15PropertiesThroughTheDaemon is a growth with declared properties of edges: what stands has the values of the
// end; a start with another type of a property that a query reads, or with another identity of edges, is refused.
func TestS15PropertiesThroughTheDaemon(t *testing.T) {
	matchertest.NotUnderRace(t, "TestRunOnFiles and TestAPI have the goroutines of the daemon")
	t.Parallel()
	for seed := range uint64(4) {
		identity := []string{"ends", "id"}[seed%2]
		rng := rand.New(rand.NewPCG(seed, 21))
		g := growth{
			config: strings.Replace(propertiesConfig, "IDENTITY", identity, 1), query: "big", cypher: bigCypher,
			lines:   func() (all, good []string) { return valuedLines(rng, 60, identity == "id") },
			initial: seed > 1, values: true,
			flags: []string{"--properties=" + propertiesYAML, "--edge-identity=" + identity, "--within=50s",
				"--param=big=10.50"},
		}
		out, info := g.play(t, seed)
		require.Equal(t, seed > 1, strings.Contains(out, `"snapshot":true`))
		require.Contains(t, info, "amount decimal(2), ")
		g.refuses(t, "decimal(2)", "decimal(3)", 2,
			`bad query "big": it reads t.amount as decimal(2), which graph.properties declares as decimal(3); `+
				"remove or change the query first, with the property declared as it was")
		other := []string{"id", "ends"}[seed%2]
		g.refuses(t, "identity: "+identity, "identity: "+other, 1,
			fmt.Sprintf("graph.edge_identity is %s there and %s in", identity, other))
	}
}

func TestPropertiesFlags(t *testing.T) {
	matchertest.NotUnderRace(t, "it runs commands one after the other")
	t.Parallel()
	dir := write(t, map[string]string{"big.cypher": bigCypher, "plain.cypher": "MATCH (a)-[t:T]->(b)"})
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"big.cypher"}, `big.cypher:2:7: property "amount" is not declared`},
		{[]string{"big.cypher", "--properties=none.yaml"}, "none.yaml: no such file"},
		{[]string{"big.cypher", "--properties=edges: {T: {amount: money}}"}, `the type "money" is unknown`},
		{[]string{"big.cypher", "--properties=" + propertiesYAML}, "the parameter \"$big\" is bound to nothing"},
		{[]string{"big.cypher", "--properties=" + propertiesYAML, "--param=big=1x"}, "--param: big:"},
		{[]string{"big.cypher", "--properties=" + propertiesYAML, "--param=big=1", "--param=bgi=2"},
			"--param: no pattern has the parameter $bgi"},
		{[]string{"big.cypher", "--properties=" + propertiesYAML, "--param=big=1", "--param=big=2"},
			`--param: the parameter "big" is given twice`},
		{[]string{"big.cypher", "--properties=" + propertiesYAML, "--param==1"}, `--param: "=1" is not NAME=VALUE`},
		{[]string{"big.cypher", "--properties=" + propertiesYAML, "--param=big"}, `--param: "big" is not NAME=VALUE`},
		{[]string{"plain.cypher", "--within=1h"}, `declare it: graph.properties.edges: {"T": {ts: timestamp}}`},
	} {
		r := motifd(t, dir, append([]string{"explain"}, c.args...)...)
		require.Equal(t, 2, r.code, "%v", c.args)
		require.Contains(t, r.stderr, c.want)
	}
	text := succeed(t, dir, "explain", "big.cypher", "plain.cypher", "--properties="+propertiesYAML, "--within=1h",
		"--param=big=1").stdout
	require.Contains(t, text, "t.amount >= 1")
	text = succeed(t, dir, "explain", "big.cypher", `--properties={"edges":{"T":{"amount":"int64","ts":"timestamp"}}}`,
		"--param=big=1").stdout
	require.Contains(t, text, "t.amount >= 1")
}
