package kafkatest

import (
	"slices"
	"strconv"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"motifd/stream/kafka"
	"motifd/stream/kafka/admin"
	"motifd/stream/kafka/brokertest"
	"motifd/stream/kafka/embedded"
)

// Cluster is the Kafka that tests run against: an embedded log or a broker.
type Cluster struct {
	Addr string
	Real bool // a broker
	// Topic names a new topic after a prefix and creates it; the embedded log is new for each test, a broker is not.
	Topic func(t testing.TB, prefix string, partitions int, config map[string]string) string
}

// Client is a client configuration for the cluster.
func (e *Cluster) Client() kafka.ClientOptions {
	return kafka.ClientOptions{
		Brokers:        []string{e.Addr},
		RequestTimeout: 2 * time.Minute,
		RetryMin:       time.Millisecond,
		RetryMax:       50 * time.Millisecond,
	}
}

// Embedded is a new embedded log.
func Embedded(t testing.TB) *Cluster { return Of(OpenLog(t)) }

// Of is the cluster of an embedded log.
func Of(e *embedded.Log) *Cluster {
	n := 0
	return &Cluster{
		Addr: e.Addr(),
		Topic: func(t testing.TB, prefix string, partitions int, config map[string]string) string {
			n++
			name := prefix + strconv.Itoa(n)
			require.NoError(
				t,
				admin.EnsureTopics(t.Context(), Fast(e),
					admin.Topic{Name: name, Partitions: partitions, Config: config}),
			)
			return name
		},
	}
}

// Committed reads what a reader under read_committed sees of a topic, with franz-go: partition by partition. It waits
// for the end of the transactions that are open.
func (e *Cluster) Committed(t testing.TB, topic string) []Seen {
	t.Helper()
	cl, err := kafka.NewClient(func() kafka.ClientOptions { c := e.Client(); _ = c.SetDefaults(); return c }())
	require.NoError(t, err)
	defer cl.Close()
	n, err := cl.Partitions(t.Context(), topic, 0)
	require.NoError(t, err)
	ends, err := cl.Extents(t.Context(), topic, kafka.AllPartitions(n), kafkago.ReadUncommitted)
	require.NoError(t, err)
	var ext map[int32]kafka.Extent
	for settled := false; !settled; { // a commit is answered before its markers are in the logs
		ext, err = cl.Extents(t.Context(), topic, kafka.AllPartitions(n), kafkago.ReadCommitted)
		require.NoError(t, err)
		settled = true
		for p := range n {
			settled = settled && ext[p].End >= ends[p].End
		}
	}
	from, left := map[int32]kgo.Offset{}, map[int32]int64{}
	for p, x := range ext {
		if x.End > x.Start {
			from[p] = kgo.NewOffset().At(x.Start)
			left[p] = x.End
		}
	}
	if len(left) == 0 {
		return nil
	}
	reader, err := brokertest.NewClient(e.Addr, kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords(),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}), kgo.FetchMaxWait(50*time.Millisecond))
	require.NoError(t, err)
	defer reader.Close()
	byPart := make([][]Seen, n)
	for len(left) > 0 {
		fetches := reader.PollFetches(t.Context())
		require.NoError(t, fetches.Err())
		fetches.EachRecord(func(r *kgo.Record) {
			if end, ok := left[r.Partition]; ok && r.Offset+1 >= end {
				delete(left, r.Partition) // a transaction ends with its marker, so the last offset is always seen
			}
			if !r.Attrs.IsControl() && r.Offset < ext[r.Partition].End {
				byPart[r.Partition] = append(byPart[r.Partition], seenOf(t, r))
			}
		})
	}
	return slices.Concat(byPart...)
}

func seenOf(t testing.TB, r *kgo.Record) Seen {
	t.Helper()
	s := Seen{Partition: int(r.Partition)}
	s.Key, s.Value = r.Key, r.Value
	var headers []kafkago.Header
	for _, h := range r.Headers {
		headers = append(headers, kafkago.Header{Key: h.Key, Value: h.Value})
	}
	s.setHeaders(t, headers)
	return s
}

// Write appends records to a partition, as one record batch if they fit, and returns when they can be read.
func (e *Cluster) Write(t testing.TB, topic string, partition int32, recs ...*kgo.Record) {
	t.Helper()
	cl := e.Franz(
		t,
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchMaxBytes(8<<20),
		kgo.ProducerLinger(5*time.Millisecond),
	)
	for _, r := range recs {
		r.Topic, r.Partition = topic, partition
	}
	require.NoError(t, cl.ProduceSync(t.Context(), recs...).FirstErr())
}

// Texts makes a record of each value.
func Texts(values ...string) (out []*kgo.Record) {
	for _, v := range values {
		out = append(out, kgo.StringRecord(v))
	}
	return out
}
