package stream_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
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

// TestS7GroupsOfAnySizeEncodedSideBySide compares what several encoders make of random groups, few rows or many,
// none, and records of a few hundred bytes or many thousand, with what the encoder makes of them one after the other.
func TestS7GroupsOfAnySizeEncodedSideBySide(t *testing.T) {
	matchertest.ForSeeds(t, 40, func(t *testing.T, rng *rand.Rand) {
		p, qs := newPlayer(t, rng, anySize(rng)), edgeQueries(t)
		chunk := []int{512, 1 + rng.IntN(8), 1 + rng.IntN(600)}[rng.IntN(3)]
		sizes := []int{1, 127, 128, 129, 255, 256, 257, 511, 512, 513, chunk, chunk + 1, max(1, chunk-1), 3 * chunk}
		for range rng.IntN(60) {
			q := qs[rng.IntN(2)]
			switch rng.IntN(8) {
			case 0:
				p.total(q, rng.Uint64())
			case 1:
				p.group(rng, q, 0)
			case 2:
				p.group(rng, q, sizes[rng.IntN(len(sizes))])
			default:
				p.group(rng, q, 1+rng.IntN(1<<rng.IntN(9)))
			}
		}
		threads := 1 + rng.IntN(6)
		t.Logf("%d groups, %d records, chunks of %d, %d threads", len(p.events), p.records(), chunk, threads)
		want := p.plain(t, playEncoder())
		out := &streamtest.MemOutput{}
		made := p.pipeline(t, playEncoder(), out.Sink(false), func(o *stream.PipelineOptions) {
			o.EncodeThreads, o.ChunkRecords, o.PublishBytes = threads, chunk, 1<<rng.IntN(20)
		})
		require.NoError(t, made.Run(t.Context()))
		got := out.Visible().Main
		require.Len(t, got, len(want))
		for i := range want {
			require.Equal(t, want[i], got[i], "record %d", i)
		}
	})
}

// TestS7SpilledGroupsEncodedSideBySide has a whole pipeline encode what an engine finds in groups that it sorts in
// memory and on disk, and compares that with what another engine's events give one after the other.
func TestS7SpilledGroupsEncodedSideBySide(t *testing.T) {
	const memory = 1 << 10 // for a group
	most, small := 0, 0    // rows of the largest group; groups that are sorted in memory
	matchertest.ForSeedsUntil(
		t,
		6,
		func() bool { return most > 4*memory/28 && small > 1000 },
		func(t *testing.T, rng *rand.Rand) {
			engine := func(threads int) *matcher.Engine {
				e, err := monitor.NewEngine(matcher.EngineOptions{Backend: cpu.New(cpu.Options{
					Threads: threads, TempFiles: tempfile.In(t.TempDir()), GroupMemory: memory,
					QueueMemory: 16 * memory,
				})})
				require.NoError(t, err)
				t.Cleanup(func() { require.NoError(t, e.Close()) })
				return e
			}
			qs := []*matcher.Query{
				query(
					t,
					"path",
					"MATCH (a)-[:T]->(b)-[:T]->(c)-[:T]->(d) RETURN a, b, c, d",
				),
				query(t, "ring", "MATCH (a)-[:T]->(b)-[:T]->(c)-[:T]->(a) RETURN a, b, c"),
			}
			in := streamtest.NewInput(false)
			n := 10 + rng.IntN(4)
			for range 300 {
				if a, b := rng.IntN(n), rng.IntN(n); a != b {
					in.Add(
						stream.Record{
							Value: fmt.Appendf(
								nil,
								`{"op":%q,"from":"v%d","to":"v%d","label":"T"}`,
								[]string{"+", "+", "-"}[rng.IntN(3)],
								a,
								b,
							),
						},
					)
				}
			}
			dec, err := codec.NewDecoder(codec.FormatJSON, codec.DecoderOptions{})
			require.NoError(t, err)
			store, out := &streamtest.Store{ID: testStream}, &streamtest.MemOutput{}
			state, err := store.Recover(t.Context())
			require.NoError(t, err)
			p, err := stream.NewPipeline(stream.PipelineOptions{
				Source: in.Source(
					1,
				),
				Decoder:       dec,
				Engine:        engine(2),
				Encoder:       playEncoder(),
				Sink:          out.Sink(false),
				Store:         store,
				State:         state,
				Batch:         stream.BatcherOptions{MaxUpdates: 100, Linger: -1},
				Startup:       startup(qs...),
				EncodeThreads: 2 + rng.IntN(3),
			})
			require.NoError(t, err)
			require.NoError(t, p.Run(t.Context()))

			plain, enc := engine(1), playEncoder()
			var want []stream.OutRecord
			type group struct {
				query  *matcher.Query
				anchor *dyngraph.NetEdge
			}
			for _, b := range store.Committed() {
				b.MeasureFrom = matcher.NeverMeasure
				rows := map[group]int{}
				_, err := plain.Step(t.Context(), &b.Batch, func(ev *matcher.Event) (err error) {
					rows[group{ev.Query, ev.AnchorEdge}] += ev.Rows.Len()
					want, err = enc.Append(want, ev, 0, ev.Records())
					return err
				}, nil)
				require.NoError(t, err)
				for _, n := range rows {
					if most = max(most, n); n*28 < memory {
						small++
					}
				}
			}
			got := out.Visible().Main
			require.Len(t, got, len(want))
			for i := range want {
				require.Equal(t, want[i], got[i], "record %d", i)
			}
		},
	)
}

// watchedEncoder counts goroutines and bytes, waits or fails.
type watchedEncoder struct {
	stream.Encoder
	each   time.Duration // for each record, by the clock of a bubble
	failAt uint64        // index of a record; 0: never
	rows   atomic.Int64
	bytes  atomic.Int64
	inside atomic.Int64
}

func (e *watchedEncoder) Append(
	dst []stream.OutRecord,
	ev *matcher.Event,
	i, j int,
) ([]stream.OutRecord, error) {
	e.inside.Add(1)
	defer e.inside.Add(-1)
	time.Sleep(time.Duration(j-i) * e.each)
	if e.failAt > 0 && ev.FirstIndex+uint64(i) <= e.failAt && e.failAt < ev.FirstIndex+uint64(j) {
		return dst, errBroken
	}
	n := len(dst)
	dst, err := e.Encoder.Append(dst, ev, i, j)
	for k := n; k < len(dst); k++ {
		e.bytes.Add(int64(len(dst[k].Value)))
	}
	e.rows.Add(int64(len(dst) - n))
	return dst, err
}

// brokenSink fails at a record.
type brokenSink struct {
	stream.Sink
	at uint64
}

func (s *brokenSink) Write(ctx context.Context, recs []stream.OutRecord) error {
	if recs[len(recs)-1].Index >= s.at {
		return errBroken
	}
	return s.Sink.Write(ctx, recs)
}

// waitForEnd is a search that finds nothing more and goes on until it is told to end.
func waitForEnd(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestErrorsEndTheSearchAtOnce: an error of the encoder, of the sink or of the search itself ends a batch of small
// groups while the search goes on without finding more, and so does an abort; no encoder is at work then, and the
// error is the one that came first.
func TestErrorsEndTheSearchAtOnce(t *testing.T) {
	for _, what := range []string{"encoder", "sink", "search", "abort"} {
		t.Run(what, func(t *testing.T) {
			matchertest.ForSeeds(t, 10, func(t *testing.T, rng *rand.Rand) {
				p, qs := newPlayer(t, rng, anySize(rng)), edgeQueries(t)
				for p.records() < 6000 { // more than what is under way or gathered when the search finds no more
					p.group(rng, qs[rng.IntN(2)], 1+rng.IntN(20))
				}
				p.then = waitForEnd
				out, enc := &streamtest.MemOutput{}, &watchedEncoder{Encoder: playEncoder()}
				at, cause := uint64(1+rng.IntN(2000)), errBroken
				made := p.pipeline(t, enc, out.Sink(false), func(o *stream.PipelineOptions) {
					o.EncodeThreads, o.ChunkRecords = 2+rng.IntN(3), 1+rng.IntN(200)
					switch what {
					case "encoder":
						enc.failAt = at
					case "sink":
						o.Sink = &brokenSink{o.Sink, at}
					}
				})
				switch what {
				case "search":
					p.then = func(context.Context) error { return errBroken }
				case "abort":
					cause = errors.New("enough")
					p.then = func(ctx context.Context) error {
						made.Abort(cause)
						return waitForEnd(ctx)
					}
				}
				err := made.Run(t.Context())
				require.ErrorIs(t, err, cause)
				require.ErrorIs(t, p.settled, cause)
				require.Zero(t, enc.inside.Load())
				if what == "encoder" {
					require.ErrorContains(t, err, "encode results of query")
				}
				// What was published is the beginning of the batch.
				for i, r := range out.Visible().Main {
					require.Equal(t, uint64(i), r.Index)
				}
			})
		})
	}
}

// TestP4RecordsThatWaitAreBounded: when the sink takes nothing, encoders stop within the bound that
// PipelineOptions.EncodeThreads tells, however large records are.
func TestP4RecordsThatWaitAreBounded(t *testing.T) {
	matchertest.ForSeeds(t, 4, func(t *testing.T, rng *rand.Rand) {
		synctest.Test(t, func(t *testing.T) {
			const size = 64 << 10 // of a record's properties
			p, qs := newPlayer(t, rng, func() int { return size }), edgeQueries(t)
			for p.records() < 10_000 {
				p.group(rng, qs[rng.IntN(2)], 1+rng.IntN(300))
			}
			stuck := &stuckSink{(&streamtest.MemOutput{}).Sink(false), make(chan struct{})}
			enc := &watchedEncoder{
				Encoder: playEncoder(),
				each:    time.Microsecond,
			} // so that units are handed over before the first is done
			threads := 2 + rng.IntN(5)
			made := p.pipeline(t, enc, stuck,
				func(o *stream.PipelineOptions) { o.EncodeThreads, o.PublishBytes = threads, 1 })
			done := make(chan error, 1)
			go func() { done <- made.Run(t.Context()) }()
			<-stuck.reached
			time.Sleep(time.Second) // by the bubble's clock: until nobody can go on
			rows, bytes := enc.rows.Load(), enc.bytes.Load()
			cause := errors.New("enough")
			made.Abort(cause)
			require.ErrorIs(t, <-done, cause)
			// Units in flight, a chunk at the sink, one in the queue to it, and one on its way there.
			units := int64(2*threads + 3)
			t.Logf("%d threads: %d records, %d bytes", threads, rows, bytes)
			require.LessOrEqual(t, bytes, units*(512<<10+16*(size+1000)))
			require.Greater(t, rows, int64(16*threads), "encoders go ahead")
		})
	})
}

// TestSmallGroupsAreEncodedSideBySide measures how long encoders take that need a microsecond for a record, by a
// clock that stands still while a goroutine has something to do: in small groups as in large ones nearly as much less
// as there are encoders.
func TestSmallGroupsAreEncodedSideBySide(t *testing.T) {
	matchertest.NotUnderRace(t, "TestS7GroupsOfAnySizeEncodedSideBySide has the same goroutines")
	matchertest.ForSeeds(t, 1, func(t *testing.T, rng *rand.Rand) {
		for _, size := range []int{4, 700} {
			p, qs := newPlayer(t, rng, func() int { return 10 }), edgeQueries(t)
			for p.records() < 40_000 {
				p.group(rng, qs[rng.IntN(2)], 1+rng.IntN(2*size))
			}
			all := time.Duration(p.records()) * time.Microsecond
			for _, threads := range []int{2, 16} {
				synctest.Test(t, func(t *testing.T) {
					enc := &watchedEncoder{Encoder: playEncoder(), each: time.Microsecond}
					made := p.pipeline(
						t,
						enc,
						(&streamtest.MemOutput{}).Sink(false),
						func(o *stream.PipelineOptions) { o.EncodeThreads = threads },
					)
					begin := time.Now()
					require.NoError(t, made.Run(t.Context()))
					took := time.Since(begin)
					t.Logf(
						"groups of %d on average, %d threads: %v in %v, %.2f side by side",
						size,
						threads,
						all,
						took,
						float64(all)/float64(took),
					)
					require.Less(t, took, all*5/4/time.Duration(threads))
				})
			}
		}
	})
}
