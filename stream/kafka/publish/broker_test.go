//go:build kafka && unix

package publish

import (
	"maps"
	"slices"
	"testing"

	"motifd/matcher/matchertest"
	"motifd/stream/kafka/brokertest"
	"motifd/stream/kafka/internal/kafkatest"
)

// TestBroker runs everything of outputs that has to hold on Apache Kafka, over one broker, but for what it does when
// it dies. Its parts have topics of their own, and wait most of the time: they run beside each other. Where few
// cases are asked for, it has what an embedded log cannot stand for: security, Java's consumer, a broker's answers.
func TestBroker(t *testing.T) {
	secured := brokertest.StartSecured(t, nil)
	b := secured.Broker
	broker := kafkatest.Broker(b)
	beside := func(name string, test func(t *testing.T)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
	beside("Security", func(t *testing.T) { security(t, secured, broker(t)) })
	txns := []string{"SmallTransactions"}
	if !matchertest.Quick(t) {
		txns = slices.Sorted(maps.Keys(txnVariants(t)))
		for _, name := range []string{"Plain", "SmallBatches"} {
			beside("SinkConformance/"+name, func(t *testing.T) { sinkConformance(t, broker, sinkVariants[name]) })
		}
		beside("Fitting", func(t *testing.T) { fit(t, broker) })
		beside("TooSlow", func(t *testing.T) { txnTooSlow(t, broker(t)) })
		beside("ProcessesKilled", func(t *testing.T) { processesKilled(t, broker(t)) })
		t.Run("ConnectionsBreak", func(t *testing.T) { cuts(t, broker) })
	}
	for _, name := range txns {
		beside("Conformance/"+name, func(t *testing.T) { txnConformance(t, broker, txnVariants(t)[name]) })
	}
	for name, test := range map[string]func(t *testing.T, e *kafkatest.Cluster){
		"Transactions": txnTransactions, "Aborts": txnAborts, "Fencing": txnFencing, "StartTogether": txnStartTogether,
		"TimesOut": txnTimesOut, "TwoCopies": twoCopies, "Hanging": txnHanging, "Refusals": txnRefusals,
		"UnknownOutcomes": unknownOutcomes, "SlowSearch": txnSlowSearch, "Compacted": compacted,
	} {
		beside(name, func(t *testing.T) { test(t, broker(t)) })
	}
	beside("ConsoleConsumer", func(t *testing.T) { consoleConsumer(t, b, broker(t)) })
}

// TestBrokerKilled uses a broker of its own: one that has been killed recovers the logs of every topic that it has.
func TestBrokerKilled(t *testing.T) {
	matchertest.Long(t, "the torture has a broker that is killed, and kills the daemon too")
	b := brokertest.Start(t, nil)
	broker := kafkatest.Broker(b)
	t.Run("BrokerDies", func(t *testing.T) { brokerDies(t, b, broker(t)) })
	t.Run("KilledAtRandom", func(t *testing.T) { killedAtRandom(t, b, broker(t)) })
}
