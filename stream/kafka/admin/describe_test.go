package admin_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"motifd/stream/kafka/admin"
	"motifd/stream/kafka/internal/kafkatest"
)

// TestDescribeTopicsDeletedMeanwhile: a topic that is deleted after its partitions were told, and before its settings
// are asked for, is told not to exist, whenever the broker is asked again.
func TestDescribeTopicsDeletedMeanwhile(t *testing.T) {
	log := kafkatest.OpenLog(t, admin.Topic{Name: "stays", Partitions: 1}, admin.Topic{Name: "goes", Partitions: 2})
	e, asked := kafkatest.Of(log), 0
	log.Cluster.ControlKey(int16(kmsg.DescribeConfigs), func(req kmsg.Request) (kmsg.Response, error, bool) {
		log.Cluster.KeepControl()
		if r := req.(*kmsg.DescribeConfigsRequest); r.Resources[0].ResourceName == "goes" {
			asked++
			log.Cluster.SleepControl(func() {
				del := kmsg.NewPtrDeleteTopicsRequest()
				rt, name := kmsg.NewDeleteTopicsRequestTopic(), "goes"
				rt.Topic = &name
				del.TopicNames, del.Topics, del.TimeoutMillis = []string{name}, append(del.Topics, rt), 10_000
				_, err := del.RequestWith(t.Context(), e.Franz(t))
				require.NoError(t, err)
			})
		}
		return nil, nil, false
	})
	infos, err := admin.DescribeTopics(t.Context(), e.Client(), "stays", "goes")
	require.NoError(t, err)
	require.NotZero(t, asked)
	require.Equal(t, 1, infos["stays"].Partitions)
	require.NotContains(t, infos, "goes")
}
