package publish

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"motifd/dyngraph"
	"motifd/stream"
	"motifd/stream/kafka"
	"motifd/stream/kafka/admin"
	"motifd/stream/kafka/internal/kafkatest"
	"motifd/stream/kafka/source"
)

// requireOnce checks that the output holds the given records once each.
func requireOnce(t testing.TB, got []kafkatest.Seen, want ...[]stream.OutRecord) {
	t.Helper()
	count := map[string]int{}
	for _, g := range got {
		count[string(g.Value)]++
	}
	n := 0
	for _, recs := range want {
		for _, r := range recs {
			require.Equal(t, 1, count[string(r.Value)], "record %s", r.Value)
			n++
		}
	}
	require.Len(t, got, n)
}

func TestHeadersAndPartitions(t *testing.T) {
	e := kafkatest.OpenLog(
		t,
		admin.Topic{Name: "out", Partitions: 5},
		admin.Topic{Name: "dead"},
		admin.Topic{Name: "control"},
	)
	s, pr := kafkatest.OpenSink(t, NewSink,

		SinkOptions{ClientOptions: kafkatest.Fast(e), Topic: "out", DeadLetters: "dead", Control: "control"},
		0,
		nil,
		true,
	)
	require.Equal(t, stream.Progress{Stream: "stream-1", Batch: 1, Known: true}, pr)
	require.EqualValues(t, 5, s.Partitions())
	require.NoError(t, s.Begin(t.Context(), 1))
	require.NoError(t, s.Write(t.Context(), []stream.OutRecord{
		{Key: []byte("m1"), Value: []byte("a"), Batch: 1, Index: 0, Query: "ring", Sign: dyngraph.Inserted,
			Snapshot: true},
		{Key: []byte("m1"), Batch: 1, Index: 1, Query: "ring", Sign: dyngraph.Deleted},
		{Value: []byte("c"), Batch: 1, Index: 2, Query: "fan", Sign: dyngraph.Changed},
	}))
	_, err := s.End(t.Context(), stream.Tail{
		DeadLetters: []stream.OutRecord{{Value: []byte("d0")}, {Value: []byte("d1")}},
		BatchRecord: &stream.OutRecord{Value: []byte("b")},
	})
	require.NoError(t, err)

	cl := kafkatest.Reference(t, e)
	got := map[uint64]kafkatest.Seen{}
	for _, r := range kafkatest.ReadTopic(t, cl, "out", 5) {
		got[r.Index] = r
	}
	require.Len(t, got, 3)
	h := func(kv ...string) (out []kafkago.Header) {
		for i := 0; i < len(kv); i += 2 {
			out = append(out, kafkago.Header{Key: kv[i], Value: []byte(kv[i+1])})
		}
		return out
	}
	require.Equal(t, h("motifd-stream", "stream-1", "motifd-batch", "1", "motifd-index", "0", "motifd-query", "ring",
		"motifd-sign", "+", "motifd-snapshot", "true"), got[0].Headers)
	require.Equal(t, h("motifd-stream", "stream-1", "motifd-batch", "1", "motifd-index", "1", "motifd-query", "ring",
		"motifd-sign", "-"), got[1].Headers)
	require.Equal(t, h("motifd-stream", "stream-1", "motifd-batch", "1", "motifd-index", "2", "motifd-query", "fan",
		"motifd-sign", "~"), got[2].Headers)
	require.Nil(t, got[1].Value, "tombstone")
	require.Nil(t, got[2].Key)
	require.Equal(t, got[0].Partition, got[1].Partition, "a match and its cancellation share a partition")
	require.EqualValues(t, kafka.PartitionOf([]byte("m1"), 5), got[0].Partition)
	require.EqualValues(t, kafka.PartitionOf([]byte("fan"), 5), got[2].Partition)

	dead := kafkatest.ReadTopic(t, cl, "dead", 1)
	require.Len(t, dead, 2)
	require.Equal(t, h("motifd-stream", "stream-1", "motifd-batch", "1", "motifd-index", "1"), dead[1].Headers)
	control := kafkatest.ReadTopic(t, cl, "control", 1)
	require.Len(t, control, 1)
	require.Equal(t, "b", string(control[0].Value))
}

// TestProduceFaults: whatever the broker answers, every record arrives once, except where an acknowledgement is lost.
func TestProduceFaults(t *testing.T) {
	e := kafkatest.OpenLog(t, admin.Topic{Name: "out", Partitions: 2})
	opt := SinkOptions{ClientOptions: kafkatest.Fast(e), Topic: "out", BatchBytes: 300}
	var r kafkatest.Retries
	opt.Events.Retry = r.Event
	var doubled atomic.Int64
	opt.Events.Duplicates = func(_ string, _ int32, n int64) { doubled.Add(n) }
	s, _ := kafkatest.OpenSink(t, NewSink, opt, 0, nil, true)
	var want [][]stream.OutRecord
	batch := uint64(0)
	for _, fault := range []*kerr.Error{kerr.NotLeaderForPartition, kerr.UnknownTopicOrPartition,
		kerr.NotEnoughReplicas,
		kerr.UnknownServerError, kerr.KafkaStorageError, nil} {
		if fault != nil {
			h := e.Cluster.Fault(kafkatest.FaultOn(kmsg.Produce, fault, 3))
			defer h.Remove()
		} else { // the connection drops before the request is handled
			e.Cluster.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
				return nil, fmt.Errorf("connection drops"), true
			})
		}
		batch++
		want = append(want, kafkatest.Deltas(batch, 0, 50))
		kafkatest.Publish(t, s, batch, want[len(want)-1])
	}
	require.GreaterOrEqual(t, r.Of("produce"), 16)
	require.Zero(t, doubled.Load())
	cl := kafkatest.Reference(t, e)
	got := kafkatest.ReadTopic(t, cl, "out", 2)
	requireOnce(t, got, want...)
	last := map[int]kafkatest.Seen{}
	for _, g := range got { // in order in each partition
		prev := last[g.Partition]
		require.False(
			t,
			g.Batch < prev.Batch || g.Batch == prev.Batch && g.Index < prev.Index,
			"%s after %s",
			g.Value,
			prev.Value,
		)
		last[g.Partition] = g
	}

	// An acknowledgement is lost: the broker answers that it timed out, and has appended.
	h := e.Cluster.Fault(kafkatest.FaultOn(kmsg.Produce, kerr.RequestTimedOut, 1))
	defer h.Remove()
	kafkatest.Publish(t, s, batch+1, kafkatest.Deltas(batch+1, 0, 1))
	require.EqualValues(t, 1, doubled.Load())
	require.Len(t, kafkatest.ReadTopic(t, cl, "out", 2), len(got)+2)
}

// TestFatalProduceErrors ends the sink.
func TestFatalProduceErrors(t *testing.T) {
	e := kafkatest.OpenLog(t, admin.Topic{Name: "out", Config: map[string]string{"max.message.bytes": "1000"}})
	s, _ := kafkatest.OpenSink(t, NewSink, SinkOptions{ClientOptions: kafkatest.Fast(e), Topic: "out"}, 0, nil, true)
	require.NoError(t, s.Begin(t.Context(), 1))
	require.NoError(t, s.Write(t.Context(), []stream.OutRecord{{Value: make([]byte, 2000), Batch: 1}}))
	_, err := s.End(t.Context(), stream.Tail{})
	require.ErrorIs(t, err, kafkago.MessageSizeTooLarge)
	require.ErrorIs(t, s.Begin(t.Context(), 2), kafkago.MessageSizeTooLarge)
	require.ErrorIs(t, s.Write(t.Context(), nil), kafkago.MessageSizeTooLarge)
}

// TestWriteIsCancelled: a sink that waits for a broker gives up with its caller's context.
func TestWriteIsCancelled(t *testing.T) {
	e := kafkatest.OpenLog(t, admin.Topic{Name: "out"})
	ctx, cancel := context.WithCancel(t.Context())
	opt := SinkOptions{ClientOptions: kafkatest.Fast(e), Topic: "out", BatchBytes: 100, sendBytes: 1, roundBytes: 1}
	opt.Events.Retry = func(string, string, int32, int, error) { cancel() }
	s, _ := kafkatest.OpenSink(t, NewSink, opt, 0, nil, true)
	h := e.Cluster.Fault(kafkatest.FaultOn(kmsg.Produce, kerr.NotEnoughReplicas, -1))
	defer h.Remove()
	require.NoError(t, s.Begin(ctx, 1))
	require.ErrorIs(t, s.Write(ctx, kafkatest.Deltas(1, 0, 100)), context.Canceled)
	_, err := s.End(ctx, stream.Tail{})
	require.ErrorIs(t, err, context.Canceled)
}

func TestForeignWriterFences(t *testing.T) {
	e := kafkatest.OpenLog(t, admin.Topic{Name: "out"})
	cl := kafkatest.Reference(t, e)
	s, _ := kafkatest.OpenSink(t, NewSink, SinkOptions{ClientOptions: kafkatest.Fast(e), Topic: "out"}, 0, nil, true)
	m := kafkatest.Publish(t, s, 1, kafkatest.Deltas(1, 0, 3))
	kafkatest.Produce(t, cl, "out", 0, 0, kafkatest.Rec("", "intruder"))
	require.NoError(t, s.Begin(t.Context(), 2))
	require.NoError(t, s.Write(t.Context(), kafkatest.Deltas(2, 0, 3)))
	_, err := s.End(t.Context(), stream.Tail{})
	require.ErrorIs(t, err, stream.ErrFenced)

	_, err = kafkatest.Open(t, NewSink,

		SinkOptions{ClientOptions: kafkatest.Fast(e), Topic: "out"},
	).Open(t.Context(), "stream-1", 1, m, false)
	require.ErrorIs(t, err, stream.ErrMismatch)
	shared, pr := kafkatest.OpenSink(t, NewSink,

		SinkOptions{ClientOptions: kafkatest.Fast(e), Topic: "out", AllowExisting: true},
		1,
		m,
		false,
	)
	require.Equal(t, stream.Progress{Stream: "stream-1", Batch: 2, Index: 3, Known: true}, pr)
	kafkatest.Produce(t, cl, "out", 0, 0, kafkatest.Rec("", "a neighbour"))
	kafkatest.Publish(t, shared, 2, kafkatest.Deltas(2, 0, 5))
	require.Len(t, kafkatest.ReadTopic(t, cl, "out", 1), 3+1+3+1+2)
}

func TestOutputIsChecked(t *testing.T) {
	e := kafkatest.OpenLog(t, admin.Topic{Name: "out", Partitions: 2})
	opt := SinkOptions{ClientOptions: kafkatest.Fast(e), Topic: "out"}
	open := func(opt SinkOptions, id string, batch uint64, m stream.Mark, fresh bool) error {
		_, err := kafkatest.Open(t, NewSink, opt).Open(t.Context(), id, batch, m, fresh)
		return err
	}
	expect := opt
	expect.ExpectPartitions = 3
	require.ErrorIs(t, open(expect, "stream-1", 0, nil, true), kafka.ErrPartitions)
	s, _ := kafkatest.OpenSink(t, NewSink, opt, 0, nil, true)
	m := kafkatest.Publish(t, s, 1, kafkatest.Deltas(1, 0, 9))
	require.NoError(t, s.Close())

	require.ErrorIs(t, open(opt, "stream-1", 0, nil, true), stream.ErrOutputNotEmpty)
	require.NoError(t, open(opt, "stream-1", 1, m, false))
	require.ErrorIs(t, open(opt, "stream-2", 0, nil, false), stream.ErrMismatch)
	require.Error(t, open(opt, "stream-1", 1, stream.Mark("no mark"), false))

	require.NoError(t, e.Cluster.DeleteTopic("out"))
	require.NoError(t, admin.EnsureTopics(t.Context(), kafkatest.Fast(e), admin.Topic{Name: "out", Partitions: 2}))
	require.ErrorIs(t, open(opt, "stream-1", 1, m, false), stream.ErrOutputDamaged)
	require.NoError(t, e.Cluster.DeleteTopic("out"))
	require.NoError(t, admin.EnsureTopics(t.Context(), kafkatest.Fast(e), admin.Topic{Name: "out", Partitions: 3}))
	require.ErrorIs(t, open(opt, "stream-1", 1, m, false), kafka.ErrPartitions)
}

// TestRecoveryFillsHoles: after a crash partitions are at different points; what is missing is published, what is there
// is not, and the progress is the first hole.
func TestRecoveryFillsHoles(t *testing.T) {
	const seed = 3
	rng := rand.New(rand.NewPCG(seed, seed))
	for round := range 10 {
		e := kafkatest.OpenLog(t, admin.Topic{Name: "out", Partitions: 4})
		cl := kafkatest.Reference(t, e)
		opt := SinkOptions{ClientOptions: kafkatest.Fast(e), Topic: "out"}
		s, _ := kafkatest.OpenSink(t, NewSink, opt, 0, nil, true)
		m := kafkatest.Publish(t, s, 1, kafkatest.Deltas(1, 0, 20))
		// A crash in batch 2 (or 3, with all of 2 published) leaves any prefix of each partition.
		batch := uint64(2 + round%2)
		if batch == 3 {
			kafkatest.Publish(t, s, 2, kafkatest.Deltas(2, 0, 40))
		}
		cut := [4]uint64{}
		for p := range cut {
			cut[p] = rng.Uint64N(60)
		}
		var part []stream.OutRecord
		hole := uint64(60)
		for i := range uint64(60) {
			r := kafkatest.Delta(batch, i)
			if i < cut[kafka.PartitionOf(r.Key, 4)] {
				part = append(part, r)
			} else {
				hole = min(hole, i)
			}
		}
		kafkatest.Publish(t, s, batch, part) // which is not committed
		crash(t, s)

		var recovered uint64
		opt.Events.Recovered = func(n uint64) { recovered = n }
		s, pr := kafkatest.OpenSink(t, NewSink, opt, 1, m, false)
		wantPr := stream.Progress{Stream: "stream-1", Batch: batch, Index: hole, Known: true}
		if len(part) == 0 && batch == 3 { // that batch 2 is complete cannot be told
			wantPr.Batch, wantPr.Index = 2, 40
		}
		require.Equal(t, wantPr, pr, "seed %d, round %d", seed, round)
		require.Equal(t, uint64(len(part))+40*(batch-2), recovered)
		want := [][]stream.OutRecord{kafkatest.Deltas(1, 0, 20)}
		mid := m
		for b := uint64(2); b <= 3; b++ { // all again, from the first record on
			n := uint64(60)
			if b < batch {
				n = 40
			}
			want = append(want, kafkatest.Deltas(b, 0, n))
			mark := kafkatest.Publish(t, s, b, want[len(want)-1])
			if b == 2 {
				mid = mark
			}
		}
		requireOnce(t, kafkatest.ReadTopic(t, cl, "out", 4), want...)
		crash(t, s)

		// Batch 2 was committed, and the process died again: its mark must not hide what batch 3 had published.
		s, _ = kafkatest.OpenSink(t, NewSink, opt, 2, mid, false)
		kafkatest.Publish(t, s, 3, want[2])
		requireOnce(t, kafkatest.ReadTopic(t, cl, "out", 4), want...)
		require.NoError(t, s.Close())
	}
}

// TestRetentionBehindTheMark: what retention has removed cannot be told published from missing.
func TestRetentionBehindTheMark(t *testing.T) {
	e := kafkatest.OpenLog(t, admin.Topic{Name: "out"})
	opt := SinkOptions{ClientOptions: kafkatest.Fast(e), Topic: "out"}
	s, _ := kafkatest.OpenSink(t, NewSink, opt, 0, nil, true)
	m := kafkatest.Publish(t, s, 1, kafkatest.Deltas(1, 0, 5))
	kafkatest.Publish(t, s, 2, kafkatest.Deltas(2, 0, 5))
	require.NoError(t, s.Close())
	require.NoError(t, e.Cluster.DeleteRecords("out", 0, 7))
	_, pr := kafkatest.OpenSink(t, NewSink, opt, 1, m, false)
	require.Equal(t, stream.Progress{Stream: "stream-1", Batch: 2}, pr)
}

func TestGroupOffsets(t *testing.T) {
	e := kafkatest.OpenLog(t, admin.Topic{Name: "in", Partitions: 2}, admin.Topic{Name: "out"})
	var opt TxnSinkOptions
	opt.SinkOptions = SinkOptions{
		ClientOptions: kafkatest.Fast(e),
		Topic:         "out",
		Group:         "motifd-lag",
		InputTopic:    "in",
		GroupInterval: time.Millisecond,
	}
	s, err := NewOutput(opt, TransactionsOff)
	require.NoError(t, err)
	_, err = s.Open(t.Context(), "stream-1", 0, nil, true)
	require.NoError(t, err)
	require.NoError(t, s.Begin(t.Context(), 1))
	_, err = s.End(t.Context(), stream.Tail{Positions: stream.Positions{0: 7, 1: 9}})
	require.NoError(t, err)
	require.NoError(t, s.Begin(t.Context(), 2))
	_, err = s.End(t.Context(), stream.Tail{Positions: stream.Positions{0: 8, 1: 9}})
	require.NoError(t, err)
	require.NoError(t, s.Close()) // which publishes the newest
	res, err := kafkatest.Reference(
		t,
		e,
	).OffsetFetch(t.Context(), &kafkago.OffsetFetchRequest{GroupID: "motifd-lag",
		Topics: map[string][]int{"in": {0, 1}}})
	require.NoError(t, err)
	got := map[int]int64{}
	for _, p := range res.Topics["in"] {
		got[p.Partition] = p.CommittedOffset
	}
	require.Equal(t, map[int]int64{0: 8, 1: 9}, got)
}

func TestSinkOptions(t *testing.T) {
	ok := kafka.ClientOptions{Brokers: []string{"b:9092"}}
	for want, opt := range map[string]SinkOptions{
		"no broker":             {Topic: "t"},
		"not host:port":         {ClientOptions: kafka.ClientOptions{Brokers: []string{"a:1,b:2"}}, Topic: "t"},
		"no output topic":       {ClientOptions: ok},
		"topics of their own":   {ClientOptions: ok, Topic: "t", Control: "t"},
		"needs the input topic": {ClientOptions: ok, Topic: "t", Group: "g"},
		"compression":           {ClientOptions: ok, Topic: "t", Compression: "brotli"},
		"SASL mechanism": {ClientOptions: kafka.ClientOptions{
			Brokers: []string{"b:1"}, SASL: kafka.SASL{Mechanism: "gssapi", User: "u"}}, Topic: "t"},
		"SASL needs a user": {ClientOptions: kafka.ClientOptions{
			Brokers: []string{"b:1"}, SASL: kafka.SASL{Mechanism: "plain"}}, Topic: "t"},
	} {
		_, err := NewSink(opt)
		require.ErrorContains(t, err, want)
	}
	for want, opt := range map[string]source.Options{
		"no input topic":  {ClientOptions: ok},
		"start":           {ClientOptions: ok, Topic: "t", Start: "middle"},
		"isolation":       {ClientOptions: ok, Topic: "t", Isolation: "serializable"},
		"listed twice":    {ClientOptions: ok, Topic: "t", Partitions: []int32{1, 1}},
		"above the limit": {ClientOptions: ok, Topic: "t", FetchBytes: 1 << 30},
	} {
		_, err := source.New(opt)
		require.ErrorContains(t, err, want)
	}
}
