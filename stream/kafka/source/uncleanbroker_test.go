//go:build kafka && unix

package source

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"motifd/matcher/matchertest"
	"motifd/stream"
	"motifd/stream/kafka/brokertest"
	"motifd/stream/kafka/internal/kafkatest"
)

// TestBrokerUncleanElection: of two replicas the one that has all records dies, and the one that was dead meanwhile
// becomes the leader. What it takes from then on stands where other records were read. A source that runs, and one that
// starts again, notice.
func TestBrokerUncleanElection(t *testing.T) {
	matchertest.Long(t, "it starts three brokers; an embedded log has such elections too")
	brokers := brokertest.StartCluster(t, map[string]string{"min.insync.replicas": "1"})
	e := &kafkatest.Cluster{Addr: brokers[2].Addr(), Real: true}
	const topic = "unclean"
	cl := e.Franz(t)
	req := kmsg.NewPtrCreateTopicsRequest()
	req.TimeoutMillis = brokertest.Patience
	rt := kmsg.NewCreateTopicsRequestTopic()
	rt.Topic, rt.NumPartitions, rt.ReplicationFactor = topic, -1, -1
	ra := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
	ra.Replicas = []int32{1, 2}
	rt.ReplicaAssignment = append(rt.ReplicaAssignment, ra)
	yes := "true"
	rc := kmsg.NewCreateTopicsRequestTopicConfig()
	rc.Name, rc.Value = "unclean.leader.election.enable", &yes
	rt.Configs = append(rt.Configs, rc)
	req.Topics = append(req.Topics, rt)
	for created := false; !created; { // a broker on a busy machine may be away for a moment
		resp, err := req.RequestWith(t.Context(), cl)
		require.NoError(t, err)
		code := resp.Topics[0].ErrorCode
		created = code == 0 || code == kerr.TopicAlreadyExists.Code
	}
	led := func(leader int32, insync ...int32) {
		t.Helper()
		for {
			md := kmsg.NewPtrMetadataRequest()
			mt := kmsg.NewMetadataRequestTopic()
			name := topic
			mt.Topic = &name
			md.Topics = append(md.Topics, mt)
			resp, err := md.RequestWith(t.Context(), cl)
			if err == nil && len(resp.Topics) == 1 && len(resp.Topics[0].Partitions) == 1 {
				p := resp.Topics[0].Partitions[0]
				if p.Leader == leader && (insync == nil || slices.Equal(slices.Sorted(slices.Values(p.ISR)), insync)) {
					return
				}
			}
			time.Sleep(50 * time.Millisecond) // brokers push no metadata: it has to be asked for again
		}
	}
	led(1, 1, 2)
	k := &epochKeeper{}
	opt := Options{ClientOptions: e.Client(), Topic: topic, KeepEpochs: k.keep}
	running := newSource(t, opt)
	e.Write(t, topic, 0, kafkatest.Texts("0", "1")...)
	brokers[1].Kill()
	led(1, 1)
	e.Write(t, topic, 0, kafkatest.Texts("2", "3")...)
	require.Equal(t, "0 1 2 3", kafkatest.Values(kafkatest.ReadN(t, running, 4)))
	brokers[0].Kill()
	brokers[1].Launch(t)
	led(2)
	e.Write(t, topic, 0, kafkatest.Texts("c", "d", "e")...)
	brokers[0].Launch(t)
	led(2, 1, 2)

	_, err := running.Read(t.Context())
	require.ErrorIs(t, err, ErrTruncated)
	var cut *TruncatedError
	require.ErrorAs(t, err, &cut)
	require.EqualValues(t, 2, cut.Cut)
	opt.Epochs = k.kept()
	require.ErrorIs(t, newSource(t, opt).Seek(t.Context(), stream.Positions{0: 4}), ErrTruncated)
	opt.AllowDataLoss = true
	src := newSource(t, opt)
	require.NoError(t, src.Seek(t.Context(), stream.Positions{0: 4}))
	require.Equal(t, "c d e", kafkatest.Values(kafkatest.ReadN(t, src, 3)))
}
