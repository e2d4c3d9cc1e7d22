package main

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher/matchertest"
)

// TestPropertiesAreInferred holds that a replay and a match with --properties=infer put out what they do with the
// declarations that they show, and that these are what the updates have.
func TestPropertiesAreInferred(t *testing.T) {
	matchertest.NotUnderRace(t, "it runs commands one after the other")
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	_, good := valuedLines(rng, 300, false)
	csv := "A,B,TS,N,C\na,b,1000,12.50,red\na,c,2000,7,blue\nc,d,3000,0.25,red\n"
	dir := write(t, map[string]string{
		"in.jsonl": strings.Join(good, "\n") + "\n", "in.csv": csv,
		"graph.jsonl": `{"op":"+","from":"k0","to":"k9","label":"T","ts":7000,"props":{"amount":0.125}}` + "\n" +
			`{"op":"+v","key":"k9","label":"Account","props":{"risk":3}}` + "\n",
		"big.cypher": "MATCH (a)-[t:T]->(b)-[u:T]->(c) WHERE t.amount >= 9 AND t.ts <= u.ts AND u.flag = true " +
			"RETURN t.amount + u.amount AS total",
		"red.cypher":   `MATCH (x)-[t:PAY {color: "red"}]->(y) WHERE t.amount > 0.2 RETURN x, y`,
		"risky.cypher": "MATCH (a)-[t:T]->(b:Account) WHERE b.risk > 2 RETURN a",
	})
	shown := regexp.MustCompile(`--properties='(.*)'`)
	for _, c := range []struct {
		args    []string
		matches int
	}{
		{[]string{"replay", "--updates=in.jsonl", "--graph=graph.jsonl", "--query=big.cypher", "--batch=7",
			"--within=50s"}, 20},
		{[]string{"replay", "--updates=in.csv", "--csv=from=A,to=B,ts=TS,label='PAY',prop.amount=N,prop.color=C",
			"--query=red.cypher"}, 2},
		{[]string{"match", "--graph=graph.jsonl", "--query=risky.cypher", "--out=-"}, 1},
	} {
		got := succeed(t, dir, append(c.args, "--properties=infer")...)
		declared := shown.FindStringSubmatch(got.stderr)
		require.NotNil(t, declared, got.stderr)
		require.GreaterOrEqual(t, countLines(got.stdout, `"op":"+"`), c.matches, got.stdout)
		require.Equal(t, succeed(t, dir, append(c.args, "--properties="+declared[1])...).stdout, got.stdout)
		if c.args[1] == "--updates=in.jsonl" {
			require.Equal(t, "{edges: {T: {amount: decimal(3), flag: bool, memo: int64, ts: timestamp}}, "+
				"vertices: {Account: {risk: int64}}}", declared[1])
		}
	}
	r := succeed(t, dir, "query", "validate", "--graph=graph.jsonl", "--properties=infer", "risky.cypher")
	require.Contains(t, r.stdout, "risky: 2 vertices")
	require.Contains(t, succeed(t, dir, "explain", "--graph=graph.jsonl", "--properties=infer", "risky.cypher").stdout,
		"risk")
	for want, args := range map[string][]string{
		"standard input comes once": {"replay", "--updates=-", "--format=json", "--query=red.cypher"},
		"there is no file to infer": {"explain", "risky.cypher"},
		"--properties does not go":  {"replay", "--batch-log=state"},
		"--csv is missing":          {"replay", "--updates=in.csv", "--query=red.cypher"},
		"nothing.jsonl":             {"match", "--graph=nothing.jsonl", "--query=red.cypher"},
		`"risk" is not declared`:    {"match", "--graph=in.jsonl", "--query=risky.cypher"},
	} {
		r := motifd(t, dir, append(args, "--properties=infer")...)
		require.Equal(t, 2, r.code, "%v: %s", args, r.stderr)
		require.Contains(t, r.stderr, want)
	}
}
