package admin_test

import (
	"testing"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"motifd/stream/kafka"
	"motifd/stream/kafka/admin"
	"motifd/stream/kafka/internal/kafkatest"
)

func TestEnsureTopics(t *testing.T) {
	e := kafkatest.OpenLog(t)
	ctx := t.Context()
	require.NoError(
		t,
		admin.EnsureTopics(
			ctx,
			kafkatest.Fast(e),
			admin.Topic{Name: "a", Partitions: 3, Config: admin.Compacted()},
			admin.Topic{Name: "b"},
		),
	)
	require.NoError(
		t,
		admin.EnsureTopics(ctx, kafkatest.Fast(e), admin.Topic{Name: "a", Partitions: 3}, admin.Topic{Name: "a"}),
	)
	require.ErrorIs(
		t,
		admin.EnsureTopics(ctx, kafkatest.Fast(e), admin.Topic{Name: "a", Partitions: 2}),
		kafka.ErrPartitions,
	)
	e.Cluster.Fault(kafkatest.FaultOn(kmsg.CreateTopics, kerr.TopicAuthorizationFailed, 1))
	require.ErrorIs(
		t,
		admin.EnsureTopics(ctx, kafkatest.Fast(e), admin.Topic{Name: "c"}),
		kafkago.TopicAuthorizationFailed,
	)
	require.Equal(t, "compact", *e.Cluster.TopicInfo("a").Configs["cleanup.policy"])
	require.Len(t, e.Cluster.PartitionInfos("a"), 3)
	require.Len(t, e.Cluster.PartitionInfos("b"), 1)
}

// TestTopicsShowLate: a broker that has not heard yet of a topic that is there is asked until it has.
func TestTopicsShowLate(t *testing.T) {
	log := kafkatest.OpenLog(t, admin.Topic{Name: "t", Partitions: 2})
	late := kafkatest.FaultOn(kmsg.Metadata, kerr.UnknownTopicOrPartition, 3*kafka.MetadataConfirmations)
	late.Topic = "t"
	h := log.Cluster.Fault(late)
	require.NoError(t, admin.EnsureTopics(t.Context(), kafkatest.Fast(log), admin.Topic{Name: "t", Partitions: 2}))
	require.EqualValues(t, 3*kafka.MetadataConfirmations, h.Hits())
}
