package brokertest

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var settled atomic.Int64

// Settle returns when all earlier changes, by requests that were answered, have taken effect on a broker: topics and
// their settings, passwords, permissions. The controller answers before the broker has learnt of a change, and a broker
// shows a change before it has taken effect (on its logs, say). But a broker applies changes one after the other. So
// Settle makes two more: when the second one shows, all before it have taken effect. One is not enough, as the broker
// may load it together with those before; the second is made only when the first one shows.
func Settle(t testing.TB, addr string) {
	t.Helper()
	cl, err := NewClient(addr)
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	for range 2 {
		create(t, cl, fmt.Sprintf("settled-%d", settled.Add(1)))
	}
}

// create makes a topic of one partition and returns when the broker shows it.
func create(t testing.TB, cl *kgo.Client, name string) {
	t.Helper()
	req := kmsg.NewPtrCreateTopicsRequest()
	req.TimeoutMillis = Patience
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, 1, 1
	req.Topics = append(req.Topics, topic)
	created, err := req.RequestWith(t.Context(), cl)
	if err != nil {
		t.Fatal(err)
	}
	if err := kerr.ErrorForCode(
		created.Topics[0].ErrorCode,
	); err != nil &&
		err != kerr.TopicAlreadyExists { // when its answer was lost
		t.Fatal(err)
	}
	for {
		req := kmsg.NewPtrMetadataRequest()
		topic := kmsg.NewMetadataRequestTopic()
		topic.Topic = &name
		req.Topics = append(req.Topics, topic)
		meta, err := req.RequestWith(t.Context(), cl)
		if err != nil {
			t.Fatal(err)
		}
		if len(meta.Topics) == 1 && meta.Topics[0].ErrorCode == 0 {
			return
		}
	}
}
