package publish

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"motifd/stream"
	"motifd/stream/kafka/internal/kafkatest"
)

// txnTimesOut: a transaction that the brokers abort because it took too long is done again.
func txnTimesOut(t *testing.T, e *kafkatest.Cluster) {
	r := newRun(t, e, 2, 5, 9)
	// A second, in which a batch is published, at one attempt or another.
	r.opt.TransactionTimeout, r.opt.BatchBytes = time.Second, 200
	lostCh := make(chan struct{}, 1)
	r.opt.Events.Retry = func(op, _ string, _ int32, _ int, err error) {
		if op == "transaction" && errors.Is(err, errTxnLost) {
			select {
			case lostCh <- struct{}{}:
			default:
			}
		}
	}
	require.NoError(t, r.goOn(t, t.Context(), 1, nil))
	s, _ := kafkatest.OpenSink(t, NewTxnSink, r.opt, 1, r.mark, false)
	recs, tail := r.input(2)
	require.NoError(t, s.Begin(t.Context(), 2))
	require.NoError(t, s.Write(t.Context(), recs[:7]))
	require.NoError(t, s.dispatch(t.Context()))
	for err := s.await(t.Context()); err != nil; err = s.await(t.Context()) { // the time was over before all was sent
		_, err = s.recover(t.Context(), 1, err, s.at)
		require.NoError(t, err)
		require.NoError(t, s.dispatch(t.Context()))
	}
	require.NotEmpty(t, s.tx.added)
	for isOpen(t, e, s.tx) {
		time.Sleep(20 * time.Millisecond) // only the log shows that the broker gave up: it has to be read again
	}
	require.NoError(t, s.Write(t.Context(), recs[7:]))
	_, err := s.End(t.Context(), tail)
	require.NoError(t, err)
	require.NotEmpty(t, lostCh)
	require.NoError(t, s.Close())
	r.check(t, e, "")
}

// isOpen tells whether the partitions that a transaction has added hold back what comes after it: they do until the
// broker's markers are there.
func isOpen(t testing.TB, e *kafkatest.Cluster, x *transactions) bool {
	t.Helper()
	for p := range x.added {
		all, err := x.cl.Extents(t.Context(), p.topic, []int32{p.partition}, kafkago.ReadUncommitted)
		require.NoError(t, err)
		stable, err := x.cl.Extents(t.Context(), p.topic, []int32{p.partition}, kafkago.ReadCommitted)
		require.NoError(t, err)
		if stable[p.partition].End < all[p.partition].End {
			return true
		}
	}
	return false
}

func TestTxnTimesOut(t *testing.T) { txnTimesOut(t, kafkatest.Embedded(t)) }

// aborted waits until the brokers have aborted the transaction that is open in a sink's output.
func aborted(t testing.TB, s *TxnSink) {
	t.Helper()
	for {
		stable, err := s.cl.Extents(t.Context(), s.opt.Topic, []int32{0}, kafkago.ReadCommitted)
		require.NoError(t, err)
		all, err := s.cl.Extents(t.Context(), s.opt.Topic, []int32{0}, kafkago.ReadUncommitted)
		require.NoError(t, err)
		if stable[0].End == all[0].End {
			return
		}
	}
}

// shortLived is an output whose transactions time out soon.
func shortLived(t testing.TB, e *kafkatest.Cluster) TxnSinkOptions {
	opt := txnOutput(t, e, 1)
	if opt.TransactionTimeout = 100 * time.Millisecond; e.Real {
		opt.TransactionTimeout = time.Second
	}
	return opt
}

// txnSlowSearch: a batch whose search outlives the time-out of its transaction many times is published, since sending
// what was found again takes no time.
func txnSlowSearch(t *testing.T, e *kafkatest.Cluster) {
	opt := shortLived(t, e)
	s, _ := kafkatest.OpenSink(t, NewTxnSink, opt, 0, nil, true)
	require.NoError(t, s.Begin(t.Context(), 1))
	const n = 2*maxSlow + 4 // every other one finds out that the transaction is lost
	for i := range uint64(n) {
		require.NoError(t, s.Write(t.Context(), kafkatest.Deltas(1, i, i+1)))
		require.NoError(t, s.dispatch(t.Context()))
		<-s.round.done
		aborted(t, s) // here the search takes its time
	}
	_, err := s.End(t.Context(), stream.Tail{})
	require.NoError(t, err)
	require.Len(t, e.Committed(t, opt.Topic), n)
}

func TestTxnSlowSearch(t *testing.T) { txnSlowSearch(t, kafkatest.Embedded(t)) }

// txnTooSlow: a transaction that cannot be sent again within its time-out ends with an error, after some attempts; one
// that is sent in time in between goes on.
func txnTooSlow(t *testing.T, e *kafkatest.Cluster) {
	opt := shortLived(t, e)
	for _, inTime := range []bool{false, true} {
		s := kafkatest.Open(t, NewTxnSink, opt)
		_, err := s.Open(t.Context(), "stream-1", 0, nil, true)
		require.NoError(t, err)
		left, produce := 2*maxSlow, s.publisher.produce
		s.publisher.produce = func(ctx context.Context, batches []*produceBatch) error {
			err := produce(ctx, batches)
			if left--; left > 0 && (!inTime || left != maxSlow) { // what else is to be sent takes too long
				aborted(t, s)
				err = errors.Join(err, errTxnLost)
			}
			return err
		}
		require.NoError(t, s.Begin(t.Context(), 1))
		require.NoError(t, s.Write(t.Context(), kafkatest.Deltas(1, 0, 5)))
		for inTime && left > maxSlow {
			require.NoError(t, s.dispatch(t.Context()))
			<-s.round.done
		}
		_, err = s.End(t.Context(), stream.Tail{})
		if inTime {
			require.NoError(t, err)
			require.Len(t, e.Committed(t, opt.Topic), 5)
			continue
		}
		require.ErrorIs(t, err, ErrTooSlow)
		require.ErrorContains(
			t,
			err,
			fmt.Sprintf("of 10 attempts, and output.kafka.transaction_timeout is %v", opt.TransactionTimeout),
		)
		require.Equal(t, maxSlow-1, left, "the first time it is not sent again")
		require.NoError(t, s.Close())
	}
}

func TestTxnTooSlow(t *testing.T) { txnTooSlow(t, kafkatest.Embedded(t)) }
