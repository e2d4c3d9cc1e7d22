package publish

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/stream"
	"motifd/stream/kafka"
	"motifd/stream/kafka/admin"
	"motifd/stream/kafka/internal/kafkatest"
	"motifd/stream/kafka/source"
)

// BenchmarkProduce publishes records of 100 bytes with their key and headers, 1,000 to a Write and 100,000 to a batch.
func BenchmarkProduce(b *testing.B) {
	for _, parts := range []int{1, 4} {
		for _, compression := range []string{"none", "lz4"} {
			b.Run(fmt.Sprintf("partitions=%d/%s", parts, compression), func(b *testing.B) {
				e := kafkatest.OpenLog(b, admin.Topic{Name: "out", Partitions: parts})
				s, _ := kafkatest.OpenSink(b, NewSink,

					SinkOptions{
						ClientOptions: kafka.ClientOptions{Brokers: []string{e.Addr()}},
						Topic:         "out",
						Compression:   compression,
					},
					0,
					nil,
					true,
				)
				recs := make([]stream.OutRecord, 1000)
				for i := range recs {
					recs[i] = stream.OutRecord{Key: fmt.Appendf(nil, "%032x", i*7919),
						Value: bytes.Repeat([]byte("v"), 100), Batch: 1,
						Index: uint64(i), Query: "ring", Sign: dyngraph.Inserted}
				}
				b.SetBytes(100)
				b.ResetTimer()
				batch := uint64(0)
				for n := 0; n < b.N; {
					batch++
					require.NoError(b, s.Begin(b.Context(), batch))
					for k := 0; k < 100 && n < b.N; k++ {
						n += len(recs)
						require.NoError(b, s.Write(b.Context(), recs))
					}
					_, err := s.End(b.Context(), stream.Tail{})
					require.NoError(b, err)
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
			})
		}
	}
}

// BenchmarkConsume reads records of 100 bytes.
func BenchmarkConsume(b *testing.B) {
	for _, parts := range []int{1, 4} {
		for _, compression := range []string{"none", "lz4"} {
			b.Run(fmt.Sprintf("partitions=%d/%s", parts, compression), func(b *testing.B) {
				e := kafkatest.OpenLog(b, admin.Topic{Name: "in", Partitions: parts})
				s, _ := kafkatest.OpenSink(b, NewSink,

					SinkOptions{
						ClientOptions: kafka.ClientOptions{Brokers: []string{e.Addr()}},
						Topic:         "in",
						Compression:   compression,
					},
					0,
					nil,
					true,
				)
				require.NoError(b, s.Begin(b.Context(), 1))
				const n = 400_000
				recs := make([]stream.OutRecord, 1000)
				for i := 0; i < n; i += len(recs) {
					for j := range recs {
						recs[j] = stream.OutRecord{
							Key:   fmt.Append(nil, i+j),
							Value: bytes.Repeat([]byte("v"), 100),
							Batch: 1,
							Index: uint64(i + j),
						}
					}
					require.NoError(b, s.Write(b.Context(), recs))
				}
				_, err := s.End(b.Context(), stream.Tail{})
				require.NoError(b, err)
				b.SetBytes(100)
				b.ResetTimer()
				for read := 0; read < b.N; {
					src := newSource(b, source.Options{ClientOptions: kafka.ClientOptions{Brokers: []string{e.Addr()}},
						Topic: "in"})
					for got := 0; got < n && read < b.N; {
						recs, err := src.Read(b.Context())
						require.NoError(b, err)
						got += len(recs)
						read += len(recs)
					}
					require.NoError(b, src.Close())
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
			})
		}
	}
}
