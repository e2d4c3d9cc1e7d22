package publish

import (
	"testing"

	"motifd/stream/kafka/admin"
	"motifd/stream/kafka/internal/kafkatest"
)

// txnOutput creates the topics of an output.
func txnOutput(t testing.TB, e *kafkatest.Cluster, partitions int) TxnSinkOptions {
	t.Helper()
	var opt TxnSinkOptions
	opt.ClientOptions = e.Client()
	opt.Topic = e.Topic(t, "out", partitions, nil)
	opt.DeadLetters = e.Topic(t, "dead", 1, nil)
	opt.Control = e.Topic(t, "control", 1, nil)
	opt.Progress = e.Topic(t, "progress", 1, admin.Compacted())
	return opt
}
