package kafka

import (
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// reference is a client of kafka-go alone.
func (e *ends) reference(t testing.TB) *kafkago.Client {
	t.Helper()
	tr := &kafkago.Transport{MetadataTTL: 50 * time.Millisecond}
	t.Cleanup(tr.CloseIdleConnections)
	return &kafkago.Client{Addr: kafkago.TCP(e.addr), Transport: tr, Timeout: 10 * time.Second}
}

// franz is a client of franz-go.
func (e *ends) franz(t testing.TB, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(e.addr), kgo.MetadataMinAge(10 * time.Millisecond)}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(cl.Close)
	return cl
}

// deleteRecords moves a partition's log start up to an offset.
func (e *ends) deleteRecords(t testing.TB, topic string, partition int32, offset int64) {
	t.Helper()
	req := kmsg.NewPtrDeleteRecordsRequest()
	rt := kmsg.NewDeleteRecordsRequestTopic()
	rt.Topic = topic
	rp := kmsg.NewDeleteRecordsRequestTopicPartition()
	rp.Partition, rp.Offset = partition, offset
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics, req.TimeoutMillis = append(req.Topics, rt), 10_000
	cl := e.franz(t)
	code := int16(-1)
	require.Eventually(t, func() bool { // a broker hears of changed settings a moment later
		for _, shard := range cl.RequestSharded(t.Context(), req) {
			require.NoError(t, shard.Err)
			code = shard.Resp.(*kmsg.DeleteRecordsResponse).Topics[0].Partitions[0].ErrorCode
		}
		return code != kerr.PolicyViolation.Code
	}, time.Minute, 10*time.Millisecond)
	require.Zero(t, code)
}

// addPartitions raises a topic's partition count and returns when clients are told of it, which is later than the answer.
func (e *ends) addPartitions(t testing.TB, topic string, n int32) {
	t.Helper()
	req := kmsg.NewPtrCreatePartitionsRequest()
	rt := kmsg.NewCreatePartitionsRequestTopic()
	rt.Topic, rt.Count = topic, n
	req.Topics, req.TimeoutMillis = append(req.Topics, rt), 10_000
	resp, err := req.RequestWith(t.Context(), e.franz(t))
	require.NoError(t, err)
	require.Zero(t, resp.Topics[0].ErrorCode)
	require.Eventually(t, func() bool {
		infos, err := DescribeTopics(t.Context(), e.client(), topic)
		return err == nil && infos[topic] != nil && infos[topic].Partitions == int(n)
	}, time.Minute, 10*time.Millisecond)
}

// deleteTopic deletes a topic and returns when it is gone.
func (e *ends) deleteTopic(t testing.TB, topic string) {
	t.Helper()
	req := kmsg.NewPtrDeleteTopicsRequest()
	rt := kmsg.NewDeleteTopicsRequestTopic()
	rt.Topic = &topic
	req.TopicNames, req.Topics, req.TimeoutMillis = []string{topic}, append(req.Topics, rt), 10_000
	resp, err := req.RequestWith(t.Context(), e.franz(t))
	require.NoError(t, err)
	require.Zero(t, resp.Topics[0].ErrorCode)
	require.Eventually(t, func() bool {
		infos, err := DescribeTopics(t.Context(), e.client(), topic)
		return err == nil && infos[topic] == nil
	}, time.Minute, 20*time.Millisecond)
}

// createAgain creates a topic of a name that was deleted.
func (e *ends) createAgain(t testing.TB, topic Topic) {
	t.Helper()
	require.NoError(t, EnsureTopics(t.Context(), e.client(), topic))
}

// alterTopic changes settings of a topic.
func (e *ends) alterTopic(t testing.TB, topic string, config map[string]string) {
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
	resp, err := req.RequestWith(t.Context(), e.franz(t))
	require.NoError(t, err)
	require.Zero(t, resp.Resources[0].ErrorCode)
	require.Eventually(t, func() bool {
		infos, err := DescribeTopics(t.Context(), e.client(), topic)
		if err != nil || infos[topic] == nil {
			return false
		}
		for k, v := range config {
			if infos[topic].Config[k] != v {
				return false
			}
		}
		return true
	}, time.Minute, 10*time.Millisecond)
}
