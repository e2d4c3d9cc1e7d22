//go:build kafka && unix

package kafka

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/stream"
	"motifd/stream/kafka/brokertest"
)

// BenchmarkSinks publishes batches to a real broker, with transactions and without.
func BenchmarkSinks(b *testing.B) {
	broker := brokertest.Start(b, nil)
	e := brokerEnds(broker)(b)
	for _, n := range []int{50, 10_000} {
		for _, kind := range []string{"Plain", "Transactions"} {
			for _, compression := range []string{"none", "zstd"} {
				b.Run(fmt.Sprintf("%s/records=%d/%s", kind, n, compression), func(b *testing.B) {
					opt := e.txnOutput(b, 3)
					opt.Compression = compression
					opt.RetryMin, opt.RetryMax = 0, 0
					var s stream.Sink
					var err error
					if kind == "Plain" {
						s, err = NewSink(opt.SinkOptions)
					} else {
						s, err = NewTxnSink(opt)
					}
					require.NoError(b, err)
					defer func() { require.NoError(b, s.Close()) }()
					_, err = s.Open(b.Context(), "stream-1", 0, nil, true)
					require.NoError(b, err)
					recs := make([]stream.OutRecord, n)
					for i := range recs {
						recs[i] = delta(1, uint64(i))
						recs[i].Value = fmt.Appendf(nil, `{"query":"ring","sign":"+","match":"%032x","vertices":[{"key":"account-%d","label":"Account"},`+
							`{"key":"account-%d","label":"Account"},{"key":"device-%d","label":"Device"}]}`, i*i, i*7%1000, i*13%1000, i%77)
					}
					batch := uint64(0)
					var took []time.Duration
					for b.Loop() {
						batch++
						for i := range recs {
							recs[i].Batch = batch
						}
						begin := time.Now()
						require.NoError(b, s.Begin(b.Context(), batch))
						for chunk := range slices.Chunk(recs, 1000) {
							require.NoError(b, s.Write(b.Context(), chunk))
						}
						_, err = s.End(b.Context(), stream.Tail{BatchRecord: &stream.OutRecord{Value: []byte("{}")}})
						require.NoError(b, err)
						took = append(took, time.Since(begin))
					}
					slices.Sort(took)
					b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
					b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
					b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
				})
			}
		}
	}
}
