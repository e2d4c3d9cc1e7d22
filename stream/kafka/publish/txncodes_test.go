package publish

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"motifd/matcher/matchertest"
	"motifd/stream"
	"motifd/stream/kafka/internal/kafkatest"
)

// TestTxnErrorCodes: each code that a broker can answer with, once to each call that a sink makes while it opens and
// while it publishes. Whether the sink goes on or gives up, every record is there once in the end.
func TestTxnErrorCodes(t *testing.T) {
	matchertest.NotUnderRace(t, "it takes 8 seconds of processors")
	log := kafkatest.OpenLog(t)
	e := kafkatest.Of(log)
	r := newRun(t, e, 1)
	var s *TxnSink
	open := func() error {
		next := kafkatest.Open(t, NewTxnSink, r.opt)
		at, err := next.Open(t.Context(), "stream-1", r.committed, r.mark, !r.intended)
		if err != nil {
			crash(t, next)
			return err
		}
		s = next
		if at.Batch > r.committed+1 { // the last batch was published, although its sink gave up
			r.committed++
		}
		return nil
	}
	publish := func() error {
		if s == nil {
			if err := open(); err != nil {
				return err
			}
		}
		if batch := uint64(len(r.sizes)); r.committed < batch {
			r.intended = true
			recs, tail := r.input(batch)
			m, err := kafkatest.PublishBatch(t.Context(), s, batch, recs, tail)
			if err != nil {
				crash(t, s)
				s = nil
				return err
			}
			r.committed, r.mark = batch, m
		}
		return nil
	}
	var gaveUp, hits int
	fault := func(key kmsg.Key, code *kerr.Error, do func() error) {
		top := key == kmsg.EndTxn || key == kmsg.InitProducerID || key == kmsg.AddOffsetsToTxn
		h := log.Cluster.Fault(kfake.Fault{Keys: []kmsg.Key{key}, Err: code, TopLevel: top})
		defer h.Remove()
		for attempt := 0; ; attempt++ {
			err := do()
			if err == nil {
				break
			}
			require.Zero(t, attempt, "%v, %v: %v", key, code, err)
			gaveUp++
			if !errors.Is(err, stream.ErrFenced) && !errors.Is(err, errTxnLost) {
				require.True(t, fatalTxn(err), "%v, %v: %v", key, code, err)
			}
		}
		if h.Hits() > 0 {
			hits++
		}
	}
	n := 0
	for code := int16(-1); code <= 132; code++ {
		err, ok := kerr.TypedErrorForCode(code), code != 0
		if !ok || err == nil || code != -1 && err.Code == -1 {
			continue
		}
		for _, key := range []kmsg.Key{kmsg.Produce, kmsg.AddPartitionsToTxn, kmsg.AddOffsetsToTxn, kmsg.EndTxn,
			kmsg.TxnOffsetCommit} {
			r.sizes = append(r.sizes, 2)
			fault(key, err, publish)
			n++
		}
		for _, key := range []kmsg.Key{kmsg.FindCoordinator, kmsg.InitProducerID, kmsg.Fetch, kmsg.ListOffsets} {
			require.NoError(t, s.Close())
			s = nil
			fault(key, err, open)
			n++
		}
	}
	require.NoError(t, s.Close())
	t.Logf("%d faults, %d hit, %d times the sink gave up", n, hits, gaveUp)
	require.Equal(t, n, hits)
	r.check(t, e, "")
}
