//go:build linux

package stream_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/matchertest"
	"motifd/stream"
	"motifd/stream/codec"
	"motifd/stream/monitor"
	"motifd/stream/streamtest"
	"motifd/stream/tempfile"
)

var (
	floodMatches = flag.Int("flood", 500_000_000, "matches of BenchmarkFlood")
	floodThreads = flag.Int(
		"flood-threads",
		2,
		"processors of BenchmarkFlood, and its threads that search and that encode",
	)
)

// floodSink reads the records of a Flood, of which all are in one batch, and keeps nothing but where the last one
// stands.
type floodSink struct {
	records, bytes uint64
	batch          uint64
	last           [5]int // anchor, and the numbers in the keys of the vertices, in the query's order
}

func (*floodSink) Open(context.Context, string, uint64, stream.Mark, bool) (stream.Progress, error) {
	return stream.Progress{}, nil
}

func (*floodSink) Begin(context.Context, uint64) error                   { return nil }
func (*floodSink) End(context.Context, stream.Tail) (stream.Mark, error) { return nil, nil }
func (*floodSink) Partitions() int32                                     { return 0 }
func (*floodSink) Close() error                                          { return nil }

// Write checks that records come in canonical order, and that their numbers follow each other.
func (s *floodSink) Write(_ context.Context, recs []stream.OutRecord) error {
	for i := range recs {
		r := &recs[i]
		index, at, err := floodPlace(r.Value)
		if err != nil {
			return err
		}
		if s.records == 0 {
			s.batch = r.Batch
		} else if !before(s.last, at) {
			return fmt.Errorf("record %d, %v, comes after %v", r.Index, at, s.last)
		}
		if r.Batch != s.batch || r.Index != s.records || uint64(index) != s.records {
			return fmt.Errorf(
				"record %d of batch %d comes when record %d of batch %d is next: %s",
				r.Index,
				r.Batch,
				s.records,
				s.batch,
				r.Value,
			)
		}
		s.records, s.bytes, s.last = s.records+1, s.bytes+uint64(len(r.Value)), at
	}
	return nil
}

func before(a, b [5]int) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

// floodPlace reads from a record's JSON its number in the batch and what orders it.
func floodPlace(value []byte) (index int, at [5]int, err error) {
	rest := value
	read := func(after string, skip int) (n int) {
		i := bytes.Index(rest, []byte(after))
		if i < 0 || len(rest) <= i+len(after)+skip {
			err = fmt.Errorf("there is no %s in %s", after, value)
			return 0
		}
		rest = rest[i+len(after)+skip:]
		digits := 0
		for ; digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9'; digits++ {
			n = 10*n + int(rest[digits]-'0')
		}
		if digits == 0 {
			err = fmt.Errorf("there is no number after %s in %s", after, value)
		}
		return n
	}
	index = read(`"index":`, 0)
	for i := 1; i <= 4; i++ {
		at[i] = read(`{"key":"`, 1)
	}
	at[0] = read(`"anchor":{"op":"+","partition":0,"offset":`, 0)
	return index, at, err
}

// floodPipeline returns a whole pipeline that searches a flood, encodes its matches on several goroutines and hands
// them to a sink that checks them. change may alter it.
func floodPipeline(
	tb testing.TB,
	f *matchertest.Flood,
	threads int,
	opt cpu.Options,
	change func(*stream.PipelineOptions),
) (*stream.Pipeline, *floodSink) {
	tb.Helper()
	g := dyngraph.NewGraph(dyngraph.Options{})
	_, err := g.Stage(f.Graph)
	require.NoError(tb, err)
	g.Commit()
	opt.Threads = threads
	e, err := monitor.NewEngine(matcher.EngineOptions{Graph: g, Backend: cpu.New(opt)})
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, e.Close()) })
	in := streamtest.NewInput(false)
	for _, u := range f.Batch {
		in.Add(stream.Record{Value: fmt.Appendf(nil, `{"op":"+","from":%q,"to":%q}`, u.From, u.To)})
	}
	dec, err := codec.NewDecoder(codec.FormatJSON, codec.DecoderOptions{})
	require.NoError(tb, err)
	sink := new(floodSink)
	o := stream.PipelineOptions{
		Source: in.Source(0), Decoder: dec, Engine: e, Sink: sink, EncodeThreads: threads,
		Encoder: codec.NewEncoder(codec.EncoderOptions{StreamID: testStream}),
		Batch:   stream.BatcherOptions{MaxUpdates: len(f.Batch), Linger: -1},
		Startup: startup(f.Query),
	}
	if change != nil {
		change(&o)
	}
	p, err := stream.NewPipeline(o)
	require.NoError(tb, err)
	return p, sink
}

// runFlood runs such a pipeline to its end.
func runFlood(tb testing.TB, f *matchertest.Flood, threads int, opt cpu.Options) *floodSink {
	tb.Helper()
	p, sink := floodPipeline(tb, f, threads, opt, nil)
	require.NoError(tb, p.Run(tb.Context()))
	require.Equal(tb, f.Matches, sink.records)
	return sink
}

// stoppingEncoder stops the pipeline with the first record that it encodes.
type stoppingEncoder struct {
	stream.Encoder
	stop    func()
	records atomic.Uint64
}

func (e *stoppingEncoder) Append(
	recs []stream.OutRecord,
	ev *matcher.Event,
	first, end int,
) ([]stream.OutRecord, error) {
	e.stop()
	e.records.Add(uint64(end - first))
	return e.Encoder.Append(recs, ev, first, end)
}

// stoppingSink stops the pipeline with the first records that it writes.
type stoppingSink struct {
	*floodSink
	stop func()
}

func (s *stoppingSink) Write(ctx context.Context, recs []stream.OutRecord) error {
	s.stop()
	return s.floodSink.Write(ctx, recs)
}

// TestAStopEndsEncodingAndWriting: of a flood that is stopped at its first record, or at the first that is written,
// hardly more is encoded or written.
func TestAStopEndsEncodingAndWriting(t *testing.T) {
	f := matchertest.NewFlood(200_000)
	enough := errors.New("enough")
	for _, threads := range []int{1, 4} {
		for _, writing := range []bool{false, true} {
			var p *stream.Pipeline
			var sink *floodSink
			var e *stoppingEncoder
			stop := sync.OnceFunc(func() { p.Abort(enough) })
			p, sink = floodPipeline(t, f, threads, cpu.Options{TempFiles: tempfile.In(t.TempDir())},
				func(o *stream.PipelineOptions) {
					e = &stoppingEncoder{Encoder: o.Encoder, stop: stop}
					o.Encoder, o.PublishBytes = e, 1<<20
					if writing {
						e.stop = func() {}
						o.Sink = &stoppingSink{o.Sink.(*floodSink), stop}
					}
				})
			require.ErrorIs(t, p.Run(t.Context()), enough)
			require.Less(t, e.records.Load(), f.Matches/4, "%d threads, writing %v", threads, writing)
			require.Less(t, sink.records, f.Matches/4, "%d threads, writing %v", threads, writing)
		}
	}
}

// TestFloodInOrder: what many goroutines encode of a batch, of groups that are sorted in memory and on disk, comes in
// order.
func TestFloodInOrder(t *testing.T) {
	sink := runFlood(
		t,
		matchertest.NewFlood(60_000),
		4,
		cpu.Options{TempFiles: tempfile.In(t.TempDir()), GroupMemory: 32 << 10, QueueMemory: 64 << 10},
	)
	require.Greater(t, sink.bytes, 100*sink.records)
}

// BenchmarkFlood streams one batch with 500 million matches, over 50 million of them in one group, through search,
// encoder and publisher into a sink that checks their order and keeps nothing, with the memory limits that are the
// default; the process must stay within 2 GiB.
func BenchmarkFlood(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(*floodThreads))
	f := matchertest.NewFlood(*floodMatches)
	for b.Loop() {
		at := time.Now()
		sink := runFlood(b, f, *floodThreads, cpu.Options{TempFiles: tempfile.In(b.TempDir())})
		took := time.Since(at).Seconds()
		b.ReportMetric(float64(sink.records)/1e6/took, "M-matches/s")
		b.ReportMetric(float64(sink.bytes)/1e6/took, "MB/s")
	}
	b.ReportMetric(float64(f.Matches), "matches")
	peak := peakMemory(b)
	b.ReportMetric(float64(peak), "peak-MiB")
	if peak > 2048 {
		b.Errorf("%d MiB were resident, at most 2048 are to be", peak)
	}
}

// peakMemory returns the most memory, in MiB, that this process has had resident.
func peakMemory(tb testing.TB) int {
	tb.Helper()
	status, err := os.ReadFile("/proc/self/status")
	require.NoError(tb, err)
	for line := range strings.Lines(string(status)) {
		if kb, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, err := strconv.Atoi(strings.Fields(kb)[0])
			require.NoError(tb, err)
			return n >> 10
		}
	}
	tb.Fatal("/proc/self/status does not tell the peak")
	return 0
}
