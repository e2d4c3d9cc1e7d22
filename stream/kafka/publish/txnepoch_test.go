package publish

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"motifd/stream"
	"motifd/stream/kafka/internal/kafkatest"
)

// TestTxnEpochIsForgotten: a coordinator aborts a transaction that took too long, is restarted, and takes the producer
// for one that has been replaced. Nobody has claimed the output: the sink goes on, and each record is there once.
func TestTxnEpochIsForgotten(t *testing.T) {
	log := kafkatest.OpenLog(t)
	e := kafkatest.Of(log)
	r := newRun(t, e, 2, 5, 9, 5)
	r.opt.TransactionTimeout = 200 * time.Millisecond // the log really aborts then
	require.NoError(t, r.goOn(t, t.Context(), 1, nil))
	s, _ := kafkatest.OpenSink(t, NewTxnSink, r.opt, 1, r.mark, false)
	fault := func(key kmsg.Key, code *kerr.Error) func() {
		h := log.Cluster.Fault(kfake.Fault{Keys: []kmsg.Key{key}, Err: code, TopLevel: true})
		return func() {
			t.Helper()
			require.Equal(t, 1, int(h.Hits()))
			h.Remove()
		}
	}
	lost, forgotten := fault(kmsg.EndTxn, kerr.InvalidProducerEpoch), fault(kmsg.InitProducerID, kerr.ProducerFenced)
	recs, tail := r.input(2)
	m, err := kafkatest.PublishBatch(t.Context(), s, 2, recs, tail)
	require.NoError(t, err)
	lost()
	forgotten()
	r.committed, r.mark = 2, m

	// Now another sink has claimed it.
	require.NoError(t, r.goOn(t, t.Context(), 2, nil))
	lost, forgotten = fault(kmsg.EndTxn, kerr.InvalidProducerEpoch), fault(kmsg.InitProducerID, kerr.ProducerFenced)
	recs, tail = r.input(3)
	_, err = kafkatest.PublishBatch(t.Context(), s, 3, recs, tail)
	require.ErrorIs(t, err, stream.ErrFenced)
	_, _ = lost, forgotten // which of the brokers' answers tells it first is theirs
	require.NoError(t, s.Close())
	require.NoError(t, r.goOn(t, t.Context(), 3, nil))
	r.check(t, e, "")
}
