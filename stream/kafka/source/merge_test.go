package source

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/stream"
	"motifd/stream/codec"
	"motifd/stream/file"
	"motifd/stream/kafka/internal/kafkatest"
	"motifd/stream/monitor"
)

// newRand returns a generator whose seed the log tells.
func newRand(t *testing.T) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// TestMergedIsByTheHeads plays the merger against the rule that it follows: again and again, the partition whose next
// record has the lowest timestamp, the first one of several.
func TestMergedIsByTheHeads(t *testing.T) {
	matchertest.NotUnderRace(t, "it has one goroutine; TestReading merges with those of the source")
	rng := newRand(t)
	for round := range 300 {
		partitions := make([][]stream.Record, 1+rng.IntN(6))
		total := 0
		for p := range partitions {
			at := int64(rng.IntN(50))
			for i := range rng.IntN(400) {
				if at += int64(rng.IntN(4)); rng.IntN(30) == 0 { // which are not always in order inside a partition
					at += int64(rng.IntN(300)) - 150
				}
				partitions[p] = append(
					partitions[p],
					stream.Record{Partition: int32(p), Offset: int64(i), Time: time.UnixMilli(at),
						Value: make([]byte, rng.IntN(20))},
				)
			}
			total += len(partitions[p])
		}
		var want []stream.Record
		for left := slices.Clone(partitions); len(want) < total; {
			best := -1
			for p, recs := range left {
				if len(recs) > 0 && (best < 0 || recs[0].Time.Before(left[best][0].Time)) {
					best = p
				}
			}
			want = append(want, left[best][0])
			left[best] = left[best][1:]
		}
		m := newMerger(true, 1+rng.IntN(5000))
		var on []*partitionBuffer
		for p := range partitions {
			on = append(on, m.add(int32(p), len(partitions[p]) > 0))
		}
		var got []stream.Record
		for len(got) < total {
			for _, p := range rng.Perm(len(partitions)) {
				if recs := partitions[p]; len(recs) > 0 && len(on[p].recs) == 0 &&
					rng.IntN(3) > 0 { // those that are missing are waited for
					n := 1 + rng.IntN(min(len(recs), 150))
					partitions[p] = recs[n:]
					require.NoError(t, m.put(t.Context(), on[p], recs[:n:n]))
					m.setMore(on[p], n < len(recs))
				}
			}
			recs, err := m.take()
			require.NoError(t, err)
			got = append(got, recs...)
		}
		require.Equal(t, want, got, "round %d", round)
	}
}

// daemon reads a topic into a graph of its own.
type daemon struct {
	t      *testing.T
	p      *stream.Pipeline
	engine *matcher.Engine
	cancel context.CancelFunc
	wg     sync.WaitGroup
	err    error
}

func newDaemon(t *testing.T, opt Options) *daemon {
	t.Helper()
	g := dyngraph.NewGraph(dyngraph.Options{Directed: true})
	e, err := monitor.NewEngine(matcher.EngineOptions{Graph: g})
	require.NoError(t, err)
	dec, err := codec.NewDecoder(codec.FormatJSON, codec.DecoderOptions{})
	require.NoError(t, err)
	sink, err := file.NewSink(file.SinkOptions{Output: file.None})
	require.NoError(t, err)
	src, err := New(opt)
	require.NoError(t, err)
	src.interval, src.cl.Transport.MetadataTTL = 20*time.Millisecond, 2*time.Second
	store := stream.NopStore{}
	state, err := store.Recover(t.Context())
	require.NoError(t, err)
	state.Graph = g
	d := &daemon{t: t, engine: e}
	d.p, err = stream.NewPipeline(
		stream.PipelineOptions{Source: src, Decoder: dec, Engine: e, Sink: sink, Store: store, State: state,
			Encoder: codec.NewEncoder(
				codec.EncoderOptions{StreamID: state.StreamID},
			), Batch: stream.BatcherOptions{MaxUpdates: 50, Linger: time.Millisecond}},
	)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	d.cancel = cancel
	d.wg.Go(func() { d.err = d.p.Run(ctx) })
	return d
}

// reaches waits until the daemon has taken everything up to positions.
func (d *daemon) reaches(at stream.Positions) {
	d.t.Helper()
	for !maps.Equal(d.p.Status().Positions, at) {
		time.Sleep(time.Millisecond) // the pipeline tells nobody when it commits
	}
}

// edges ends the daemon and returns its graph's.
func (d *daemon) edges() int {
	d.t.Helper()
	d.cancel()
	d.wg.Wait()
	require.NoError(d.t, d.err)
	n := d.p.Status().Edges
	require.NoError(d.t, d.engine.Close())
	return n
}

// readGrown: partitions are added to an input whose producers choose them by a key's hash, so that edges are inserted
// in one partition and deleted in another. A daemon that reads all of it from the beginning ends with the graph of the
// one that read along.
func readGrown(t *testing.T, e *kafkatest.Cluster) {
	rng := newRand(t)
	topic := e.Topic(t, "in", 3, nil)
	producer := func() *kgo.Client {
		return e.Franz(t, kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0))
	}
	cl := producer()
	at := stream.Positions{}
	clock := time.Now().Add(-time.Hour).Truncate(time.Millisecond)
	present := map[int]bool{}
	write := func(updates, partitions int) {
		var recs []*kgo.Record
		for range updates {
			clock = clock.Add(time.Millisecond)
			edge, op := rng.IntN(300), "+"
			if present[edge] = !present[edge]; !present[edge] {
				op = "-"
			}
			p := int32(edge*7919%1000) % int32(partitions)
			at[p]++
			recs = append(recs, &kgo.Record{Topic: topic, Partition: p, Timestamp: clock,
				Value: fmt.Appendf(nil, `{"op":%q,"from":"v%d","to":"w%d","label":"T"}`, op, edge, edge)})
		}
		require.NoError(t, cl.ProduceSync(t.Context(), recs...).FirstErr())
	}
	opt := Options{ClientOptions: e.Client(), Topic: topic, MaxWait: 20 * time.Millisecond}
	live := newDaemon(t, opt)
	for range 20 {
		write(100, 3)
		live.reaches(at)
	}
	e.AddPartitions(t, topic, 4)
	cl = producer()
	for range 40 {
		write(50, 4)
		live.reaches(at)
	}
	want := 0
	for _, there := range present {
		if there {
			want++
		}
	}
	require.Equal(t, want, live.edges())
	for _, size := range []int{0, 2 << 10} { // all in one response, and in many
		opt.FetchBytes = size
		again := newDaemon(t, opt)
		again.reaches(at)
		require.Equal(t, want, again.edges(), "fetched by %d bytes", size)
	}
}

// TestMergeWaits: a partition that is behind and cannot be fetched is waited for; one that is at its end is not.
func TestMergeWaits(t *testing.T) {
	log := kafkatest.OpenLog(t)
	e := kafkatest.Of(log)
	topic := e.Topic(t, "in", 3, nil)
	cl := e.Franz(t, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	put := func(p int32, ms int64, value string) {
		require.NoError(
			t,
			cl.ProduceSync(t.Context(), &kgo.Record{
				Topic: topic, Partition: p, Timestamp: time.UnixMilli(ms), Value: []byte(value),
			}).
				FirstErr(),
		)
	}
	put(0, 1000, "first")
	put(1, 2000, "second")
	put(0, 3000, "third")
	put(1, 3000, "fourth")
	var r kafkatest.Retries
	opt := Options{ClientOptions: e.Client(), Topic: topic}
	fault := log.Cluster.Fault(
		kfake.Fault{
			Keys:       []kmsg.Key{kmsg.Fetch},
			Topic:      topic,
			Partitions: []int32{1},
			Err:        kerr.NotLeaderForPartition,
			Count:      -1,
		},
	)
	opt.Events.Retry = func(op, topic string, p int32, n int, err error) {
		if r.Event(op, topic, p, n, err); r.Of("fetch") == 10 {
			fault.Remove()
		}
	}
	src := newSource(t, opt)
	require.Equal(t, "first second third fourth", kafkatest.Values(kafkatest.ReadN(t, src, 4)))
	require.GreaterOrEqual(t, r.Of("fetch"), 10)
	put(0, 500, "late")
	require.Equal(
		t,
		"late",
		kafkatest.Values(kafkatest.ReadN(t, src, 1)),
		"nothing is held back for partitions that are at their end",
	)
}
