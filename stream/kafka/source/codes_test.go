package source

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"motifd/stream"
	"motifd/stream/kafka"
	"motifd/stream/kafka/admin"
	"motifd/stream/kafka/internal/kafkatest"
)

// TestSourceErrorCodes: each code that a broker can answer with, once to each call that a source makes. Whether the
// source goes on or gives up, every record is read once and in order.
func TestSourceErrorCodes(t *testing.T) {
	log := kafkatest.OpenLog(t, admin.Topic{Name: "in"})
	ref := kafkatest.Reference(t, log)
	var src *Source
	sent, next := 0, int64(0)
	read := func() error { // one record more, with a new source if need be
		if src == nil {
			src = newSource(t, Options{ClientOptions: kafkatest.Fast(log), Topic: "in"})
			if err := src.Seek(t.Context(), stream.Positions{0: next}); err != nil {
				require.NoError(t, src.Close())
				src = nil
				return err
			}
		}
		for next < int64(sent) {
			recs, err := src.Read(t.Context())
			if err != nil {
				require.NoError(t, src.Close())
				src = nil
				return err
			}
			for _, r := range recs {
				require.Equal(t, next, r.Offset)
				require.Equal(t, fmt.Sprint(next), string(r.Value))
				next = r.Next
			}
		}
		return nil
	}
	n, gaveUp := 0, 0
	for _, code := range kafkatest.EveryCode() {
		for _, key := range []kmsg.Key{kmsg.Fetch, kmsg.ListOffsets} {
			if key == kmsg.ListOffsets && src != nil { // asked when a source is opened
				require.NoError(t, src.Close())
				src = nil
			}
			h := log.Cluster.Fault(kafkatest.FaultOn(key, code, 1))
			for h.Hits() == 0 { // a fetch that waits at the broker already is not failed
				kafkatest.Produce(t, ref, "in", 0, 0, kafkatest.Rec("", fmt.Sprint(sent)))
				sent++
				for attempt := 0; ; attempt++ {
					err := read()
					if err == nil {
						break
					}
					require.Zero(t, attempt, "%v, %v: %v", key, code, err)
					require.True(t, kafka.Fatal(err), "%v, %v: %v", key, code, err)
					gaveUp++
				}
			}
			h.Remove()
			n++
		}
	}
	t.Logf("%d faults, %d times the source gave up", n, gaveUp)
	require.Equal(t, int64(sent), next)
}
