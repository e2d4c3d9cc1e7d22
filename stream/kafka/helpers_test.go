package kafka

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"

	"motifd/dyngraph"
	"motifd/stream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// openLog starts an embedded log in memory for a test.
func openLog(t testing.TB, topics ...Topic) *Embedded {
	t.Helper()
	e, err := OpenEmbedded(EmbeddedOptions{Topics: topics})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return e
}

// fast is a client configuration with short pauses.
func fast(e *Embedded) Client {
	return Client{
		Brokers:        []string{e.Addr()},
		RequestTimeout: 10 * time.Second,
		RetryMin:       time.Millisecond,
		RetryMax:       10 * time.Millisecond,
	}
}

// reference is a client of kafka-go alone: what it writes our decoder must read, what our encoder writes it must read.
func reference(t testing.TB, e *Embedded) *kafkago.Client {
	t.Helper()
	tr := &kafkago.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return &kafkago.Client{Addr: kafkago.TCP(e.Addr()), Transport: tr, Timeout: 10 * time.Second}
}

// produce appends records as one record batch. A topic that was created a moment ago may not have its leaders yet.
func produce(
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

func rec(key, value string) kafkago.Record {
	r := kafkago.Record{Value: kafkago.NewBytes([]byte(value))}
	if key != "" {
		r.Key = kafkago.NewBytes([]byte(key))
	}
	return r
}

// seen is a record as another client reads it.
type seen struct {
	stream.OutRecord
	stream    string
	partition int
	headers   []kafkago.Header
}

// setHeaders sets what the headers of a record say.
func (s *seen) setHeaders(t testing.TB, headers []kafkago.Header) {
	t.Helper()
	s.headers = headers
	var err error
	for _, h := range headers {
		switch h.Key {
		case HeaderStream:
			s.stream = string(h.Value)
		case HeaderBatch:
			s.Batch, err = strconv.ParseUint(string(h.Value), 10, 64)
		case HeaderIndex:
			s.Index, err = strconv.ParseUint(string(h.Value), 10, 64)
		case HeaderQuery:
			s.Query = string(h.Value)
		case HeaderSign:
			s.Sign = map[string]dyngraph.Sign{"+": dyngraph.Inserted, "-": dyngraph.Deleted}[string(h.Value)]
		case HeaderSnapshot:
			s.Snapshot = string(h.Value) == "true"
		}
		require.NoError(t, err)
	}
}

// readTopic reads all of a topic with kafka-go, partition by partition.
func readTopic(t testing.TB, cl *kafkago.Client, topic string, partitions int) []seen {
	t.Helper()
	var out []seen
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
				s := seen{partition: p}
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

// readN reads n records at least from a source.
func readN(t testing.TB, src *Source, n int) []stream.Record {
	t.Helper()
	var out []stream.Record
	for len(out) < n {
		recs, err := src.Read(t.Context())
		require.NoError(t, err)
		out = append(out, recs...)
	}
	return out
}

func newSource(t testing.TB, opt SourceOptions) *Source {
	t.Helper()
	if opt.MaxWait == 0 {
		opt.MaxWait = 20 * time.Millisecond
	}
	src, err := NewSource(opt)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, src.Close()) })
	return src
}

func newSink(t testing.TB, opt SinkOptions) *Sink {
	t.Helper()
	s, err := NewSink(opt)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// crash stops a sink as the end of its process would: what waits is dropped, a transaction stays open. It returns when
// the requests that were on their way have been answered, so that none arrives after the next Open.
func crash(t testing.TB, s stream.Sink) {
	t.Helper()
	var p *publisher
	switch s := s.(type) {
	case *Sink:
		p = &s.publisher
	case *TxnSink:
		p = &s.publisher
	}
	p.cancel(errors.New("crashed"))
	p.wg.Wait()
	p.open = false // so that Close aborts nothing
	p.cl.transport.CloseIdleConnections()
	for {
		p.cl.mu.Lock()
		n := len(p.cl.conns)
		p.cl.mu.Unlock()
		if n == 0 {
			break
		}
		time.Sleep(time.Millisecond) // between two looks: kafka-go does not tell when a connection is closed
	}
	require.NoError(t, s.Close())
}

// publishBatch publishes a batch.
func publishBatch(
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

func publish(t testing.TB, s stream.Sink, batch uint64, recs []stream.OutRecord) stream.Mark {
	t.Helper()
	m, err := publishBatch(t.Context(), s, batch, recs, stream.Tail{})
	require.NoError(t, err)
	return m
}

// retries counts the retries that a client reports.
type retries struct {
	mu sync.Mutex
	n  map[string]int
}

func (r *retries) event(op, _ string, _ int32, _ int, _ error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.n == nil {
		r.n = map[string]int{}
	}
	r.n[op]++
}

func (r *retries) of(op string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n[op]
}

var (
	_ stream.Source = (*Source)(nil)
	_ stream.Sink   = (*Sink)(nil)
	_ stream.Sink   = (*TxnSink)(nil)
)

// faultOn answers n requests of a kind with an error, all of them when n is -1.
func faultOn(key kmsg.Key, err *kerr.Error, n int) kfake.Fault {
	return kfake.Fault{Keys: []kmsg.Key{key}, Err: err, Count: n}
}
