//go:build kafka && unix

package publish

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/stream"
	"motifd/stream/kafka/brokertest"
	"motifd/stream/kafka/internal/kafkatest"
)

// BenchmarkOutputs publishes batches to a real broker, with transactions and without, in turn: other work on the
// machine changes both. on/off is the median of what the times of neighbouring turns are to each other.
func BenchmarkOutputs(b *testing.B) {
	broker := brokertest.Start(b, nil)
	e := kafkatest.Broker(broker)(b)
	for _, n := range []int{50, 10_000} {
		for _, compression := range []string{"none", "zstd"} {
			b.Run(fmt.Sprintf("records=%d/%s", n, compression), func(b *testing.B) {
				outputs := map[string]*benchOutput{}
				for _, mode := range []string{TransactionsOff, TransactionsOn} {
					outputs[mode] = newBenchOutput(b, e, mode, compression, n)
					outputs[mode].publish(b, 20) // a broker's first batches are slow
				}
				const turns = 10
				batches := 200
				if n > 1000 {
					batches = 20
				}
				for b.Loop() {
					took, all, ratios := map[string]time.Duration{}, map[string][]time.Duration{}, []float64{}
					modes := []string{TransactionsOff, TransactionsOn}
					for range turns {
						for _, mode := range modes {
							each := outputs[mode].publish(b, batches)
							all[mode] = append(all[mode], each...)
							took[mode] = 0
							for _, d := range each {
								took[mode] += d
							}
						}
						ratios = append(ratios, float64(took[TransactionsOn])/float64(took[TransactionsOff]))
						slices.Reverse(modes)
					}
					for mode, each := range all {
						slices.Sort(each)
						b.ReportMetric(float64(each[len(each)/2].Microseconds())/1000, mode+"-p50-ms")
						b.ReportMetric(float64(each[len(each)*99/100].Microseconds())/1000, mode+"-p99-ms")
					}
					slices.Sort(ratios)
					b.Logf("on/off %.2f", ratios)
					b.ReportMetric(ratios[turns/2], "on/off")
				}
			})
		}
	}
}

// benchOutput is an output and the records that it publishes again and again.
type benchOutput struct {
	o     *Output
	recs  []stream.OutRecord
	batch uint64
}

func newBenchOutput(b *testing.B, e *kafkatest.Cluster, mode, compression string, n int) *benchOutput {
	opt := txnOutput(b, e, 3)
	opt.Compression = compression
	opt.Group, opt.InputTopic = "lag-"+opt.Topic, e.Topic(b, "in", 1, nil)
	opt.RetryMin, opt.RetryMax = 0, 0
	o, err := NewOutput(opt, mode)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, o.Close()) })
	_, err = o.Open(b.Context(), "stream-1", 0, nil, true)
	require.NoError(b, err)
	recs := make([]stream.OutRecord, n)
	for i := range recs {
		recs[i] = kafkatest.Delta(1, uint64(i))
		recs[i].Value = fmt.Appendf(
			nil,
			`{"query":"ring","sign":"+","match":"%032x","vertices":[{"key":"account-%d","label":"Account"},`+
				`{"key":"account-%d","label":"Account"},{"key":"device-%d","label":"Device"}]}`,
			i*i,
			i*7%1000,
			i*13%1000,
			i%77,
		)
	}
	return &benchOutput{o: o, recs: recs}
}

// publish publishes some batches and tells how long each took.
func (x *benchOutput) publish(b *testing.B, batches int) (took []time.Duration) {
	for range batches {
		x.batch++
		for i := range x.recs {
			x.recs[i].Batch = x.batch
		}
		begin := time.Now()
		require.NoError(b, x.o.Begin(b.Context(), x.batch))
		for chunk := range slices.Chunk(x.recs, 512) {
			require.NoError(b, x.o.Write(b.Context(), chunk))
		}
		_, err := x.o.End(
			b.Context(),
			stream.Tail{BatchRecord: &stream.OutRecord{Value: []byte("{}")},
				Positions: stream.Positions{0: int64(x.batch)}},
		)
		require.NoError(b, err)
		took = append(took, time.Since(begin))
	}
	return took
}
