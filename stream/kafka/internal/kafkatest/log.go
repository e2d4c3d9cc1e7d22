package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"motifd/dyngraph"
	"motifd/stream"
	"motifd/stream/kafka"
	"motifd/stream/kafka/admin"
	"motifd/stream/kafka/embedded"
)

// OpenLog starts an embedded log in memory for a test.
func OpenLog(t testing.TB, topics ...admin.Topic) *embedded.Log {
	t.Helper()
	e, err := embedded.Open(embedded.Options{Topics: topics})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return e
}

// Fast is a client configuration with short pauses.
func Fast(e *embedded.Log) kafka.ClientOptions {
	return kafka.ClientOptions{
		Brokers:        []string{e.Addr()},
		RequestTimeout: 10 * time.Second,
		RetryMin:       time.Millisecond,
		RetryMax:       10 * time.Millisecond,
	}
}

// Reference is a client of kafka-go alone: what it writes our decoder must read, what our encoder writes it must read.
func Reference(t testing.TB, e *embedded.Log) *kafkago.Client {
	t.Helper()
	tr := &kafkago.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return &kafkago.Client{Addr: kafkago.TCP(e.Addr()), Transport: tr, Timeout: 10 * time.Second}
}

// Produce appends records as one record batch. A topic that was created a moment ago may not have its leaders yet.
func Produce(
	t testing.TB,
	cl *kafkago.Client,
	topic string,
	partition int,
	compression kafkago.Compression,
	recs ...kafkago.Record,
) {
	t.Helper()
	for {
		for i := range recs { // those of an attempt before were read
			for _, b := range []kafkago.Bytes{recs[i].Key, recs[i].Value} {
				if s, ok := b.(io.Seeker); ok {
					_, err := s.Seek(0, io.SeekStart)
					require.NoError(t, err)
				}
			}
		}
		res, err := cl.Produce(
			t.Context(),
			&kafkago.ProduceRequest{Topic: topic, Partition: partition, RequiredAcks: kafkago.RequireAll,
				Records: kafkago.NewRecordReader(recs...), Compression: compression},
		)
		if err == nil {
			err = res.Error
		}
		if notYet(err) {
			cl.Transport.(*kafkago.Transport).CloseIdleConnections() // a new pool asks for the leaders at once
			continue
		}
		require.NoError(t, err)
		return
	}
}

// notYet tells whether a partition had no leader that knew of it: nothing was appended.
func notYet(err error) bool {
	return slices.ContainsFunc(
		[]error{kafkago.NotLeaderForPartition, kafkago.UnknownTopicOrPartition, kafkago.LeaderNotAvailable,
			protocol.ErrNoTopic, protocol.ErrNoPartition, protocol.ErrNoLeader},
		func(e error) bool { return errors.Is(err, e) },
	)
}

// Rec makes a record; a key of "" is none.
func Rec(key, value string) kafkago.Record {
	r := kafkago.Record{Value: kafkago.NewBytes([]byte(value))}
	if key != "" {
		r.Key = kafkago.NewBytes([]byte(key))
	}
	return r
}

// Seen is a record as another client reads it.
type Seen struct {
	stream.OutRecord
	Stream    string
	Partition int
	Headers   []kafkago.Header
}

// setHeaders sets what the headers of a record say.
func (s *Seen) setHeaders(t testing.TB, headers []kafkago.Header) {
	t.Helper()
	s.Headers = headers
	var err error
	for _, h := range headers {
		switch h.Key {
		case kafka.HeaderStream:
			s.Stream = string(h.Value)
		case kafka.HeaderBatch:
			s.Batch, err = strconv.ParseUint(string(h.Value), 10, 64)
		case kafka.HeaderIndex:
			s.Index, err = strconv.ParseUint(string(h.Value), 10, 64)
		case kafka.HeaderQuery:
			s.Query = string(h.Value)
		case kafka.HeaderSign:
			s.Sign = map[string]dyngraph.Sign{"+": dyngraph.Inserted, "-": dyngraph.Deleted,
				"~": dyngraph.Changed}[string(h.Value)]
		case kafka.HeaderSnapshot:
			s.Snapshot = string(h.Value) == "true"
		}
		require.NoError(t, err)
	}
}

// ReadTopic reads all of a topic with kafka-go, partition by partition.
func ReadTopic(t testing.TB, cl *kafkago.Client, topic string, partitions int) []Seen {
	t.Helper()
	var out []Seen
	for p := range partitions {
		offs, err := cl.ListOffsets(t.Context(), &kafkago.ListOffsetsRequest{
			Topics: map[string][]kafkago.OffsetRequest{topic: {kafkago.FirstOffsetOf(p), kafkago.LastOffsetOf(p)}}})
		require.NoError(t, err)
		ext := offs.Topics[topic][0]
		for next := ext.FirstOffset; next < ext.LastOffset; {
			res, err := cl.Fetch(
				t.Context(),
				&kafkago.FetchRequest{Topic: topic, Partition: p, Offset: next, MinBytes: 1, MaxBytes: 4 << 20},
			)
			require.NoError(t, err)
			require.NoError(t, res.Error)
			for {
				r, err := res.Records.ReadRecord()
				if errors.Is(err, io.EOF) {
					break
				}
				require.NoError(t, err)
				if r.Offset < next {
					continue
				}
				next = r.Offset + 1
				s := Seen{Partition: p}
				s.Key, s.Value = readBytes(t, r.Key), readBytes(t, r.Value)
				s.setHeaders(t, r.Headers)
				out = append(out, s)
			}
		}
	}
	return out
}

func readBytes(t testing.TB, b kafkago.Bytes) []byte {
	t.Helper()
	if b == nil {
		return nil
	}
	v, err := io.ReadAll(b)
	require.NoError(t, err)
	if v == nil {
		v = []byte{}
	}
	return v
}

// ReadN reads n records at least from a source.
func ReadN(t testing.TB, src stream.Source, n int) []stream.Record {
	t.Helper()
	var out []stream.Record
	for len(out) < n {
		recs, err := src.Read(t.Context())
		require.NoError(t, err)
		out = append(out, recs...)
	}
	return out
}

// Open makes a source or a sink, which the test closes at its end.
func Open[O any, E io.Closer](t testing.TB, make func(O) (E, error), opt O) E {
	t.Helper()
	e, err := make(opt)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return e
}

// OpenSink makes and opens a sink of the stream stream-1.
func OpenSink[O any, S stream.Sink](
	t testing.TB,
	make func(O) (S, error),
	opt O,
	batch uint64,
	m stream.Mark,
	fresh bool,
) (S, stream.Progress) {
	t.Helper()
	s := Open(t, make, opt)
	pr, err := s.Open(t.Context(), "stream-1", batch, m, fresh)
	require.NoError(t, err)
	return s, pr
}

// PublishBatch publishes a batch.
func PublishBatch(
	ctx context.Context,
	s stream.Sink,
	batch uint64,
	recs []stream.OutRecord,
	tail stream.Tail,
) (stream.Mark, error) {
	if err := s.Begin(ctx, batch); err != nil {
		return nil, err
	}
	if err := s.Write(ctx, recs); err != nil {
		return nil, err
	}
	return s.End(ctx, tail)
}

// Publish is PublishBatch without a tail.
func Publish(t testing.TB, s stream.Sink, batch uint64, recs []stream.OutRecord) stream.Mark {
	t.Helper()
	m, err := PublishBatch(t.Context(), s, batch, recs, stream.Tail{})
	require.NoError(t, err)
	return m
}

// Retries counts the retries that a client reports.
type Retries struct {
	mu sync.Mutex
	n  map[string]int
}

// Event is a kafka.Events.Retry.
func (r *Retries) Event(op, _ string, _ int32, _ int, _ error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.n == nil {
		r.n = map[string]int{}
	}
	r.n[op]++
}

// Of tells how often an operation was tried again.
func (r *Retries) Of(op string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n[op]
}

// FaultOn answers n requests of a kind with an error, all of them when n is -1.
func FaultOn(key kmsg.Key, err *kerr.Error, n int) kfake.Fault {
	return kfake.Fault{Keys: []kmsg.Key{key}, Err: err, Count: n}
}

// Values joins the values of records.
func Values(recs []stream.Record) string {
	var s []string
	for _, r := range recs {
		s = append(s, string(r.Value))
	}
	return strings.Join(s, " ")
}

// EveryCode lists the errors that a broker can answer with.
func EveryCode() (out []*kerr.Error) {
	for code := int16(-1); code <= 132; code++ {
		if code == 0 {
			continue
		}
		if err := kerr.TypedErrorForCode(code); err != nil && err.Code == code {
			out = append(out, err)
		}
	}
	return out
}

// Delta makes record i of a batch.
func Delta(batch, i uint64) stream.OutRecord {
	return stream.OutRecord{Key: fmt.Appendf(nil, "match-%d-%d", batch, i), Value: fmt.Appendf(nil, "%d/%d", batch, i),
		Batch: batch, Index: i, Query: "ring", Sign: dyngraph.Inserted}
}

// Deltas makes records i to j of a batch.
func Deltas(batch, i, j uint64) []stream.OutRecord {
	var out []stream.OutRecord
	for ; i < j; i++ {
		out = append(out, Delta(batch, i))
	}
	return out
}

// OutRecords takes what a sink was given out of what was seen.
func OutRecords(recs []Seen) []stream.OutRecord {
	var out []stream.OutRecord
	for _, r := range recs {
		out = append(out, r.OutRecord)
	}
	return out
}
