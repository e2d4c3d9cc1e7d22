//go:build kafka && unix

package source

import (
	"testing"

	"motifd/stream/kafka/brokertest"
	"motifd/stream/kafka/internal/kafkatest"
)

// TestBroker runs everything of sources that has to hold on Apache Kafka, over one broker.
func TestBroker(t *testing.T) {
	broker := kafkatest.Broker(brokertest.Start(t, nil))
	t.Run("Reading", func(t *testing.T) {
		for name, test := range readings {
			t.Run(name, func(t *testing.T) { test(t, broker(t)) })
		}
	})
	t.Run("SourceConformance", func(t *testing.T) { sourceConformance(t, broker) })
}
