package stream_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/stream"
	"motifd/stream/file"
	"motifd/stream/streamtest"
)

var outputModes = map[string]streamtest.OutputMode{
	"Truncated": streamtest.Truncated, "Tracked": streamtest.Tracked, "Blind": streamtest.Blind,
}

var crashPoints = []streamtest.CrashPoint{streamtest.CrashBefore, streamtest.CrashHalf, streamtest.CrashAfter}

// inMemory returns a world with input and queries, and its output.
func inMemory(t *testing.T, mode streamtest.OutputMode, input []stream.Record, qs ...*matcher.Query) (*world,
	*streamtest.MemOutput) {
	out := &streamtest.MemOutput{Mode: mode}
	w := newWorld(t, out)
	w.in.Add(input...)
	w.change = func(o *stream.PipelineOptions) { o.Startup = startup(qs...) }
	return w, out
}

// crashAtEveryCall crashes a run at each call to the store and the sink, starts again, and compares the output with
// what is wanted. start returns a new world, and what reads its output.
func crashAtEveryCall(t *testing.T, want []string, point func(call int) streamtest.CrashPoint,
	start func() (w *world, read func() []string)) {
	t.Helper()
	for k := 1; ; k++ {
		w, read := start()
		f := streamtest.CrashAt(k, point(k))
		err := w.run(f)
		op, crashed := f.Crashed()
		if !crashed {
			require.NoError(t, err)
			require.Greater(t, k, 20)
			return
		}
		requireCrash(t, err)
		require.NoError(t, w.run(nil), "restart after a crash at call %d, %s", k, op)
		require.Equal(t, want, read(), "crash at call %d, %s", k, op)
	}
}

func eachPointByTurns(call int) streamtest.CrashPoint { return crashPoints[call%3] }

// TestS9CrashAtEveryCall crashes a run at each call to the store and the sink, starts again, and compares the output
// with that of an undisturbed run.
func TestS9CrashAtEveryCall(t *testing.T) {
	input := updates(rand.New(rand.NewPCG(1, 2)), 36)
	qs := queries(t)
	for name, mode := range outputModes {
		t.Run(name, func(t *testing.T) {
			w, out := inMemory(t, mode, input, qs...)
			require.NoError(t, w.run(nil))
			want := text(out.Visible(), false)
			require.Greater(t, len(want), 50)
			start := func() (*world, func() []string) {
				w, out := inMemory(t, mode, input, qs...)
				return w, func() []string { return text(out.Visible(), mode == streamtest.Blind) }
			}
			if matchertest.UnderRace { // the goroutines are the same at each point
				crashAtEveryCall(t, want, eachPointByTurns, start)
				return
			}
			for _, point := range crashPoints {
				crashAtEveryCall(t, want, func(int) streamtest.CrashPoint { return point }, start)
			}
		})
	}
}

// TestS11CapsAndSamplesSurviveCrashes crashes a run with capped and sampled queries at each call: the records that are
// left out, the notices, and what negatives say of lost positives are those of an undisturbed run.
func TestS11CapsAndSamplesSurviveCrashes(t *testing.T) {
	matchertest.NotUnderRace(t, "TestS9CrashAtEveryCall crashes the same goroutines")
	input := updates(rand.New(rand.NewPCG(1, 2)), 60)
	ring, path, sampled := queries(t)[0], queries(t)[1], queries(t)[1]
	ring.MaxMatches, path.MaxMatches, path.ExactTotal = 1, 3, true
	sampled.Name, sampled.Sample = "sampled", 3
	w, out := inMemory(t, streamtest.Tracked, input, ring, path, sampled)
	require.NoError(t, w.run(nil))
	want := text(out.Visible(), false)
	all := strings.Join(want, "\n")
	for _, part := range []string{
		`"query":"ring","version":1,"op":"!","reason":"truncated"`, `"lossy_since":`,
		`"query":"sampled","version":1,"op":"+"`, `"query":"sampled","version":1,"op":"-"`,
	} {
		require.Contains(t, all, part)
	}
	require.Less(t, strings.Count(all, `"query":"path","version":1,"op":"+"`),
		strings.Count(all, `"query":"path","version":1,"op":"-"`), "negatives are never cut")
	crashAtEveryCall(t, want, eachPointByTurns, func() (*world, func() []string) {
		w, out := inMemory(t, streamtest.Tracked, input, ring, path, sampled)
		return w, func() []string { return text(out.Visible(), false) }
	})
}

// TestS9CrashAgainAndAgain crashes at random calls until the input is done.
func TestS9CrashAgainAndAgain(t *testing.T) {
	qs := queries(t)
	seeds := uint64(15)
	if matchertest.UnderRace {
		seeds = 4
	}
	for seed := range seeds {
		for name, mode := range outputModes {
			rng := rand.New(rand.NewPCG(seed, 7))
			input := updates(rng, 40+rng.IntN(40))
			out := &streamtest.MemOutput{Mode: mode}
			start := func(out *streamtest.MemOutput) *world {
				w := newWorld(t, out)
				w.in.Add(input...)
				w.change = func(o *stream.PipelineOptions) {
					o.Startup = startup(qs...)
					o.MaxInFlight = 1 + int(seed%3)
				}
				return w
			}
			whole := &streamtest.MemOutput{Mode: mode}
			require.NoError(t, start(whole).run(nil))
			w := start(out)
			for {
				err := w.run(streamtest.CrashAt(1+rng.IntN(25), crashPoints[rng.IntN(3)]))
				if err == nil {
					break
				}
				requireCrash(t, err)
			}
			require.Equal(t, text(whole.Visible(), false), text(out.Visible(), mode == streamtest.Blind),
				"seed %d, %s", seed, name)
		}
	}
}

// TestS9FileOutputIsByteIdentical crashes runs that write files.
func TestS9FileOutputIsByteIdentical(t *testing.T) {
	input := updates(rand.New(rand.NewPCG(3, 4)), 60)
	qs := queries(t)
	start := func() (*world, func() []string) {
		dir := t.TempDir()
		opt := file.SinkOptions{
			Output: filepath.Join(dir, "out"), DeadLetters: filepath.Join(dir, "dead"),
			Control: filepath.Join(dir, "control"),
			NoSync:  true, BufferBytes: 512,
		}
		w := newWorld(t, nil)
		w.in.Add(input...)
		w.change = func(o *stream.PipelineOptions) { o.Startup = startup(qs...) }
		w.sink = func() stream.Sink {
			s, err := file.NewSink(opt)
			require.NoError(t, err)
			return s
		}
		return w, func() (all []string) {
			for _, path := range []string{opt.Output, opt.DeadLetters, opt.Control} {
				data, err := os.ReadFile(path)
				require.NoError(t, err)
				all = append(all, string(data))
			}
			return all
		}
	}
	w, read := start()
	require.NoError(t, w.run(nil))
	crashAtEveryCall(t, read(), eachPointByTurns, start)
}

// TestP2ReplayOfTheBatchLog steps the logged batches again, from nothing.
func TestP2ReplayOfTheBatchLog(t *testing.T) {
	out := &streamtest.MemOutput{}
	w := newWorld(t, out)
	w.in.Add(updates(rand.New(rand.NewPCG(5, 6)), 60)...)
	w.change = func(o *stream.PipelineOptions) { o.Startup = startup(queries(t)...) }
	require.NoError(t, w.run(nil))

	require.Equal(t, text(out.Visible(), false), w.replayed())
}

// replayed is the output of a replay of the batches that are committed.
func (w *world) replayed() []string {
	w.t.Helper()
	again := &streamtest.MemOutput{}
	r := newWorld(w.t, again)
	log := w.store.Committed()
	r.change = func(o *stream.PipelineOptions) {
		o.Source, o.Decoder, o.Store = nil, nil, nil
		o.EncodeThreads, o.ChunkRecords = 1, 100
		o.Log = func(yield func(*stream.Batch, error) bool) {
			for i := range log {
				if !yield(&log[i], nil) {
					return
				}
			}
		}
	}
	require.NoError(w.t, r.run(nil))
	return text(again.Visible(), false)
}
