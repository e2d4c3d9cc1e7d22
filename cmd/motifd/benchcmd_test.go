package main

import (
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/cmd/motifd/internal/bench"
	"motifd/cmd/motifd/internal/benchcase"
	"motifd/cmd/motifd/internal/command"
	"motifd/matcher/matchertest"
)

// smallCase are flags for a case that is measured in no time.
func smallCase(more ...string) []string {
	return append(strings.Fields("bench --vertices=300 --edges=1200 --labels=2 --updates=200 --sizes=4 --runs=2 "+
		"--batch=50 --json=s.json"), more...)
}

// foundCounts are the counts of a query in a summary.
type foundCounts struct {
	Name                        string
	Positive, Negative, Matches big.Int
}

// sum is all that was found.
func (q *foundCounts) sum() *big.Int {
	n := new(big.Int).Add(&q.Positive, &q.Negative)
	return n.Add(n, &q.Matches)
}

// TestBench measures a small case: every cell has its row, the counts are those that the oracle backend has, and what
// is left out is told.
func TestBench(t *testing.T) {
	matchertest.NotUnderRace(t, "it takes 18 seconds of processors")
	t.Parallel()
	dir := t.TempDir()
	flags := []string{"--stream=mixed", "--emit=static,counts,deltas,exists"}
	r := succeed(t, dir, smallCase(flags...)...)
	var report bench.Report
	readJSON(t, filepath.Join(dir, "s.json"), &report)
	require.Len(t, report.Rows, 3*4*2)
	require.Equal(t, 200, report.Sizes.Updates)
	require.Contains(t, r.stderr, "run 2 of 2: tree, exists, 2 threads")
	succeed(t, dir, smallCase("--stream=mixed", "--write=case")...)
	// What exists is measured on: all edges come, and go.
	var vertices, come, gone string
	for line := range strings.Lines(readFile(t, filepath.Join(dir, "case/graph.txt"))) {
		if strings.HasPrefix(line, "e") {
			come, gone = come+line, gone+"-"+line
		} else {
			vertices += line
		}
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "vertices.txt"), []byte(vertices), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "fill.txt"), []byte(come+gone), 0o644))
	for _, row := range report.Rows {
		require.Len(t, row.Samples, 2)
		require.Positive(t, row.PeakMiB)
		require.Contains(t, r.stdout, command.GroupDigits(row.Matches.String()))
		require.Equal(t, row.Emit != "static", row.UpdatesPerS > 0)
		if row.Emit == "deltas" { // the others may be too short to be measured
			require.Equal(t, row.Threads == 2, row.SpeedUp > 0)
		}
		query := fmt.Sprintf("case/queries/%s-4.txt", row.Class)
		graph, args := "case/graph.txt",
			[]string{"replay", "--updates=case/mixed.txt", "--batch=50", "--emit=" + row.Emit, "--out=none"}
		switch row.Emit {
		case "static":
			args = []string{"match"}
		case "exists":
			graph, args[1] = "vertices.txt", "--updates=fill.txt"
			// with this seed each pattern has a match before the stream
			require.GreaterOrEqual(t, row.Matches.Int64(), int64(2), row.Name)
		}
		succeed(t, dir, append(args, "--undirected", "--graph="+graph, "--query="+query, "--backend=reference",
			"--summary=o.json")...)
		var oracle struct{ Queries []foundCounts }
		require.NoError(t, json.Unmarshal([]byte(readFile(t, filepath.Join(dir, "o.json"))), &oracle))
		require.Equal(t, oracle.Queries[0].sum(), row.Matches, "%s %s", row.Name, row.Emit)
	}

	// The same case from its directory, query by query; a limit that all are above leaves nothing to make.
	r = succeed(t, dir, "bench", "--case=case", "--stream=mixed", "--each", "--runs=1", "--batch=50", "--threads=1",
		"--emit=counts,deltas", "--max-deltas=0", "--json=e.json")
	require.Contains(t, r.stdout, "tree-4, deltas: left out, with more matches than --max-deltas: tree-4")
	var each bench.Report
	readJSON(t, filepath.Join(dir, "e.json"), &each)
	require.Len(t, each.Rows, 3*2)
	for _, row := range each.Rows {
		if row.Emit == "deltas" {
			require.Equal(t, []string{row.Name}, row.LeftOut)
			require.Empty(t, row.Samples)
			continue
		}
		require.Contains(t, []string{"dense-4", "sparse-4", "tree-4"}, row.Name)
		for _, before := range report.Rows {
			if before.Class == row.Class && before.Emit == "counts" {
				require.Equal(t, before.Matches, row.Matches)
			}
		}
	}
}

func TestBenchRefuses(t *testing.T) {
	matchertest.NotUnderRace(t, "its commands end before they start a thread")
	t.Parallel()
	dir := t.TempDir()
	for _, x := range []struct{ args, want string }{
		{"--runs=0", "--runs: 0 is out of range"},
		{"--batch=0", "--batch: 0 is out of range"},
		{"--emit=all", `there is no mode "all"`},
		{"--threads=0", "--threads: 0 is out of range"},
		{"--case=x --write=y", "--write does not go with --case"},
		{"--case=nowhere", "a case holds graph.txt, insert.txt and queries/"},
		{"--peer=nowhere", "--peer:"},
		{"--peer=x --stream=mixed", "--batch=1 alone"},
		{"--time-limit=1ms", "--time-limit: 1ms is out of range"},
		{"--vertices=-1", "--vertices: -1 is out of range"},
		{"--vertices=0", "--vertices: 0 is out of range"},
		{"--queries=0", "--queries: 0 is out of range"},
		{"--exponent=0", "--exponent: 0 is out of range"},
	} {
		r := motifd(t, dir, append([]string{"bench"}, strings.Fields(x.args)...)...)
		require.Equal(t, exitRefused, r.code, x.args)
		require.Contains(t, r.stderr, x.want)
	}
}

// fakePeer writes a program that takes RapidFlow's flags and prints its output for a query by name.
func fakePeer(t *testing.T, dir string, answers map[string]string) {
	t.Helper()
	text := "#!/bin/sh\ntest \"$1 $3 $5 $7 $8 $9 ${10}\" = \"-d -q -u -num MAX -time_limit 2\" || exit 9\ntest -f " +
		"\"$2\" && test -f \"$6\" || exit 8\ncase \"$4\" in\n"
	for query, what := range answers {
		text += fmt.Sprintf("*/%s.txt) %s ;;\n", query, what)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "peer"), []byte(text+"*) exit 7 ;;\nesac\n"), 0o755))
}

func says(seconds, matches, more string) string {
	return fmt.Sprintf("echo 'Query time (seconds): %s'; echo 'Result count: %s'; %s", seconds, matches, more)
}

// TestBenchPeer compares with a peer that agrees (and is very slow, so that its ratio is never the least), one that
// counts otherwise, one that runs out of time and one that fails.
func TestBenchPeer(t *testing.T) {
	matchertest.NotUnderRace(t, "what it measures has one thread")
	dir := t.TempDir()
	succeed(t, dir, smallCase("--emit=counts", "--threads=1")...)
	var alone bench.Report
	readJSON(t, filepath.Join(dir, "s.json"), &alone)
	count := make(map[string]string)
	for _, row := range alone.Rows {
		count[row.Class] = row.Matches.String()
	}
	fakePeer(t, dir, map[string]string{
		"dense-4": says("35000", count["dense"], ""), "sparse-4": says("0.5", count["sparse"], ""),
		"tree-4": says("2.0", "1", "echo 'Time out...'"),
	})
	r := succeed(t, dir, smallCase("--peer=peer", "--time-limit=2s")...)
	var report bench.Report
	readJSON(t, filepath.Join(dir, "s.json"), &report)
	require.Len(t, report.Peer, 3)
	for i, row := range report.Peer {
		require.Equal(t, benchcase.Classes[i]+"-4", row.Query)
		require.Equal(t, count[row.Class], row.Matches)
		require.Len(t, row.Motifd, 2)
		require.Positive(t, row.ApplyS)
		require.InEpsilon(t, row.PeerS/row.MotifdS, row.Ratio, 1e-9)
	}
	require.Len(t, report.Peer[0].Peer, 2)
	require.True(t, report.Peer[2].TimedOut)
	require.Equal(t, 2, report.Means.Queries)
	require.InEpsilon(t, report.Peer[0].Ratio, report.Means.Classes[benchcase.Dense], 1e-9)
	require.Equal(t, "sparse-4", report.Means.LeastOf)
	require.NotContains(t, report.Means.Classes, benchcase.Tree)
	require.Less(t, report.Means.WithApply, report.Means.All)
	require.Contains(t, r.stdout, fmt.Sprintf("  %.4f\n", report.Peer[0].ApplyS), "the last column")
	require.Regexp(t, `tree-4 .*> 2\.0000 .*> \d`, r.stdout)
	require.Contains(t, r.stdout, "over the 2 queries")

	fakePeer(t, dir, map[string]string{
		"dense-4": says("3.5", "123456789", ""), "sparse-4": "kill -SEGV $$", "tree-4": says("1", count["tree"], ""),
	})
	r = motifd(t, dir, smallCase("--peer="+filepath.Join(dir, "peer"), "--time-limit=2s")...)
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.stderr, "query dense-4: the counts differ: motifd "+count["dense"]+", the peer 123456789")
	require.Contains(t, r.stderr, "query sparse-4: the peer failed: signal: segmentation fault")
	require.Contains(t, r.stdout, "over the 1 queries") // what was measured is shown all the same
}
