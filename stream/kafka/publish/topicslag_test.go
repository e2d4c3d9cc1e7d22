package publish

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"motifd/stream"
	"motifd/stream/kafka"
	"motifd/stream/kafka/brokertest"
	"motifd/stream/kafka/embedded"
	"motifd/stream/kafka/internal/kafkatest"
	"motifd/stream/kafka/source"
)

// showFewer makes a log show a topic with its first partition alone, some times.
func showFewer(t *testing.T, log *embedded.Log, topic string, times int) {
	t.Helper()
	cl, err := brokertest.NewClient(log.Addr())
	require.NoError(t, err)
	defer cl.Close()
	req := kmsg.NewPtrMetadataRequest()
	rt := kmsg.NewMetadataRequestTopic()
	rt.Topic = &topic
	req.Topics = append(req.Topics, rt)
	old, err := req.RequestWith(t.Context(), cl)
	require.NoError(t, err)
	old.Topics[0].Partitions = old.Topics[0].Partitions[:1]
	log.Cluster.ControlKey(int16(kmsg.Metadata), func(req kmsg.Request) (kmsg.Response, error, bool) {
		if times == 0 {
			return nil, nil, false
		}
		if times--; times > 0 {
			log.Cluster.KeepControl()
		}
		resp := *old
		resp.Version = req.GetVersion()
		return &resp, nil, true
	})
}

// TestPartitionsShowLate: a broker that does not know yet of partitions that were added is no reason to take the topic
// for one that was created anew.
func TestPartitionsShowLate(t *testing.T) {
	log := kafkatest.OpenLog(t)
	e := kafkatest.Of(log)
	r := newRun(t, e, 3, 30, 30)
	in := e.Topic(t, "in", 3, nil)
	showFewer(t, log, in, kafka.MetadataConfirmations-1)
	src := newSource(t, source.Options{ClientOptions: kafkatest.Fast(log), Topic: in})
	require.NoError(t, src.Seek(t.Context(), stream.Positions{0: 0, 1: 0, 2: 0}))
	require.Equal(t, stream.Positions{0: 0, 1: 0, 2: 0}, src.Positions())

	require.NoError(t, r.goOn(t, t.Context(), 1, nil))
	showFewer(t, log, r.opt.Topic, kafka.MetadataConfirmations-1)
	require.NoError(t, r.goOn(t, t.Context(), 2, nil))
	r.check(t, e, "")
}
