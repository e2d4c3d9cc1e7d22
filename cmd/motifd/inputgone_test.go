package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"motifd/stream/kafka/admin"
	"motifd/stream/kafka/brokertest"
)

func TestP3InputGone(t *testing.T) {
	t.Parallel()
	inputGone(t, newFit(t))
}

// inputGone: a batch that is in hand is finished from the checkpoint alone, whatever became of its input.
func inputGone(t *testing.T, f *fit) {
	p := start(t, f.dir)
	p.ready()
	f.work(p)
	p.stop()
	// stuck leaves a batch in progress: its intent is written, and the output does not take it.
	stuck := func() {
		t.Helper()
		f.alter("out", map[string]string{"max.message.bytes": "150"}) // room for the markers of transactions
		f.send()
		require.Contains(t, f.refuse(), "raise max.message.bytes of the topic")
		f.alter("out", map[string]string{"max.message.bytes": "1000000"})
	}
	recovered := func(p *process) {
		t.Helper()
		p.ready()
		require.Contains(t, p.ask("GET", "/metrics", "").body, `motifd_batches_total{kind="recovered"} 1`)
	}

	// Its records were deleted.
	stuck()
	f.deleteRecords("in", 0, f.n)
	p = start(t, f.dir)
	recovered(p)
	f.work(p)
	p.stop()
	require.Equal(t, 3, f.held())

	// The topic was deleted: the batch is finished, then there is nothing to read.
	stuck()
	f.deleteTopic("in")
	require.Contains(t, f.refuse(), "motifd topics create")
	require.Equal(t, 4, f.held())
	f.create(admin.Topic{Name: "in"})
	f.connect()
	require.Contains(t, f.refuse(), "input.kafka.on_data_loss: continue")
	require.Equal(t, 4, f.held())
	p = start(t, f.dir, "--set", "input.kafka.on_data_loss=continue")
	p.ready()
	lost := fmt.Sprintf("motifd_kafka_lost_records_total %d\n", f.n)
	p.until("it had said what is lost",
		func() bool { return strings.Contains(p.ask("GET", "/metrics", "").body, lost) })
	f.n = 0
	f.work(p)
	p.stop()
	p = start(t, f.dir)
	p.ready()
	f.work(p)
	p.stop()

	// Retention has overtaken the daemon.
	f.send()
	f.send()
	f.deleteRecords("in", 0, f.n-1)
	require.Contains(t, f.refuse(), "input.kafka.on_data_loss: continue")
	p = start(t, f.dir, "--set", "input.kafka.on_data_loss=continue")
	p.until("what is left was read", func() bool { return p.status().Positions["0"] == f.n })
	require.Contains(t, p.ask("GET", "/metrics", "").body, "motifd_kafka_lost_records_total 1\n")
	p.stop()
}

// deleteRecords moves a partition's log start up.
func (f *fit) deleteRecords(topic string, partition int32, offset int64) {
	f.t.Helper()
	req := kmsg.NewPtrDeleteRecordsRequest()
	rt := kmsg.NewDeleteRecordsRequestTopic()
	rt.Topic = f.name + topic
	rp := kmsg.NewDeleteRecordsRequestTopicPartition()
	rp.Partition, rp.Offset = partition, offset
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics, req.TimeoutMillis = append(req.Topics, rt), brokertest.Patience
	for {
		var err error
		for _, shard := range f.cl.RequestSharded(f.t.Context(), req) {
			require.NoError(f.t, shard.Err)
			err = kerr.ErrorForCode(shard.Resp.(*kmsg.DeleteRecordsResponse).Topics[0].Partitions[0].ErrorCode)
		}
		if !kerr.IsRetriable(err) {
			require.NoError(f.t, err)
			return
		}
	}
}

// TestStartLatest: a new daemon that starts at the end of its input reads what comes from then on, also when it stops
// before anything came.
func TestStartLatest(t *testing.T) {
	t.Parallel()
	f := newFit(t)
	f.send()
	f.addPartitions("in", 2)
	latest := []string{"--set", "input.kafka.start=latest"}
	p := start(t, f.dir, latest...)
	p.ready()
	p.kill()
	f.send()
	p = start(t, f.dir, latest...)
	p.until("what came meanwhile was taken", func() bool {
		at := p.status().Positions
		return at["0"]+at["1"] == f.n
	})
	p.stop()
	require.Equal(t, 1, f.held())
}

// TestUncleanElection: a log that was cut below the position while the daemon was down is refused by the leader epochs
// that the checkpoint keeps, and gone on with when told so.
func TestUncleanElection(t *testing.T) {
	t.Parallel()
	f := newFit(t)
	p := start(t, f.dir)
	p.ready()
	for range 3 {
		f.work(p)
	}
	p.stop()
	f.log.Cluster.ControlKey(int16(kmsg.OffsetForLeaderEpoch), func(req kmsg.Request) (kmsg.Response, error, bool) {
		f.log.Cluster.KeepControl()
		topic := kmsg.NewOffsetForLeaderEpochResponseTopic()
		part := kmsg.NewOffsetForLeaderEpochResponseTopicPartition()
		topic.Topic, part.LeaderEpoch, part.EndOffset = "in", 0, 1 // two of the records are lost
		topic.Partitions = append(topic.Partitions, part)
		res := req.ResponseKind().(*kmsg.OffsetForLeaderEpochResponse)
		res.Topics = append(res.Topics, topic)
		return res, nil, true
	})
	says := f.refuse()
	require.Contains(t, says, "it was cut at offset 1; records up to offset 2 were read, the last one of leader "+
		"epoch 0")
	require.Contains(t, says, "start with a new checkpoint and a new output")
	p = start(t, f.dir, "--set", "input.kafka.on_data_loss=continue")
	p.ready()
	require.Contains(t, p.ask("GET", "/metrics", "").body, "motifd_kafka_lost_records_total 2\n")
	p.until("what stands there was read", func() bool { return p.status().Positions["0"] == f.n })
	p.stop()
}
