package source

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"motifd/matcher/matchertest"
	"motifd/stream"
	"motifd/stream/kafka"
	"motifd/stream/kafka/admin"
	"motifd/stream/kafka/brokertest"
	"motifd/stream/kafka/internal/kafkatest"
	"motifd/stream/kafka/publish"
)

func TestStartLatest(t *testing.T) {
	e := kafkatest.OpenLog(t, admin.Topic{Name: "in", Partitions: 2})
	cl := kafkatest.Reference(t, e)
	kafkatest.Produce(t, cl, "in", 0, 0, kafkatest.Rec("", "old"))
	src := newSource(t, Options{ClientOptions: kafkatest.Fast(e), Topic: "in", Start: Latest})
	require.NoError(t, src.Seek(t.Context(), nil))
	require.Equal(t, stream.Positions{0: 1, 1: 0}, src.Positions())
	kafkatest.Produce(t, cl, "in", 0, 0, kafkatest.Rec("", "new"))
	require.Equal(t, "new", kafkatest.Values(kafkatest.ReadN(t, src, 1)))
}

func TestChosenPartitions(t *testing.T) {
	e := kafkatest.OpenLog(t, admin.Topic{Name: "in", Partitions: 3})
	cl := kafkatest.Reference(t, e)
	for p := range 3 {
		kafkatest.Produce(t, cl, "in", p, 0, kafkatest.Rec("", fmt.Sprint("p", p)))
	}
	src := newSource(t, Options{ClientOptions: kafkatest.Fast(e), Topic: "in", Partitions: []int32{2}})
	require.ErrorContains(t, src.Seek(t.Context(), stream.Positions{1: 0}), "not among the partitions")
	require.Equal(t, "p2", kafkatest.Values(kafkatest.ReadN(t, src, 1)))
	require.Error(t, src.Seek(t.Context(), nil), "Seek after Read")

	none := newSource(t, Options{ClientOptions: kafkatest.Fast(e), Topic: "in", Partitions: []int32{3}})
	_, err := none.Read(t.Context())
	require.ErrorContains(t, err, "there is no partition 3")
}

func TestNoTopic(t *testing.T) {
	e := kafkatest.OpenLog(t)
	_, err := newSource(t, Options{ClientOptions: kafkatest.Fast(e), Topic: "nowhere"}).Read(t.Context())
	require.ErrorIs(t, err, kafka.ErrNoTopic)
}

func TestRecordTooLarge(t *testing.T) {
	e := kafkatest.OpenLog(t, admin.Topic{Name: "in"})
	cl := kafkatest.Reference(t, e)
	kafkatest.Produce(
		t,
		cl,
		"in",
		0,
		0,
		kafkatest.Rec("a", "fits"),
		kafkatest.Rec("b", strings.Repeat("x", 500)),
		kafkatest.Rec("", "fits too"),
	)
	src := newSource(t, Options{ClientOptions: kafkatest.Fast(e), Topic: "in", MaxRecordBytes: 100})
	got := kafkatest.ReadN(t, src, 3)
	require.NoError(t, got[0].Err)
	var tooLarge *stream.RecordError
	require.ErrorAs(t, got[1].Err, &tooLarge)
	require.Equal(t, "size", tooLarge.Reason)
	require.EqualValues(t, 501, tooLarge.Size)
	require.Len(t, got[1].Value, 99)
	require.NoError(t, got[2].Err)
	require.Equal(t, stream.Record{Offset: 2, Next: 3, Time: got[2].Time, Value: []byte("fits too")}, got[2])
}

// TestFetchFaults: whatever the broker answers, nothing is lost or doubled.
func TestFetchFaults(t *testing.T) {
	e := kafkatest.OpenLog(t, admin.Topic{Name: "in", Partitions: 2})
	cl := kafkatest.Reference(t, e)
	opt := Options{ClientOptions: kafkatest.Fast(e), Topic: "in", FetchBytes: 200, ReadBytes: 50}
	var r kafkatest.Retries
	opt.Events.Retry = r.Event
	src := newSource(t, opt)
	want := map[int32]int{}
	for i, fault := range []*kerr.Error{kerr.NotLeaderForPartition, kerr.UnknownServerError,
		kerr.UnknownTopicOrPartition,
		kerr.OffsetOutOfRange, kerr.KafkaStorageError} {
		h := e.Cluster.Fault(kafkatest.FaultOn(kmsg.Fetch, fault, 2))
		e.Cluster.ControlKey(int16(kmsg.Fetch), func(kmsg.Request) (kmsg.Response, error, bool) {
			return nil, fmt.Errorf("connection drops"), true
		})
		for p := range 2 {
			for j := range 10 {
				kafkatest.Produce(t, cl, "in", p, 0, kafkatest.Rec("", fmt.Sprintf("%d-%d", i, j)))
			}
		}
		for _, got := range kafkatest.ReadN(t, src, 20) {
			require.Equal(t, fmt.Sprintf("%d-%d", want[got.Partition]/10, want[got.Partition]%10), string(got.Value))
			want[got.Partition]++
		}
		require.NoError(t, h.Wait(t.Context(), 1))
		h.Remove()
	}
	require.Positive(t, r.Of("fetch"))
}

// TestNotAuthorized: an error that no retry mends ends reading.
func TestNotAuthorized(t *testing.T) {
	e := kafkatest.OpenLog(t, admin.Topic{Name: "in"})
	e.Cluster.Fault(kafkatest.FaultOn(kmsg.Fetch, kerr.TopicAuthorizationFailed, -1))
	_, err := newSource(t, Options{ClientOptions: kafkatest.Fast(e), Topic: "in"}).Read(t.Context())
	require.ErrorIs(t, err, kafkago.TopicAuthorizationFailed)
}

// TestBrokerDown: Read waits for a broker that is not there, until its context ends or the source is closed.
func TestBrokerDown(t *testing.T) {
	opt := Options{
		ClientOptions: kafka.ClientOptions{Brokers: []string{"127.0.0.1:1"}, RetryMin: time.Millisecond},
		Topic:         "in",
	}
	ctx, cancel := context.WithCancel(t.Context())
	opt.Events.Retry = func(string, string, int32, int, error) { cancel() }
	_, err := newSource(t, opt).Read(ctx)
	require.ErrorIs(t, err, context.Canceled)

	retried := make(chan struct{}, 100)
	opt.Events.Retry = func(string, string, int32, int, error) {
		select {
		case retried <- struct{}{}:
		default:
		}
	}
	src := newSource(t, opt)
	done := make(chan error)
	go func() {
		_, err := src.Read(context.Background())
		done <- err
	}()
	<-retried
	require.NoError(t, src.Close())
	require.ErrorIs(t, <-done, errClosed)
}

// TestFairness: a partition with a backlog does not hold up another, unless they are merged.
func TestFairness(t *testing.T) {
	e := kafkatest.OpenLog(t, admin.Topic{Name: "in", Partitions: 2})
	cl := kafkatest.Reference(t, e)
	for range 50 {
		var recs []kafkago.Record
		for range 100 {
			recs = append(recs, kafkatest.Rec("", "busy"))
		}
		kafkatest.Produce(t, cl, "in", 0, 0, recs...)
	}
	kafkatest.Produce(t, cl, "in", 1, 0, kafkatest.Rec("", "rare"))
	src := newSource(
		t,
		Options{ClientOptions: kafkatest.Fast(e), Topic: "in", ReadBytes: 40, FetchBytes: 1 << 10, Merge: MergeNone},
	)
	recs, err := src.Read(t.Context()) // both partitions are fetched from here on, and wait
	require.NoError(t, err)
	if recs[0].Partition == 1 {
		return
	}
	require.Eventually(t, func() bool { return src.Lag(nil)[1] == 1 }, time.Minute, time.Millisecond)
	reads := 0
	for {
		recs, err := src.Read(t.Context())
		require.NoError(t, err)
		if recs[0].Partition == 1 {
			break
		}
		reads++
	}
	require.Less(t, reads, 400, "of 500")
}

// TestLag: the lag is counted from the positions that are asked for, whether or not somebody reads, and is not known
// while brokers do not answer.
func TestLag(t *testing.T) {
	e := kafkatest.OpenLog(t, admin.Topic{Name: "in", Partitions: 2})
	cl := kafkatest.Reference(t, e)
	src := newSource(
		t,
		Options{ClientOptions: kafkatest.Fast(e), Topic: "in", Partitions: []int32{0}, FetchBytes: 1, Start: Latest},
	)
	var _ stream.Lagger = src
	src.interval = 10 * time.Millisecond
	kafkatest.Produce(t, cl, "in", 0, 0, kafkatest.Rec("", "old"))
	require.NoError(t, src.Seek(t.Context(), nil))
	require.Empty(t, src.Lag(nil))
	lags := func(at stream.Positions, want int64) {
		t.Helper()
		require.Eventually(
			t,
			func() bool { return maps.Equal(src.Lag(at), map[int32]int64{0: want}) },
			time.Minute,
			time.Millisecond,
		)
	}
	for range 3 {
		kafkatest.Produce(t, cl, "in", 0, 0, kafkatest.Rec("", "x"))
	}
	kafkatest.ReadN(t, src, 1)
	lags(nil, 3) // what is read is not done
	lags(stream.Positions{0: 2}, 2)
	kafkatest.Produce(t, cl, "in", 0, 0, kafkatest.Rec("", "x")) // while nobody reads
	lags(stream.Positions{0: 2}, 3)
	kafkatest.ReadN(t, src, 3)
	lags(stream.Positions{0: 5}, 0)
	// A broker that does not answer any more leaves the lag unknown, not as it was.
	require.NoError(t, e.Close())
	require.Eventually(t, func() bool { return len(src.Lag(stream.Positions{0: 5})) == 0 }, time.Minute,
		time.Millisecond)
}

// TestLagBehindMarkers: markers and aborted records at the end of a partition are no lag.
func TestLagBehindMarkers(t *testing.T) {
	e := kafkatest.Embedded(t)
	topic := e.Topic(t, "in", 1, nil)
	cl := e.Franz(t, kgo.TransactionalID(topic), kgo.DefaultProduceTopic(topic))
	for _, commit := range []kgo.TransactionEndTry{kgo.TryCommit, kgo.TryAbort} {
		require.NoError(t, cl.BeginTransaction())
		require.NoError(t, cl.ProduceSync(t.Context(), kgo.StringRecord("x")).FirstErr())
		require.NoError(t, brokertest.EndTransaction(t.Context(), cl, commit, topic))
	}
	src := newSource(t, Options{ClientOptions: e.Client(), Topic: topic})
	kafkatest.ReadN(t, src, 1)
	require.Eventually(
		t,
		func() bool { return maps.Equal(src.Lag(stream.Positions{0: 1}), map[int32]int64{0: 0}) },
		time.Minute,
		time.Millisecond,
	)
	at := stream.Positions{0: 1}
	src.Advance(at)
	require.Equal(t, stream.Positions{0: 4}, at, "asking for the lag moves nothing")
}

func TestBigBatches(t *testing.T) {
	n := 200_000
	if matchertest.UnderRace {
		n = 50_000
	}
	e := kafkatest.OpenLog(t, admin.Topic{Name: "in", Partitions: 3})
	value := bytes.Repeat([]byte("v"), 100)
	s, err := publish.NewSink(publish.SinkOptions{ClientOptions: kafkatest.Fast(e), Topic: "in"})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	_, err = s.Open(t.Context(), "stream", 0, nil, true)
	require.NoError(t, err)
	require.NoError(t, s.Begin(t.Context(), 1))
	recs := make([]stream.OutRecord, 1000)
	for i := 0; i < n; i += len(recs) {
		for j := range recs {
			recs[j] = stream.OutRecord{
				Key:   fmt.Appendf(nil, "key-%d", i+j),
				Value: value,
				Batch: 1,
				Index: uint64(i + j),
				Query: "q",
			}
		}
		require.NoError(t, s.Write(t.Context(), recs))
	}
	_, err = s.End(t.Context(), stream.Tail{})
	require.NoError(t, err)

	src := newSource(t, Options{ClientOptions: kafkatest.Fast(e), Topic: "in"})
	keys := make(map[string]bool, n)
	for _, r := range kafkatest.ReadN(t, src, n) {
		keys[string(r.Key)] = true
		require.Equal(t, kafka.PartitionOf(r.Key, 3), r.Partition)
	}
	require.Len(t, keys, n)
}
