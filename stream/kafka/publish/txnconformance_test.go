package publish

import (
	"testing"

	"motifd/matcher/matchertest"
	"motifd/stream"
	"motifd/stream/kafka/internal/kafkatest"
	"motifd/stream/streamtest"
)

// txnConformance runs the conformance suite of sinks.
func txnConformance(t *testing.T, newEnds func(t testing.TB) *kafkatest.Cluster, change func(opt *TxnSinkOptions)) {
	streamtest.TestSink(t, func(t *testing.T) *streamtest.SinkHarness {
		e := newEnds(t)
		opt := txnOutput(t, e, 3)
		change(&opt)
		return &streamtest.SinkHarness{
			ExactlyOnce: true, Headers: true, Keys: true, Tombstones: true, Exclusive: stream.ErrFenced,
			New: func(t testing.TB, allowExisting bool) stream.Sink {
				opt := opt
				opt.AllowExisting = allowExisting
				return kafkatest.Open(t, NewTxnSink, opt)
			},
			Crash:   func(t testing.TB, s stream.Sink) { crash(t, s) },
			Visible: func(t testing.TB) streamtest.Output { return visible(t, e, &opt.SinkOptions) },
		}
	})
}

// txnVariants are settings that change how a batch is cut up, but not what readers see.
func txnVariants(t *testing.T) map[string]func(opt *TxnSinkOptions) {
	return map[string]func(opt *TxnSinkOptions){
		"Plain":             func(*TxnSinkOptions) {},
		"Zstd":              func(opt *TxnSinkOptions) { opt.Compression = "zstd" },
		"SmallBatches":      func(opt *TxnSinkOptions) { opt.BatchBytes, opt.sendBytes = 600, 1000 },
		"SmallTransactions": func(opt *TxnSinkOptions) { opt.MaxTransactionRecords = 10 },
		"Spooled": func(opt *TxnSinkOptions) {
			opt.BatchBytes, opt.BufferBytes, opt.SpoolDir = 2000, 3000, t.TempDir()
			opt.sendBytes, opt.roundBytes = 1, 5000
		},
	}
}

func TestTxnSinkConformance(t *testing.T) {
	for name, change := range txnVariants(t) {
		t.Run(name, func(t *testing.T) {
			if name != "Plain" && name != "Spooled" {
				matchertest.NotUnderRace(t, "Plain has the same goroutines")
			}
			txnConformance(t, kafkatest.Embedded, change)
		})
	}
}
