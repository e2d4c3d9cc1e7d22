//go:build kafka && unix

package publish

import (
	"testing"

	"motifd/stream/kafka/brokertest"
	"motifd/stream/kafka/kafkatest"
)

// TestBroker runs everything of outputs that has to hold on Apache Kafka, over one broker, but for what it does when
// it dies.
func TestBroker(t *testing.T) {
	secured := brokertest.StartSecured(t, nil)
	b := secured.Broker
	broker := kafkatest.Broker(b)
	t.Run("Security", func(t *testing.T) { security(t, secured, broker(t)) })
	t.Run("Fitting", func(t *testing.T) { fit(t, broker) })
	t.Run("SinkConformance", func(t *testing.T) {
		for _, name := range []string{"Plain", "SmallBatches"} {
			t.Run(name, func(t *testing.T) { sinkConformance(t, broker, sinkVariants[name]) })
		}
	})
	t.Run("Conformance", func(t *testing.T) {
		for name, change := range txnVariants(t) {
			t.Run(name, func(t *testing.T) { txnConformance(t, broker, change) })
		}
	})
	for name, test := range map[string]func(t *testing.T, e *kafkatest.Cluster){
		"Transactions": txnTransactions, "Aborts": txnAborts, "Fencing": txnFencing, "StartTogether": txnStartTogether,
		"TimesOut": txnTimesOut, "TwoCopies": twoCopies, "Hanging": txnHanging, "Refusals": txnRefusals,
		"UnknownOutcomes": unknownOutcomes,
		"SlowSearch":      txnSlowSearch, "TooSlow": txnTooSlow,
	} {
		t.Run(name, func(t *testing.T) { test(t, broker(t)) })
	}
	t.Run("ConnectionsBreak", func(t *testing.T) { cuts(t, broker) })
	t.Run("ProcessesKilled", func(t *testing.T) { processesKilled(t, broker(t)) })
	t.Run("ConsoleConsumer", func(t *testing.T) { consoleConsumer(t, b, broker(t)) })
	t.Run("Compacted", func(t *testing.T) { compacted(t, broker(t)) })
}

// TestBrokerKilled uses a broker of its own: one that has been killed recovers the logs of every topic that it has.
func TestBrokerKilled(t *testing.T) {
	b := brokertest.Start(t, nil)
	broker := kafkatest.Broker(b)
	t.Run("BrokerDies", func(t *testing.T) { brokerDies(t, b, broker(t)) })
	t.Run("KilledAtRandom", func(t *testing.T) { killedAtRandom(t, b, broker(t)) })
}
