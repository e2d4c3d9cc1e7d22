//go:build kafka && unix

package kafkatest

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/stream/kafka/admin"
	"motifd/stream/kafka/brokertest"
)

var topicCount atomic.Int64

// Broker are topics on a real broker.
func Broker(b *brokertest.Broker) func(t testing.TB) *Cluster {
	return func(testing.TB) *Cluster {
		e := &Cluster{Addr: b.Addr(), Real: true}
		e.Topic = func(t testing.TB, prefix string, partitions int, config map[string]string) string {
			name := fmt.Sprintf("%s-%d", prefix, topicCount.Add(1))
			require.NoError(
				t,
				admin.EnsureTopics(t.Context(), e.Client(),
					admin.Topic{Name: name, Partitions: partitions, Config: config}),
			)
			return name
		}
		return e
	}
}
