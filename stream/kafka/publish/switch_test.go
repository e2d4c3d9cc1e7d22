package publish

import (
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"motifd/stream"
	"motifd/stream/kafka/admin"
	"motifd/stream/kafka/embedded"
	"motifd/stream/kafka/internal/kafkatest"
)

// TestTransactionsTurnedOff: a sink without transactions goes on where one with transactions ended in the middle of a
// batch. What that one had aborted does not count as published.
func TestTransactionsTurnedOff(t *testing.T) {
	e := kafkatest.Embedded(t)
	opt := txnOutput(t, e, 2)
	opt.TransactionTimeout = 200 * time.Millisecond
	s, _ := kafkatest.OpenSink(t, NewTxnSink, opt, 0, nil, true)
	m, err := kafkatest.PublishBatch(t.Context(), s, 1, kafkatest.Deltas(1, 0, 5), stream.Tail{})
	require.NoError(t, err)
	require.NoError(t, s.Begin(t.Context(), 2))
	require.NoError(t, s.Write(t.Context(), kafkatest.Deltas(2, 0, 9)))
	require.NoError(t, s.dispatch(t.Context()))
	require.NoError(t, s.await(t.Context()))
	require.Len(t, s.spool.all(), 2, "both partitions have some of it")
	crash(t, s)
	plain, pr := kafkatest.OpenSink(t, NewSink, opt.SinkOptions, 1, m, false)
	require.Equal(t, stream.Progress{Stream: "stream-1", Batch: 2, Known: true}, pr)
	kafkatest.Publish(t, plain, 2, kafkatest.Deltas(2, 0, 9))
	require.Len(t, e.Committed(t, opt.Topic), 14)
}

// TestOutput: an output chooses by what the brokers have, and keeps to what it was told.
func TestOutput(t *testing.T) {
	for mode, transactional := range map[string]bool{
		TransactionsAuto: true, TransactionsOn: true, TransactionsOff: false,
	} {
		e := kafkatest.Embedded(t)
		o, err := NewOutput(txnOutput(t, e, 1), mode)
		require.NoError(t, err)
		require.Error(t, o.Begin(t.Context(), 1))
		_, err = o.Open(t.Context(), "stream-1", 0, nil, true)
		require.NoError(t, err)
		require.Equal(t, transactional, o.Transactional())
		require.NoError(t, o.Begin(t.Context(), 1))
		require.NoError(t, o.Write(t.Context(), kafkatest.Deltas(1, 0, 3)))
		_, err = o.End(t.Context(), stream.Tail{})
		require.NoError(t, err)
		require.EqualValues(t, 1, o.Partitions())
		require.NoError(t, o.Close())
		require.Len(t, e.Committed(t, o.opt.Topic), 3)
	}
	_, err := NewOutput(TxnSinkOptions{}, "maybe")
	require.Error(t, err)
}

// TestOutputGroupElsewhere: the offsets of an input on other brokers than the output are published there.
func TestOutputGroupElsewhere(t *testing.T) {
	for _, mode := range []string{TransactionsOn, TransactionsOff} {
		e, other := kafkatest.Embedded(t), kafkatest.OpenLog(t, admin.Topic{Name: "in"})
		opt := txnOutput(t, e, 1)
		input := kafkatest.Fast(other)
		opt.Group, opt.InputTopic, opt.Input = "lag", "in", &input
		o, err := NewOutput(opt, mode)
		require.NoError(t, err)
		_, err = o.Open(t.Context(), "stream-1", 0, nil, true)
		require.NoError(t, err)
		require.NoError(t, o.Begin(t.Context(), 1))
		_, err = o.End(t.Context(), stream.Tail{Positions: stream.Positions{0: 7}})
		require.NoError(t, err)
		require.NoError(t, o.Close())
		res, err := kafkatest.Reference(
			t,
			other,
		).OffsetFetch(t.Context(), &kafkago.OffsetFetchRequest{GroupID: "lag", Topics: map[string][]int{"in": {0}}})
		require.NoError(t, err)
		require.EqualValues(t, 7, res.Topics["in"][0].CommittedOffset)
	}
}

// TestMarkersAreNoRecords: a transaction that was left open, and that the brokers abort while a sink without
// transactions publishes, leaves a marker in the output. It is nobody's record.
func TestMarkersAreNoRecords(t *testing.T) {
	e := kafkatest.Embedded(t)
	opt := txnOutput(t, e, 1)
	s, _ := kafkatest.OpenSink(t, NewSink, opt.SinkOptions, 0, nil, true)
	kafkatest.Publish(t, s, 1, kafkatest.Deltas(1, 0, 5))
	x := newTransactions(s.cl, "left open", time.Minute)
	require.NoError(t, x.init(t.Context(), true))
	require.NoError(t, x.add(t.Context(), []topicPartition{{opt.Topic, 0}}))
	require.NoError(t, x.abort(t.Context()))
	kafkatest.Publish(t, s, 2, kafkatest.Deltas(2, 0, 5))
	ext, err := s.cl.Extents(t.Context(), opt.Topic, []int32{0}, kafkago.ReadUncommitted)
	require.NoError(t, err)
	require.EqualValues(t, 11, ext[0].End, "ten records and a marker")
	require.Len(t, e.Committed(t, opt.Topic), 10)
}

// hideTransactions makes the log answer as a proxy does that knows no transactions.
func hideTransactions(t *testing.T, e *embedded.Log) {
	t.Helper()
	known := func() []kafkago.ApiVersionsResponseApiKey {
		res, err := kafkatest.Reference(t, e).ApiVersions(t.Context(), &kafkago.ApiVersionsRequest{})
		require.NoError(t, err)
		return res.ApiKeys
	}()
	e.Cluster.ControlKey(int16(kmsg.ApiVersions), func(req kmsg.Request) (kmsg.Response, error, bool) {
		e.Cluster.KeepControl()
		res := req.ResponseKind().(*kmsg.ApiVersionsResponse)
		for _, k := range known {
			switch kmsg.Key(k.ApiKey) {
			case kmsg.InitProducerID, kmsg.AddPartitionsToTxn, kmsg.AddOffsetsToTxn, kmsg.EndTxn, kmsg.TxnOffsetCommit:
				continue
			}
			x := kmsg.NewApiVersionsResponseApiKey()
			x.ApiKey, x.MinVersion, x.MaxVersion = int16(k.ApiKey), int16(k.MinVersion), int16(k.MaxVersion)
			res.ApiKeys = append(res.ApiKeys, x)
		}
		return res, nil, true
	})
}

// TestTransactionsHidden: a proxy begins to hide the brokers' transactions. Whoever was told to use them, or has used
// them, stops, also before the first batch; the checkpoints of older versions tell by the topics of their mark.
func TestTransactionsHidden(t *testing.T) {
	log := kafkatest.OpenLog(t)
	e := kafkatest.Of(log)
	opt := txnOutput(t, e, 1)
	var used []bool
	opt.Events.Transactions = func(on bool) { used = append(used, on) }
	opt.KeepMode = func(mode string) error {
		require.NotEqual(t, mode, opt.LastMode)
		opt.LastMode = mode
		return nil
	}
	open := func(mode string, batch uint64, m stream.Mark) (*Output, error) {
		o, err := NewOutput(opt, mode)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, o.Close()) })
		_, err = o.Open(t.Context(), "stream-1", batch, m, m == nil)
		return o, err
	}
	o, err := open(TransactionsAuto, 0, nil)
	require.NoError(t, err)
	require.Equal(t, TransactionsOn, opt.LastMode, "known before the first batch")
	m, err := kafkatest.PublishBatch(t.Context(), o, 1, kafkatest.Deltas(1, 0, 5), stream.Tail{})
	require.NoError(t, err)
	require.NoError(t, o.Close())
	hideTransactions(t, log)
	_, err = open(TransactionsAuto, 0, nil)
	require.ErrorIs(t, err, ErrDowngrade)
	for _, last := range []string{TransactionsOn, ""} {
		opt.LastMode = last
		_, err = open(TransactionsAuto, 1, m)
		require.ErrorIs(t, err, ErrDowngrade)
		require.Equal(t, last, opt.LastMode, "what was refused is not kept")
	}
	_, err = open(TransactionsOn, 1, m)
	require.ErrorIs(t, err, ErrNoTransactions)
	o, err = open(TransactionsOff, 1, m)
	require.NoError(t, err)
	require.Equal(t, TransactionsOff, opt.LastMode)
	m, err = kafkatest.PublishBatch(t.Context(), o, 2, kafkatest.Deltas(2, 0, 5), stream.Tail{})
	require.NoError(t, err)
	require.NoError(t, o.Close())
	_, err = open(TransactionsAuto, 2, m)
	require.NoError(t, err, "there is none to lose any more")
	require.Equal(t, []bool{true, false, false}, used)
}
