//go:build unix

package cpu

import (
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/backtrack"
	"motifd/matcher/internal/rowsort"
	"motifd/stream/tempfile"
)

// userTime is the user CPU time that the process has taken.
func userTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano())
}

// BenchmarkDeltas measures how fast the matches of patterns of 6 vertices are produced by one thread, before they are
// put in order, and how fast they come in canonical order, in user CPU time; then how much less time passes with two
// threads, and how much more user CPU time they take. The graph has 20,000 vertices, 150,000 edges and 5 labels;
// edges are inserted in batches of up to 1,000, several times. The least time counts, but of what one thread takes
// and two take, by turns, the median of their ratios: either may be lucky or not.
func BenchmarkDeltas(b *testing.B) {
	p := newPowerLaw(1, 20_000, 150_000, 5, 4000)
	for i := range shapes {
		us := p.stream[:shapes[i].updates]
		b.Run(shapes[i].name, func(b *testing.B) {
			benchDeltas(b, p.graph, slices.Collect(slices.Chunk(us, 1000)),
				shapeQuery(i))
		})
	}
}

func benchDeltas(b *testing.B, graph []dyngraph.Update, batches [][]dyngraph.Update, q *matcher.Query) {
	one, two := newBench(b, graph, q, Options{Threads: 1, TempFiles: tempfile.In(b.TempDir())}),
		newBench(b, graph, q, Options{Threads: 2, TempFiles: tempfile.In(b.TempDir())})
	produced, ordered, wall1 := time.Hour, time.Hour, time.Hour
	// by turn: time that passes with one thread by that with two, and user time of two threads by that of one
	var passes, takes []float64
	var total uint64
	// each lets a backend search one batch after the other, as the batches of a stream follow each other.
	each := func(x *bench, search func()) {
		for _, us := range batches {
			done := x.stage(us)
			search()
			done()
		}
	}
	search := func(x *bench) (user, wall time.Duration) {
		total = 0
		each(x, func() {
			at := time.Now()
			user += timed(userTime, func() {
				n, _ := x.rows(func(matcher.Group) error { return nil }).Count.Uint64()
				total += n
			})
			wall += time.Since(at)
		})
		return user, wall
	}
	for b.Loop() {
		var user time.Duration
		each(one, func() { user += timed(userTime, func() { one.produce() }) })
		produced = min(produced, user)
		for range benchTurns {
			// With one thread the emitter must not run beside the worker.
			procs := runtime.GOMAXPROCS(1)
			user, wall := search(one)
			runtime.GOMAXPROCS(procs)
			users, walls := search(two)
			ordered, wall1 = min(ordered, user), min(wall1, wall)
			passes, takes = append(passes, wall.Seconds()/walls.Seconds()),
				append(takes, users.Seconds()/user.Seconds())
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(total), "matches")
	b.ReportMetric(float64(total)/1e6/produced.Seconds(), "M-produced/s")
	b.ReportMetric(float64(total)/1e6/ordered.Seconds(), "M-ordered/s")
	b.ReportMetric(wall1.Seconds()*1e3, "1-thread-ms")
	b.ReportMetric(median(passes), "1-thread/2-threads")
	b.ReportMetric(median(takes), "user-2/1")
}

// benchTurns is how often one thread and two take turns in each round of a benchmark.
const benchTurns = 3

func median(of []float64) float64 {
	slices.Sort(of)
	return (of[(len(of)-1)/2] + of[len(of)/2]) / 2
}

func timed(clock func() time.Duration, f func()) time.Duration {
	at := clock()
	f()
	return clock() - at
}

// produce searches the staged batch as a worker does, and drops the rows.
func (x *bench) produce() uint64 {
	var stop atomic.Bool
	se := x.b.newSearcher(&stop, matcher.WantRows)
	defer x.b.release(se)
	endings := backtrack.Memo{Shared: &x.b.shared}
	defer endings.Release()
	se.UseMemo(&endings)
	st := &rowsort.Sorter{Memory: x.b.opt.GroupMemory}
	st.Reuse(se.Room)
	defer func() { se.Room = st.Release() }()
	st.Overflow = st.Discard
	se.Out = st
	o := rowsort.NewLayout(x.g.View(dyngraph.New), x.plan)
	a := x.b.newAnchors([]matcher.Request{{Plan: x.plan}}, func(int) bool { return true }, true, nil)
	total := uint64(0)
	for i := range x.b.delta.Net {
		st.Begin(o, 0, nil)
		for _, t := range a.of(i) {
			se.FromAnchor(t.order, &x.b.delta.Net[i], uint32(i))
		}
		total += st.Count()
	}
	return total
}
