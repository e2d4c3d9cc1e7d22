package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/cmd/motifd/internal/timeline"
	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/matchertest"
	"motifd/matcher/pattern"
	"motifd/stream"
	"motifd/stream/codec"
	"motifd/stream/streamtest"
)

// meetings have the search of a batch, the decoding of the next and the publication of the one before wait for one
// another: a pipeline that does not overlap them stands still.
type meetings struct {
	first, last uint64 // batches of updates
	searched    uint64 // that was met for
	each        map[uint64]*sync.WaitGroup
}

func newMeetings(first, last uint64) *meetings {
	m := &meetings{first: first, last: last, each: map[uint64]*sync.WaitGroup{}}
	for n := first; n <= last; n++ {
		m.each[n] = &sync.WaitGroup{}
		m.each[n].Add(3)
		if n == first { // nothing is published
			m.each[n].Done()
		}
		if n == last { // nothing is decoded
			m.each[n].Done()
		}
	}
	return m
}

// at is called by each of the three that take part in the meeting of a batch.
func (m *meetings) at(batch uint64) {
	if w := m.each[batch]; w != nil {
		w.Done()
		w.Wait()
	}
}

type meetingDecoder struct {
	stream.Decoder
	m    *meetings
	next uint64 // batch that the next record is
}

func (d *meetingDecoder) Decode(r stream.Record, dst []dyngraph.Update) ([]dyngraph.Update, error) {
	d.m.at(d.next - 1)
	d.next++
	return d.Decoder.Decode(r, dst)
}

type meetingBackend struct {
	matcher.Backend
	m     *meetings
	batch uint64
}

func (b *meetingBackend) Search(ctx context.Context, sign dyngraph.Sign, reqs []matcher.Request,
	emit func(matcher.Group) error, over matcher.Exceeded,
) ([]matcher.Result, error) {
	if b.m.searched < b.batch { // once a batch
		b.m.searched = b.batch
		b.m.at(b.batch)
	}
	return b.Backend.Search(ctx, sign, reqs, emit, over)
}

type meetingSink struct {
	stream.Sink
	m     *meetings
	batch uint64
}

func (s *meetingSink) Begin(ctx context.Context, batch uint64) error {
	s.batch = batch
	return s.Sink.Begin(ctx, batch)
}

func (s *meetingSink) End(ctx context.Context, t stream.Tail) (stream.Mark, error) {
	if s.batch >= s.m.first {
		s.m.at(s.batch + 1)
	}
	return s.Sink.End(ctx, t)
}

// shown is a span of a file.
type shown struct {
	lane, what string
	from, to   uint64 // batches
	begin, end float64
}

// played is a stream of random batches of updates, each a message, with queries registered first, and its timeline.
type played struct {
	spans       []shown
	first, last uint64 // batches of updates
	records     map[uint64]uint64
	summary     *timeline.Summary
}

// play plays random batches over a backend. Where not all batches are traced, or limit bounds the spans, nobody meets.
func play(t *testing.T, rng *rand.Rand, backend func(*timeline.Timeline) *timedBackend, batches, most,
	limit int) *played {
	t.Helper()
	var queries []*matcher.Query
	for i, text := range []string{"MATCH (a)-[:T]->(b)-[:T]->(c) RETURN a",
		"MATCH (a)-[:T]->(b)-[:T]->(c)-[:T]->(a) RETURN a"} {
		for _, emit := range []matcher.Emit{matcher.EmitDeltas, matcher.EmitCounts} {
			q, err := pattern.Parse(pattern.Cypher, []byte(text),
				pattern.Options{Name: fmt.Sprint("q", i, emit), Directed: true})
			require.NoError(t, err)
			q.Emit = emit
			queries = append(queries, q)
		}
	}
	p := &played{first: uint64(len(queries)) + 1, last: uint64(len(queries) + batches), records: map[uint64]uint64{}}
	input := streamtest.NewInput(false)
	for n := range batches {
		// The first two are a match, and are not there before: every batch is searched, and has records.
		message := []string{fmt.Sprintf(`{"op":"+","from":"x%d","to":"y%d","label":"T"}`, n, n),
			fmt.Sprintf(`{"op":"+","from":"y%d","to":"z%d","label":"T"}`, n, n)}
		for range rng.IntN(8) {
			if a, b := rng.IntN(6), rng.IntN(6); a != b {
				message = append(message, fmt.Sprintf(`{"op":%q,"from":"v%d","to":"v%d","label":"T"}`,
					[]string{"+", "+", "-"}[rng.IntN(3)], a, b))
			}
		}
		input.Add(stream.Record{Value: []byte("[" + strings.Join(message, ",") + "]")})
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "timeline.json"))
	require.NoError(t, err)
	trace := timeline.New(timeline.Options{File: f, MaxBatches: most, MaxSpans: limit})
	m := newMeetings(p.first, p.last)
	if most < batches || limit > 0 {
		m = newMeetings(math.MaxUint64, 0)
	}
	timed := backend(trace)
	meeting := &meetingBackend{Backend: timed.Backend, m: m}
	timed.Backend = meeting
	timed.phase = func(batch uint64, phase matcher.Phase) {
		meeting.batch = batch
		trace.Phase(batch, phase)
	}
	engine, err := newEngine(dyngraph.NewGraph(dyngraph.Options{Directed: true}), timed, matcher.EngineOptions{})
	require.NoError(t, err)
	dec, err := codec.NewDecoder(codec.FormatJSON, codec.DecoderOptions{})
	require.NoError(t, err)
	pipeline, err := stream.NewPipeline(stream.PipelineOptions{
		Source: input.Source(1), Decoder: &meetingDecoder{dec, m, p.first}, Engine: engine,
		Encoder:  codec.NewEncoder(codec.EncoderOptions{StreamID: "s"}),
		Sink:     &meetingSink{Sink: (&streamtest.MemOutput{}).Sink(false), m: m},
		Observer: &tracedRecords{trace, p.records},
		State:    &stream.State{StreamID: "s", Fresh: true, Positions: stream.Positions{}},
		Batch:    stream.BatcherOptions{MaxUpdates: 1, Linger: -1},
		Startup:  func([]matcher.QueryState) ([]*matcher.QueryChange, error) { return additions(queries), nil },
		// Small chunks, and two encoders: several spans of each.
		ChunkRecords: 3, EncodeThreads: 2,
	})
	require.NoError(t, err)
	require.NoError(t, pipeline.Run(t.Context()))
	require.NoError(t, engine.Close())
	p.summary, err = trace.Finish()
	require.NoError(t, err)
	p.spans = readTimeline(t, f.Name())
	require.Len(t, p.spans, p.summary.Spans)
	return p
}

// tracedRecords notes how many records batches have.
type tracedRecords struct {
	*timeline.Timeline
	records map[uint64]uint64
}

func (o *tracedRecords) Read(stream.ReadStats) {}

func (o *tracedRecords) Step(s stream.StepStats) {
	o.records[s.Batch.Number] = s.Summary.Records
	o.Timeline.Step(s)
}

// readTimeline reads a file in the Trace Event Format.
func readTimeline(t *testing.T, path string) (spans []shown) {
	t.Helper()
	var file struct {
		DisplayTimeUnit string
		TraceEvents     []struct {
			Name     string         `json:"name"`
			Category string         `json:"cat"`
			Phase    string         `json:"ph"`
			TS       float64        `json:"ts"`
			Duration float64        `json:"dur"`
			Process  int            `json:"pid"`
			Thread   int            `json:"tid"`
			Args     map[string]any `json:"args"`
		}
	}
	readJSON(t, path, &file)
	lanes := map[int]string{}
	for _, e := range file.TraceEvents {
		require.Equal(t, 1, e.Process)
		switch e.Phase {
		case "M":
			if e.Name == "thread_name" {
				lanes[e.Thread] = e.Args["name"].(string)
			}
		case "X":
			require.Contains(t, lanes, e.Thread)
			require.GreaterOrEqual(t, e.Duration, 0.0)
			s := shown{lane: lanes[e.Thread], what: e.Category, from: uint64(e.Args["batch"].(float64)), begin: e.TS,
				end: e.TS + e.Duration}
			name := fmt.Sprint(s.what, " ", s.from)
			if s.to = s.from; e.Args["last_batch"] != nil {
				s.to = uint64(e.Args["last_batch"].(float64))
				name += fmt.Sprint("-", s.to)
			}
			require.Equal(t, name, e.Name)
			spans = append(spans, s)
		default:
			t.Fatalf("an event of phase %q", e.Phase)
		}
	}
	return spans
}

// of returns the spans of a batch.
func (p *played) of(lane, what string, batch uint64) (all []shown) {
	for _, s := range p.spans {
		if s.lane == lane && s.what == what && s.from <= batch && batch <= s.to {
			all = append(all, s)
		}
	}
	return all
}

// rounding is the rounding error that times in the file may have, in microseconds.
const rounding = 0.002

// check holds what is so of every timeline: spans of a lane follow each other, and every batch has its spans, in
// their order.
func (p *played) check(t *testing.T, last uint64) {
	t.Helper()
	by := map[string][]shown{}
	for _, s := range p.spans {
		by[s.lane] = append(by[s.lane], s)
		require.LessOrEqual(t, s.to, last, "%+v", s)
	}
	for lane, spans := range by {
		slices.SortStableFunc(spans, func(a, b shown) int { return int(math.Copysign(1, a.begin-b.begin)) })
		for i := range spans[1:] {
			require.LessOrEqual(t, spans[i].end, spans[i+1].begin+rounding, "lane %s: %+v, %+v", lane, spans[i],
				spans[i+1])
		}
	}
	for n := p.first; n <= last; n++ {
		before := -1.0
		for _, s := range [][2]string{{"reader", "decode"}, {"engine", "accept"}, {"engine", "slot"},
			{"engine", "intent"}, {"step", "stage"},
			{"step", "plan"}, {"step", "filter"}, {"step", "search"}, {"step", "apply"}, {"publisher", "commit"}} {
			got := p.of(s[0], s[1], n)
			require.Len(t, got, 1, "batch %d: %v", n, s)
			require.GreaterOrEqual(t, got[0].begin+rounding, before, "batch %d: %v", n, s)
			before = got[0].end
		}
		step, search := p.of("engine", "step", n), p.of("step", "search", n)
		require.Len(t, step, 1)
		require.GreaterOrEqual(t, len(p.of("publisher", "publish", n)), 3, "begin, records, end")
		require.NotZero(t, p.records[n])
		encode := p.of("encoder", "encode", n)
		require.NotEmpty(t, encode, "batch %d", n)
		for _, s := range append(p.of("step", "filter", n),
			slices.Concat(p.of("step", "apply", n), search, encode)...) {
			require.True(t, s.within(step[0]), "batch %d: %+v in %+v", n, s, step[0])
		}
		asks := shown{begin: p.of("step", "filter", n)[0].begin, end: search[0].end}
		for _, s := range p.spans {
			if s.from == n && strings.HasPrefix(s.lane, "device") {
				require.True(t, s.within(asks), "batch %d: %+v in %+v", n, s, asks)
			}
		}
	}
}

func (s shown) within(o shown) bool { return o.begin <= s.begin+rounding && s.end <= o.end+rounding }

// checkTimeline plays random streams with a backend and holds DESIGN A12 by what their timelines show: while n is
// searched, n+1 is decoded and n-1 published.
func checkTimeline(t *testing.T, rng *rand.Rand, backend func(*timeline.Timeline) *timedBackend) *played {
	t.Helper()
	batches := 5 + rng.IntN(4)
	p := play(t, rng, backend, batches, batches, 0)
	require.Equal(t, batches, p.summary.Batches)
	require.Empty(t, p.summary.Note)
	p.check(t, p.last)
	for n := p.first + 1; n < p.last; n++ {
		search, decode := p.of("step", "search", n)[0], p.of("reader", "decode", n+1)[0]
		require.True(t, slices.ContainsFunc(p.of("publisher", "publish", n-1), func(publish shown) bool {
			return max(search.begin, decode.begin, publish.begin) < min(search.end, decode.end, publish.end)
		}), "batch %d: search %+v, decode of the next %+v", n, search, decode)
	}
	for _, s := range p.summary.Stages {
		if s.What == "decode" || s.What == "publish" {
			require.Positive(t, s.OtherSearchS, "%+v", s)
		}
	}
	return p
}

func cpuBackend(threads int) func(*timeline.Timeline) *timedBackend {
	return func(*timeline.Timeline) *timedBackend {
		return &timedBackend{Backend: cpu.New(cpu.Options{Threads: threads, Clock: clock()}), threads: threads}
	}
}

// TestA12Timeline holds that decoding of n+1, search of n and publication of n-1 are under way at once, and that the
// timeline says so.
func TestA12Timeline(t *testing.T) {
	matchertest.ForSeeds(t, 5, func(t *testing.T, rng *rand.Rand) { checkTimeline(t, rng, cpuBackend(1+rng.IntN(3))) })
}

// TestTimelineIsBounded ends timelines after some batches, and at some spans: what is there of the batches before is
// whole.
func TestTimelineIsBounded(t *testing.T) {
	matchertest.ForSeeds(t, 5, func(t *testing.T, rng *rand.Rand) {
		most := 1 + rng.IntN(5)
		p := play(t, rng, cpuBackend(1), 8, most, 0)
		require.Equal(t, most, p.summary.Batches)
		p.check(t, p.first+uint64(most)-1)

		p = play(t, rng, cpuBackend(1), 8, 8, 60+rng.IntN(60))
		require.Contains(t, p.summary.Note, "it ends early")
		require.Less(t, p.summary.Batches, 8)
		p.check(t, p.first+uint64(p.summary.Batches)-1)
	})
}

// TestReplayTrace has the program write a timeline; its output is the same as without.
func TestReplayTrace(t *testing.T) {
	t.Parallel()
	graph, updates := randomStream(3, 40, 150, 400)
	dir := write(t, map[string]string{"g.txt": graph, "u.txt": updates, "triangle.txt": triangle})
	args := []string{"replay", "--graph", "g.txt", "--updates", "u.txt", "--query", "triangle.txt", "--undirected",
		"--batch", "17"}
	want := succeed(t, dir, args...)
	require.NotContains(t, want.stderr, "timeline")
	got := succeed(t, dir, append(args, "--trace", "t.json", "--trace-batches", "9", "--summary", "s.json")...)
	require.Equal(t, want.stdout, got.stdout)
	require.Contains(t, got.stderr, "timeline of 9 batches")
	spans := readTimeline(t, filepath.Join(dir, "t.json"))
	require.Equal(t, uint64(10), spans[len(spans)-1].to, "a registration, and nine batches")
	s := summaryOf(t, dir)["timeline"].(map[string]any)
	require.Equal(t, []any{"t.json", 9.0, float64(len(spans))}, []any{s["file"], s["batches"], s["spans"]})

	for more, says := range map[string]string{
		"u.txt":          "is another file of this command",
		"no/such/t.json": "no such file",
	} {
		got := motifd(t, dir, append(args, "--trace", more)...)
		require.Equal(t, exitRefused, got.code)
		require.Contains(t, got.stderr, says)
	}
	require.Equal(t, updates, readFile(t, filepath.Join(dir, "u.txt")))
	require.NoError(t, os.Symlink("out.jsonl", filepath.Join(dir, "link")))
	got = motifd(t, dir, append(args, "--out", "out.jsonl", "--trace", "link")...) // which leads nowhere
	require.Equal(t, exitRefused, got.code)
	require.Contains(t, got.stderr, "link is another file of this command")
	require.Equal(t, exitRefused, motifd(t, dir, append(args, "--trace", "t.json", "--trace-batches", "0")...).code)
}
