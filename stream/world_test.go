package stream_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"motifd/matcher"
	"motifd/matcher/pattern"
	"motifd/matcher/reference"
	"motifd/stream"
	"motifd/stream/codec"
	"motifd/stream/monitor"
	"motifd/stream/streamtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world holds the parts that outlive a run of the pipeline: input, output and store, with the way to run over them.
type world struct {
	t     testing.TB
	in    *streamtest.Input
	store *streamtest.Store
	// sink makes a sink over the output.
	sink func() stream.Sink
	// change adapts the options of a run; may be nil.
	change func(*stream.PipelineOptions)
	limits matcher.Limits
}

const testStream = "0123456789abcdef0123456789abcdef"

func newWorld(t testing.TB, out *streamtest.MemOutput) *world {
	return &world{
		t: t, in: streamtest.NewInput(false), store: &streamtest.Store{ID: testStream},
		sink: func() stream.Sink { return out.Sink(false) },
	}
}

// query parses a Cypher pattern.
func query(t testing.TB, name, text string) *matcher.Query {
	t.Helper()
	q, err := pattern.Parse(pattern.Cypher, []byte(text), pattern.Options{Name: name, Directed: true})
	require.NoError(t, err)
	q.Origin = "config"
	return q
}

// queries are a ring of three and a path that has many matches.
func queries(t testing.TB) []*matcher.Query {
	return []*matcher.Query{
		query(t, "ring", "MATCH (a)-[:T]->(b)-[:T]->(c)-[:T]->(a) RETURN a, b, c"),
		query(t, "path", "MATCH (a)-[:T]->(b)-[:T]->(c) RETURN a, b, c"),
	}
}

// startup registers queries as a configuration would.
func startup(qs ...*matcher.Query) func([]matcher.QueryState) ([]*matcher.QueryChange, error) {
	return func([]matcher.QueryState) (out []*matcher.QueryChange, err error) {
		for _, q := range qs {
			out = append(out, &matcher.QueryChange{Add: q})
		}
		return out, nil
	}
}

// engine makes an engine that has stepped over the store's committed batches.
func (w *world) engine(store stream.Store) *matcher.Engine {
	w.t.Helper()
	e, err := monitor.NewEngine(matcher.EngineOptions{Backend: reference.New(), Limits: w.limits, Decide: store.Decide})
	require.NoError(w.t, err)
	for _, b := range w.store.Committed() {
		b.MeasureFrom = matcher.NeverMeasure
		_, err := e.Step(context.Background(), &b.Batch, func(*matcher.Event) error { return nil }, nil)
		require.NoError(w.t, err)
	}
	return e
}

// options are those of a run whose ends fail as f says; nil: never.
func (w *world) options(f *streamtest.Faults) stream.PipelineOptions {
	w.t.Helper()
	if f == nil {
		f = streamtest.CrashAt(0, streamtest.CrashBefore)
	}
	store := f.Store(w.store)
	state, err := w.store.Recover(context.Background())
	require.NoError(w.t, err)
	dec, err := codec.NewDecoder(codec.FormatJSON, codec.DecoderOptions{})
	require.NoError(w.t, err)
	opt := stream.PipelineOptions{
		Source: f.Source(w.in.Source(7)), Decoder: dec,
		Engine:  w.engine(store),
		Encoder: codec.NewEncoder(codec.EncoderOptions{StreamID: state.StreamID}),
		Sink:    f.Sink(w.sink()),
		Store:   store, State: state,
		Batch:        stream.BatcherOptions{MaxUpdates: 10, Linger: -1},
		ChunkRecords: 5, EncodeThreads: 2, Control: true,
	}
	if w.change != nil {
		w.change(&opt)
	}
	return opt
}

func (w *world) pipeline(f *streamtest.Faults) *stream.Pipeline {
	w.t.Helper()
	p, err := stream.NewPipeline(w.options(f))
	require.NoError(w.t, err)
	return p
}

func (w *world) run(f *streamtest.Faults) error { return w.pipeline(f).Run(w.t.Context()) }

// updates makes messages of random updates over a few vertices, with bad ones between them. Some have a key, and some
// an empty one.
func updates(rng *rand.Rand, messages int) (recs []stream.Record) {
	update := func() string {
		op := "+"
		if rng.IntN(3) == 0 {
			op = "-"
		}
		a, b := rng.IntN(6), rng.IntN(5)
		if b >= a {
			b++
		}
		return fmt.Sprintf(`{"op":%q,"from":"v%d","to":"v%d","label":"T","ts":%d}`, op, a, b, rng.IntN(1000))
	}
	for i := range messages {
		var v string
		switch rng.IntN(12) {
		case 0:
			v = `{"op":"+","from":"v1","to":`
		case 1:
			v = `{"op":"+","from":"v1","to":"v1","label":"T"}`
		case 2, 3, 4:
			v = "[" + update()
			for range rng.IntN(4) {
				v += "," + update()
			}
			v += "]"
		default:
			v = update()
		}
		recs = append(
			recs,
			stream.Record{Partition: int32(i % 2), Key: [][]byte{nil, {}, []byte("k")}[i%3], Value: []byte(v)},
		)
	}
	return recs
}

// text is an output as comparable text, less repeats when they are allowed.
func text(o streamtest.Output, repeats bool) (out []string) {
	seen := map[string]bool{}
	for _, recs := range [][]stream.OutRecord{o.Main, o.DeadLetters, o.Control} {
		for _, r := range recs {
			line := fmt.Sprintf(
				"%s %v %s %d %d %s %d %v",
				r.Key,
				r.Key == nil,
				r.Value,
				r.Batch,
				r.Index,
				r.Query,
				r.Sign,
				r.Snapshot,
			)
			if repeats && seen[line] {
				continue
			}
			seen[line] = true
			out = append(out, line)
		}
	}
	return out
}

func requireCrash(t testing.TB, err error) {
	t.Helper()
	require.ErrorIs(t, err, streamtest.ErrCrash)
}

// failing is a part that fails at its n-th call.
var errBroken = errors.New("broken")
