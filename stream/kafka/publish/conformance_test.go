package publish

import (
	"testing"

	"motifd/matcher/matchertest"
	"motifd/stream"
	"motifd/stream/kafka/internal/kafkatest"
	"motifd/stream/streamtest"
)

// sinkVariants are settings that change how a batch is cut up, but not what readers see.
var sinkVariants = map[string]SinkOptions{
	"Plain":        {},
	"Zstd":         {Compression: "zstd"},
	"SmallBatches": {BatchBytes: 600},
}

// sinkConformance runs the conformance suite of sinks over one without transactions.
func sinkConformance(t *testing.T, newEnds func(t testing.TB) *kafkatest.Cluster, variant SinkOptions) {
	streamtest.TestSink(t, func(t *testing.T) *streamtest.SinkHarness {
		e := newEnds(t)
		opt := variant
		opt.ClientOptions = e.Client()
		opt.Topic, opt.DeadLetters, opt.Control = e.Topic(
			t,
			"out",
			3,
			nil,
		), e.Topic(
			t,
			"dead",
			1,
			nil,
		), e.Topic(
			t,
			"control",
			1,
			nil,
		)
		return &streamtest.SinkHarness{
			ExactlyOnce: true, Headers: true, Keys: true, Tombstones: true,
			New: func(t testing.TB, allowExisting bool) stream.Sink {
				opt := opt
				opt.AllowExisting = allowExisting
				return kafkatest.Open(t, NewSink, opt)
			},
			Crash:   func(t testing.TB, s stream.Sink) { crash(t, s) },
			Visible: func(t testing.TB) streamtest.Output { return visible(t, e, &opt) },
		}
	})
}

func TestSinkConformance(t *testing.T) {
	for name, variant := range sinkVariants {
		t.Run(name, func(t *testing.T) {
			if name != "Plain" {
				matchertest.NotUnderRace(t, "Plain has the same goroutines")
			}
			sinkConformance(t, kafkatest.Embedded, variant)
		})
	}
}

// visible reads what a reader under read_committed sees of the topics of a sink.
func visible(t testing.TB, e *kafkatest.Cluster, opt *SinkOptions) streamtest.Output {
	return streamtest.Output{
		Main:        kafkatest.OutRecords(e.Committed(t, opt.Topic)),
		DeadLetters: kafkatest.OutRecords(e.Committed(t, opt.DeadLetters)),
		Control:     kafkatest.OutRecords(e.Committed(t, opt.Control)),
	}
}
