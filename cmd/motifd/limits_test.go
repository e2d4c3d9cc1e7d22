package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestS11OneHubDoesNotHoldTheDaemon plays sixty payments to one account, and an unrelated one, against a pattern of ten senders: 7.5e10
// matches. What is within the limits is put out, records tell of the rest, other queries and the exact count are as they are without a hub,
// a registration with a backfill is bounded, too, and a replay of the batch log puts out the same bytes. Then the payments are withdrawn.
func TestS11OneHubDoesNotHoldTheDaemon(t *testing.T) {
	t.Parallel()
	var senders []string
	for i := range 10 {
		senders = append(senders, fmt.Sprintf("(s%d:Account)-[:TRANSFER]->(m)", i))
	}
	fan := "MATCH " + strings.Join(senders, ", ")
	message := func(op string) string {
		var all []string
		for i := range 60 {
			all = append(all, fmt.Sprintf(`{"op":"%s","from":"s%d","to":"payroll","label":"TRANSFER","from_label":"Account"}`, op, i))
		}
		return "[" + strings.Join(append(all, fmt.Sprintf(`{"op":"%s","from":"x","to":"y","label":"PAY"}`, op)), ",") + "]\n"
	}
	config := func(queries string) string {
		return `
input: {file: {path: in.jsonl}}
output: {file: {path: out.jsonl}}
batch: {max_updates: 61}
checkpoint: {dir: state}
admin: {listen: ""}
engine: {limits: {group_matches: 20000, query_time: 2s}}
queries:
  - {name: pay, cypher: "MATCH (a)-[:PAY]->(b)"}
  - {name: count10, unit: subgraphs, emit: counts, cypher: "` + fan + `"}
  - {name: any10, unit: subgraphs, emit: exists, cypher: "` + fan + `"}
  - {name: fan10, unit: subgraphs, cypher: "` + fan + `"}
` + queries
	}
	dir := write(t, map[string]string{"motifd.yaml": config(""), "in.jsonl": message("+"),
		"late.yaml": config(`  - {name: late10, unit: subgraphs, backfill: full, cypher: "` + fan + `"}` + "\n")})
	out := func() string { return readFile(t, filepath.Join(dir, "out.jsonl")) }
	count := func(text string, parts ...string) (n int) {
	lines:
		for line := range strings.Lines(text) {
			for _, part := range parts {
				if !strings.Contains(line, part) {
					continue lines
				}
			}
			n++
		}
		return n
	}
	succeed(t, dir, "run", "-c", "motifd.yaml")
	first := out()
	require.Equal(t, 1, count(first, `"query":"pay"`, `"op":"+"`))
	require.Equal(t, 1, count(first, `"query":"count10"`, `"count":75394027566`))
	require.Equal(t, 1, count(first, `"query":"any10"`, `"op":"+"`))
	skipped := count(first, `"query":"fan10"`, `"op":"!"`, `"reason":"skipped"`)
	require.Greater(t, skipped, 30)
	require.Less(t, count(first, `"query":"fan10"`, `"op":"+"`), 60*20_000)

	write := func(text string) { appendFile(t, filepath.Join(dir, "in.jsonl"), text) }
	write(message("-"))
	succeed(t, dir, "run", "-c", "motifd.yaml")
	second := strings.TrimPrefix(out(), first)
	require.Equal(t, 1, count(second, `"query":"pay"`, `"op":"-"`))
	require.Equal(t, 1, count(second, `"query":"any10"`, `"op":"-"`))
	require.Positive(t, count(second, `"query":"fan10"`, `"op":"!"`, `"reason":"ended"`, `"edge":{"from":"s`))

	write(message("+"))
	succeed(t, dir, "run", "-c", "late.yaml")
	write("[]\n")
	require.Equal(t, 0, count(out(), `"query":"late10"`, `"snapshot":true`, `"op":"+"`), "it was registered before the payments came back")
	succeed(t, dir, "run", "-c", "motifd.yaml") // takes late10 away
	succeed(t, dir, "run", "-c", "late.yaml")
	require.Equal(t, 1, count(out(), `"query":"late10"`, `"snapshot":true`, `"op":"!"`, `"reason":"skipped"`))

	succeed(t, dir, "replay", "--batch-log", "state", "--out", "again.jsonl")
	require.Equal(t, out(), readFile(t, filepath.Join(dir, "again.jsonl")))
}
