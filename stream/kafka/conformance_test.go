package kafka

import (
	"testing"

	kafkago "github.com/segmentio/kafka-go"

	"motifd/stream"
	"motifd/stream/streamtest"
)

// sourceConformance runs the conformance suite of sources.
func sourceConformance(t *testing.T, newEnds func(t testing.TB) *ends) {
	streamtest.TestSource(t, func(t *testing.T) *streamtest.SourceHarness {
		e := newEnds(t)
		topic := e.topic(t, "in", 3, nil)
		cl := e.reference(t)
		return &streamtest.SourceHarness{
			Partitions: 3, Endless: true, Keys: true, Times: true,
			Produce: func(t testing.TB, recs []stream.Record) {
				for i, r := range recs {
					k := kafkago.Record{Value: kafkago.NewBytes(r.Value), Time: r.Time}
					if r.Key != nil {
						k.Key = kafkago.NewBytes(r.Key)
					}
					produce(t, cl, topic, int(r.Partition), kafkago.Compression(i%5), k)
				}
			},
			Open: func(t testing.TB) stream.Source {
				return newSource(t, SourceOptions{Client: e.client(), Topic: topic})
			},
			Lose: func(t testing.TB, partition int32, offset int64) { e.deleteRecords(t, topic, partition, offset+1) },
		}
	})
}

func TestSourceConformance(t *testing.T) { sourceConformance(t, embedded) }

// sinkVariants are settings that change how a batch is cut up, but not what readers see.
var sinkVariants = map[string]SinkOptions{
	"Plain":        {},
	"Zstd":         {Compression: "zstd"},
	"SmallBatches": {BatchBytes: 600},
}

// sinkConformance runs the conformance suite of sinks over one without transactions.
func sinkConformance(t *testing.T, newEnds func(t testing.TB) *ends, variant SinkOptions) {
	streamtest.TestSink(t, func(t *testing.T) *streamtest.SinkHarness {
		e := newEnds(t)
		opt := variant
		opt.Client = e.client()
		opt.Topic, opt.DeadLetters, opt.Control = e.topic(
			t,
			"out",
			3,
			nil,
		), e.topic(
			t,
			"dead",
			1,
			nil,
		), e.topic(
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
				return newSink(t, opt)
			},
			Crash: func(t testing.TB, s stream.Sink) { crash(t, s) },
			Visible: func(t testing.TB) streamtest.Output {
				return streamtest.Output{
					Main:        outRecords(e.committed(t, opt.Topic)),
					DeadLetters: outRecords(e.committed(t, opt.DeadLetters)),
					Control:     outRecords(e.committed(t, opt.Control)),
				}
			},
		}
	})
}

func TestSinkConformance(t *testing.T) {
	for name, variant := range sinkVariants {
		t.Run(name, func(t *testing.T) { sinkConformance(t, embedded, variant) })
	}
}

func outRecords(recs []seen) []stream.OutRecord {
	var out []stream.OutRecord
	for _, r := range recs {
		out = append(out, r.OutRecord)
	}
	return out
}
