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

// yeast is a graph with many labels, a stream of insertions and 91 queries. YEAST_CASE names the directory of another
// case, with the same files or without expected.tsv.
var yeast = matchertest.Synth(cmp.Or(os.Getenv("YEAST_CASE"), "../../../shared/data/yeast"))

// yeastCase is a line of yeast's expected.tsv, or a query of another case.
type yeastCase struct {
	name      string
	positive  string  // empty if not known
	rapidflow float64 // seconds
}

func yeastCases(tb testing.TB) (all []yeastCase) {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join(string(yeast), "expected.tsv"))
	if os.Getenv("YEAST_CASE") == "" {
		require.NoError(tb, err)
	}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		s, err := strconv.ParseFloat(f[len(f)-1], 64)
		if err == nil && len(f) == 6 {
			all = append(all, yeastCase{f[0], f[4], s})
		}
	}
	if len(all) > 0 {
		return all
	}
	names, err := filepath.Glob(filepath.Join(string(yeast), "queries", "*.txt"))
	require.NoError(tb, err)
	for _, name := range names {
		all = append(all, yeastCase{name: strings.TrimSuffix(filepath.Base(name), ".txt")})
	}
	return all
}

// BenchmarkDataYeast inserts the stream of yeast by one thread and compares the processor time of the search with
// RapidFlow's time: as expected.tsv has it from another machine, or with PEER, a binary of RapidFlow, by turns with it.
// Small batches are measured by the wall clock, as RapidFlow measures its own: to ask the system for processor time
// takes longer than a search, and so does what runs after it.
// Both leave out what is made when the query is registered, which stands beside. YEAST chooses: batch size, limit for a
// query, rounds, part of the name of a query, rows.
func BenchmarkDataYeast(b *testing.B) {
	size, _ := strconv.Atoi(cmp.Or(os.Getenv("YEAST_BATCH"), "1000"))
	most, err := time.ParseDuration(cmp.Or(os.Getenv("YEAST_MOST"), "10s"))
	require.NoError(b, err)
	rounds, _ := strconv.Atoi(cmp.Or(os.Getenv("YEAST_ROUNDS"), "3"))
	graph, batches := yeast.Updates(b, "graph.txt"), slices.Collect(slices.Chunk(yeast.Updates(b, "insert.txt"), size))
	peer := newYeastPeer(b, os.Getenv("PEER"))
	var logs, sums, registered float64
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
		var best yeastTimes
		theirs := yeastTimes{search: time.Duration(c.rapidflow * float64(time.Second))}
		for round := range rounds {
			now := yeastStream(b, graph, batches, q, most)
			best.least(round, now)
			if peer != nil {
				theirs.least(round, peer.run(b, c.name, most))
			}
			if now.over {
				best = now
				break
			}
			if c.positive == "" {
				c.positive = now.count.String()
			}
			require.Equal(b, c.positive, now.count.String(), c.name)
			if peer != nil && !theirs.over {
				require.Equal(b, theirs.count.String(), now.count.String(), c.name)
			}
			if now.search > time.Second || theirs.over {
				break
			}
		}
		if theirs.over {
			fmt.Printf("  %-20s RapidFlow took more than %v, motifd %v\n", c.name, most, best.search)
			continue
		}
		ratio := theirs.search.Seconds() / best.search.Seconds()
		logs, cases = logs+math.Log(ratio), cases+1
		sums += math.Log(theirs.search.Seconds() / (best.search + best.apply).Seconds())
		registered += math.Log(best.register.Seconds())
		if ratio < 1 {
			slower++
		}
		if ratio < 0.7 {
			slow++
		}
		ms := func(d time.Duration) float64 { return 1e3 * d.Seconds() }
		fmt.Printf("  %-20s edges %3d matches %10s rapidflow %8.2f ms, search %9.2f ms, apply %8.2f ms, steps %10d, "+
			"ratio %7.3f, registering %6.2f, RapidFlow's %6.2f ms %v\n", c.name, len(q.Edges), c.positive,
			ms(theirs.search), ms(best.search), ms(best.apply), best.steps, ratio, ms(best.register),
			ms(theirs.register), map[bool]string{true: "OVER"}[best.over])
	}
	n := float64(cases)
	fmt.Printf("batches of %d: RapidFlow's time over the search's, geometric mean %.2f, with apply %.2f; "+
		"%d of %d slower, %d below 0.7; registering %.2f ms (geometric mean)\n", size, math.Exp(logs/n),
		math.Exp(sums/n), slower, cases, slow, 1e3*math.Exp(registered/n))
}

// yeastTimes holds the times of a query, and its count.
type yeastTimes struct {
	register, search, apply time.Duration
	steps                   uint64
	count                   matcher.Count
	over                    bool
}

// least takes the least times of this round and those before.
func (t *yeastTimes) least(round int, now yeastTimes) {
	if was := *t; round > 0 {
		now.register, now.search = min(now.register, was.register), min(now.search, was.search)
		now.apply = min(now.apply, was.apply)
	}
	*t = now
}

// yeastStream searches the batches of a stream one after the other, each committed. As in an engine, a batch that does
// not concern the query is not searched, and to find out is part of the search.
func yeastStream(tb testing.TB, graph []dyngraph.Update, batches [][]dyngraph.Update, q *matcher.Query,
	most time.Duration) (t yeastTimes) {
	tb.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	began := time.Now()
	clock := cpuTime
	if len(batches[0]) < smallBatch {
		clock = func() time.Duration { return time.Since(began) }
	}
	x := &bench{tb: tb, g: dyngraph.NewGraph(dyngraph.Options{}), b: New(Options{Threads: 1,
		TempFiles: tempfile.In(tb.TempDir()), Clock: func() int64 { return int64(time.Since(began)) }})}
	_, err := x.g.Stage(graph)
	require.NoError(tb, err)
	x.g.Commit()
	require.NoError(tb, x.b.Load(x.g))
	runtime.GC()
	at := cpuTime()
	x.prepare(q)
	t.register = cpuTime() - at
	ctx, cancel := context.WithTimeout(tb.Context(), most)
	defer cancel()
	want := matcher.WantRows
	if q.Emit == matcher.EmitCounts {
		want = matcher.WantCount
	}
	reqs := []matcher.Request{{Plan: x.plan, Before: matcher.AllOrders, Want: want}}
	for _, us := range batches {
		at := clock()
		d, err := x.g.Stage(us)
		if err == nil {
			err = x.b.Stage(d)
		}
		staged := clock()
		concerned := false
		x.b.Concern(func(int, dyngraph.Sign) { concerned = true })
		var res []matcher.Result
		if concerned && err == nil {
			res, err = x.b.Search(ctx, dyngraph.Inserted, reqs, func(matcher.Group) error { return nil },
				func(int, uint32, matcher.Cause) (bool, error) { return true, nil })
		}
		searched := clock()
		t.apply, t.search = t.apply+staged-at, t.search+searched-staged
		if err != nil {
			require.ErrorIs(tb, err, context.DeadlineExceeded)
			t.over = true
			return t
		}
		for _, r := range res {
			t.count, t.steps = t.count.Add(r.Count), t.steps+r.Steps
		}
		at = clock()
		err = x.b.Commit()
		x.g.Commit()
		t.apply += clock() - at
		require.NoError(tb, err)
	}
	t.search -= min(time.Duration(len(batches))*takes(clock), t.search-time.Microsecond)
	return t
}

// smallBatch is the number of updates from which a batch is measured by processor time.
const smallBatch = 10

// takes is how long it takes at least to ask a clock: a search of one update takes less.
func takes(clock func() time.Duration) time.Duration {
	const times = 50
	least := time.Hour
	for range times {
		began := clock()
		for range times {
			clock()
		}
		least = min(least, clock()-began)
	}
	return least / times
}
