package stream_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/stream"
	"motifd/stream/streamtest"
)

// start runs a pipeline in the background.
func start(t testing.TB, p *stream.Pipeline) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	return sync.OnceValue(func() error {
		cancel()
		return <-done
	})
}

func edge(from, to string) stream.Record {
	return stream.Record{Value: fmt.Appendf(nil, `{"op":"+","from":%q,"to":%q,"label":"T"}`, from, to)}
}

func TestEmptyInput(t *testing.T) {
	out := &streamtest.MemOutput{}
	w := newWorld(t, out)
	p := w.pipeline(nil)
	require.NoError(t, p.Run(t.Context()))
	require.Empty(t, text(out.Visible(), false))
	require.Equal(t, stream.StateStopped, p.Status().State)
	require.Error(t, p.Run(t.Context()), "a second run")
	_, _, err := p.Change(t.Context(), &matcher.QueryChange{Remove: "x"})
	require.ErrorIs(t, err, stream.ErrStopped)
}

func TestS8ChangesAreBatchesBetweenOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &streamtest.MemOutput{}
		w := newWorld(t, out)
		w.in = streamtest.NewInput(true)
		w.change = func(o *stream.PipelineOptions) { o.Batch.Linger = time.Hour }
		p := w.pipeline(nil)
		stop := start(t, p)
		ring := queries(t)[0]
		batch, version, err := p.Change(t.Context(), &matcher.QueryChange{Add: ring})
		require.NoError(t, err)
		require.Equal(t, []uint64{1, 1}, []uint64{batch, version})
		_, _, err = p.Change(t.Context(), &matcher.QueryChange{Add: ring})
		require.ErrorIs(t, err, matcher.ErrUnchanged)
		_, _, err = p.Change(t.Context(), &matcher.QueryChange{Remove: "other"})
		require.ErrorIs(t, err, matcher.ErrNoQuery)
		_, _, err = p.Change(t.Context(), &matcher.QueryChange{Add: &matcher.Query{Name: "bad"}})
		require.ErrorIs(t, err, matcher.ErrQuery)

		w.in.Add(edge("a", "b"), edge("b", "c"), edge("c", "a"))
		synctest.Wait() // they are waiting for the batch to be cut
		full := queries(t)[1]
		full.Backfill = matcher.BackfillFull
		batch, _, err = p.Change(t.Context(), &matcher.QueryChange{Add: full})
		require.NoError(t, err)
		require.Equal(t, uint64(3), batch, "the batch at hand is cut first")
		batch, version, err = p.Change(t.Context(), &matcher.QueryChange{Remove: "ring"})
		require.NoError(t, err)
		require.Equal(t, []uint64{4, 1}, []uint64{batch, version}, "the version that is removed")
		synctest.Wait()

		st := p.Status()
		require.Equal(t, uint64(4), st.Batch)
		require.Len(t, st.Queries, 1)
		require.Equal(t, "path", st.Queries[0].Query.Name)
		require.Equal(t, "3", st.Queries[0].TotalPositive.String())
		require.Equal(t, 3, st.Edges)
		ok, _ := p.Ready()
		require.True(t, ok)
		require.NoError(t, stop())
		ok, reason := p.Ready()
		require.False(t, ok)
		require.Equal(t, "stopped", reason)

		main := out.Visible().Main
		require.Len(t, main, 6, "three rings, three paths")
		require.False(t, main[0].Snapshot)
		require.True(t, main[5].Snapshot)
		var reports []stream.BatchReport
		for _, r := range out.Visible().Control {
			var b struct {
				Batch  uint64
				Change *stream.ChangeReport
			}
			require.NoError(t, json.Unmarshal(r.Value, &b))
			reports = append(reports, stream.BatchReport{Batch: b.Batch, Change: b.Change})
		}
		require.Equal(t, []stream.BatchReport{
			{Batch: 1, Change: &stream.ChangeReport{Op: "add", Query: "ring", Version: 1}},
			{Batch: 2},
			{Batch: 3, Change: &stream.ChangeReport{Op: "add", Query: "path", Version: 1}},
			{Batch: 4, Change: &stream.ChangeReport{Op: "remove", Query: "ring", Version: 1}},
		}, reports)

		// The queries of the configuration are compared at the next start: one that is as it was is no batch.
		w.change = func(o *stream.PipelineOptions) { o.Startup = startup(full) }
		w.in.End()
		require.NoError(t, w.run(nil))
		require.Len(t, w.store.Committed(), 4)
	})
}

func TestChangeIsAnsweredOnceItIsLogged(t *testing.T) {
	out := &streamtest.MemOutput{}
	w := newWorld(t, out)
	w.in = streamtest.NewInput(true)
	f := streamtest.CrashAt(3, streamtest.CrashBefore) // Open, Intent, Begin
	p := w.pipeline(f)
	stop := start(t, p)
	batch, _, err := p.Change(t.Context(), &matcher.QueryChange{Add: queries(t)[0]})
	require.NoError(t, err)
	require.Equal(t, uint64(1), batch)
	requireCrash(t, stop())
	w.in.End()
	require.NoError(t, w.run(nil))
	require.Len(t, w.store.Committed(), 1)

	w = newWorld(t, &streamtest.MemOutput{}) // and refused when it could not be logged
	w.in = streamtest.NewInput(true)
	p = w.pipeline(streamtest.CrashAt(2, streamtest.CrashBefore))
	stop = start(t, p)
	_, _, err = p.Change(t.Context(), &matcher.QueryChange{Add: queries(t)[0]})
	require.ErrorIs(t, err, stream.ErrStopped)
	requireCrash(t, stop())
}

func TestS10DeadLettersInInputOrder(t *testing.T) {
	out := &streamtest.MemOutput{}
	w := newWorld(t, out)
	w.change = func(o *stream.PipelineOptions) { o.DeadLetterBytes = 12 }
	bad := &stream.RecordError{Reason: "size", Size: 5000, Msg: "too long"}
	for i, v := range []string{
		`{"op":"+","from":"a","to":"a"}`, `{"op":`, `{"op":"+","from":"a","to":"b"}`,
		`[{"op":"+","from":"a","to":"c"},{"op":"+","from":"d","to":"d"}]`, `x`, `{"op":"+","from":"e","to":"e"}`,
	} {
		w.in.Add(stream.Record{Value: []byte(v)})
		if i == 3 {
			w.in.Add(stream.Record{Value: []byte("cut"), Err: bad})
		}
	}
	require.NoError(t, w.run(nil))
	batches := w.store.Committed()
	require.Len(t, batches, 1)
	require.Len(t, batches[0].Updates, 1)
	dead := batches[0].DeadLetters
	var got []string
	for _, d := range dead {
		got = append(got, fmt.Sprintf("%d %d %s %d %s", d.Offset, d.Element, d.Reason, d.Size, d.Value))
		require.NotEmpty(t, d.Error)
	}
	require.Equal(t, "0 -1 self_loop 30", got[0][:len("0 -1 self_loop 30")])
	require.Equal(t, `{"op":"+","f`, string(dead[0].Value))
	require.True(t, strings.HasPrefix(got[2], "3 1 self_loop"), got[2])
	require.Equal(t, "4 -1 size 5000 cut", got[3])
	for i, off := range []int64{0, 1, 3, 4, 5, 6} {
		require.Equal(t, off, dead[i].Offset)
	}
	require.Len(t, out.Visible().DeadLetters, 6)
}

func TestGracefulStopFinishesTheBatchInHand(t *testing.T) {
	input := updates(rand.New(rand.NewPCG(8, 9)), 80)
	whole := &streamtest.MemOutput{}
	w := newWorld(t, whole)
	w.in.Add(input...)
	w.change = func(o *stream.PipelineOptions) { o.Startup = startup(queries(t)...) }
	require.NoError(t, w.run(nil))

	for after := range uint64(9) {
		out := &streamtest.MemOutput{Mode: streamtest.Blind} // which would show a batch that is done twice
		w := newWorld(t, out)
		w.in.Add(input...)
		ctx, stop := context.WithCancel(t.Context())
		w.change = func(o *stream.PipelineOptions) {
			o.Startup = startup(queries(t)...)
			o.Observer = &observer{step: func(s stream.StepStats) {
				if s.Batch.Number == after {
					stop()
				}
			}}
		}
		if after == 0 {
			stop()
		}
		require.NoError(t, w.pipeline(nil).Run(ctx))
		stop()
		st, err := w.store.Recover(t.Context())
		require.NoError(t, err)
		require.Empty(t, st.Open, "stopped after batch %d", after)
		require.GreaterOrEqual(t, st.Batch, after)
		w.change = func(o *stream.PipelineOptions) { o.Startup = startup(queries(t)...) }
		require.NoError(t, w.run(nil))
		require.Equal(t, text(whole.Visible(), false), text(out.Visible(), false))
	}
}

// observer calls functions that are set.
type observer struct {
	read   func(stream.ReadStats)
	step   func(stream.StepStats)
	commit func(stream.CommitStats)
	span   func(stream.Span)
}

func (o *observer) Read(s stream.ReadStats) {
	if o.read != nil {
		o.read(s)
	}
}

func (o *observer) Step(s stream.StepStats) {
	if o.step != nil {
		o.step(s)
	}
}

func (o *observer) Commit(s stream.CommitStats) {
	if o.commit != nil {
		o.commit(s)
	}
}

func (o *observer) Span(s stream.Span) {
	if o.span != nil {
		o.span(s)
	}
}

func TestS11MaxEdgesPausesInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &streamtest.MemOutput{}
		w := newWorld(t, out)
		for i := range 20 {
			w.in.Add(edge("hub", fmt.Sprint(i)))
		}
		w.change = func(o *stream.PipelineOptions) {
			o.Batch.MaxUpdates = 3
			o.MaxEdges = 7
		}
		p := w.pipeline(nil)
		stop := start(t, p)
		synctest.Wait()
		require.Equal(t, 7, p.Status().Edges, "one message at most goes past the bound, not a batch")
		require.Equal(t, stream.StatePaused, p.Status().State)
		ok, reason := p.Ready()
		require.False(t, ok)
		require.Contains(t, reason, "graph.max_edges is 7; restart with a higher limit to go on")
		_, _, err := p.Change(t.Context(), &matcher.QueryChange{Add: queries(t)[0]})
		require.NoError(t, err, "query changes are served")
		require.NoError(t, stop())

		w.change = func(o *stream.PipelineOptions) { o.MaxEdges = 100 }
		p = w.pipeline(nil)
		require.NoError(t, p.Run(t.Context()))
		require.Equal(t, 20, p.Status().Edges)
	})
}

// TestS11MaxEdgesRejectsNewEdges: with reject the input goes on, so that deletions make room.
func TestS11MaxEdgesRejectsNewEdges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &streamtest.MemOutput{}
		w := newWorld(t, out)
		for i := range 20 {
			w.in.Add(edge("hub", fmt.Sprint(i)))
		}
		w.change = func(o *stream.PipelineOptions) {
			o.Batch.MaxUpdates = 3
			o.MaxEdges, o.RejectEdges = 7, true
		}
		p := w.pipeline(nil)
		require.NoError(t, p.Run(t.Context()), "the input is read to its end")
		require.Equal(t, 7, p.Status().Edges)
		require.Len(t, out.Visible().DeadLetters, 13)
		for _, d := range out.Visible().DeadLetters {
			require.Contains(t, string(d.Value), "graph_full")
		}
	})
}

func TestP4QueuesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, &streamtest.MemOutput{})
		for i := range 5000 {
			w.in.Add(edge("hub", fmt.Sprint(i)))
		}
		gate := make(chan struct{})
		w.change = func(o *stream.PipelineOptions) {
			o.QueueRecords = 50
			o.Sink = gatedSink{o.Sink, gate}
		}
		p := w.pipeline(nil)
		stop := start(t, p)
		synctest.Wait()
		st := p.Status()
		require.LessOrEqual(t, st.QueueRecords, 50)
		require.Greater(t, st.QueueRecords, 25, "the reader goes on when the queue is half empty")
		require.Equal(t, 2, st.InFlight)
		require.LessOrEqual(t, st.Stepped, uint64(2))
		require.Zero(t, st.Batch)
		close(gate)
		synctest.Wait()
		require.Equal(t, 5000, p.Status().Edges)
		require.NoError(t, stop())
	})
}

// gatedSink waits before each End.
type gatedSink struct {
	stream.Sink
	gate chan struct{}
}

func (s gatedSink) End(ctx context.Context, t stream.Tail) (stream.Mark, error) {
	<-s.gate
	return s.Sink.End(ctx, t)
}

func TestS7OutputDoesNotDependOnThreadsOrChunks(t *testing.T) {
	var recs []stream.Record
	for i := range 60 {
		recs = append(recs, edge(fmt.Sprintf("in%d", i), "hub"), edge("hub", fmt.Sprintf("out%d", i)))
	}
	var want []string
	for _, c := range []struct{ threads, chunk, flight int }{{1, 1 << 20, 1}, {1, 7, 2}, {4, 10, 3}, {3, 1, 2},
		{2, 100, 1}} {
		out := &streamtest.MemOutput{}
		w := newWorld(t, out)
		w.in.Add(recs...)
		w.change = func(o *stream.PipelineOptions) {
			o.EncodeThreads, o.ChunkRecords, o.MaxInFlight = c.threads, c.chunk, c.flight
			o.Batch.MaxUpdates = 1000
			o.Startup = startup(queries(t)...)
			o.PublishBytes = 4096
		}
		require.NoError(t, w.run(nil))
		got := text(out.Visible(), false)
		require.Greater(t, len(got), 3600)
		if want == nil {
			want = got
		}
		require.Equal(t, want, got)
		for i, r := range out.Visible().Main {
			require.Equal(t, uint64(i), r.Index)
		}
	}
}

func TestObserverAndStatus(t *testing.T) {
	w := newWorld(t, &streamtest.MemOutput{})
	w.in.Add(updates(rand.New(rand.NewPCG(11, 1)), 60)...)
	var read, records, steps, commits, emitted, beside int
	var mu sync.Mutex
	took := map[string]time.Duration{} // by stage, in sums and by spans
	reads := map[time.Time]bool{}
	w.change = func(o *stream.PipelineOptions) {
		o.Startup = startup(queries(t)...)
		o.Observer = &observer{
			span: func(s stream.Span) {
				mu.Lock()
				defer mu.Unlock()
				d := s.End.Sub(s.Begin)
				if s.Busy > 0 {
					d = s.Busy
				}
				if s.Lane != stream.LaneEncoder && strings.HasPrefix(string(s.Lane), string(stream.LaneEncoder)) {
					beside++ // what the engine does not wait for
				} else {
					took[string(s.Lane)+" "+s.What] += d
				}
				require.Equal(t, s.Lane == stream.LaneReader, s.Batch == 0)
				if s.Batch == 0 {
					reads[s.Read] = true
				}
			},
			read: func(s stream.ReadStats) {
				mu.Lock()
				defer mu.Unlock()
				read += s.Records
				took["reader read"] -= s.Read
				took["reader decode"] -= s.Decode
				took["reader room"] -= s.Wait
			},
			step: func(s stream.StepStats) {
				mu.Lock()
				defer mu.Unlock()
				if s.Batch.Change == nil {
					require.True(t, reads[s.FirstRead] && reads[s.LastRead], "they are told before the batch is")
				}
				took["engine accept"] -= s.Accept
				took["engine slot"] -= s.Slot
				took["engine intent"] -= s.Intent
				took["engine step"] -= s.Step
				took["encoder encode"] -= s.Encode
				took["encoder room"] -= s.Publish
				steps++
				n := 0
				for _, r := range s.Records {
					n += int(r.Records)
				}
				require.Equal(t, int(s.Summary.Records), n)
				emitted += n
			},
			commit: func(s stream.CommitStats) {
				mu.Lock()
				defer mu.Unlock()
				took["publisher intent"] -= s.Intent
				took["publisher publish"] -= s.Publish
				took["publisher commit"] -= s.Commit
				commits++
				records += int(s.Records)
				require.Equal(t, s.Batch > 2, s.Latency > 0)
			},
		}
	}
	p := w.pipeline(nil)
	require.NoError(t, p.Run(t.Context()))
	for stage, left := range took {
		require.Zero(t, left, "the spans of %s are not what the sums tell", stage)
	}
	require.Positive(t, beside, "two encoders have lanes of their own")
	require.Equal(t, 60, read)
	require.Equal(t, len(w.store.Committed()), steps)
	require.Equal(t, steps, commits)
	require.Equal(t, emitted, records)
	st := p.Status()
	require.Equal(t, uint64(commits), st.Batch)
	require.Equal(t, stream.Positions{0: 30, 1: 30}, st.Positions)
	var total uint64
	for _, q := range st.Queries {
		total += q.Records
		require.NotZero(t, q.Batch)
	}
	require.Equal(t, uint64(emitted), total)
	data, err := json.Marshal(st)
	require.NoError(t, err)
	require.Contains(t, string(data), `"total_positive":`)
}

func TestPipelineOptions(t *testing.T) {
	w := newWorld(t, &streamtest.MemOutput{})
	for want, change := range map[string]func(*stream.PipelineOptions){
		"needs an engine":     func(o *stream.PipelineOptions) { o.Sink = nil },
		"needs a decoder":     func(o *stream.PipelineOptions) { o.Decoder = nil },
		"not both":            func(o *stream.PipelineOptions) { o.Log = func(func(*stream.Batch, error) bool) {} },
		"max updates":         func(o *stream.PipelineOptions) { o.Batch.MaxUpdates = -1 },
		"max bytes":           func(o *stream.PipelineOptions) { o.Batch.MaxBytes = -1 },
		"batches in flight":   func(o *stream.PipelineOptions) { o.MaxInFlight = -1 },
		"must not be negativ": func(o *stream.PipelineOptions) { o.MaxEdges = -1 },
	} {
		opt := w.options(nil)
		change(&opt)
		_, err := stream.NewPipeline(opt)
		require.ErrorContains(t, err, want)
	}
}

func TestNopStore(t *testing.T) {
	var s stream.Store = stream.NopStore{}
	st, err := s.Recover(t.Context())
	require.NoError(t, err)
	require.True(t, st.Fresh)
	require.Len(t, st.StreamID, 32)
	require.NoError(t, errors.Join(
		s.Bootstrap(t.Context(), dyngraph.NewGraph(dyngraph.Options{})), s.Intent(t.Context(), nil),
		s.Decide(1, matcher.Decision{}), s.Commit(t.Context(), nil), s.Close()))
}
