package kafkatest

import (
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"motifd/stream/kafka/admin"
	"motifd/stream/kafka/brokertest"
)

// Reference is a client of kafka-go alone.
func (e *Cluster) Reference(t testing.TB) *kafkago.Client {
	t.Helper()
	tr := &kafkago.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return &kafkago.Client{Addr: kafkago.TCP(e.Addr), Transport: tr}
}

// Franz is a client of franz-go.
func (e *Cluster) Franz(t testing.TB, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := brokertest.NewClient(e.Addr, append([]kgo.Opt{kgo.MetadataMinAge(10 * time.Millisecond)}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(cl.Close)
	return cl
}

// DeleteRecords moves a partition's log start up to an offset.
func (e *Cluster) DeleteRecords(t testing.TB, topic string, partition int32, offset int64) {
	t.Helper()
	req := kmsg.NewPtrDeleteRecordsRequest()
	rt := kmsg.NewDeleteRecordsRequestTopic()
	rt.Topic = topic
	rp := kmsg.NewDeleteRecordsRequestTopicPartition()
	rp.Partition, rp.Offset = partition, offset
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics, req.TimeoutMillis = append(req.Topics, rt), brokertest.Patience
	cl := e.Franz(t)
	for {
		var err error
		for _, shard := range cl.RequestSharded(t.Context(), req) {
			require.NoError(t, shard.Err)
			err = kerr.ErrorForCode(shard.Resp.(*kmsg.DeleteRecordsResponse).Topics[0].Partitions[0].ErrorCode)
		}
		if !kerr.IsRetriable(err) {
			require.NoError(t, err)
			return
		}
	}
}

// AddPartitions raises a topic's partition count.
func (e *Cluster) AddPartitions(t testing.TB, topic string, n int32) {
	t.Helper()
	req := kmsg.NewPtrCreatePartitionsRequest()
	rt := kmsg.NewCreatePartitionsRequestTopic()
	rt.Topic, rt.Count = topic, n
	req.Topics, req.TimeoutMillis = append(req.Topics, rt), brokertest.Patience
	resp, err := req.RequestWith(t.Context(), e.Franz(t))
	require.NoError(t, err)
	require.Zero(t, resp.Topics[0].ErrorCode)
	brokertest.Settle(t, e.Addr)
}

// DeleteTopic deletes a topic.
func (e *Cluster) DeleteTopic(t testing.TB, topic string) {
	t.Helper()
	req := kmsg.NewPtrDeleteTopicsRequest()
	rt := kmsg.NewDeleteTopicsRequestTopic()
	rt.Topic = &topic
	req.TopicNames, req.Topics, req.TimeoutMillis = []string{topic}, append(req.Topics, rt), brokertest.Patience
	resp, err := req.RequestWith(t.Context(), e.Franz(t))
	require.NoError(t, err)
	require.Zero(t, resp.Topics[0].ErrorCode)
	brokertest.Settle(t, e.Addr)
}

// CreateAgain creates a topic of a name that was deleted.
func (e *Cluster) CreateAgain(t testing.TB, topic admin.Topic) {
	t.Helper()
	require.NoError(t, admin.EnsureTopics(t.Context(), e.Client(), topic))
}

// AlterTopic changes settings of a topic.
func (e *Cluster) AlterTopic(t testing.TB, topic string, config map[string]string) {
	t.Helper()
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	r := kmsg.NewIncrementalAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeTopic, topic
	for k, v := range config {
		c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		c.Name, c.Value = k, &v
		r.Configs = append(r.Configs, c)
	}
	req.Resources = append(req.Resources, r)
	resp, err := req.RequestWith(t.Context(), e.Franz(t))
	require.NoError(t, err)
	require.Zero(t, resp.Resources[0].ErrorCode)
	brokertest.Settle(t, e.Addr)
}
