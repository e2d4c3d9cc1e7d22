//go:build data && unix

package cpu

import (
	"slices"
	"testing"

	"motifd/matcher/matchertest"
)

// synth is the synth case, from this folder.
const synth = matchertest.Synth("../../../shared/data/synth")

// BenchmarkDataDeltas is BenchmarkDeltas for queries of 6 vertices, and one of 7, of the synth case: the stream is
// inserted in batches of 1,000, each into the graph as it was at first.
func BenchmarkDataDeltas(b *testing.B) {
	graph, batches := synth.Updates(b, "graph.txt"), slices.Collect(slices.Chunk(synth.Updates(b, "insert.txt"), 1000))
	for _, name := range []string{"Q_14", "Q_15", "Q_24", "Q_25", "Q_16"} {
		b.Run(name, func(b *testing.B) { benchDeltas(b, graph, batches, synth.Query(b, name)) })
	}
}
