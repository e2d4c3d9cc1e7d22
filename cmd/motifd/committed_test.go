package main

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"motifd/stream/kafka/brokertest"
)

// committed reads what a reader under read_committed sees of a topic, up to its present end, with franz-go: partition
// by partition. It waits for the end of transactions that are open.
func committed(t testing.TB, addr, topic string) []*kgo.Record {
	t.Helper()
	asker, err := brokertest.NewClient(addr)
	require.NoError(t, err)
	defer asker.Close()
	ends := offsets(t, asker, topic, -1)
	starts := offsets(t, asker, topic, -2)
	from, left := map[int32]kgo.Offset{}, map[int32]int64{}
	for p, end := range ends {
		if end > starts[p] {
			from[p], left[p] = kgo.NewOffset().At(starts[p]), end
		}
	}
	if len(left) == 0 {
		return nil
	}
	reader, err := brokertest.NewClient(addr, kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords(),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}))
	require.NoError(t, err)
	defer reader.Close()
	byPart := make([][]*kgo.Record, len(ends))
	for len(left) > 0 {
		fetches := reader.PollFetches(t.Context())
		require.NoError(t, fetches.Err())
		fetches.EachRecord(func(r *kgo.Record) {
			if r.Offset+1 >= ends[r.Partition] {
				delete(left, r.Partition) // a transaction ends with its marker, so that the last offset is always seen
			}
			if !r.Attrs.IsControl() && r.Offset < ends[r.Partition] {
				byPart[r.Partition] = append(byPart[r.Partition], r)
			}
		})
	}
	return slices.Concat(byPart...)
}

// offsets lists the ends of a topic's partitions (-1), or their starts (-2).
func offsets(t testing.TB, cl *kgo.Client, topic string, at int64) map[int32]int64 {
	t.Helper()
	meta := kmsg.NewPtrMetadataRequest()
	mt := kmsg.NewMetadataRequestTopic()
	mt.Topic = &topic
	meta.Topics = append(meta.Topics, mt)
	about, err := meta.RequestWith(t.Context(), cl)
	require.NoError(t, err)
	require.NoError(t, kerr.ErrorForCode(about.Topics[0].ErrorCode))
	rt := kmsg.NewListOffsetsRequestTopic()
	rt.Topic = topic
	for _, p := range about.Topics[0].Partitions {
		rp := kmsg.NewListOffsetsRequestTopicPartition()
		rp.Partition, rp.Timestamp = p.Partition, at
		rt.Partitions = append(rt.Partitions, rp)
	}
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = -1
	req.Topics = append(req.Topics, rt)
	for {
		out := map[int32]int64{}
		var failed error
		for _, shard := range cl.RequestSharded(t.Context(), req) {
			require.NoError(t, shard.Err)
			for _, topic := range shard.Resp.(*kmsg.ListOffsetsResponse).Topics {
				for _, p := range topic.Partitions {
					if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
						failed = err
					}
					out[p.Partition] = p.Offset
				}
			}
		}
		if !kerr.IsRetriable(failed) { // a leader may have just been elected
			require.NoError(t, failed)
			return out
		}
	}
}
