package stream_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher/matchertest"
	"motifd/stream"
)

// steadyRate names the environment variable that sets how many payments an hour of TestS20SteadyState has.
const steadyRate = "STEADY_RATE"

const (
	steadyHours   = 24
	steadyBatches = 20 // to an hour
)

// day is a source of payments in the order of their times, 24 hours of them, each an edge with an id. Accounts are in
// use for a while, a quarter of an hour in the mean, and new ones come.
type day struct {
	perHour, next int
	rng           *rand.Rand
	// deletes has each payment deleted by an update an hour later, as its expiry would.
	deletes bool
	ends    [][2]int // of the payments made, where they are deleted
	offset  int64
}

func newDay(perHour int) *day { return &day{perHour: perHour, rng: rand.New(rand.NewPCG(6, 20))} }

func (d *day) Read(context.Context) (recs []stream.Record, err error) {
	const most = 100
	for len(recs) < most && d.next < steadyHours*d.perHour {
		from := d.next/2 + d.rng.IntN(d.perHour/4)
		to := from + 1 + d.rng.IntN(d.perHour/20)
		recs = append(recs, d.record(fmt.Appendf(nil,
			`{"op":"+","from":"v%08d","to":"v%08d","label":"T","id":"%08d","ts":%d,"props":{"amount":%d.%02d}}`,
			from, to, d.next, int64(d.next)*3_600_000/int64(d.perHour), d.rng.IntN(900), d.rng.IntN(100))))
		if d.deletes {
			d.ends = append(d.ends, [2]int{from, to})
			if old := d.next - d.perHour; old >= 0 {
				recs = append(recs, d.record(fmt.Appendf(nil,
					`{"op":"-","from":"v%08d","to":"v%08d","label":"T","id":"%08d"}`,
					d.ends[old][0], d.ends[old][1], old)))
			}
		}
		d.next++
	}
	if len(recs) == 0 {
		return nil, io.EOF
	}
	return recs, nil
}

func (d *day) record(value []byte) stream.Record {
	d.offset++
	return stream.Record{Offset: d.offset - 1, Next: d.offset, Value: value}
}

func (*day) Seek(context.Context, stream.Positions) error { return nil }
func (*day) Close() error                                 { return nil }

// sizes notes sizes after each batch.
type sizes struct {
	stream.Observer
	sample func() [4]int64
	// hourly is called at the end of each hour.
	hourly func() int64
	steps  [][4]int64 // by batch
	hours  []int64    // by hour
}

func (s *sizes) Step(stats stream.StepStats) {
	s.steps = append(s.steps, s.sample())
	if len(s.steps)%steadyBatches == 0 {
		s.hours = append(s.hours, s.hourly())
	}
	s.Observer.Step(stats)
}

// most returns the greatest sizes of the hours [from, to), and the mean of what was noted at the ends of these.
func (s *sizes) most(from, to int) (most [4]int64, mean int64) {
	for _, sizes := range s.steps[steadyBatches*from : steadyBatches*to] {
		for i, n := range sizes {
			most[i] = max(most[i], n)
		}
	}
	for _, n := range s.hours[from:to] {
		mean += n
	}
	return most, mean / int64(to-from)
}

// TestS20SteadyState plays 24 hours of payments with a retention of one hour, in which keys and edges come and go: in
// the second half of the day the graph, its dictionary and its indexes, the live heap and the checkpoint (graph and
// log) are as large as in hours 2 to 4, within a twentieth: the former at most, the latter two in the mean. An hour has
// 2,000 payments, or STEADY_RATE: `make soak` plays 100,000. The heap is measured apart from the checkpoint, whose
// write buffers fill and empty.
func TestS20SteadyState(t *testing.T) {
	matchertest.NotUnderRace(t, "it measures memory")
	perHour := 2000
	if text := os.Getenv(steadyRate); text != "" {
		var err error
		perHour, err = strconv.Atoi(text)
		require.NoError(t, err, steadyRate)
		require.GreaterOrEqual(t, perHour, 100, steadyRate)
	}
	for _, kind := range []string{"heap", "checkpoint"} {
		t.Run(kind, func(t *testing.T) { testSteadyState(t, perHour, kind) })
	}
}

func testSteadyState(t *testing.T, perHour int, kind string) {
	w := newSteadyWorld(t, kind == "checkpoint")
	g := w.engine.Graph()
	s := &sizes{Observer: nothing{}, sample: func() [4]int64 {
		return [4]int64{int64(g.Vertices()), int64(g.Edges()), int64(g.IDBound()), int64(g.EdgeBound())}
	}}
	s.hourly = func() int64 {
		if w.kept != nil {
			return w.kept.DiskUse().Live
		}
		bytes, _ := live()
		return bytes
	}
	w.run(newDay(perHour), s)
	early, earlyBytes := s.most(2, 4)
	late, lateBytes := s.most(12, steadyHours)
	check := func(what string, early, late int64) {
		t.Logf("%s: %d in hours 2 to 4, %d in hours 12 to 24", what, early, late)
		require.Positive(t, early, what)
		require.LessOrEqual(t, 20*late, 21*early, what)
	}
	for i, what := range []string{"vertices", "edges", "vertex ids", "edge indexes"} {
		check(what, early[i], late[i])
	}
	check("bytes of the "+kind, earlyBytes, lateBytes)
	if w.kept != nil {
		t.Logf("%d bytes on disk", w.kept.DiskUse().Bytes)
	}
}

// nothing is an Observer that does nothing.
type nothing struct{}

func (nothing) Read(stream.ReadStats)     {}
func (nothing) Step(stream.StepStats)     {}
func (nothing) Commit(stream.CommitStats) {}
func (nothing) Span(stream.Span)          {}
