package source

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"motifd/stream"
	"motifd/stream/kafka"
	"motifd/stream/kafka/brokertest"
	"motifd/stream/kafka/internal/kafkatest"
	"motifd/stream/kafka/internal/recordbatch"
)

// readings are the tests of a source on the embedded log and on a real broker.
var readings = map[string]func(t *testing.T, e *kafkatest.Cluster){
	"Codecs": readCodecs, "Contents": readContents, "TooLarge": readTooLarge, "Transactions": readTransactions,
	"OpenTransaction": readOpenTransaction, "AddedPartitions": readAddedPartitions, "DataLoss": readDataLoss,
	"LossWhileReading": readLossWhileReading, "CreatedAnew": readCreatedAnew, "FewerPartitions": readFewerPartitions,
	"Markers": readMarkers, "Refilled": readRefilled, "Epochs": readEpochs, "Grown": readGrown,
}

func TestReading(t *testing.T) {
	for name, test := range readings {
		t.Run(name, func(t *testing.T) { test(t, kafkatest.Embedded(t)) })
	}
}

// batches lists the record batches of a partition as the cluster keeps them.
func batches(t testing.TB, e *kafkatest.Cluster, topic string, end int64) (out []recordbatch.Batch) {
	t.Helper()
	opt := e.Client()
	require.NoError(t, opt.SetDefaults())
	cl, err := kafka.NewClient(opt, topic)
	require.NoError(t, err)
	defer cl.Close()
	for next := int64(0); next < end; {
		res, err := cl.Fetch(t.Context(), topic, 0, next, 16<<20, time.Second, kafkago.ReadUncommitted)
		require.NoError(t, err)
		for data := res.Batches; ; {
			b, rest, ok, err := recordbatch.Next(data)
			require.NoError(t, err)
			if !ok {
				break
			}
			data, next, out = rest, b.Last+1, append(out, b)
		}
	}
	return out
}

// readCodecs: record batches that franz-go has compressed, and those that the broker has, which is to say Java.
func readCodecs(t *testing.T, e *kafkatest.Cluster) {
	codecs := map[kafkago.Compression]kgo.CompressionCodec{0: kgo.NoCompression(), kafkago.Gzip: kgo.GzipCompression(),
		kafkago.Snappy: kgo.SnappyCompression(), kafkago.Lz4: kgo.Lz4Compression(), kafkago.Zstd: kgo.ZstdCompression()}
	rng := rand.New(rand.NewPCG(5, 1))
	var want []string
	for i := range 300 { // some that shrink, some that do not
		v := strings.Repeat(fmt.Sprint("ring ", i), 1+i%50)
		if i%7 == 0 {
			noise := make([]byte, 400)
			for j := range noise {
				noise[j] = byte(rng.Uint32())
			}
			v = string(noise)
		}
		want = append(want, v)
	}
	want = append(want, strings.Repeat("0123456789", 60_000)) // several blocks of every codec
	for kind, codec := range codecs {
		byProducer, byBroker := e.Topic(t, "in", 1, nil), ""
		// One record batch, or few: franz-go may send the first record when it hears of the topic, and leaves a batch
		// of one short record uncompressed, whatever the codec.
		cl := e.Franz(
			t,
			kgo.ProducerBatchCompression(codec),
			kgo.DefaultProduceTopic(byProducer),
			kgo.ProducerBatchMaxBytes(4<<20),
			kgo.ManualFlushing(),
		)
		for _, r := range kafkatest.Texts(want...) {
			cl.Produce(t.Context(), r, func(_ *kgo.Record, err error) { require.NoError(t, err) })
		}
		require.NoError(t, cl.Flush(t.Context()))
		if kind != 0 {
			byBroker = e.Topic(t, "in", 1, map[string]string{"compression.type": kind.String()})
			kafkatest.Produce(t, e.Reference(t), byBroker, 0, 0, func() (out []kafkago.Record) {
				for _, v := range want {
					out = append(out, kafkatest.Rec("", v))
				}
				return out
			}()...)
		}
		for _, topic := range []string{byProducer, byBroker} {
			if topic == "" {
				continue
			}
			src := newSource(t, Options{ClientOptions: e.Client(), Topic: topic})
			got := kafkatest.ReadN(t, src, len(want))
			require.Len(t, got, len(want))
			for i := range want {
				require.NoError(t, got[i].Err, "%v, record %d", kind, i)
				require.True(t, want[i] == string(got[i].Value), "%v, record %d", kind, i)
			}
			require.NoError(t, src.Close())
			if topic == byBroker && !e.Real {
				continue // the embedded log does not compress
			}
			compressed := false
			for _, b := range batches(t, e, topic, int64(len(want))) {
				c := kafkago.Compression(b.Attributes & recordbatch.AttrCompression)
				if compressed = compressed || c == kind; c != kind {
					require.Zero(t, c)
				}
			}
			require.True(t, compressed, kind)
		}
	}
}

// readContents: keys, values and timestamps as they are, what is absent and what is empty told apart; headers change
// nothing.
func readContents(t *testing.T, e *kafkatest.Cluster) {
	topic := e.Topic(t, "in", 1, nil)
	at := time.UnixMilli(1_700_000_000_000)
	e.Write(t, topic, 0,
		&kgo.Record{Key: []byte("k"), Value: []byte("v"), Timestamp: at},
		&kgo.Record{Key: []byte("gone"), Timestamp: at.Add(1)}, // a tombstone
		&kgo.Record{Key: []byte{}, Value: []byte{}, Timestamp: at},
		&kgo.Record{Value: []byte("headers"), Timestamp: at, Headers: []kgo.RecordHeader{
			{Key: "a", Value: []byte("1")},
			{
				Key:   "",
				Value: nil,
			},
			{Key: "a", Value: bytes.Repeat([]byte("x"), 100_000)},
			{Key: kafka.HeaderBatch, Value: []byte("no number")},
		}},
		&kgo.Record{Key: []byte{0, 0xff, '\n'}, Value: []byte{0xfe}, Timestamp: time.UnixMilli(0)},
	)
	got := kafkatest.ReadN(t, newSource(t, Options{ClientOptions: e.Client(), Topic: topic}), 5)
	want := []stream.Record{
		{Key: []byte("k"), Value: []byte("v"), Time: at},
		{Key: []byte("gone"), Time: at.Add(time.Millisecond)},
		{Key: []byte{}, Value: []byte{}, Time: at},
		{Value: []byte("headers"), Time: at},
		{Key: []byte{0, 0xff, '\n'}, Value: []byte{0xfe}, Time: time.UnixMilli(0)},
	}
	want[1].Time = at // a part of a millisecond is cut off
	for i := range want {
		want[i].Offset, want[i].Next = int64(i), int64(i)+1
		want[i].Time, got[i].Time = want[i].Time.UTC(), got[i].Time.UTC()
	}
	require.Equal(t, want, got)
}

// readTooLarge: records above our limit, which the broker took, and record batches above what is asked of it at once.
func readTooLarge(t *testing.T, e *kafkatest.Cluster) {
	topic := e.Topic(t, "in", 1, map[string]string{"max.message.bytes": "10000000"})
	big := strings.Repeat("x", 3<<20)
	e.Write(t, topic, 0, kafkatest.Texts("first")...)
	e.Write(t, topic, 0, kafkatest.Texts("a", big, "b")...)
	e.Write(t, topic, 0, kafkatest.Texts("last")...)
	src := newSource(
		t,
		Options{ClientOptions: e.Client(), Topic: topic, FetchBytes: 1000, ReadBytes: 1000, MaxRecordBytes: 2 << 20},
	)
	got := kafkatest.ReadN(t, src, 5)
	require.Equal(
		t,
		[]string{"first", "a", "b", "last"},
		[]string{string(got[0].Value), string(got[1].Value), string(got[3].Value), string(got[4].Value)},
	)
	var tooLarge *stream.RecordError
	require.ErrorAs(t, got[2].Err, &tooLarge)
	require.Equal(t, stream.RecordError{Reason: "size", Size: 3 << 20, Msg: tooLarge.Msg}, *tooLarge)
	require.Contains(t, tooLarge.Msg, "at most 2097152 are allowed (input.limits.max_message_bytes)")
	require.Len(t, got[2].Value, 2<<20)
	require.NoError(t, src.Close())
	// The same batch, compressed, and more of it than is allowed.
	zipped := e.Franz(
		t,
		kgo.ProducerBatchCompression(kgo.ZstdCompression()),
		kgo.DefaultProduceTopic(topic),
		kgo.ProducerBatchMaxBytes(8<<20),
		kgo.ProducerLinger(5*time.Millisecond),
	)
	require.NoError(t, zipped.ProduceSync(t.Context(), kafkatest.Texts("c", big, "d")...).FirstErr())
	e.Write(t, topic, 0, kafkatest.Texts("end")...)
	src = newSource(t, Options{ClientOptions: e.Client(), Topic: topic, MaxRecordBytes: 1 << 20,
		MaxBatchBytes: 2 << 20})
	require.NoError(t, src.Seek(t.Context(), stream.Positions{0: 5}))
	got = kafkatest.ReadN(t, src, 2)
	require.ErrorAs(t, got[0].Err, &tooLarge)
	require.Equal(t, "compression", tooLarge.Reason)
	require.Contains(t, tooLarge.Msg, "offsets 5 to 7")
	require.Equal(t, "end", string(got[1].Value))
}

// readTransactions: what two producers wrote in transactions that lie across each other, committed and aborted, amid
// what a third one wrote without.
func readTransactions(t *testing.T, e *kafkatest.Cluster) {
	const seed = 7
	rng := rand.New(rand.NewPCG(seed, 1))
	topic := e.Topic(t, "in", 1, nil)
	var producers []*kgo.Client
	for i := range 2 {
		producers = append(
			producers,
			e.Franz(t, kgo.TransactionalID(fmt.Sprint(topic, "-", i)), kgo.DefaultProduceTopic(topic),
				kgo.ProducerLinger(0)),
		)
	}
	plain := e.Franz(t, kgo.DefaultProduceTopic(topic), kgo.ProducerLinger(0))
	open := [2]bool{}
	mine := [2][]string{}
	var all []string
	committed := map[string]bool{}
	end := func(i int, commit bool) {
		require.NoError(t, brokertest.EndTransaction(t.Context(), producers[i], kgo.TransactionEndTry(commit), topic))
		for _, v := range mine[i] {
			committed[v] = commit
		}
		open[i], mine[i] = false, nil
	}
	for n := range 60 {
		v := fmt.Sprint("value-", n)
		all = append(all, v)
		i := rng.IntN(3)
		if i == 2 {
			committed[v] = true
			require.NoError(t, plain.ProduceSync(t.Context(), kgo.StringRecord(v)).FirstErr())
			continue
		}
		if !open[i] {
			require.NoError(t, producers[i].BeginTransaction())
			open[i] = true
		}
		mine[i] = append(mine[i], v)
		require.NoError(t, producers[i].ProduceSync(t.Context(), kgo.StringRecord(v)).FirstErr())
		if rng.IntN(4) == 0 {
			end(i, rng.IntN(2) == 0)
		}
	}
	for i := range open {
		if open[i] {
			end(i, i == 0)
		}
	}
	require.NoError(t, plain.ProduceSync(t.Context(), kgo.StringRecord("end")).FirstErr())
	all, committed["end"] = append(all, "end"), true
	for isolation, want := range map[string][]string{
		ReadCommitted:   slices.DeleteFunc(slices.Clone(all), func(v string) bool { return !committed[v] }),
		ReadUncommitted: all,
	} {
		for _, size := range []int{1, 700, 1 << 20} {
			opt := Options{ClientOptions: e.Client(), Topic: topic, Isolation: isolation, FetchBytes: size}
			src := newSource(t, opt)
			got := kafkatest.ReadN(t, src, len(want))
			require.Equal(t, strings.Join(want, " "), kafkatest.Values(got), "seed %d, %s, %d bytes", seed, isolation,
				size)
			require.NoError(t, src.Close())
			if size > 1 {
				continue
			}
			for k := range got { // and from any position on, markers and aborted transactions before it
				src := newSource(t, opt)
				require.NoError(t, src.Seek(t.Context(), stream.Positions{0: got[k].Offset}))
				require.Equal(t, strings.Join(want[k:], " "), kafkatest.Values(kafkatest.ReadN(t, src, len(want)-k)))
				require.NoError(t, src.Close())
			}
		}
	}
}

// readOpenTransaction: reading waits at the first open transaction, and the lag does not count what is behind it.
func readOpenTransaction(t *testing.T, e *kafkatest.Cluster) {
	for _, commit := range []bool{true, false} {
		topic := e.Topic(t, "in", 1, nil)
		tx := e.Franz(t, kgo.TransactionalID(topic), kgo.DefaultProduceTopic(topic), kgo.ProducerLinger(0))
		e.Write(t, topic, 0, kafkatest.Texts("before")...)
		require.NoError(t, tx.BeginTransaction())
		require.NoError(t, tx.ProduceSync(t.Context(), kafkatest.Texts("in1", "in2")...).FirstErr())
		e.Write(t, topic, 0, kafkatest.Texts("behind")...)
		src := newSource(t, Options{ClientOptions: e.Client(), Topic: topic})
		require.Equal(t, "before", kafkatest.Values(kafkatest.ReadN(t, src, 1)))
		got := make(chan []stream.Record, 1)
		go func() {
			want := 1
			if commit {
				want = 3
			}
			got <- kafkatest.ReadN(t, src, want)
		}()
		// While it is open, several fetches are answered with nothing: the broker holds each for MaxWait, 20 ms.
		select {
		case recs := <-got:
			t.Fatalf("read %s", kafkatest.Values(recs))
		case <-time.After(200 * time.Millisecond):
		}
		lag, ok := src.Lag(stream.Positions{0: 1})[0]
		require.True(t, ok)
		require.Zero(t, lag, "what is in an open transaction cannot be read")
		require.NoError(t, brokertest.EndTransaction(t.Context(), tx, kgo.TransactionEndTry(commit), topic))
		if commit {
			require.Equal(t, "in1 in2 behind", kafkatest.Values(<-got))
		} else {
			require.Equal(t, "behind", kafkatest.Values(<-got))
		}
	}
}
