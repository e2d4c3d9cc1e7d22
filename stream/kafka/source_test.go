package kafka

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

	"motifd/stream"
)

func values(recs []stream.Record) string {
	var s []string
	for _, r := range recs {
		s = append(s, string(r.Value))
	}
	return strings.Join(s, " ")
}

func TestStartLatest(t *testing.T) {
	e := openLog(t, Topic{Name: "in", Partitions: 2})
	cl := reference(t, e)
	produce(t, cl, "in", 0, 0, rec("", "old"))
	src := newSource(t, SourceOptions{Client: fast(e), Topic: "in", Start: Latest})
	require.NoError(t, src.Seek(t.Context(), nil))
	require.Equal(t, stream.Positions{0: 1, 1: 0}, src.Positions())
	produce(t, cl, "in", 0, 0, rec("", "new"))
	require.Equal(t, "new", values(readN(t, src, 1)))
}

func TestChosenPartitions(t *testing.T) {
	e := openLog(t, Topic{Name: "in", Partitions: 3})
	cl := reference(t, e)
	for p := range 3 {
		produce(t, cl, "in", p, 0, rec("", fmt.Sprint("p", p)))
	}
	src := newSource(t, SourceOptions{Client: fast(e), Topic: "in", Partitions: []int32{2}})
	require.ErrorContains(t, src.Seek(t.Context(), stream.Positions{1: 0}), "not among the partitions")
	require.Equal(t, "p2", values(readN(t, src, 1)))
	require.Error(t, src.Seek(t.Context(), nil), "Seek after Read")

	none := newSource(t, SourceOptions{Client: fast(e), Topic: "in", Partitions: []int32{3}})
	_, err := none.Read(t.Context())
	require.ErrorContains(t, err, "there is no partition 3")
}

func TestNoTopic(t *testing.T) {
	e := openLog(t)
	_, err := newSource(t, SourceOptions{Client: fast(e), Topic: "nowhere"}).Read(t.Context())
	require.ErrorIs(t, err, ErrNoTopic)
	_, err = newSink(t, SinkOptions{Client: fast(e), Topic: "nowhere"}).Open(t.Context(), "s", 0, nil, true)
	require.ErrorIs(t, err, ErrNoTopic)
}

func TestRecordTooLarge(t *testing.T) {
	e := openLog(t, Topic{Name: "in"})
	cl := reference(t, e)
	produce(t, cl, "in", 0, 0, rec("a", "fits"), rec("b", strings.Repeat("x", 500)), rec("", "fits too"))
	src := newSource(t, SourceOptions{Client: fast(e), Topic: "in", MaxRecordBytes: 100})
	got := readN(t, src, 3)
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
	e := openLog(t, Topic{Name: "in", Partitions: 2})
	cl := reference(t, e)
	opt := SourceOptions{Client: fast(e), Topic: "in", FetchBytes: 200, ReadBytes: 50}
	var r retries
	opt.Events.Retry = r.event
	src := newSource(t, opt)
	want := map[int32]int{}
	for i, fault := range []*kerr.Error{kerr.NotLeaderForPartition, kerr.UnknownServerError, kerr.UnknownTopicOrPartition,
		kerr.OffsetOutOfRange, kerr.KafkaStorageError} {
		h := e.Cluster.Fault(faultOn(kmsg.Fetch, fault, 2))
		e.Cluster.ControlKey(int16(kmsg.Fetch), func(kmsg.Request) (kmsg.Response, error, bool) {
			return nil, fmt.Errorf("connection drops"), true
		})
		for p := range 2 {
			for j := range 10 {
				produce(t, cl, "in", p, 0, rec("", fmt.Sprintf("%d-%d", i, j)))
			}
		}
		for _, got := range readN(t, src, 20) {
			require.Equal(t, fmt.Sprintf("%d-%d", want[got.Partition]/10, want[got.Partition]%10), string(got.Value))
			want[got.Partition]++
		}
		require.NoError(t, h.Wait(t.Context(), 1))
		h.Remove()
	}
	require.Positive(t, r.of("fetch"))
}

// TestNotAuthorized: an error that no retry mends ends reading.
func TestNotAuthorized(t *testing.T) {
	e := openLog(t, Topic{Name: "in"})
	e.Cluster.Fault(faultOn(kmsg.Fetch, kerr.TopicAuthorizationFailed, -1))
	_, err := newSource(t, SourceOptions{Client: fast(e), Topic: "in"}).Read(t.Context())
	require.ErrorIs(t, err, kafkago.TopicAuthorizationFailed)
}

// TestBrokerDown: Read waits for a broker that is not there, until its context ends or the source is closed.
func TestBrokerDown(t *testing.T) {
	opt := SourceOptions{Client: Client{Brokers: []string{"127.0.0.1:1"}, RetryMin: time.Millisecond}, Topic: "in"}
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
	e := openLog(t, Topic{Name: "in", Partitions: 2})
	cl := reference(t, e)
	for range 50 {
		var recs []kafkago.Record
		for range 100 {
			recs = append(recs, rec("", "busy"))
		}
		produce(t, cl, "in", 0, 0, recs...)
	}
	produce(t, cl, "in", 1, 0, rec("", "rare"))
	src := newSource(t, SourceOptions{Client: fast(e), Topic: "in", ReadBytes: 40, FetchBytes: 1 << 10, Merge: MergeNone})
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
	e := openLog(t, Topic{Name: "in", Partitions: 2})
	cl := reference(t, e)
	src := newSource(t, SourceOptions{Client: fast(e), Topic: "in", Partitions: []int32{0}, FetchBytes: 1, Start: Latest})
	var _ stream.Lagger = src
	src.interval = 10 * time.Millisecond
	produce(t, cl, "in", 0, 0, rec("", "old"))
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
		produce(t, cl, "in", 0, 0, rec("", "x"))
	}
	readN(t, src, 1)
	lags(nil, 3) // what is read is not done
	lags(stream.Positions{0: 2}, 2)
	produce(t, cl, "in", 0, 0, rec("", "x")) // while nobody reads
	lags(stream.Positions{0: 2}, 3)
	readN(t, src, 3)
	lags(stream.Positions{0: 5}, 0)
	// A broker that does not answer any more leaves the lag unknown, not as it was.
	require.NoError(t, e.Close())
	require.Eventually(t, func() bool { return len(src.Lag(stream.Positions{0: 5})) == 0 }, time.Minute, time.Millisecond)
}

// TestLagBehindMarkers: markers and aborted records at the end of a partition are no lag.
func TestLagBehindMarkers(t *testing.T) {
	e := embedded(t)
	topic := e.topic(t, "in", 1, nil)
	cl := e.franz(t, kgo.TransactionalID(topic), kgo.DefaultProduceTopic(topic))
	for _, commit := range []kgo.TransactionEndTry{kgo.TryCommit, kgo.TryAbort} {
		require.NoError(t, cl.BeginTransaction())
		require.NoError(t, cl.ProduceSync(t.Context(), kgo.StringRecord("x")).FirstErr())
		require.NoError(t, cl.EndTransaction(t.Context(), commit))
	}
	src := newSource(t, SourceOptions{Client: e.client(), Topic: topic})
	readN(t, src, 1)
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
	const n = 200_000
	e := openLog(t, Topic{Name: "in", Partitions: 3})
	value := bytes.Repeat([]byte("v"), 100)
	s := newSink(t, SinkOptions{Client: fast(e), Topic: "in"})
	_, err := s.Open(t.Context(), "stream", 0, nil, true)
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

	src := newSource(t, SourceOptions{Client: fast(e), Topic: "in"})
	keys := make(map[string]bool, n)
	for _, r := range readN(t, src, n) {
		keys[string(r.Key)] = true
		require.Equal(t, partitionOf(r.Key, 3), r.Partition)
	}
	require.Len(t, keys, n)
}
