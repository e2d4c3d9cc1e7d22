package publish

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"motifd/stream"
	"motifd/stream/kafka/admin"
	"motifd/stream/kafka/internal/kafkatest"
)

// TestPlainSinkErrorCodes: each code, once to the produce calls of a sink without transactions. Every record is there,
// and a record that is there twice was told of.
func TestPlainSinkErrorCodes(t *testing.T) {
	log := kafkatest.OpenLog(t, admin.Topic{Name: "out"})
	ref := kafkatest.Reference(t, log)
	opt := SinkOptions{ClientOptions: kafkatest.Fast(log), Topic: "out"}
	told := 0
	opt.Events.Duplicates = func(string, int32, int64) { told++ }
	var s *Sink
	var m stream.Mark
	committed, hits, gaveUp := uint64(0), 0, 0
	codes := kafkatest.EveryCode()
	for _, code := range codes {
		h := log.Cluster.Fault(kafkatest.FaultOn(kmsg.Produce, code, 1))
		batch := committed + 1
		for attempt := 0; committed < batch; attempt++ {
			if s == nil {
				s, _ = kafkatest.OpenSink(t, NewSink, opt, committed, m, batch == 1 && attempt == 0)
			}
			var err error
			m2, err := kafkatest.PublishBatch(t.Context(), s, batch, kafkatest.Deltas(batch, 0, 1), stream.Tail{})
			if err != nil {
				require.Zero(t, attempt, "%v: %v", code, err)
				gaveUp++
				crash(t, s)
				s = nil
				continue
			}
			committed, m = batch, m2
		}
		if h.Hits() > 0 {
			hits++
		}
		h.Remove()
	}
	require.NoError(t, s.Close())
	require.Equal(t, len(codes), hits)
	seen := map[uint64]int{}
	for _, r := range kafkatest.ReadTopic(t, ref, "out", 1) {
		seen[r.Batch]++
	}
	doubled := 0
	for b := uint64(1); b <= committed; b++ {
		require.NotZero(t, seen[b], "batch %d", b)
		doubled += seen[b] - 1
	}
	t.Logf("%d faults, %d times the sink gave up, %d records doubled, %d told", len(codes), gaveUp, doubled, told)
	require.LessOrEqual(t, doubled, told)
}
