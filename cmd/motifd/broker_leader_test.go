//go:build kafka && unix

package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"motifd/matcher/matchertest"
	"motifd/stream/kafka/brokertest"
)

// TestBrokerLeaderChange takes brokers of a cluster away while a daemon works: the one that leads the partitions of
// input, output and progress dies, and the one that coordinates the transactions freezes. Others take over, nothing is
// lost and nothing is doubled.
func TestBrokerLeaderChange(t *testing.T) {
	matchertest.Long(t, "it starts three brokers")
	c := newCluster(t)
	coordinator := c.coordinator("motifd-leader-out")
	leader := coordinator%3 + 1
	other := 6 - coordinator - leader
	c.create(leader, coordinator, other)
	var all []string
	for _, b := range c.brokers {
		all = append(all, b.Addr())
	}
	addrs := strings.Join(all, ", ")
	x := newTrouble(t, c.brokers[other-1], "leader", 3, addrs, addrs)
	x.start()
	x.p.ready()
	x.produce(5 * time.Millisecond)
	x.progresses(3)

	c.brokers[leader-1].Kill()
	require.NotEqual(t, leader, c.leads("leader-out-progress", leader))
	x.progresses(3)
	c.brokers[leader-1].Launch(t)
	c.inSync()

	// The coordinator freezes, is replaced, and then goes on with what it was at.
	coordinator = c.coordinator("motifd-leader-out")
	c.brokers[coordinator-1].Signal(t, "STOP")
	x.progresses(3)
	c.brokers[coordinator-1].Signal(t, "CONT")
	x.progresses(3)
	c.inSync()
	x.end()
}

// cluster is three brokers; their ids are their places from 1 on.
type cluster struct {
	t       *testing.T
	brokers []*brokertest.Broker
	cl      *kgo.Client
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t: t, brokers: brokertest.StartCluster(t, nil)}
	var addrs []string
	for _, b := range c.brokers {
		addrs = append(addrs, b.Addr())
	}
	var err error
	c.cl, err = brokertest.NewClient(addrs[0], kgo.SeedBrokers(addrs...), kgo.MetadataMinAge(50*time.Millisecond))
	require.NoError(t, err)
	t.Cleanup(c.cl.Close)
	return c
}

// create makes the topics of a run; the partitions of all of them are led by the first of the nodes.
func (c *cluster) create(nodes ...int) {
	c.t.Helper()
	var replicas []int32
	for _, n := range nodes {
		replicas = append(replicas, int32(n))
	}
	req := kmsg.NewPtrCreateTopicsRequest()
	req.TimeoutMillis = brokertest.Patience
	for name, partitions := range map[string]int32{"in": 2, "out": 3, "dead": 1, "control": 1, "out-progress": 1} {
		topic := kmsg.NewCreateTopicsRequestTopic()
		topic.Topic, topic.NumPartitions, topic.ReplicationFactor = "leader-"+name, -1, -1
		for p := range partitions {
			a := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
			a.Partition, a.Replicas = p, replicas
			topic.ReplicaAssignment = append(topic.ReplicaAssignment, a)
		}
		req.Topics = append(req.Topics, topic)
	}
	for len(req.Topics) > 0 { // a broker on a busy machine may be away for a moment
		resp, err := req.RequestWith(c.t.Context(), c.cl)
		require.NoError(c.t, err)
		there := map[string]bool{}
		for _, topic := range resp.Topics {
			there[topic.Topic] = topic.ErrorCode == 0 || topic.ErrorCode == kerr.TopicAlreadyExists.Code
			require.True(c.t, there[topic.Topic] || mayPass(topic.ErrorCode), "%s: %v", topic.Topic,
				kerr.ErrorForCode(topic.ErrorCode))
		}
		req.Topics = slices.DeleteFunc(req.Topics,
			func(topic kmsg.CreateTopicsRequestTopic) bool { return there[topic.Topic] })
	}
	for _, b := range c.brokers { // each of them hears of the topics in its own time
		c.shows(b, "leader-in", "leader-out", "leader-dead", "leader-control", "leader-out-progress")
	}
}

// mayPass tells whether an error of a creation is one of brokers that are away.
func mayPass(code int16) bool {
	return kerr.IsRetriable(kerr.ErrorForCode(code)) || code == kerr.InvalidReplicaAssignment.Code ||
		code == kerr.InvalidReplicationFactor.Code
}

// shows waits until a broker shows topics.
func (c *cluster) shows(b *brokertest.Broker, topics ...string) {
	c.t.Helper()
	cl, err := brokertest.NewClient(b.Addr())
	require.NoError(c.t, err)
	defer cl.Close()
	for missing := true; missing; {
		resp, err := cl.SeedBrokers()[0].RetriableRequest(c.t.Context(), kmsg.NewPtrMetadataRequest())
		require.NoError(c.t, err)
		missing = slices.ContainsFunc(topics, func(name string) bool {
			return !slices.ContainsFunc(resp.(*kmsg.MetadataResponse).Topics,
				func(t kmsg.MetadataResponseTopic) bool { return *t.Topic == name })
		})
	}
}

// coordinator returns the node that coordinates the transactions of an id. It is asked again until there is one.
func (c *cluster) coordinator(id string) int {
	c.t.Helper()
	for {
		req := kmsg.NewPtrFindCoordinatorRequest()
		req.CoordinatorKey, req.CoordinatorType = id, 1
		req.CoordinatorKeys = []string{id}
		resp, err := req.RequestWith(c.t.Context(), c.cl)
		require.NoError(c.t, err)
		node := resp.NodeID
		if len(resp.Coordinators) > 0 {
			node = resp.Coordinators[0].NodeID
		}
		if node > 0 {
			return int(node)
		}
		time.Sleep(50 * time.Millisecond) // brokers create the coordinator's topic, and do not tell when it is there
	}
}

// metadata asks for all partitions.
func (c *cluster) metadata() *kmsg.MetadataResponse {
	c.t.Helper()
	req := kmsg.NewPtrMetadataRequest()
	resp, err := req.RequestWith(c.t.Context(), c.cl)
	require.NoError(c.t, err)
	return resp
}

// leads waits until a topic's first partition is led by another node than one, and returns it.
func (c *cluster) leads(topic string, not int) int {
	c.t.Helper()
	for {
		for _, t := range c.metadata().Topics {
			if *t.Topic != topic || len(t.Partitions) == 0 {
				continue
			}
			if l := int(t.Partitions[0].Leader); l > 0 && l != not {
				return l
			}
		}
		time.Sleep(50 * time.Millisecond) // brokers push no metadata: it has to be asked for again
	}
}

// inSync waits until every partition is on all nodes.
func (c *cluster) inSync() {
	c.t.Helper()
	for {
		all := c.metadata().Topics
		if !slices.ContainsFunc(all, func(t kmsg.MetadataResponseTopic) bool {
			return slices.ContainsFunc(t.Partitions,
				func(p kmsg.MetadataResponseTopicPartition) bool { return len(p.ISR) < len(c.brokers) })
		}) {
			return
		}
		time.Sleep(50 * time.Millisecond) // brokers push no metadata: it has to be asked for again
	}
}
