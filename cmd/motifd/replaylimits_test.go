package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher/matchertest"
)

// TestReplayWithADaemonsSettings holds that a replay with a daemon's caps, budgets, sample, limits and echo_props puts
// out the daemon's bytes, notices included, but for the stream's id.
func TestReplayWithADaemonsSettings(t *testing.T) {
	matchertest.NotUnderRace(t, "it takes 10 seconds of processors")
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 7))
	var in strings.Builder
	for i := range 600 {
		u, v := rng.IntN(12), rng.IntN(12)
		if u != v {
			fmt.Fprintf(&in, `{"op":"%s","from":"v%d","to":"v%d","label":"T"`, []string{"+", "+", "-"}[rng.IntN(3)], u,
				v)
			fmt.Fprintf(&in, `,"props":{"amount":%d}}`+"\n", i)
		}
	}
	const fan, ring = "MATCH (a)-[:T]->(m), (b)-[:T]->(m), (c)-[:T]->(m)", "MATCH (a)-[:T]->(b)-[:T]->(c)-[:T]->(a)"
	stream := regexp.MustCompile(`"stream":"[^"]*"`)
	seen := map[string]bool{}
	for name, c := range map[string]struct{ query, top, flags string }{
		"cap":    {"max_matches_per_batch: 5, exact_total: true", "", "--max-matches-per-batch=5 --exact-total"},
		"budget": {"work_budget: 400", "", "--work-budget=400"},
		"suspend": {"work_budget: 150, over_budget: suspend, unit: subgraphs", "",
			"--work-budget=150 --over-budget=suspend --unit=subgraphs"},
		"sample": {"sample: 3", "", "--sample=3"},
		"group":  {"unit: subgraphs", "engine: {limits: {group_matches: 20}}", "--group-matches=20 --unit=subgraphs"},
		"query":  {"", "engine: {limits: {query_matches: 40}}", "--query-matches=40"},
		"homomorphism": {"match_mode: homomorphism, max_matches_per_batch: 9", "",
			"--match-mode=homomorphism --max-matches-per-batch=9"},
		"props": {"unit: subgraphs", "", "--echo-props --unit=subgraphs"},
	} {
		config := fmt.Sprintf(`
input: {file: {path: in.jsonl}}
output: {file: {path: out.jsonl, control: batches.jsonl}, echo_props: %t}
batch: {max_updates: 40, linger: 1h}
checkpoint: {dir: state}
admin: {listen: ""}
queries:
  - {name: fan, cypher: "%s", %s}
  - {name: ring, cypher: "%s", %s}
%s
`, name == "props", fan, c.query, ring, c.query, c.top)
		dir := write(
			t,
			map[string]string{"motifd.yaml": config, "in.jsonl": in.String(), "fan.cypher": fan, "ring.cypher": ring},
		)
		// One thread: what a group of a budget's last steps may take depends on what others have taken by then.
		succeed(t, dir, "run", "-c", "motifd.yaml", "--set", "engine.threads=1")
		want := readFile(t, filepath.Join(dir, "out.jsonl"))
		args := append(
			[]string{
				"replay",
				"--updates",
				"in.jsonl",
				"--batch",
				"40",
				"--query",
				"fan.cypher",
				"--query",
				"ring.cypher",
				"--threads",
				"1",
			},
			strings.Fields(c.flags)...)
		require.Equal(t, stream.ReplaceAllString(want, `"stream":"replay"`), succeed(t, dir, args...).stdout, name)
		if name == "cap" { // records hold the stream's id, so a limit on their bytes is not reached at the same place
			bounded := succeed(t, dir, append(args, "--query-output=16KiB")...).stdout
			require.Contains(t, bounded, `"limit":"query_output"`)
			r := motifd(t, dir, append(args, "--query-output=16KiB", "--out=none")...)
			require.Equal(t, 2, r.code, r.stderr)
			require.Contains(t, r.stderr, "--query-output does not go with --out=none")
		}
		without := succeed(t, dir, args[:len(args)-len(strings.Fields(c.flags))]...).stdout
		require.NotEqual(t, without, stream.ReplaceAllString(want, `"stream":"replay"`), "%s: the settings show", name)
		for _, reason := range []string{"skipped", "ended", "suspended", "truncated"} {
			seen[reason] = seen[reason] || strings.Contains(want, `"reason":"`+reason+`"`)
		}
		for _, flag := range strings.Fields(c.flags) {
			r := motifd(t, dir, "replay", "--batch-log", "state", flag)
			require.Equal(t, 2, r.code, r.stderr)
			require.Contains(t, r.stderr, "does not go with --batch-log")
		}
	}
	require.Equal(t, map[string]bool{"skipped": true, "ended": true, "suspended": true, "truncated": true}, seen)
}
