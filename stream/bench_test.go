package stream_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/stream"
	"motifd/stream/codec"
	"motifd/stream/file"
	"motifd/stream/monitor"
)

// BenchmarkPipeline runs a file of JSON arrays of 100 updates through a whole pipeline, with a ring query and with
// none; one operation is one update.
func BenchmarkPipeline(b *testing.B) {
	for _, c := range []struct {
		name    string
		queries []*matcher.Query
	}{{"no query", nil}, {"ring", queries(b)[:1]}} {
		b.Run(c.name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "in.jsonl")
			rng := rand.New(rand.NewPCG(1, 2))
			var data []byte
			for i := range b.N {
				sep := byte(',')
				if i%100 == 0 {
					sep = '['
				}
				data = fmt.Appendf(append(data, sep),
					`{"op":"+","from":"account-%d","to":"account-%d","label":"T","from_label":"Account",`+
						`"to_label":"Account","ts":%d}`,
					2*rng.IntN(100_000), 2*rng.IntN(100_000)+1, i)
				if i%100 == 99 || i == b.N-1 {
					data = append(data, ']', '\n')
				}
			}
			require.NoError(b, os.WriteFile(path, data, 0o644))
			src, err := file.NewSource(file.SourceOptions{Path: path})
			require.NoError(b, err)
			sink, err := file.NewSink(file.SinkOptions{Output: file.None})
			require.NoError(b, err)
			dec, err := codec.NewDecoder(codec.FormatJSON, codec.DecoderOptions{})
			require.NoError(b, err)
			e, err := monitor.NewEngine(matcher.EngineOptions{Backend: cpu.New(cpu.Options{})}) // without a clock
			require.NoError(b, err)
			p, err := stream.NewPipeline(stream.PipelineOptions{
				Source: src, Decoder: dec, Engine: e, Sink: sink,
				Encoder: codec.NewEncoder(codec.EncoderOptions{StreamID: testStream}),
				Startup: startup(c.queries...),
			})
			require.NoError(b, err)
			b.SetBytes(int64(len(data) / b.N))
			b.ReportAllocs()
			b.ResetTimer()
			require.NoError(b, p.Run(b.Context()))
			require.NoError(b, e.Close())
		})
	}
}

// BenchmarkGroups encodes matches in groups of one size each, on one goroutine and on two; one operation is one match.
func BenchmarkGroups(b *testing.B) {
	for _, size := range []int{1, 4, 16, 256, 4096} {
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("rows=%d/threads=%d", size, threads), func(b *testing.B) {
				rng := rand.New(rand.NewPCG(1, 2))
				p, q := newPlayer(b, rng, func() int { return 10 }), edgeQueries(b)[0]
				for left := b.N; left > 0; left -= size {
					p.group(rng, q, min(size, left))
				}
				sink, err := file.NewSink(file.SinkOptions{Output: file.None})
				require.NoError(b, err)
				made := p.pipeline(b, playEncoder(), sink,
					func(o *stream.PipelineOptions) { o.EncodeThreads = threads })
				b.ReportAllocs()
				b.ResetTimer()
				require.NoError(b, made.Run(b.Context()))
			})
		}
	}
}
