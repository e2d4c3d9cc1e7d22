package kafka

import (
	"testing"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"motifd/stream"
	"motifd/stream/streamtest"
)

func TestSourceConformance(t *testing.T) {
	streamtest.TestSource(t, func(t *testing.T) *streamtest.SourceHarness {
		e := openLog(t, Topic{Name: "in", Partitions: 3})
		cl := reference(t, e)
		return &streamtest.SourceHarness{
			Partitions: 3, Endless: true, Keys: true, Times: true,
			Produce: func(t testing.TB, recs []stream.Record) {
				for i, r := range recs {
					k := kafkago.Record{Value: kafkago.NewBytes(r.Value), Time: r.Time}
					if r.Key != nil {
						k.Key = kafkago.NewBytes(r.Key)
					}
					produce(t, cl, "in", int(r.Partition), kafkago.Compression(i%5), k)
				}
			},
			Open: func(t testing.TB) stream.Source {
				return newSource(t, SourceOptions{Client: fast(e), Topic: "in"})
			},
			Lose: func(t testing.TB, partition int32, offset int64) {
				require.NoError(t, e.Cluster.DeleteRecords("in", partition, offset+1))
			},
		}
	})
}

func TestSinkConformance(t *testing.T) {
	for name, opt := range map[string]SinkOptions{
		"Plain":        {},
		"Zstd":         {Compression: "zstd"},
		"SmallBatches": {BatchBytes: 600},
	} {
		t.Run(name, func(t *testing.T) {
			streamtest.TestSink(t, func(t *testing.T) *streamtest.SinkHarness {
				e := openLog(t, Topic{Name: "out", Partitions: 3}, Topic{Name: "dead"}, Topic{Name: "control"})
				cl := reference(t, e)
				return &streamtest.SinkHarness{
					ExactlyOnce: true, Headers: true, Keys: true, Tombstones: true,
					New: func(t testing.TB, allowExisting bool) stream.Sink {
						opt := opt
						opt.Client, opt.Topic, opt.DeadLetters, opt.Control = fast(e), "out", "dead", "control"
						opt.AllowExisting = allowExisting
						return newSink(t, opt)
					},
					Crash: func(t testing.TB, s stream.Sink) { crash(t, s.(*Sink)) },
					Visible: func(t testing.TB) streamtest.Output {
						return streamtest.Output{
							Main:        outRecords(readTopic(t, cl, "out", 3)),
							DeadLetters: outRecords(readTopic(t, cl, "dead", 1)),
							Control:     outRecords(readTopic(t, cl, "control", 1)),
						}
					},
				}
			})
		})
	}
}

func outRecords(recs []seen) []stream.OutRecord {
	var out []stream.OutRecord
	for _, r := range recs {
		out = append(out, r.OutRecord)
	}
	return out
}
