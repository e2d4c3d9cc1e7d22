package source

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/stream"
)

// BenchmarkMerge merges records of four partitions whose timestamps take turns, which is the most work: all are copied.
func BenchmarkMerge(b *testing.B) {
	const chunk = 4096
	m := newMerger(true, 1<<20)
	var buffers []*partitionBuffer
	for p := range int32(4) {
		buffers = append(buffers, m.add(p, true))
	}
	recs := make([][]stream.Record, len(buffers))
	for p := range recs {
		for i := range chunk {
			recs[p] = append(
				recs[p],
				stream.Record{Partition: int32(p), Time: time.UnixMilli(int64(i)), Value: make([]byte, 100)},
			)
		}
	}
	b.ResetTimer()
	for n := 0; n < b.N; {
		for p, l := range buffers {
			if len(l.recs) == 0 {
				require.NoError(b, m.put(b.Context(), l, recs[p]))
			}
		}
		got, err := m.take()
		require.NoError(b, err)
		n += len(got)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
}
