package stream_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/matcher"
	"motifd/stream"
	"motifd/stream/streamtest"
)

// stuckSink blocks in Write until the context is done.
type stuckSink struct {
	stream.Sink
	reached chan struct{}
}

func (s *stuckSink) Write(ctx context.Context, _ []stream.OutRecord) error {
	close(s.reached)
	<-ctx.Done()
	return context.Cause(ctx)
}

func TestStopTimeoutAndAbort(t *testing.T) {
	cause := errors.New("enough")
	for name, c := range map[string]struct {
		end  func(p *stream.Pipeline, cancel func())
		want error
	}{
		"timeout": {func(_ *stream.Pipeline, cancel func()) { cancel() }, stream.ErrStopTimeout},
		"abort":   {func(p *stream.Pipeline, _ func()) { p.Abort(cause) }, cause},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, &streamtest.MemOutput{})
				w.in.Add(updates(rand.New(rand.NewPCG(1, 1)), 50)...)
				var stuck *stuckSink
				w.change = func(o *stream.PipelineOptions) {
					stuck = &stuckSink{o.Sink, make(chan struct{})}
					o.Sink = stuck
					o.Startup = startup(queries(t)...)
				}
				p := w.pipeline(nil)
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() { done <- p.Run(ctx) }()
				<-stuck.reached
				c.end(p, cancel)
				require.ErrorIs(t, <-done, c.want)
				cancel()
			})
		})
	}
}

// Parts that fail.
type (
	badSource  struct{ stream.Source }
	badSeek    struct{ stream.Source }
	badSink    struct{ stream.Sink }
	badEnd     struct{ stream.Sink }
	badStore   struct{ stream.Store }
	badCommit  struct{ stream.Store }
	badEncoder struct{ stream.Encoder }
	badEngine  struct{ stream.Engine }
)

func (badSource) Read(context.Context) ([]stream.Record, error) { return nil, errBroken }
func (badSeek) Seek(context.Context, stream.Positions) error    { return errBroken }
func (badSink) Open(context.Context, string, uint64, stream.Mark, bool) (stream.Progress, error) {
	return stream.Progress{}, errBroken
}
func (badEnd) End(context.Context, stream.Tail) (stream.Mark, error) { return nil, errBroken }
func (badStore) Intent(context.Context, *stream.Batch) error         { return errBroken }
func (badCommit) Commit(context.Context, *stream.CommitInfo) error   { return errBroken }
func (badEncoder) Append([]stream.OutRecord, *matcher.Event, int, int) ([]stream.OutRecord, error) {
	return nil, errBroken
}

func (badEngine) Step(
	context.Context,
	*matcher.Batch,
	func(*matcher.Event) error,
	func(error) error,
) (*matcher.Summary, error) {
	return nil, errBroken
}

func TestErrorsNameThePart(t *testing.T) {
	for want, change := range map[string]func(*stream.PipelineOptions){
		"source: broken":                   func(o *stream.PipelineOptions) { o.Source = badSource{o.Source} },
		"source: broken\n":                 func(o *stream.PipelineOptions) { o.Source = badSeek{o.Source} },
		"sink: broken":                     func(o *stream.PipelineOptions) { o.Sink = badSink{o.Sink} },
		"sink: end of batch 1: broken":     func(o *stream.PipelineOptions) { o.Sink = badEnd{o.Sink} },
		"store: intent of batch 1: broken": func(o *stream.PipelineOptions) { o.Store = badStore{o.Store} },
		"store: commit of batch 1: broken": func(o *stream.PipelineOptions) { o.Store = badCommit{o.Store} },
		"encode results of query":          func(o *stream.PipelineOptions) { o.Encoder = badEncoder{o.Encoder} },
		"batch 1: broken":                  func(o *stream.PipelineOptions) { o.Engine = badEngine{o.Engine} },
		"queries of the configuration: bad": func(o *stream.PipelineOptions) {
			o.Startup = startup(&matcher.Query{Name: "x"})
		},
	} {
		w := newWorld(t, &streamtest.MemOutput{})
		w.in.Add(updates(rand.New(rand.NewPCG(1, 1)), 100)...)
		w.change = func(o *stream.PipelineOptions) {
			o.Startup = startup(queries(t)...)
			change(o)
		}
		err := w.run(nil)
		require.ErrorContains(t, err, strings.TrimSpace(want))
	}
}

func TestProgressMustFitTheCheckpoint(t *testing.T) {
	for want, got := range map[string]stream.Progress{
		"written by stream other":       {Stream: "other", Batch: 1},
		"restore the checkpoint":        {Stream: "other"},
		"continues at batch 2, and":     {Stream: testStream, Batch: 2, Known: true},
		"continues at batch 1, and the": {Stream: testStream, Batch: 1, Index: 4, Known: true},
	} {
		w := newWorld(t, &streamtest.MemOutput{})
		w.change = func(o *stream.PipelineOptions) { o.Sink = tellingSink{o.Sink, got} }
		err := w.run(nil)
		require.ErrorIs(t, err, stream.ErrMismatch)
		require.ErrorContains(t, err, want)
	}
	w := newWorld(t, &streamtest.MemOutput{})
	w.in.Add(edge("a", "b"))
	require.NoError(t, w.run(nil))
	w.change = func(o *stream.PipelineOptions) {
		o.Sink = tellingSink{o.Sink, stream.Progress{Stream: testStream, Batch: 1, Known: true}}
	}
	err := w.run(nil)
	require.ErrorIs(t, err, stream.ErrMismatch)
	require.ErrorContains(t, err, "records were lost")
}

// tellingSink tells a progress of the test's choice.
type tellingSink struct {
	stream.Sink
	got stream.Progress
}

func (s tellingSink) Open(context.Context, string, uint64, stream.Mark, bool) (stream.Progress, error) {
	return s.got, nil
}

func TestS11SuspensionIsLoggedAndObeyed(t *testing.T) {
	var recs []stream.Record
	for i := range 40 {
		recs = append(recs, edge(fmt.Sprintf("in%d", i%8), "hub"), edge("hub", fmt.Sprintf("out%d", i%9)),
			edge(fmt.Sprintf("in%d", i%8), fmt.Sprintf("out%d", i%9)))
	}
	path := queries(t)[1]
	path.WorkBudget, path.OverBudget = 400, matcher.SuspendQuery
	world := func(out *streamtest.MemOutput) *world {
		w := newWorld(t, out)
		w.in.Add(recs...)
		w.change = func(o *stream.PipelineOptions) {
			o.Startup = func(known []matcher.QueryState) ([]*matcher.QueryChange, error) {
				if len(known) > 0 {
					return nil, nil // a suspended query is not resumed
				}
				return []*matcher.QueryChange{{Add: path}}, nil
			}
			o.Batch.MaxUpdates = 30
		}
		return w
	}
	whole := &streamtest.MemOutput{Mode: streamtest.Tracked}
	w := world(whole)
	require.NoError(t, w.run(nil))
	suspended := func() (batches []uint64) {
		for _, b := range w.store.Committed() {
			if len(b.Decisions) > 0 {
				batches = append(batches, b.Number)
			}
		}
		return batches
	}
	require.Equal(t, []uint64{2}, suspended())
	want := text(whole.Visible(), false)
	require.Greater(t, len(want), 10)
	for k := 1; ; k++ {
		out := &streamtest.MemOutput{Mode: streamtest.Tracked}
		w = world(out)
		f := streamtest.CrashAt(k, crashPoints[k%3])
		err := w.run(f)
		op, crashed := f.Crashed()
		if !crashed {
			require.NoError(t, err)
			break
		}
		requireCrash(t, err)
		require.NoError(t, w.run(nil), op)
		if at := suspended(); at[0] != 2 {
			// the crash came before the suspension was logged, and recovery measures no budget: a later batch did
			continue
		}
		require.Equal(t, want, text(out.Visible(), false), "crash at call %d, %s", k, op)
	}
}

// slowEngine waits at its first event until it is released.
type slowEngine struct {
	stream.Engine
	reached, release chan struct{}
	once             sync.Once
}

func (s *slowEngine) Step(
	ctx context.Context,
	b *matcher.Batch,
	emit func(*matcher.Event) error,
	settle func(error) error,
) (*matcher.Summary, error) {
	return s.Engine.Step(ctx, b, func(ev *matcher.Event) error {
		err := emit(ev)
		s.once.Do(func() {
			close(s.reached)
			<-s.release
		})
		return err
	}, settle)
}

// Anchors implements stream.Engine.
func (s *slowEngine) Anchors() (done, all uint64) { return 3, 7 }

func (s *slowEngine) Found() uint64 { return 11 }

// TestAStepIsTold: while the engine is at a batch, the status tells which one, for how long, and how far it has come.
func TestAStepIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &streamtest.MemOutput{})
		w.in.Add(updates(rand.New(rand.NewPCG(1, 1)), 50)...)
		slow := &slowEngine{reached: make(chan struct{}), release: make(chan struct{})}
		w.change = func(o *stream.PipelineOptions) {
			slow.Engine = o.Engine
			o.Engine = slow
			o.Startup = startup(queries(t)...)
		}
		p := w.pipeline(nil)
		_, ok := p.Step()
		require.False(t, ok)
		done := make(chan error, 1)
		go func() { done <- p.Run(t.Context()) }()
		<-slow.reached
		p.NotePhase(matcher.PhaseSearch)
		<-time.After(70 * time.Second) // of the bubble's clock
		got, ok := p.Step()
		require.True(t, ok)
		require.Equal(t, p.Status().Step, &got)
		require.Positive(t, got.Batch)
		require.EqualValues(t, 70, got.Seconds)
		require.Positive(t, got.Records)
		require.NotEmpty(t, got.Query)
		require.NotEmpty(t, got.Sign)
		require.Equal(t, matcher.PhaseSearch, got.Phase)
		require.Equal(t, [2]uint64{3, 7}, [2]uint64{got.AnchorsDone, got.Anchors})
		require.EqualValues(t, 11, got.Found)
		close(slow.release)
		require.NoError(t, <-done)
		_, ok = p.Step()
		require.False(t, ok)
	})
}
