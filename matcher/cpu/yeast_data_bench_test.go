//go:build data && unix

package cpu

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/stream/tempfile"
)

const yeast = matchertest.Synth("../../../shared/data/yeast")

// yeastCase is a line of yeast's expected.tsv.
type yeastCase struct {
	name      string
	positive  string
	rapidflow float64 // seconds
}

func yeastCases(tb testing.TB) (all []yeastCase) {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join(string(yeast), "expected.tsv"))
	require.NoError(tb, err)
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		s, err := strconv.ParseFloat(f[len(f)-1], 64)
		if err == nil {
			all = append(all, yeastCase{f[0], f[4], s})
		}
	}
	return all
}

// BenchmarkDataYeast inserts the stream of yeast by one thread and compares the processor time of the search with
// RapidFlow's time, as expected.tsv has it from another machine. YEAST chooses: batch size, limit for a query, rounds,
// part of the name of a query, rows.
func BenchmarkDataYeast(b *testing.B) {
	size, _ := strconv.Atoi(cmp.Or(os.Getenv("YEAST_BATCH"), "1000"))
	most, err := time.ParseDuration(cmp.Or(os.Getenv("YEAST_MOST"), "10s"))
	require.NoError(b, err)
	rounds, _ := strconv.Atoi(cmp.Or(os.Getenv("YEAST_ROUNDS"), "3"))
	graph, batches := yeast.Updates(b, "graph.txt"), slices.Collect(slices.Chunk(yeast.Updates(b, "insert.txt"), size))
	var logs, sums float64
	cases, slower, slow := 0, 0, 0
	for _, c := range yeastCases(b) {
		if !strings.Contains(c.name, os.Getenv("YEAST_ONLY")) {
			continue
		}
		q := yeast.Query(b, c.name)
		q.Emit = matcher.EmitCounts
		if os.Getenv("YEAST_ROWS") != "" {
			q.Emit = matcher.EmitDeltas
		}
		least, apply, steps, done := time.Hour, time.Hour, uint64(0), true
		var got matcher.Count
		for range rounds {
			var took, applied time.Duration
			if got, steps, took, applied, done = yeastStream(b, graph, batches, q, most); !done {
				least, apply = took, applied
				break
			}
			least, apply = min(least, took), min(apply, applied)
			if took > time.Second {
				break
			}
		}
		if done {
			require.Equal(b, c.positive, got.String(), c.name)
		}
		ratio := c.rapidflow / least.Seconds()
		logs, sums, cases = logs+math.Log(ratio), sums+math.Log(c.rapidflow/(least+apply).Seconds()), cases+1
		if ratio < 1 {
			slower++
		}
		if ratio < 0.7 {
			slow++
		}
		fmt.Printf("  %-20s edges %3d matches %10s rapidflow %8.2f ms, search %9.2f ms, apply %8.2f ms, steps %10d, "+
			"ratio %7.3f %v\n",
			c.name, len(q.Edges), c.positive, 1e3*c.rapidflow, 1e3*least.Seconds(), 1e3*apply.Seconds(), steps, ratio,
			map[bool]string{true: "", false: "OVER"}[done])
	}
	fmt.Printf("batches of %d: RapidFlow's time over the search's, geometric mean %.2f, with apply %.2f; "+
		"%d of %d slower, %d below 0.7\n", size, math.Exp(logs/float64(cases)), math.Exp(sums/float64(cases)), slower,
		cases, slow)
}

// yeastStream searches the batches of a stream one after the other, each committed.
func yeastStream(tb testing.TB, graph []dyngraph.Update, batches [][]dyngraph.Update, q *matcher.Query,
	most time.Duration) (total matcher.Count, steps uint64, took, applied time.Duration, done bool) {
	tb.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	runtime.GC()
	x := newBenchOf(tb, dyngraph.NewGraph(dyngraph.Options{}), graph, q,
		Options{Threads: 1, TempFiles: tempfile.In(tb.TempDir()), Clock: func() int64 { return int64(cpuTime()) }})
	ctx, cancel := context.WithTimeout(tb.Context(), most)
	defer cancel()
	want := matcher.WantRows
	if q.Emit == matcher.EmitCounts {
		want = matcher.WantCount
	}
	for _, us := range batches {
		at := cpuTime()
		d, err := x.g.Stage(us)
		require.NoError(tb, err)
		require.NoError(tb, x.b.Stage(d))
		reqs := []matcher.Request{{Plan: x.plan, Before: matcher.AllOrders, Want: want}}
		x.b.Ready(reqs)
		applied += cpuTime() - at
		at = cpuTime()
		res, err := x.b.Search(ctx, dyngraph.Inserted, reqs, func(matcher.Group) error { return nil },
			func(int, uint32, matcher.Cause) (bool, error) { return true, nil })
		took += cpuTime() - at
		if err != nil {
			return total, steps, took, applied, false
		}
		total, steps = total.Add(res[0].Count), steps+res[0].Steps
		at = cpuTime()
		require.NoError(tb, x.b.Commit())
		x.g.Commit()
		applied += cpuTime() - at
	}
	return total, steps, took, applied, true
}
