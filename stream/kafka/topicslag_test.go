package kafka

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"motifd/stream"
	"motifd/stream/kafka/brokertest"
)

// TestTopicsShowLate: a broker that has not heard yet of a topic that is there is asked until it has.
func TestTopicsShowLate(t *testing.T) {
	log := openLog(t, Topic{Name: "t", Partitions: 2})
	late := faultOn(kmsg.Metadata, kerr.UnknownTopicOrPartition, 3*metadataConfirmations)
	late.Topic = "t"
	h := log.Cluster.Fault(late)
	require.NoError(t, EnsureTopics(t.Context(), fast(log), Topic{Name: "t", Partitions: 2}))
	require.EqualValues(t, 3*metadataConfirmations, h.Hits())
}

// showFewer makes a log show a topic with its first partition alone, some times.
func showFewer(t *testing.T, log *Embedded, topic string, times int) {
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
	log := openLog(t)
	e := endsOf(log)
	r := newRun(t, e, 3, 30, 30)
	in := e.topic(t, "in", 3, nil)
	showFewer(t, log, in, metadataConfirmations-1)
	src := newSource(t, SourceOptions{Client: fast(log), Topic: in})
	require.NoError(t, src.Seek(t.Context(), stream.Positions{0: 0, 1: 0, 2: 0}))
	require.Equal(t, stream.Positions{0: 0, 1: 0, 2: 0}, src.Positions())

	require.NoError(t, r.goOn(t, t.Context(), 1, nil))
	showFewer(t, log, r.opt.Topic, metadataConfirmations-1)
	require.NoError(t, r.goOn(t, t.Context(), 2, nil))
	r.check(t, e, "")
}
