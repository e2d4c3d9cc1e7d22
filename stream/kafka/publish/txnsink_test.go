package publish

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"motifd/dyngraph"
	"motifd/stream"
	"motifd/stream/kafka"
	"motifd/stream/kafka/brokertest"
	"motifd/stream/kafka/internal/kafkatest"
)

// progressOf returns what the progress topic says last of an output.
func progressOf(t testing.TB, e *kafkatest.Cluster, opt TxnSinkOptions) progressRecord {
	t.Helper()
	recs := e.Committed(t, opt.Progress)
	require.NotEmpty(t, recs)
	var p progressRecord
	require.NoError(t, json.Unmarshal(recs[len(recs)-1].Value, &p))
	return p
}

// txnTransactions: what is in a transaction, how a batch is cut into several, and the offsets of the group.
func txnTransactions(t *testing.T, e *kafkatest.Cluster) {
	r := newRun(t, e, 3, 25)
	s, pr := kafkatest.OpenSink(t, NewTxnSink, r.opt, 0, nil, true)
	require.Equal(t, stream.Progress{Stream: "stream-1", Known: true}, pr, "the first start publishes (stream, 0, 0)")
	require.EqualValues(t, 3, s.Partitions())
	p := progressOf(t, e, r.opt)
	require.Equal(t, "stream-1", p.Stream)
	require.Equal(t, publishPosition{0, 0}, p.at())

	recs, tail := r.input(1)
	recs[3].Value, recs[4].Key, recs[5].Sign, recs[6].Snapshot = nil, nil, dyngraph.Deleted, true
	require.NoError(t, s.Begin(t.Context(), 1))
	require.NoError(t, s.Write(t.Context(), recs))
	require.Equal(t, publishPosition{1, 20}, s.at, "cut at multiples of ten")
	require.Len(t, e.Committed(t, r.opt.Topic), 20)
	require.Empty(t, e.Committed(t, r.opt.DeadLetters))
	_, err := s.End(t.Context(), tail)
	require.NoError(t, err)
	got := e.Committed(t, r.opt.Topic)
	require.Len(t, got, 25)
	for _, g := range got {
		want := recs[g.Index]
		require.Equal(t, want, g.OutRecord)
		key := want.Key
		if key == nil {
			key = []byte(want.Query)
		}
		require.EqualValues(t, kafka.PartitionOf(key, 3), g.Partition)
		require.Equal(t, "stream-1", g.Stream)
	}
	require.Len(t, e.Committed(t, r.opt.DeadLetters), 1)
	require.Len(t, e.Committed(t, r.opt.Control), 1)
	require.Equal(t, publishPosition{2, 0}, progressOf(t, e, r.opt).at())

	require.EqualValues(t, 10, groupOffset(t, e, r.opt.Group, r.opt.InputTopic))
}

// groupOffset returns the offset of a group in a topic's first partition, once the transactions that bring one have
// ended: a commit is answered before it is in all logs.
func groupOffset(t testing.TB, e *kafkatest.Cluster, group, topic string) int64 {
	t.Helper()
	cl := e.Franz(t)
	for {
		req := kmsg.NewPtrOffsetFetchRequest()
		rt := kmsg.NewOffsetFetchRequestTopic()
		rt.Topic, rt.Partitions = topic, []int32{0}
		req.Group, req.RequireStable, req.Topics = group, true, append(req.Topics, rt)
		resp, err := req.RequestWith(t.Context(), cl)
		require.NoError(t, err)
		p := resp.Topics[0].Partitions[0]
		for _, code := range []int16{resp.ErrorCode, p.ErrorCode} {
			if err == nil {
				err = kerr.ErrorForCode(code)
			}
		}
		if !kerr.IsRetriable(err) {
			require.NoError(t, err)
			return p.Offset
		}
	}
}

// txnAborts: what a sink that was closed in a batch had published is not seen, and holds nobody up.
func txnAborts(t *testing.T, e *kafkatest.Cluster) {
	r := newRun(t, e, 1, 5, 5)
	r.opt.BatchBytes = 200
	require.NoError(t, r.goOn(t, t.Context(), 1, nil))
	s, _ := kafkatest.OpenSink(t, NewTxnSink, r.opt, 1, r.mark, false)
	require.NoError(t, s.Begin(t.Context(), 2))
	recs, _ := r.input(2)
	require.NoError(t, s.Write(t.Context(), recs[:4]))
	require.NoError(t, s.dispatch(t.Context()))
	require.NoError(t, s.await(t.Context()))
	require.NoError(t, s.Close())
	require.NoError(t, r.goOn(t, t.Context(), 2, nil))
	r.check(t, e, "")
}

// txnFencing: the sink that opens last has the output, also when the other one is in the middle of a batch.
func txnFencing(t *testing.T, e *kafkatest.Cluster) {
	for _, middle := range []bool{false, true} {
		r := newRun(t, e, 2, 5, 25, 5)
		r.opt.BatchBytes = 200
		require.NoError(t, r.goOn(t, t.Context(), 1, nil))
		old, _ := kafkatest.OpenSink(t, NewTxnSink, r.opt, 1, r.mark, false)
		recs, tail := r.input(2)
		require.NoError(t, old.Begin(t.Context(), 2))
		if middle {
			require.NoError(t, old.Write(t.Context(), recs[:15])) // one transaction of the batch, and half of another
			require.NoError(t, old.dispatch(t.Context()))
			require.NoError(t, old.await(t.Context()))
		}
		require.NoError(t, r.goOn(t, t.Context(), 2, nil))
		var err error
		if middle {
			err = old.Write(t.Context(), recs[15:])
		} else {
			err = old.Write(t.Context(), recs)
		}
		if err == nil {
			_, err = old.End(t.Context(), tail)
		}
		require.ErrorIs(t, err, stream.ErrFenced)
		require.ErrorIs(t, old.Begin(t.Context(), 3), stream.ErrFenced)
		require.NoError(t, old.Close())
		require.NoError(t, r.goOn(t, t.Context(), 3, nil))
		r.check(t, e, fmt.Sprint("middle ", middle))
	}
}

// txnStartTogether: of sinks that open the same output at once, one has it in the end, and nothing is doubled.
func txnStartTogether(t *testing.T, e *kafkatest.Cluster) {
	r := newRun(t, e, 2, 5, 5)
	require.NoError(t, r.goOn(t, t.Context(), 1, nil))
	const n = 4
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			mine := *r
			errs[i] = mine.goOn(t, t.Context(), 2, nil)
		})
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else {
			require.ErrorIs(t, err, stream.ErrFenced)
		}
	}
	require.NotZero(t, won)
	r.check(t, e, "")
}

// txnRefusals: output, progress and checkpoint that do not belong together (DESIGN P3).
func txnRefusals(t *testing.T, e *kafkatest.Cluster) {
	r := newRun(t, e, 2, 5, 5)
	require.NoError(t, r.goOn(t, t.Context(), 1, nil))
	open := func(
		change func(o *TxnSinkOptions), id string, batch uint64, m stream.Mark, fresh bool,
	) (stream.Progress, error) {
		opt := r.opt
		if change != nil {
			change(&opt)
		}
		return kafkatest.Open(t, NewTxnSink, opt).Open(t.Context(), id, batch, m, fresh)
	}
	_, err := open(nil, "stream-2", 0, nil, true)
	require.ErrorIs(t, err, stream.ErrOutputNotEmpty, "a new checkpoint")
	_, err = open(nil, "stream-2", 1, nil, false)
	require.ErrorIs(t, err, stream.ErrMismatch, "another stream's checkpoint")
	_, err = open(nil, "stream-1", 0, nil, true)
	require.ErrorIs(t, err, stream.ErrMismatch, "a checkpoint that is new again")
	other := func(o *TxnSinkOptions) { o.TransactionalID = "another" }
	_, err = open(other, "stream-1", 1, r.mark, false)
	require.ErrorIs(t, err, stream.ErrOutputDamaged, "no progress record")
	_, err = open(other, "stream-1", 0, nil, true)
	require.ErrorIs(t, err, stream.ErrOutputNotEmpty, "another stream's output")
	_, err = open(func(o *TxnSinkOptions) { o.ExpectPartitions = 3 }, "stream-1", 1, r.mark, false)
	require.ErrorIs(t, err, kafka.ErrPartitions)
	_, err = open(func(o *TxnSinkOptions) { o.Progress = r.opt.Topic + "-none" }, "stream-1", 1, r.mark, false)
	require.ErrorIs(t, err, kafka.ErrNoTopic)
	_, err = open(func(o *TxnSinkOptions) { o.TransactionTimeout = 24 * time.Hour }, "stream-1", 1, r.mark, false)
	require.ErrorContains(t, err, "transaction.max.timeout.ms")
	marked := func(next ...int64) stream.Mark {
		m, err := outputOffsets{Next: map[string][]int64{r.opt.Topic: next}}.encode()
		require.NoError(t, err)
		return m
	}
	_, err = open(nil, "stream-1", 1, marked(0, 1000), false)
	require.ErrorIs(t, err, stream.ErrOutputDamaged, "the output was created anew")
	_, err = open(nil, "stream-1", 1, marked(0, 0, 0), false)
	require.ErrorIs(t, err, kafka.ErrPartitions)
	pr, err := open(func(o *TxnSinkOptions) { other(o); o.ResetProgress = true }, "stream-1", 1, r.mark, false)
	require.NoError(t, err)
	require.Equal(t, stream.Progress{Stream: "stream-1", Batch: 2, Known: true}, pr)
	require.NoError(t, r.goOn(t, t.Context(), 2, nil))
	r.check(t, e, "")
}

func TestTxnTransactions(t *testing.T)  { txnTransactions(t, kafkatest.Embedded(t)) }
func TestTxnAborts(t *testing.T)        { txnAborts(t, kafkatest.Embedded(t)) }
func TestTxnFencing(t *testing.T)       { txnFencing(t, kafkatest.Embedded(t)) }
func TestTxnStartTogether(t *testing.T) { txnStartTogether(t, kafkatest.Embedded(t)) }
func TestTxnRefusals(t *testing.T)      { txnRefusals(t, kafkatest.Embedded(t)) }

// TestTxnCancel: brokers that are gone hold nobody up whose context is done.
func TestTxnCancel(t *testing.T) {
	r := newRun(t, kafkatest.Embedded(t), 1, 5)
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	c := &cutter{at: 3, dead: true, onCut: func() { cancel(gone) }}
	require.ErrorIs(t, r.goOn(t, ctx, 1, c.install), gone)
}

// TestTxnForeignWriter: a record of somebody else between ours is not overlooked, unless it was allowed.
func TestTxnForeignWriter(t *testing.T) {
	for _, allowed := range []bool{false, true} {
		e := kafkatest.Embedded(t)
		r := newRun(t, e, 1, 3, 3)
		r.opt.AllowExisting = allowed
		s, _ := kafkatest.OpenSink(t, NewTxnSink, r.opt, 0, nil, true)
		recs, tail := r.input(1)
		_, err := kafkatest.PublishBatch(t.Context(), s, 1, recs, tail)
		require.NoError(t, err)
		cl := &kafkago.Client{Addr: kafkago.TCP(e.Addr), Transport: s.cl.Transport}
		kafkatest.Produce(t, cl, r.opt.Topic, 0, 0, kafkatest.Rec("", "intruder"))
		recs, tail = r.input(2)
		_, err = kafkatest.PublishBatch(t.Context(), s, 2, recs, tail)
		if allowed {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, stream.ErrFenced)
		}
	}
}

func TestSequenceNumbersGoRound(t *testing.T) {
	const last = 1<<31 - 1
	require.EqualValues(t, 7, after(4, 3))
	require.EqualValues(t, last, after(last-1, 1))
	require.EqualValues(t, 0, after(last, 1))
	require.EqualValues(t, 2, after(last-2, 5))
}

func TestSpool(t *testing.T) {
	dir := t.TempDir()
	s := spool{dir: dir, limit: 25, buffers: &buffers{}}
	for range 3 {
		var want [][]byte
		for i := range 7 {
			raw := []byte(fmt.Sprintf("batch %03d", i))
			want = append(want, raw)
			require.NoError(t, s.add(pendingBatch{raw: raw, size: len(raw)}))
		}
		require.LessOrEqual(t, s.mem, s.limit)
		files, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, files, "the file goes with the process, however that ends")
		require.NotNil(t, s.file)
		for i, p := range s.all() {
			require.Equal(t, i >= 2, p.raw == nil, "batch %d", i)
			raw, err := p.load()
			require.NoError(t, err)
			require.Equal(t, want[i], raw)
		}
		require.NoError(t, s.reset())
		require.Empty(t, s.all())
	}
	require.NoError(t, s.close())

	s = spool{dir: filepath.Join(dir, "none"), limit: 1}
	require.ErrorContains(t, s.add(pendingBatch{raw: []byte("too much"), size: 8}), "spool")
}

// txnHanging: a transaction that somebody else left open in the shared progress topic does not hold a start for ever,
// and is named.
func txnHanging(t *testing.T, e *kafkatest.Cluster) {
	opt := txnOutput(t, e, 1)
	cl := e.Franz(t, kgo.TransactionalID("left open in "+opt.Progress), kgo.DefaultProduceTopic(opt.Progress))
	require.NoError(t, cl.BeginTransaction())
	require.NoError(t, cl.ProduceSync(t.Context(), kgo.KeyStringRecord("key", "value")).FirstErr())
	id, _, err := cl.ProducerID(t.Context())
	require.NoError(t, err)
	opt.openWait = time.Millisecond
	_, err = kafkatest.Open(t, NewTxnSink, opt).Open(t.Context(), "stream-1", 0, nil, true)
	require.ErrorIs(t, err, kafka.ErrHanging)
	require.ErrorContains(t, err, fmt.Sprintf("partition 0, offset 0, of producer id %d, since ", id))
	require.NoError(t, brokertest.EndTransaction(t.Context(), cl, kgo.TryAbort, opt.Progress))
	kafkatest.OpenSink(t, NewTxnSink, opt, 0, nil, true)
}

func TestTxnHanging(t *testing.T) { txnHanging(t, kafkatest.Embedded(t)) }

// TestBuffersOfRetriedRequests: a buffer that an attempt may still read is not used again.
func TestBuffersOfRetriedRequests(t *testing.T) {
	for _, fails := range []bool{false, true} {
		log := kafkatest.OpenLog(t)
		e := kafkatest.Of(log)
		s, _ := kafkatest.OpenSink(t, NewTxnSink, txnOutput(t, e, 1), 0, nil, true)
		if fails {
			log.Cluster.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
				return nil, errors.New("connection drops"), true
			})
		}
		s.buffers.free = nil
		_, err := kafkatest.PublishBatch(t.Context(), s, 1, kafkatest.Deltas(1, 0, 5), stream.Tail{})
		require.NoError(t, err)
		require.Equal(t, fails, len(s.buffers.free) == 0)
		_, err = kafkatest.PublishBatch(t.Context(), s, 2, kafkatest.Deltas(2, 0, 5), stream.Tail{})
		require.NoError(t, err)
		require.NotEmpty(t, s.buffers.free, "the next transaction's are")
	}
}

// TestTxnAbandonedAttempt: what is sent again is not written into a buffer from which an attempt that was given up may
// still be sent.
func TestTxnAbandonedAttempt(t *testing.T) {
	e := kafkatest.Embedded(t)
	opt := txnOutput(t, e, 1)
	s, _ := kafkatest.OpenSink(t, NewTxnSink, opt, 0, nil, true)
	produce, stop := s.publisher.produce, make(chan struct{})
	var reader sync.WaitGroup
	var held, was []byte
	s.publisher.produce = func(ctx context.Context, batches []*produceBatch) error {
		err := produce(ctx, batches)
		if held == nil && err == nil { // the first attempt hangs where it is written to the network
			held = batches[0].raw
			was = slices.Clone(held)
			reader.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						_ = crc32.ChecksumIEEE(held)
					}
				}
			})
			return errTxnLost
		}
		return err
	}
	_, err := kafkatest.PublishBatch(t.Context(), s, 1, kafkatest.Deltas(1, 0, 5), stream.Tail{})
	close(stop)
	reader.Wait()
	require.NoError(t, err)
	require.Equal(t, was, held)
	require.Len(t, e.Committed(t, opt.Topic), 5)
}
