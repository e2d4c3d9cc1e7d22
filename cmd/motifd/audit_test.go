package main

import (
	bin "encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"

	"motifd/cmd/motifd/internal/audit"
	"motifd/matcher/matchertest"
)

// auditConfig has a query of each kind; more are added behind it.
const auditConfig = `
input: {file: {path: in.jsonl}}
output: {file: {path: out.jsonl}}
admin: {listen: ""}
batch: {max_updates: 4, linger: 10s}
graph: {properties: {edges: {T: {amount: int64, ts: timestamp}}}}
checkpoint: {dir: state, retention: {batches: 8}}
queries:
  - {name: ring, cypher: "MATCH (a)-[:T]->(b)-[:T]->(c)-[:T]->(a)"}
  - {name: rings, unit: subgraphs, cypher: "MATCH (a)-[:T]->(b)-[:T]->(c)-[:T]->(a)"}
  - {name: pairs, emit: counts, cypher: "MATCH (a)-[:T]->(b)-[:T]->(c)"}
  - {name: any, emit: exists, cypher: "MATCH (a)-[t:T]->(b)-[u:T]->(c) WHERE t.amount > 6 AND u.amount > 6"}
  - {name: oneway, cypher: "MATCH (a)-[:T]->(b)-[:T]->(c) WHERE NOT (a)-[:T]->(c)"}
  - {name: walk, cypher: "MATCH (a)-[t:T*1..3]->(b)"}
  - {name: many, on_change: emit, cypher: "MATCH (s)-[t:T]->(m) WITH m, count(t) AS n WHERE n >= 3 RETURN m, n"}
  - {name: quiet, on_change: silent, cypher: "MATCH (a)-[t:T]->(b)-[u:T]->(c) WHERE t.amount > 3"}
  - {name: shadow, mode: shadow, cypher: "MATCH (a)-[:T]->(b)-[:T]->(a)"}
  - {name: sampled, sample: 4, cypher: "MATCH (a)-[:T]->(b)"}
  - {name: once, once: {per: [b], for: 1h}, cypher: "MATCH (a)-[:T]->(b)"}
  - {name: silent, on_expiry: silent, cypher: "MATCH (a)-[:T]->(b)"}
  - {name: capped, max_matches_per_batch: 1, cypher: "MATCH (a)-[:T]->(b)"}
  - {name: exact, max_matches_per_batch: 1, exact_total: true, cypher: "MATCH (a)-[:T]->(b)"}
`

const auditLater = `
  - {name: filled, backfill: full, cypher: "MATCH (a)-[:T]->(b)-[:T]->(c)"}
  - {name: empty, backfill: none, emit: counts, cypher: "MATCH (a)-[:T]->(b)-[:T]->(c)"}
  - {name: someone, backfill: none, emit: exists, cypher: "MATCH (a)-[t:T]->(b) WHERE t.amount > 8"}
`

// auditCompared are the queries of auditConfig and auditLater that an audit compares.
var auditCompared = []string{"any", "empty", "exact", "filled", "many", "oneway", "pairs", "quiet", "ring", "rings",
	"shadow", "someone", "walk"}

// moreUpdates appends random updates, among few accounts so that matches come and go.
func moreUpdates(t *testing.T, rng *rand.Rand, dir string, n int) {
	t.Helper()
	var b strings.Builder
	for range n {
		from, to := rng.IntN(6), rng.IntN(5)
		if to >= from {
			to++
		}
		line := edgeJSON([]string{"+", "+", "-"}[rng.IntN(3)], fmt.Sprint("v", from), fmt.Sprint("v", to))
		if rng.IntN(4) > 0 {
			values := fmt.Sprintf(`,"props":{"amount":%d},"ts":%d}`, rng.IntN(10), 1+rng.IntN(1000))
			line = strings.Replace(line, "}", values, 1)
		}
		b.WriteString(line)
	}
	appendFile(t, filepath.Join(dir, "in.jsonl"), b.String())
}

// audited runs motifd audit --json.
func audited(t *testing.T, dir string, args ...string) (report audit.Report, code int, stderr string) {
	t.Helper()
	r := motifd(t, dir, append([]string{"audit", "state", "--json"}, args...)...)
	var printed struct {
		First, Last uint64
		Queries     []struct {
			Name            string
			Since           uint64
			Expected, Found json.Number
		}
		LeftOut []audit.LeftOut `json:"left_out"`
	}
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &printed), r.stderr)
	report.First, report.Last, report.LeftOut = printed.First, printed.Last, printed.LeftOut
	for _, q := range printed.Queries {
		require.Equal(t, q.Expected == q.Found, !strings.Contains(r.stderr, q.Name+": expected"), q.Name)
		report.Queries = append(report.Queries, audit.Query{Name: q.Name, Since: q.Since})
	}
	return report, r.code, r.stderr
}

// TestS5Audit runs a daemon several times on random updates, with a log that is shorter than the stream: what was
// emitted agrees with the graph, from every base, and queries that cannot be added up are left out by name.
func TestS5Audit(t *testing.T) {
	matchertest.NotUnderRace(t, "it runs commands one after the other")
	var early, late, cut int // baselines before the log, at a registration in it; batches beyond the cap
	seen := func() bool { return early > 0 && late > 0 && cut > 0 }
	matchertest.ForSeedsUntil(t, 4, seen, func(t *testing.T, rng *rand.Rand) {
		dir := write(t, map[string]string{"motifd.yaml": auditConfig, "later.yaml": auditConfig + auditLater[1:],
			"in.jsonl": ""})
		moreUpdates(t, rng, dir, 20+rng.IntN(30))
		succeed(t, dir, "run", "-c", "motifd.yaml")
		moreUpdates(t, rng, dir, rng.IntN(20))
		succeed(t, dir, "run", "-c", "motifd.yaml")
		succeed(t, dir, "run", "-c", "later.yaml")
		for range 3 {
			moreUpdates(t, rng, dir, 1+rng.IntN(16))
			succeed(t, dir, "run", "-c", "later.yaml")
			report, code, stderr := audited(t, dir)
			require.Equal(t, exitOK, code, stderr)
			require.Equal(t, report.First+7, report.Last)
			left, names := map[string]string{}, []string{}
			for _, l := range report.LeftOut {
				left[l.Name] = l.Reason
			}
			for _, q := range report.Queries {
				names = append(names, q.Name)
				if q.Name == "empty" && q.Since >= report.First {
					late++
				} else if q.Name == "empty" {
					early++
				}
			}
			if left["capped"] == "" { // each batch of the log has one match at most
				require.Contains(t, names, "capped")
				names = slices.DeleteFunc(names, func(name string) bool { return name == "capped" })
			} else {
				cut++
				require.Contains(t, left["capped"], "max_matches_per_batch")
			}
			require.Equal(t, auditCompared, names)
			require.Equal(t, "sampled: one match in 4", left["sampled"])
			require.Contains(t, left["once"], "the ends of matches are not searched")
			require.Contains(t, left["silent"], "on_expiry: silent")
		}
		succeed(t, dir, "checkpoint", "suspend", "state", "--query=ring")
		succeed(t, dir, "run", "-c", "later.yaml")
		report, code, _ := audited(t, dir, "--query=ring", "--query=walk")
		require.Equal(t, exitOK, code)
		require.Equal(t, []audit.LeftOut{{Name: "ring", Version: 1, Reason: "suspended: operator"}}, report.LeftOut)
		require.Len(t, report.Queries, 1)
		r := motifd(t, dir, "audit", "state", "--query=nobody")
		require.Equal(t, exitRefused, r.code)
		require.Contains(t, r.stderr, `no such query: "nobody"`)
	})
}

// TestAuditFindsADifference changes the number of positives that a batch has in the log, which no checksum tells after
// it: the audit names the query, and what it expected and found.
func TestAuditFindsADifference(t *testing.T) {
	matchertest.NotUnderRace(t, "it runs commands one after the other")
	t.Parallel()
	dir := write(t, map[string]string{"motifd.yaml": fileConfig, "in.jsonl": edgeJSON("+", "a", "b") +
		edgeJSON("+", "b", "a") + edgeJSON("+", "c", "d") + edgeJSON("+", "d", "c")})
	succeed(t, dir, "run", "-c", "motifd.yaml", "--listen=")
	r := succeed(t, dir, "audit", "state")
	require.Contains(t, r.stdout, "batches 1 to 4: 2 agree, 0 differ, 0 left out\n")
	plant(t, filepath.Join(dir, "state"), "pairs", 2, 3)
	require.Contains(t, succeed(t, dir, "checkpoint", "verify", "state").stdout, "intact")
	r = motifd(t, dir, "audit", "state")
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.stderr, "matches of the graph are not what was emitted: pairs: expected 5, found 4\n")
	require.Contains(t, r.stdout, "differs")
	require.Contains(t, r.stdout, "batches 1 to 4: 1 agree, 1 differ, 0 left out\n")
	require.Equal(t, exitOK, motifd(t, dir, "audit", "state", "--query=ring").code)

	none := write(t, map[string]string{"motifd.yaml": fileConfig + "", "in.jsonl": ""})
	succeed(t, none, "run", "-c", "motifd.yaml", "--listen=", "--set=checkpoint.retention.batches=0")
	r = motifd(t, none, "audit", "state")
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.stderr, "the batch log is empty")
}

// plant changes a number of positives of a query, in the first batch of the log that has it; see FORMAT.md.
func plant(t *testing.T, dir, query string, from, to byte) {
	t.Helper()
	db, err := pebble.Open(dir, &pebble.Options{FormatMajorVersion: pebble.FormatValueSeparation})
	require.NoError(t, err)
	it, err := db.NewIter(&pebble.IterOptions{LowerBound: []byte("z"), UpperBound: []byte("{")})
	require.NoError(t, err)
	name := append([]byte{byte(len(query))}, query...)
	was, is := append(slices.Clone(name), 1, 0, from), append(name, 1, 0, to) // version, and the two words of the count
	planted := false
	for ok := it.First(); ok && !planted; ok = it.Next() {
		key, value := slices.Clone(it.Key()), slices.Clone(it.Value())
		if key[9] != 3 || !strings.Contains(string(value), string(was)) {
			continue
		}
		body := []byte(strings.Replace(string(value[:len(value)-4]), string(was), string(is), 1))
		table := crc32.MakeTable(crc32.Castagnoli)
		sum := crc32.Update(crc32.Checksum(key, table), table, body)
		require.NoError(t, db.Set(key, bin.LittleEndian.AppendUint32(body, sum), pebble.Sync))
		planted = true
	}
	require.True(t, planted)
	require.NoError(t, it.Close())
	require.NoError(t, db.Close())
}
