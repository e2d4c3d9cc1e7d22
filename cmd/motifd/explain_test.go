package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher/matchertest"
)

// recipes returns the rules of docs/howto/typologies.md that are queries, by name, and the declared properties there.
func recipes(t *testing.T) (rules map[string]string, properties string) {
	t.Helper()
	page := readFile(t, filepath.Join("..", "..", "docs", "howto", "typologies.md"))
	rules = map[string]string{}
	for _, m := range regexp.MustCompile(`(?s)cat >([\w/.]+) <<'EOC'\n(.*?)EOC\n`).FindAllStringSubmatch(page, -1) {
		name, isRule := strings.CutPrefix(m[1], "rules/")
		switch {
		case !isRule:
			properties = m[2]
		case !strings.Contains(page, "refused "+strings.TrimSuffix(name, ".cypher")+"\n"):
			rules[name] = m[2]
		}
	}
	require.Greater(t, len(rules), 10)
	return rules, properties
}

// TestExplainRecipes holds what `explain` says of the recipes of typologies: groups, their keys, stages and hubs,
// windows, and the lengths of paths. Further patterns are denied, kept to once per key, and counted.
func TestExplainRecipes(t *testing.T) {
	matchertest.NotUnderRace(t, "it starts no goroutine")
	t.Parallel()
	rules, properties := recipes(t)
	rules["rules.yaml"] = properties
	rules["denied.cypher"] = "MATCH (a:Account)-[t:TRANSFER]->(b:Account)-[u:TRANSFER]->(c:Account) WHERE " +
		"t.ts < u.ts <= t.ts + $day AND NOT (a)-[:SIGN_IN]-(c) AND NOT EXISTS { (b)-[w:WITHDRAW]->(x:Account) WHERE " +
		"t.ts < w.ts < u.ts }\n"
	rules["lone.cypher"] = "MATCH (s:Account)-[t:TRANSFER]->(m:Account) WHERE NOT EXISTS { (m)-[u:TRANSFER]->" +
		"(:Account)<-[:TRANSFER]-(s) } WITH m, count(*) AS n, collect(t)[..3] AS latest WHERE n >= 5 " +
		"RETURN m, n, latest\n"
	rules["latest.cypher"] = "MATCH (s:Account)-[t:TRANSFER]->(m:Account) WITH m, count(*) AS n, " +
		"collect(t)[..3] AS latest WHERE n >= 5 RETURN m, n, latest\n"
	rules["star.cypher"] = "MATCH (s:Account)-[t:TRANSFER]->(m:Account) WITH m, count(DISTINCT s) AS n WHERE n >= 5 " +
		"RETURN m, n\n"
	dir := write(t, rules)
	explain := func(args ...string) string {
		all := append([]string{"explain", "--properties=rules.yaml"}, args...)
		for name, value := range map[string]string{"day": "24h", "days": "72h", "week": "7d"} {
			if regexp.MustCompile(`\$` + name + `\b`).MatchString(rules[args[len(args)-1]]) {
				all = append(all, "--param="+name+"="+value)
			}
		}
		return succeed(t, dir, all...).stdout
	}
	var text strings.Builder
	names := make([]string, 0, len(rules))
	for name := range rules {
		if strings.HasSuffix(name, ".cypher") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		out := explain(name)
		if i := strings.Index(out, "\nlengths "); i >= 0 { // the shortest one tells enough
			if j := strings.Index(out[i+1:], "\nlengths "); j >= 0 {
				out = out[:i+1+j] + "\n"
			}
		}
		text.WriteString("$ motifd explain " + name + "\n" + out)
	}
	text.WriteString("$ motifd explain --once-per=b --once-for=24h denied.cypher\n" +
		explain("--once-per=b", "--once-for=24h", "denied.cypher"))
	text.WriteString("$ motifd explain --emit=counts tcr4.cypher\n" + explain("--emit=counts", "tcr4.cypher"))
	golden(t, filepath.Join("testdata", "explain.golden"),
		strings.ReplaceAll(text.String(), " (label not seen in the graph yet)", ""))
}

// TestExplainAnalyze holds that the plan is that for the graph behind the sample, and that the costs are those of
// `query validate`.
func TestExplainAnalyze(t *testing.T) {
	matchertest.NotUnderRace(t, "it runs commands one after the other")
	t.Parallel()
	dir := write(t, map[string]string{"pair.cypher": "MATCH (a:A)-[:T]->(b:B)-[:T]->(c:A)"})
	var lines strings.Builder
	for _, ends := range []string{"a1 b1", "b1 a2", "a2 b1", "b1 a3", "a3 b2"} {
		from, to, _ := strings.Cut(ends, " ")
		lines.WriteString(`{"op":"+","from":"` + from + `","to":"` + to + `","label":"T","from_label":"` +
			strings.ToUpper(from[:1]) + `","to_label":"` + strings.ToUpper(to[:1]) + "\"}\n")
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "u.jsonl"), []byte(lines.String()), 0o644))
	out := succeed(t, dir, "explain", "pair.cypher", "--analyze=u.jsonl", "--last=3").stdout
	require.True(t, strings.HasPrefix(out, succeed(t, dir, "explain", "pair.cypher", "--graph=u.jsonl").stdout), out)
	require.NotContains(t, out, "label not seen")
	require.Contains(t, out, "sample: 3 updates, 0 records refused, in batches of 10,000; the graph has 5 vertices")
	require.Regexp(t, ` pair +666\.7 +0\.0 +0\.0 `, out)
	require.Contains(t, motifd(t, dir, "explain", "pair.cypher", "--analyze=-").stderr, "--analyze: the updates")
}

// TestExplainLevels holds that the levels of a search end with its matches: of a whole graph, of a sample, and of a
// count, which has none.
func TestExplainLevels(t *testing.T) {
	matchertest.NotUnderRace(t, "it runs commands one after the other")
	t.Parallel()
	graph, updates := randomStream(7, 20, 60, 40)
	dir := write(t, map[string]string{"g.txt": graph, "u.txt": updates, "path.cypher": "MATCH (a:`0`)--(b)--(c)--(d)"})
	count := func(text, pattern string) (n int) {
		m := regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1)
		require.NotEmpty(t, m, text)
		for _, x := range m {
			k, err := strconv.Atoi(x[1])
			require.NoError(t, err)
			n += k
		}
		return n
	}
	args := []string{"explain", "path.cypher", "--undirected", "--graph=g.txt", "--levels"}
	out := succeed(t, dir, args...).stdout
	require.True(t, strings.HasPrefix(out, succeed(t, dir, args[:len(args)-1]...).stdout), out)
	matched := succeed(t, dir, "match", "--undirected", "--graph=g.txt", "--query=path.cypher").stdout
	want := count(matched, ` path +(\d+) `)
	require.Equal(t, want, count(out, `path in the graph: (\d+) matches, `))
	require.Equal(t, want, count(out, `(?m)^ +3 +\w+ +- +\d+ +(\d+) +0 ?$`)) // it is short
	require.Contains(t, out, "path, from vertices: 20 tried\n")

	counted := succeed(t, dir, append(args, "--emit=counts")...).stdout
	require.Equal(t, want, count(counted, `path in the graph: (\d+) matches, counted, `))
	require.NotContains(t, counted, "components") // it is short
	graph, _ = randomStream(7, 60, 900, 40)
	long := write(t, map[string]string{"g.txt": graph, "path.cypher": "MATCH (a:`0`)--(b)--(c)--(d)--(e)--(f)"})
	counted = succeed(t, long, append(args, "--emit=counts")...).stdout
	matched = succeed(t, long, "match", "--undirected", "--graph=g.txt", "--query=path.cypher").stdout
	require.Equal(t, count(matched, ` path +(\d+) `), count(counted, `path in the graph: (\d+) matches, counted, `))
	require.Contains(t, counted, "path, counted by components, with a candidate space: ")

	r := succeed(t, dir, "replay", "--undirected", "--graph=g.txt", "--updates=u.txt", "--query=path.cypher",
		"--out=none", "--batch=8")
	delta := count(r.stderr+r.stdout, ` path +(\d+) +\d+ `) + count(r.stderr+r.stdout, ` path +\d+ +(\d+) `)
	out = succeed(t, dir, append(args, "--analyze=u.txt", "--batch=8")...).stdout
	require.Contains(t, out, "path, from updates of ")
	require.Equal(t, delta, count(out, `(?m)^ +3 +\w+ +- +\d+ +(\d+) +0 ?$`))

	require.Contains(t, motifd(t, dir, "explain", "path.cypher", "--undirected", "--levels").stderr, "--levels needs")
	require.Equal(t, exitRefused, motifd(t, dir, append(args, "--backend=reference")...).code)
}

// TestExplainShowsPatternsOfOneVertex: of a vertex without conditions that is denied something, and of one whose
// conditions are joined by AND, an OR among them.
func TestExplainShowsPatternsOfOneVertex(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{
		"idle.cypher":    "MATCH (a:A) WHERE NOT (a)-[:T]->(:B)",
		"blocked.cypher": "MATCH (a:A {blocked: true}) WHERE a.risk IS NULL OR a.risk < 5",
		"u.jsonl":        `{"op":"+","from":"a","to":"b","label":"T","from_label":"A","to_label":"B"}` + "\n",
	})
	out := succeed(t, dir, "explain", "idle.cypher").stdout
	require.Contains(t, out, "\ninserted, deleted or revised (a:A)\n")
	require.Contains(t, succeed(t, dir, "explain", "idle.cypher", "--analyze=u.jsonl").stdout, "sample: 1 update")
	const declared = "--properties=vertices: {A: {blocked: bool, risk: int64}}"
	out = succeed(t, dir, "explain", "blocked.cypher", declared).stdout
	require.Contains(t, out, "(a:A) where a.blocked = true and ((a.risk IS NULL) OR (a.risk < 5))\n")
}
