package source

import (
	"fmt"
	"maps"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"motifd/stream"
	"motifd/stream/kafka/admin"
	"motifd/stream/kafka/brokertest"
	"motifd/stream/kafka/internal/kafkatest"
)

// quick makes a source that notices added partitions soon.
func quick(t testing.TB, opt Options) *Source {
	t.Helper()
	src := newSource(t, opt)
	// The second one is also the time-out of what the source asks: a broker may be slow.
	src.interval, src.cl.Transport.MetadataTTL = 20*time.Millisecond, 2*time.Second
	return src
}

// readAddedPartitions: partitions that are added while the source runs are read from their beginning, and so are those
// that were added while it did not, wherever reading was to start.
func readAddedPartitions(t *testing.T, e *kafkatest.Cluster) {
	for _, start := range []string{Earliest, Latest} {
		topic := e.Topic(t, "in", 1, nil)
		opt := Options{ClientOptions: e.Client(), Topic: topic, Start: start}
		var added atomic.Int32
		opt.Events.Partitions = func(topic string, from, to int32) { added.Store(to) }
		src := quick(t, opt)
		require.NoError(t, src.Seek(t.Context(), nil))
		e.Write(t, topic, 0, kafkatest.Texts("p0")...)
		require.Equal(t, "p0", kafkatest.Values(kafkatest.ReadN(t, src, 1)))
		e.AddPartitions(t, topic, 3)
		e.Write(t, topic, 1, kafkatest.Texts("p1")...)
		e.Write(t, topic, 2, kafkatest.Texts("p2")...)
		got := map[int32]string{}
		for _, r := range kafkatest.ReadN(t, src, 2) {
			got[r.Partition] = string(r.Value)
		}
		require.Equal(t, map[int32]string{1: "p1", 2: "p2"}, got)
		require.EqualValues(t, 3, added.Load())
		require.NoError(t, src.Close())
		e.AddPartitions(t, topic, 4)
		e.Write(t, topic, 3, kafkatest.Texts("p3")...)
		src = quick(t, opt)
		require.NoError(t, src.Seek(t.Context(), stream.Positions{0: 1, 1: 1, 2: 1}))
		require.Equal(t, "p3", kafkatest.Values(kafkatest.ReadN(t, src, 1)))
		require.EqualValues(t, 4, added.Load())
	}
}

// readDataLoss: a position below the log's start, above its end, or of a partition that is gone.
func readDataLoss(t *testing.T, e *kafkatest.Cluster) {
	topic := e.Topic(t, "in", 1, nil)
	e.Write(t, topic, 0, kafkatest.Texts("0", "1", "2", "3", "4")...)
	e.DeleteRecords(t, topic, 0, 3)
	type loss struct{ from, to int64 }
	for at, want := range map[int64]loss{1: {1, 3}, 9: {5, 9}} {
		opt := Options{ClientOptions: e.Client(), Topic: topic}
		err := newSource(t, opt).Seek(t.Context(), stream.Positions{0: at})
		require.ErrorIs(t, err, stream.ErrDataLoss)
		require.ErrorContains(t, err, fmt.Sprintf("offset %d is wanted, offsets 3 to 5 are available", at))
		opt.AllowDataLoss = true
		var got []loss
		opt.Events.Loss = func(_ int32, from, to int64) { got = append(got, loss{from, to}) }
		src := newSource(t, opt)
		require.NoError(t, src.Seek(t.Context(), stream.Positions{0: at}))
		require.Equal(t, []loss{want}, got)
		require.Equal(t, stream.Positions{0: map[int64]int64{1: 3, 9: 5}[at]}, src.Positions())
	}
}

// readLossWhileReading: records are deleted while the source is at them.
func readLossWhileReading(t *testing.T, e *kafkatest.Cluster) {
	for _, allow := range []bool{false, true} {
		topic := e.Topic(t, "in", 1, nil)
		for i := range 10 {
			e.Write(t, topic, 0, kafkatest.Texts(fmt.Sprint(i))...)
		}
		opt := Options{ClientOptions: e.Client(), Topic: topic, FetchBytes: 1, ReadBytes: 1, AllowDataLoss: allow}
		lost := make(chan int64, 10)
		opt.Events.Loss = func(_ int32, from, to int64) { lost <- to - from }
		src := newSource(t, opt)
		require.Equal(t, "0", kafkatest.Values(kafkatest.ReadN(t, src, 1)))
		e.DeleteRecords(t, topic, 0, 8)
		var err error
		var last string
		for err == nil && last != "9" {
			var recs []stream.Record
			if recs, err = src.Read(t.Context()); err == nil {
				last = string(recs[len(recs)-1].Value)
			}
		}
		if !allow {
			require.ErrorIs(t, err, stream.ErrDataLoss)
			continue
		}
		require.NoError(t, err)
		require.Greater(t, <-lost, int64(4))
	}
}

// readCreatedAnew: the topic is deleted and created again under a running source; what is in it is not what was there.
func readCreatedAnew(t *testing.T, e *kafkatest.Cluster) {
	topic := e.Topic(t, "in", 1, nil)
	e.Write(t, topic, 0, kafkatest.Texts("0", "1", "2")...)
	src := quick(t, Options{ClientOptions: e.Client(), Topic: topic})
	kafkatest.ReadN(t, src, 3)
	e.DeleteTopic(t, topic)
	e.CreateAgain(t, admin.Topic{Name: topic, Partitions: 1})
	e.Write(t, topic, 0, kafkatest.Texts("another")...)
	_, err := src.Read(t.Context())
	require.ErrorIs(t, err, stream.ErrDataLoss)
}

// readFewerPartitions: a topic that was created again with fewer partitions.
func readFewerPartitions(t *testing.T, e *kafkatest.Cluster) {
	topic := e.Topic(t, "in", 3, nil)
	e.Write(t, topic, 2, kafkatest.Texts("p2")...)
	running := quick(t, Options{ClientOptions: e.Client(), Topic: topic})
	kafkatest.ReadN(t, running, 1)
	e.DeleteTopic(t, topic)
	e.CreateAgain(t, admin.Topic{Name: topic, Partitions: 1})
	e.Write(t, topic, 0, kafkatest.Texts("p0", "p0")...)
	var err error
	for err == nil { // what partition 0 holds may be read before
		_, err = running.Read(t.Context())
	}
	require.ErrorIs(t, err, stream.ErrDataLoss)
	require.ErrorContains(t, err, "created anew")

	at := stream.Positions{0: 1, 1: 0, 2: 7}
	opt := Options{ClientOptions: e.Client(), Topic: topic}
	err = newSource(t, opt).Seek(t.Context(), at)
	require.ErrorIs(t, err, stream.ErrDataLoss)
	require.ErrorContains(t, err, "created anew")
	opt.AllowDataLoss = true
	lost := map[int32]int64{}
	opt.Events.Loss = func(p int32, from, to int64) { lost[p] = to - from }
	src := newSource(t, opt)
	require.NoError(t, src.Seek(t.Context(), at))
	require.True(t, maps.Equal(map[int32]int64{2: 7}, lost), lost)
	require.Equal(t, "p0", kafkatest.Values(kafkatest.ReadN(t, src, 1)))
}

// readMarkers: positions follow transaction markers and aborted records, so that these are not missed when retention
// has removed them.
func readMarkers(t *testing.T, e *kafkatest.Cluster) {
	topic := e.Topic(t, "in", 1, nil)
	cl := e.Franz(t, kgo.TransactionalID(topic), kgo.DefaultProduceTopic(topic), kgo.ProducerLinger(0))
	transaction := func(value string, commit kgo.TransactionEndTry) {
		require.NoError(t, cl.BeginTransaction())
		require.NoError(t, cl.ProduceSync(t.Context(), kgo.StringRecord(value)).FirstErr())
		require.NoError(t, brokertest.EndTransaction(t.Context(), cl, commit, topic))
	}
	e.Write(t, topic, 0, kafkatest.Texts("plain")...)          // offset 0
	transaction("committed", kgo.TryCommit)                    // 1, its marker 2
	transaction("aborted", kgo.TryAbort)                       // 3, 4
	e.Write(t, topic, 0, kafkatest.Texts("between", "end")...) // 5, 6
	opt := Options{ClientOptions: e.Client(), Topic: topic}
	src := newSource(t, opt)
	require.NoError(t, src.Seek(t.Context(), nil))
	require.Equal(t, "plain committed between end", kafkatest.Values(kafkatest.ReadN(t, src, 4)))
	for from, to := range map[int64]int64{0: 0, 1: 1, 5: 5, 6: 6} { // ahead of what has been batched nothing moves
		at := stream.Positions{0: from}
		src.Advance(at)
		require.Equal(t, stream.Positions{0: to}, at)
	}
	require.NoError(t, src.Close())

	src = newSource(t, opt)
	require.NoError(t, src.Seek(t.Context(), nil))
	kafkatest.ReadN(t, src, 4)
	at := stream.Positions{0: 2}
	src.Advance(at)
	require.Equal(t, stream.Positions{0: 5}, at)
	e.DeleteRecords(t, topic, 0, 5)
	require.NoError(t, newSource(t, opt).Seek(t.Context(), at))
	require.ErrorIs(t, newSource(t, opt).Seek(t.Context(), stream.Positions{0: 2}), stream.ErrDataLoss)
}

// readRefilled: a topic that was deleted, created anew and filled beyond the position is not taken for the former one.
// Without an id it is.
func readRefilled(t *testing.T, e *kafkatest.Cluster) {
	topic := e.Topic(t, "in", 1, nil)
	e.Write(t, topic, 0, kafkatest.Texts("0", "1", "2")...)
	var kept []string
	opt := Options{ClientOptions: e.Client(), Topic: topic, KeepTopicID: func(id string) error {
		kept = append(kept, id)
		return nil
	}}
	src := newSource(t, opt)
	kafkatest.ReadN(t, src, 3)
	require.Len(t, kept, 1)
	require.Len(t, kept[0], 32)
	opt.TopicID = kept[0]
	require.NoError(t, newSource(t, opt).Seek(t.Context(), stream.Positions{0: 3}))
	require.Len(t, kept, 1)
	e.DeleteTopic(t, topic)
	e.CreateAgain(t, admin.Topic{Name: topic, Partitions: 1})
	e.Write(t, topic, 0, kafkatest.Texts("a", "b", "c", "d", "e")...)
	err := newSource(t, opt).Seek(t.Context(), stream.Positions{0: 3})
	require.ErrorIs(t, err, stream.ErrDataLoss)
	require.ErrorContains(t, err, "created anew")
	require.Len(t, kept, 1, "what was refused is not kept")
	loss := opt
	loss.AllowDataLoss = true
	src = newSource(t, loss)
	require.NoError(t, src.Seek(t.Context(), stream.Positions{0: 3}))
	require.Equal(t, "a b c d e", kafkatest.Values(kafkatest.ReadN(t, src, 5)))
	require.Len(t, kept, 2)
	opt.TopicID = ""
	require.NoError(t, newSource(t, opt).Seek(t.Context(), stream.Positions{0: 3}), "not known")
	opt.TopicID = kept[1]
	require.NoError(t, newSource(t, opt).Seek(t.Context(), stream.Positions{0: 3}))
}

// readEpochs: leader epochs are kept with the first record, and let a later run go on, also where what was read has
// been deleted.
func readEpochs(t *testing.T, e *kafkatest.Cluster) {
	topic := e.Topic(t, "in", 1, nil)
	e.Write(t, topic, 0, kafkatest.Texts("0", "1", "2")...)
	k := &epochKeeper{}
	opt := Options{ClientOptions: e.Client(), Topic: topic, KeepEpochs: k.keep}
	src := newSource(t, opt)
	kafkatest.ReadN(t, src, 3)
	require.NoError(t, src.Close())
	opt.Epochs = k.kept()
	require.Len(t, opt.Epochs[0], 1)
	require.Zero(t, opt.Epochs[0][0].Start)
	for range 2 {
		require.NoError(t, newSource(t, opt).Seek(t.Context(), stream.Positions{0: 3}))
		e.DeleteRecords(t, topic, 0, 3)
	}
	e.Write(t, topic, 0, kafkatest.Texts("3")...)
	src = newSource(t, opt)
	require.NoError(t, src.Seek(t.Context(), stream.Positions{0: 3}))
	require.Equal(t, "3", kafkatest.Values(kafkatest.ReadN(t, src, 1)))
}
