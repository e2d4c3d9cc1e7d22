package source

import (
	"testing"

	kafkago "github.com/segmentio/kafka-go"

	"motifd/stream"
	"motifd/stream/kafka/internal/kafkatest"
	"motifd/stream/streamtest"
)

// sourceConformance runs the conformance suite of sources.
func sourceConformance(t *testing.T, newEnds func(t testing.TB) *kafkatest.Cluster) {
	streamtest.TestSource(t, func(t *testing.T) *streamtest.SourceHarness {
		e := newEnds(t)
		topic := e.Topic(t, "in", 3, nil)
		cl := e.Reference(t)
		return &streamtest.SourceHarness{
			Partitions: 3, Endless: true, Keys: true, Times: true,
			Produce: func(t testing.TB, recs []stream.Record) {
				for i, r := range recs {
					k := kafkago.Record{Value: kafkago.NewBytes(r.Value), Time: r.Time}
					if r.Key != nil {
						k.Key = kafkago.NewBytes(r.Key)
					}
					kafkatest.Produce(t, cl, topic, int(r.Partition), kafkago.Compression(i%5), k)
				}
			},
			Open: func(t testing.TB) stream.Source {
				return newSource(t, Options{ClientOptions: e.Client(), Topic: topic})
			},
			Lose: func(t testing.TB, partition int32, offset int64) { e.DeleteRecords(t, topic, partition, offset+1) },
		}
	})
}

func TestSourceConformance(t *testing.T) { sourceConformance(t, kafkatest.Embedded) }
