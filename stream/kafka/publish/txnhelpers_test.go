package publish

import (
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/stream"
	"motifd/stream/kafka/admin"
	"motifd/stream/kafka/kafkatest"
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

func newTxnSink(t testing.TB, opt TxnSinkOptions) *TxnSink {
	t.Helper()
	s, err := NewTxnSink(opt)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func openTxnSink(
	t testing.TB,
	opt TxnSinkOptions,
	batch uint64,
	m stream.Mark,
	fresh bool,
) (*TxnSink, stream.Progress) {
	t.Helper()
	s := newTxnSink(t, opt)
	pr, err := s.Open(t.Context(), "stream-1", batch, m, fresh)
	require.NoError(t, err)
	return s, pr
}
