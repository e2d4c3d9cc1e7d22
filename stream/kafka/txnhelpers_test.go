package kafka

import (
	"slices"
	"strconv"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"motifd/stream"
	"motifd/stream/kafka/brokertest"
)

// ends is a cluster that tests of transactions run against.
type ends struct {
	addr string
	real bool // a broker
	// topic names a new topic after a prefix and creates it; the embedded log is new for each test, a broker is not.
	topic func(t testing.TB, prefix string, partitions int, config map[string]string) string
}

func (e *ends) client() Client {
	return Client{
		Brokers:        []string{e.addr},
		RequestTimeout: 2 * time.Minute,
		RetryMin:       time.Millisecond,
		RetryMax:       50 * time.Millisecond,
	}
}

// embedded is a new embedded log.
func embedded(t testing.TB) *ends { return endsOf(openLog(t)) }

func endsOf(e *Embedded) *ends {
	n := 0
	return &ends{
		addr: e.Addr(),
		topic: func(t testing.TB, prefix string, partitions int, config map[string]string) string {
			n++
			name := prefix + strconv.Itoa(n)
			require.NoError(t, EnsureTopics(t.Context(), fast(e), Topic{Name: name, Partitions: partitions, Config: config}))
			return name
		},
	}
}

// txnOutput creates the topics of an output.
func (e *ends) txnOutput(t testing.TB, partitions int) TxnSinkOptions {
	t.Helper()
	var opt TxnSinkOptions
	opt.Client = e.client()
	opt.Topic = e.topic(t, "out", partitions, nil)
	opt.DeadLetters = e.topic(t, "dead", 1, nil)
	opt.Control = e.topic(t, "control", 1, nil)
	opt.Progress = e.topic(t, "progress", 1, Compacted())
	return opt
}

// committed reads what a reader under read_committed sees of a topic, with franz-go: partition by partition. It waits
// for the end of the transactions that are open.
func (e *ends) committed(t testing.TB, topic string) []seen {
	t.Helper()
	cl, err := newClient(func() Client { c := e.client(); _ = c.setDefaults(); return c }())
	require.NoError(t, err)
	defer cl.close()
	n, err := cl.partitions(t.Context(), topic, 0)
	require.NoError(t, err)
	ends, err := cl.extents(t.Context(), topic, allPartitions(n), kafkago.ReadUncommitted)
	require.NoError(t, err)
	var ext map[int32]extent
	for settled := false; !settled; { // a commit is answered before its markers are in the logs
		ext, err = cl.extents(t.Context(), topic, allPartitions(n), kafkago.ReadCommitted)
		require.NoError(t, err)
		settled = true
		for p := range n {
			settled = settled && ext[p].end >= ends[p].end
		}
	}
	from, left := map[int32]kgo.Offset{}, map[int32]int64{}
	for p, x := range ext {
		if x.end > x.start {
			from[p] = kgo.NewOffset().At(x.start)
			left[p] = x.end
		}
	}
	if len(left) == 0 {
		return nil
	}
	reader, err := brokertest.NewClient(e.addr, kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords(),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}), kgo.FetchMaxWait(50*time.Millisecond))
	require.NoError(t, err)
	defer reader.Close()
	byPart := make([][]seen, n)
	for len(left) > 0 {
		fetches := reader.PollFetches(t.Context())
		require.NoError(t, fetches.Err())
		fetches.EachRecord(func(r *kgo.Record) {
			if end, ok := left[r.Partition]; ok && r.Offset+1 >= end {
				delete(left, r.Partition) // a transaction ends with its marker, so the last offset is always seen
			}
			if !r.Attrs.IsControl() && r.Offset < ext[r.Partition].end {
				byPart[r.Partition] = append(byPart[r.Partition], seenOf(t, r))
			}
		})
	}
	return slices.Concat(byPart...)
}

func seenOf(t testing.TB, r *kgo.Record) seen {
	t.Helper()
	s := seen{partition: int(r.Partition)}
	s.Key, s.Value = r.Key, r.Value
	var headers []kafkago.Header
	for _, h := range r.Headers {
		headers = append(headers, kafkago.Header{Key: h.Key, Value: h.Value})
	}
	s.setHeaders(t, headers)
	return s
}

func newTxnSink(t testing.TB, opt TxnSinkOptions) *TxnSink {
	t.Helper()
	s, err := NewTxnSink(opt)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func openTxnSink(
	t testing.TB,
	opt TxnSinkOptions,
	batch uint64,
	m stream.Mark,
	fresh bool,
) (*TxnSink, stream.Progress) {
	t.Helper()
	s := newTxnSink(t, opt)
	pr, err := s.Open(t.Context(), "stream-1", batch, m, fresh)
	require.NoError(t, err)
	return s, pr
}
