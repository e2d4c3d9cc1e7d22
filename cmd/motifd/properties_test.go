package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const propertiesYAML = `edges: {T: {amount: decimal(2), ts: timestamp}, "*": {flag: bool}}`

const propertiesConfig = `
graph: {edge_identity: ends, properties: {` + propertiesYAML + `}}
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

// valuedLines are updates among few accounts, so that edges are replaced again and again; every seventh is bad.
func valuedLines(rng *rand.Rand, n int) (all, good []string) {
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
		all, good = append(all, line), append(good, line)
	}
	return all, good
}

// standingRecords reads deltas of one query: what stands in the end, by match id, without what names the record.
func standingRecords(t *testing.T, query, out string) map[string]string {
	standing := make(map[string]string)
	for line := range strings.Lines(out) {
		var r struct {
			Query, Op, Match        string
			Vertices, Edges, Fields json.RawMessage
		}
		require.NoError(t, json.Unmarshal([]byte(line), &r), line)
		if r.Query != query {
			continue
		}
		if r.Op == "-" {
			require.Equal(t, standing[r.Match], fmt.Sprintf("%s %s %s", r.Vertices, r.Edges, r.Fields),
				"the cancellation shows what was announced")
			delete(standing, r.Match)
			continue
		}
		require.Empty(t, standing[r.Match], "announced twice")
		standing[r.Match] = fmt.Sprintf("%s %s %s", r.Vertices, r.Edges, r.Fields)
	}
	return standing
}

// TestS15PropertiesThroughTheDaemon runs a daemon with declared properties over a file that grows between its starts:
// its output adds up to what `match` finds in the end, with the values of the end; the batch log replays to the same
// bytes; a start with other properties is refused.
func TestS15PropertiesThroughTheDaemon(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		rng := rand.New(rand.NewPCG(seed, 21))
		dir := write(t, map[string]string{"motifd.yaml": propertiesConfig, "big.cypher": bigCypher,
			"properties.yaml": propertiesYAML})
		var all, good []string
		var more []string
		if seed == 2 { // the first edges come from a file
			_, good = valuedLines(rng, 60)
			more = []string{"--graph=bootstrap.jsonl"}
			text := []byte(strings.Join(good, "\n"))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "bootstrap.jsonl"), text, 0o644))
		}
		first := len(good)
		for range 3 {
			a, g := valuedLines(rng, 60)
			all, good = append(all, a...), append(good, g...)
			text := []byte(strings.Join(all, "\n") + "\n")
			require.NoError(t, os.WriteFile(filepath.Join(dir, "in.jsonl"), text, 0o644))
			succeed(t, dir, append([]string{"run", "-c", "motifd.yaml"}, more...)...)
		}
		out := readFile(t, filepath.Join(dir, "out.jsonl"))
		require.Contains(t, out, `"op":"-"`)
		require.NotContains(t, out, "memo", "it is not declared")
		dead := readFile(t, filepath.Join(dir, "dead.jsonl"))
		require.Equal(t, len(all)-(len(good)-first), strings.Count(dead, `"reason":"property"`))
		require.Equal(t, seed == 2, strings.Contains(out, `"snapshot":true`))

		require.NoError(t, os.WriteFile(filepath.Join(dir, "good.jsonl"), []byte(strings.Join(good, "\n")+"\n"), 0o644))
		found := succeed(t, dir, "match", "--graph=good.jsonl", "--query=big.cypher", "--properties=properties.yaml",
			"--within=50s", "--param=big=10.50", "--out=-").stdout
		want := standingRecords(t, "big", found)
		require.NotEmpty(t, want, "seed %d", seed)
		require.Equal(t, want, standingRecords(t, "big", out), "seed %d", seed)
		require.Equal(t, out, succeed(t, dir, "replay", "--batch-log=state").stdout, "seed %d", seed)
		require.Contains(t, succeed(t, dir, "checkpoint", "verify", "state").stdout, "intact")
		require.Contains(t, succeed(t, dir, "checkpoint", "info", "state").stdout, "amount decimal(2), ")
		replayed := succeed(t, dir, "replay", "--updates=good.jsonl", "--query=big.cypher", "--within=50s", "--batch=3",
			"--properties="+propertiesYAML, "--param=big=10.50").stdout
		require.Equal(t, want, standingRecords(t, "big", replayed), "seed %d: cut anew", seed)

		other := strings.Replace(propertiesConfig, "decimal(2)", "decimal(3)", 1)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "motifd.yaml"), []byte(other), 0o644))
		refused := motifd(t, dir, append([]string{"run", "-c", "motifd.yaml"}, more...)...)
		require.Equal(t, 1, refused.code)
		require.Contains(t, refused.stderr, "graph.properties.edges.T.amount is decimal(2) there and decimal(3)")
	}
}

func TestPropertiesFlags(t *testing.T) {
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
