package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/cmd/motifd/internal/admin"
	"motifd/matcher/matchertest"
)

// countLines counts the lines of a text that have all of some parts.
func countLines(text string, parts ...string) (n int) {
	for line := range strings.Lines(text) {
		if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(line, part) }) {
			n++
		}
	}
	return n
}

// TestS11OneHubDoesNotHoldTheDaemon plays sixty payments to one account, and an unrelated one, against a pattern of ten
// senders: 7.5e10 matches. What is within the limits is put out, records tell of the rest, other queries and the exact
// count are as they are without a hub, a registration with a backfill is bounded, too, and a replay of the batch log
// puts out the same bytes. Then the payments are withdrawn. With a cap, the first matches are put out, and no limit is
// reached.
func TestS11OneHubDoesNotHoldTheDaemon(t *testing.T) {
	matchertest.NotUnderRace(t, "TestS11OneHubOnKafka has a hub in the same goroutines")
	t.Parallel()
	var senders []string
	for i := range 10 {
		senders = append(senders, fmt.Sprintf("(s%d:Account)-[:TRANSFER]->(m)", i))
	}
	fan := "MATCH " + strings.Join(senders, ", ")
	message := func(op string) string {
		var all []string
		for i := range 60 {
			all = append(all, fmt.Sprintf(
				`{"op":"%s","from":"s%d","to":"payroll","label":"TRANSFER","from_label":"Account"}`, op, i))
		}
		return "[" + strings.Join(append(all, fmt.Sprintf(`{"op":"%s","from":"x","to":"y","label":"PAY"}`, op)), ",") +
			"]\n"
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
  - {name: first10, unit: subgraphs, max_matches_per_batch: 10, cypher: "` + fan + `"}
` + queries
	}
	dir := write(t, map[string]string{"motifd.yaml": config(""), "in.jsonl": message("+"),
		"late.yaml": config(`  - {name: late10, unit: subgraphs, backfill: full, cypher: "` + fan + `"}
  - {name: latefirst10, unit: subgraphs, backfill: full, max_matches_per_batch: 10, cypher: "` + fan + `"}` + "\n")})
	out := func() string { return readFile(t, filepath.Join(dir, "out.jsonl")) }
	succeed(t, dir, "run", "-c", "motifd.yaml")
	first := out()
	require.Equal(t, 1, countLines(first, `"query":"pay"`, `"op":"+"`))
	require.Equal(t, 1, countLines(first, `"query":"count10"`, `"count":75394027566`))
	require.Equal(t, 1, countLines(first, `"query":"any10"`, `"op":"+"`))
	skipped := countLines(first, `"query":"fan10"`, `"op":"!"`, `"reason":"skipped"`)
	require.Greater(t, skipped, 30)
	require.Less(t, countLines(first, `"query":"fan10"`, `"op":"+"`), 60*20_000)

	// The eleventh payment is the one that exceeds the cap. One more has 1.5e10 matches of its own.
	onlyFirst := func(text string, parts ...string) {
		t.Helper()
		require.Equal(t, 10, countLines(text, append(parts, `"op":"+","match":`)...))
		require.Equal(t, 1, countLines(text, append(parts, `"op":"!"`, `"reason":"truncated"`)...))
		require.Equal(t, 11, countLines(text, parts...))
	}
	onlyFirst(first, `"query":"first10"`)

	write := func(text string) { appendFile(t, filepath.Join(dir, "in.jsonl"), text) }
	write(`{"op":"+","from":"s60","to":"payroll","label":"TRANSFER","from_label":"Account"}` + "\n")
	succeed(t, dir, "run", "-c", "motifd.yaml")
	more := strings.TrimPrefix(out(), first)
	require.Equal(t, 1, countLines(more, `"query":"fan10"`, `"op":"!"`, `"reason":"skipped"`))
	onlyFirst(more, `"query":"first10"`)
	first += more

	write(message("-"))
	succeed(t, dir, "run", "-c", "motifd.yaml")
	second := strings.TrimPrefix(out(), first)
	require.Equal(t, 1, countLines(second, `"query":"pay"`, `"op":"-"`))
	require.Equal(t, 1, countLines(second, `"query":"any10"`, `"op":"-"`))
	require.Positive(t, countLines(second, `"query":"fan10"`, `"op":"!"`, `"reason":"ended"`, `"edge":{"from":"s`))

	write(message("+"))
	succeed(t, dir, "run", "-c", "late.yaml")
	write("[]\n")
	require.Equal(t, 0, countLines(out(), `"query":"late10"`, `"snapshot":true`, `"op":"+"`),
		"it was registered before the payments came back")
	succeed(t, dir, "run", "-c", "motifd.yaml") // takes late10 away
	succeed(t, dir, "run", "-c", "late.yaml")
	require.Equal(t, 1, countLines(out(), `"query":"late10"`, `"snapshot":true`, `"op":"!"`, `"reason":"skipped"`))

	onlyFirst(out(), `"query":"latefirst10"`, `"snapshot":true`)

	succeed(t, dir, "replay", "--batch-log", "state", "--out", "again.jsonl")
	require.Equal(t, out(), readFile(t, filepath.Join(dir, "again.jsonl")))
}

// hub starts a daemon with sixty payments to one account, and returns it with the body that registers a pattern of ten
// senders.
func hub(t *testing.T, args ...string) (p *process, fan func(change func(*admin.NewQuery)) string) {
	t.Helper()
	dir, port := logDir(t)
	p = start(t, dir, args...)
	p.ready()
	require.NoError(t, produceOne(t.Context(), port, []byte(hubMessage())))
	p.until("the payments are there", func() bool { return p.status().Edges == 60 })
	return p, func(change func(*admin.NewQuery)) string {
		q := admin.NewQuery{Name: "fan10", Cypher: hubPattern(), Unit: "subgraphs", Backfill: "full"}
		if change != nil {
			change(&q)
		}
		body, err := json.Marshal(q)
		require.NoError(t, err)
		return string(body)
	}
}

// TestABackfillIsCountedFirst: a registration that would put out more matches than admin.max_backfill is refused with
// their exact number, at once; what puts out less is not, and a dry run tells the number alone. Where it is not found
// in time, the registration goes on, and says so.
func TestABackfillIsCountedFirst(t *testing.T) {
	t.Parallel()
	p, fan := hub(t)
	const n = "75394027566"
	got := p.ask("POST", "/api/v1/queries", fan(nil))
	require.Equal(t, http.StatusConflict, got.code, got.body)
	require.Contains(t, got.body, n+" matches")
	require.Contains(t, got.body, "admin.max_backfill is 10000000")
	got = p.ask("POST", "/api/v1/queries?dry_run=true", fan(nil))
	require.Equal(t, http.StatusConflict, got.code, "as it would be")
	got = p.ask("POST", "/api/v1/queries?dry_run=true", fan(func(q *admin.NewQuery) { q.Backfill = "" }))
	require.Equal(t, answer{200, `{"backfill":"` + n + `","dry_run":true}`}, got)
	require.Equal(t, http.StatusBadRequest, p.ask("POST", "/api/v1/queries?dry=1", fan(nil)).code)
	require.Equal(t, http.StatusBadRequest, p.ask("POST", "/api/v1/queries?dry_run=perhaps", fan(nil)).code)
	require.NotContains(t, p.ask("GET", "/api/v1/queries", "").body, "fan10")
	p.until("no batch but the two queries and the payments", func() bool { return p.status().Batch == 3 })

	dir := write(t, map[string]string{"pair.cypher": "MATCH (a)-->(m)<--(b)"})
	const returns = "warning: the configuration has another query of this name, which returns with the next start; " +
		"change it there, too, or register this one under another name\n"
	require.Equal(t, "query pair, nothing was changed, matches in the graph: 3540\n"+returns,
		succeed(t, dir, "query", "add", "pair.cypher", "--dry-run", "--url", p.url).stdout)
	require.Equal(t, "query pair, version 2, from batch 4 on, matches in the graph: 3540\n"+returns,
		succeed(t, dir, "query", "add", "pair.cypher", "--backfill=full", "--url", p.url).stdout)
	got = p.ask("POST", "/api/v1/queries", fan(func(q *admin.NewQuery) { q.Name, q.Emit = "counts", "counts" }))
	require.Equal(t, answer{202, `{"batch":5,"version":1}`}, got, "one record is no flood")
	p.stop()

	p, _ = hub(t, "--set", "admin.max_backfill=3539")
	r := motifd(t, dir, "query", "add", "pair.cypher", "--backfill=full", "--url", p.url)
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.stderr, "has 3540 matches in the graph")
	require.Contains(t, r.stderr, "admin.max_backfill is 3539")
	r = succeed(t, dir, "query", "add", "pair.cypher", "--backfill=full", "--max-matches-per-batch=3539", "--url",
		p.url)
	require.Equal(t, "query pair, version 2, from batch 4 on\n"+returns, r.stdout, "what is capped is not counted")
	r = succeed(t, dir, "query", "add", "pair.cypher", "--name=trial", "--mode=shadow", "--backfill=full", "--url",
		p.url)
	require.Equal(t, "query trial, version 1, from batch 5 on\n", r.stdout, "a shadow puts nothing out")
	r = succeed(t, dir, "query", "remove", "ring", "--url", p.url)
	require.Equal(t, "query ring, version 1, removed in batch 6\n"+
		"warning: the configuration has it, so that it returns with the next start\n", r.stdout)
	r = succeed(t, dir, "query", "remove", "pair", "--url", p.url)
	require.Equal(t, "query pair, version 2, removed in batch 7\n"+
		"warning: the configuration has it, so that it returns with the next start\n", r.stdout,
		"also behind one of the API")
	p.stop()

	p, fan = hub(t, "--set", "admin.count_time=1ns", "--set", "engine.limits.group_matches=1000")
	require.Equal(
		t,
		answer{202, `{"batch":4,"version":1,"backfill":"unknown"}`},
		p.ask("POST", "/api/v1/queries", fan(nil)),
	)
	p.until(
		"the rest was left out",
		func() bool { return strings.Contains(p.ask("GET", "/api/v1/queries", "").body, `"lossy_since":4`) },
	)
	require.Contains(t, p.ask("GET", "/api/v1/status", "").body, `"lossy_since":4`)
	p.stop()
}

// TestARegistrationIsCutShort: without limits, a backfill of 7.5e10 matches would take days. The API answers meanwhile
// and lists it with its progress, readiness falls, and DELETE ends it and removes the query.
func TestARegistrationIsCutShort(t *testing.T) {
	t.Parallel()
	p, fan := hub(
		t,
		"--set",
		"engine.limits.group_matches=0",
		"--set",
		"engine.limits.query_time=0s",
		"--set",
		"engine.limits.batch_time=0s",
		"--set",
		"engine.limits.query_output=0",
		"--set",
		"admin.max_backfill=100000000000",
		"--set",
		"admin.step_timeout=1s",
	)
	require.Equal(t, http.StatusAccepted, p.ask("POST", "/api/v1/queries", fan(nil)).code)
	var list admin.QueryList
	p.until("its progress is told", func() bool {
		list = admin.QueryList{}
		require.NoError(t, json.Unmarshal([]byte(p.ask("GET", "/api/v1/queries", "").body), &list))
		return len(list.Pending) == 1 && list.Pending[0].Found > 1_000_000
	})
	now := list.Pending[0]
	require.Equal(
		t,
		[]string{"add", "fan10", "running", "75394027566"},
		[]string{now.Op, now.Query, now.State, now.Backfill},
	)
	require.EqualValues(t, 4, now.Batch)
	p.until("it is not ready any more", func() bool {
		got := p.ask("GET", "/readyz", "")
		return got.code == http.StatusServiceUnavailable && strings.Contains(got.body, "admin.step_timeout is 1s")
	})
	require.Regexp(t, `(?m)^motifd_step_running_seconds [1-9]`, p.ask("GET", "/metrics", "").body)
	got := p.ask("DELETE", "/api/v1/queries/fan10", "")
	require.Equal(t, http.StatusAccepted, got.code, got.body)
	require.NotContains(t, got.body, "cancelled")
	p.until("it is gone", func() bool {
		return !strings.Contains(p.ask("GET", "/api/v1/queries", "").body,
			`"name":"fan10"`)
	})
	p.ready()
	p.stop()
}
