//go:build data

package main

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher/matchertest"
)

// finbench are patterns of FinBench's accounts, as .ci/finbench/evaluate.py has them. Those from repeated on have
// conditions on amounts and times.
var finbench = map[string]string{
	"pairs":     "MATCH (a)-[:transfer]->(b), (a)-[:transfer]->(b)",
	"paths":     "MATCH (a)-[:transfer]->(b)-[:transfer]->(c)",
	"triangles": "MATCH (a)-[:transfer]->(b)-[:transfer]->(c)-[:transfer]->(a)",
	"repeated": `MATCH (a)-[t:transfer]->(b), (a)-[u:transfer]->(b)
		WHERE t.ts < u.ts <= t.ts + duration('P7D') AND u.amount < t.amount`,
	"rising": `MATCH (a)-[t:transfer]->(b), (a)-[u:transfer]->(b), (a)-[v:transfer]->(b)
		WHERE t.ts < u.ts < v.ts <= t.ts + duration('P30D') AND v.amount > t.amount AND v.amount > u.amount`,
	"pass_through": `MATCH (a)-[t:transfer]->(b)-[u:transfer]->(c)
		WHERE t.ts < u.ts <= t.ts + duration('P1D') AND 10 * u.amount >= 9 * t.amount AND u.amount <= t.amount`,
	"shrinking_ring": `MATCH (a)-[t:transfer]->(b)-[u:transfer]->(c)-[v:transfer]->(a)
		WHERE t.ts < u.ts < v.ts <= t.ts + duration('P90D') AND t.amount > v.amount`,
	"cashed": `MATCH (a)-[t:transfer]->(b)-[w:withdraw]->(c)
		WHERE t.ts < w.ts <= t.ts + duration('P3D') AND 1000000 <= w.amount <= t.amount`,
	"fan_in": `MATCH (a)-[t:transfer]->(m), (b)-[u:transfer]->(m), (c)-[v:transfer]->(m)
		WHERE t.ts < u.ts < v.ts <= t.ts + duration('P3D')
		AND t.amount >= 1000000 AND u.amount >= 1000000 AND v.amount >= 1000000`,
}

// finbenchStream writes FinBench's stream as updates: each payment is an edge of its own, and accounts are deleted. No
// account pays itself in a graph of motifd.
func finbenchStream(t *testing.T) string {
	t.Helper()
	file, err := os.Open(filepath.Join(data, "finbench", "finbench_sf0.01_stream.csv.gz"))
	require.NoError(t, err)
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	require.NoError(t, err)
	rows, err := csv.NewReader(unzipped).ReadAll()
	require.NoError(t, err)
	var stream strings.Builder
	for i, r := range rows[1:] {
		time, op, kind, from, to, amount := r[0], r[1], r[2], r[3], r[4], r[5]
		switch {
		case op == "-": // an account
			fmt.Fprintf(&stream, "{\"op\":\"-v\",\"key\":%q}\n", from)
		case from != to:
			fmt.Fprintf(&stream, `{"op":"+","from":%q,"to":%q,"label":%q,"id":"%d","ts":%s,"props":{"amount":%s}}`+"\n",
				from, to, kind, i, time, amount)
		}
	}
	return stream.String()
}

// TestS14FinBench plays FinBench's stream, with 6,078 payments between pairs that are joined already, and compares the
// matches of nine patterns with an evaluation by DuckDB (testdata/finbench.tsv, which `make test-finbench` makes anew):
// how many appear, update by update, and how many are left at the end, also in large batches. With a retention as long
// as the longest window as many matches of the patterns with windows appear.
func TestS14FinBench(t *testing.T) {
	files := map[string]string{"stream.jsonl": finbenchStream(t)}
	flags := []string{"replay", "--updates=stream.jsonl", "--out=none", "--summary=sum.json",
		`--properties=edges: {"*": {amount: decimal(2), ts: timestamp}}`}
	for _, name := range slices.Sorted(maps.Keys(finbench)) {
		files[name+".cypher"] = finbench[name]
		flags = append(flags, "--query="+name+".cypher")
	}
	dir := write(t, files)
	appear, left := map[string]int64{}, map[string]int64{}
	for line := range strings.Lines(readFile(t, filepath.Join("testdata", "finbench.tsv"))) {
		var name string
		var a, l int64
		if n, err := fmt.Sscan(line, &name, &a, &l); n == 3 {
			require.NoError(t, err)
			appear[name], left[name] = a, l
		}
	}
	require.Len(t, appear, len(finbench))
	play := func(args ...string) (positive, negative map[string]int64) {
		succeed(t, dir, append(flags, args...)...)
		positive, negative = map[string]int64{}, map[string]int64{}
		for name, got := range summaryNumbers(t, filepath.Join(dir, "sum.json")) {
			var err error
			positive[name], err = got.Positive.Int64()
			require.NoError(t, err)
			negative[name], err = got.Negative.Int64()
			require.NoError(t, err)
		}
		return positive, negative
	}
	for _, emit := range []string{"counts", "deltas"} {
		for _, batch := range []string{"1", "5000"} {
			if emit == "deltas" && batch == "1" && matchertest.Quick(t) {
				continue // with a retention they are, below
			}
			positive, negative := play("--emit="+emit, "--batch="+batch)
			for name := range finbench {
				require.Equal(t, left[name], positive[name]-negative[name], "%s, batches of %s, %s", name, batch, emit)
				require.True(t, batch != "1" || positive[name] == appear[name], "%s: %d appear, by %s", name,
					positive[name], emit)
			}
		}
	}
	positive, negative := play("--emit=deltas", "--batch=1", "--retention=*=90d")
	for name, pattern := range finbench {
		require.GreaterOrEqual(t, negative[name], appear[name]-left[name], "what expires ends")
		if strings.Contains(pattern, "duration") {
			require.Equal(t, appear[name], positive[name], "%s, with a retention", name)
		}
	}
}
