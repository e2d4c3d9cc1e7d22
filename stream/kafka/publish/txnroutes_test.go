package publish

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"motifd/stream/kafka/embedded"
	"motifd/stream/kafka/internal/kafkatest"
)

// cluster is an embedded log of three brokers.
func cluster(t testing.TB) (*kafkatest.Cluster, *kfake.Cluster) {
	e, err := embedded.Open(embedded.Options{Fake: []kfake.Opt{kfake.NumBrokers(3)}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return kafkatest.Of(e), e.Cluster
}

// batchOf is the requests of a transaction, apart from repeated ones while the transaction before is completed. The
// group is added while the records are produced.
func batchOf(keys []int16) []int16 {
	out := slices.Compact(slices.DeleteFunc(slices.Clone(keys), func(k int16) bool { return k == apiAddOffsets }))
	return append(out, slices.DeleteFunc(slices.Clone(keys), func(k int16) bool { return k != apiAddOffsets })...)
}

// txnRoundTrips: a batch of one broker takes five requests, four of them one after the other.
func txnRoundTrips(t *testing.T, e *kafkatest.Cluster) {
	r := newRun(t, e, 3, 5, 5, 5, 0)
	c := &cutter{}
	s := kafkatest.Open(t, NewTxnSink, r.opt)
	c.install(s)
	at, err := s.Open(t.Context(), "stream-1", 0, nil, true)
	require.NoError(t, err)
	require.Zero(t, at.Batch)
	for batch := range uint64(4) {
		c.watch(0, append(slices.Clone(counted), apiFindCoordinator)...)
		recs, tail := r.input(batch + 1)
		_, err := kafkatest.PublishBatch(t.Context(), s, batch+1, recs, tail)
		require.NoError(t, err)
		want := []int16{apiAddPartitions, apiProduce, apiTxnOffsets, apiEndTxn, apiAddOffsets}
		if batch == 0 {
			want = slices.Insert(want, 2, apiFindCoordinator) // of the group
		}
		require.Equal(t, want, batchOf(c.requests()), "batch %d", batch+1)
	}
	r.check(t, e, "")
}

func TestTxnRoundTrips(t *testing.T) { txnRoundTrips(t, kafkatest.Embedded(t)) }

// TestTxnRoutesAreAskedAgain: after every kind of error, and after a connection that broke, a sink asks again where the
// coordinators are, and nothing is lost or doubled.
func TestTxnRoutesAreAskedAgain(t *testing.T) {
	e, log := cluster(t)
	r := newRun(t, e, 3)
	c := &cutter{}
	s := kafkatest.Open(t, NewTxnSink, r.opt)
	c.install(s)
	_, err := s.Open(t.Context(), "stream-1", 0, nil, true)
	require.NoError(t, err)
	publish := func(at int, kinds ...int16) (asked int) {
		c.watch(at, append(kinds, apiFindCoordinator)...)
		r.sizes = append(r.sizes, 9)
		recs, tail := r.input(uint64(len(r.sizes)))
		_, err := kafkatest.PublishBatch(t.Context(), s, uint64(len(r.sizes)), recs, tail)
		require.NoError(t, err)
		for _, key := range c.requests() {
			if key == apiFindCoordinator {
				asked++
			}
		}
		return asked
	}
	publish(0)
	require.Zero(t, publish(0))
	for _, key := range []kmsg.Key{kmsg.AddPartitionsToTxn, kmsg.Produce, kmsg.AddOffsetsToTxn, kmsg.TxnOffsetCommit,
		kmsg.EndTxn} {
		for _, code := range []*kerr.Error{kerr.NotCoordinator, kerr.CoordinatorNotAvailable,
			kerr.NotLeaderForPartition,
			kerr.RequestTimedOut} {
			f := kafkatest.FaultOn(key, code, 1)
			f.TopLevel = key == kmsg.EndTxn || key == kmsg.AddOffsetsToTxn
			h := log.Fault(f)
			require.NotZero(t, publish(0), "%v, %v", key, code)
			require.EqualValues(t, 1, h.Hits(), "%v, %v", key, code)
			h.Remove()
			publish(0) // what the last request of a batch made forget is asked in the next one
			require.Zero(t, publish(0), "%v, %v: known again", key, code)
		}
		for _, c.answer = range []bool{false, true} {
			require.NotZero(t, publish(1, int16(key)), "%v, connection broken", key)
			publish(0)
			require.Zero(t, publish(0))
		}
	}
	require.NoError(t, s.Close())
	r.check(t, e, "")
}

// TestTxnLeadersMove: partitions and coordinators move between brokers, before a batch and in the middle of it.
func TestTxnLeadersMove(t *testing.T) {
	e, log := cluster(t)
	r := newRun(t, e, 4)
	r.opt.BatchBytes = 300
	s, _ := kafkatest.OpenSink(t, NewTxnSink, r.opt, 0, nil, true)
	for i := range 60 {
		move := func() {
			if i%3 != 0 {
				log.ShufflePartitionLeaders()
			}
			if i%3 != 1 {
				log.RehashCoordinators()
			}
		}
		r.sizes = append(r.sizes, 9)
		batch := uint64(len(r.sizes))
		recs, tail := r.input(batch)
		require.NoError(t, s.Begin(t.Context(), batch))
		if i%2 == 0 {
			move()
		}
		require.NoError(t, s.Write(t.Context(), recs[:5]))
		require.NoError(t, s.dispatch(t.Context()))
		if i%2 == 1 {
			move()
		}
		require.NoError(t, s.Write(t.Context(), recs[5:]))
		_, err := s.End(t.Context(), tail)
		require.NoError(t, err)
	}
	require.NoError(t, s.Close())
	r.check(t, e, "")
}
