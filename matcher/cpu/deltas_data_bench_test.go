//go:build data && unix

package cpu

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/pattern"
)

// synthFile reads a file of the synth case.
func synthFile(b *testing.B, name string) []byte {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "data", "synth", name))
	if err != nil {
		b.Fatal(err)
	}
	return data
}

// synthUpdates reads its graph or its stream.
func synthUpdates(b *testing.B, name string) (us []dyngraph.Update) {
	for line := range strings.Lines(string(synthFile(b, name))) {
		switch f := strings.Fields(line); {
		case len(f) >= 3 && f[0] == "v":
			us = append(us, dyngraph.Update{Op: dyngraph.InsertVertex, Key: f[1], Label: "v" + f[2]})
		case len(f) >= 3 && f[0] == "e":
			us = append(us, dyngraph.Update{Op: dyngraph.InsertEdge, From: f[1], To: f[2], Label: "e"})
		}
	}
	return us
}

// synthPattern reads one of its queries.
func synthPattern(b *testing.B, name string) *matcher.Query {
	q, err := pattern.Parse(pattern.Text, synthFile(b, "queries/"+name+".txt"), pattern.Options{Name: name})
	if err != nil {
		b.Fatal(err)
	}
	for i := range q.Vertices {
		q.Vertices[i].Label = "v" + q.Vertices[i].Label
	}
	for i := range q.Edges {
		q.Edges[i].Label, q.Edges[i].Either = "e", true
	}
	q.Version, q.Emit = 1, matcher.EmitDeltas
	return q
}

// BenchmarkDataDeltas is BenchmarkDeltas for queries of 6 vertices, and one of 7, of the synth case: the stream is inserted in batches of
// 1,000, each into the graph as it was at first.
func BenchmarkDataDeltas(b *testing.B) {
	graph, batches := synthUpdates(b, "graph.txt"), slices.Collect(slices.Chunk(synthUpdates(b, "insert.txt"), 1000))
	for _, name := range []string{"Q_14", "Q_15", "Q_24", "Q_25", "Q_16"} {
		b.Run(name, func(b *testing.B) { benchDeltas(b, graph, batches, synthPattern(b, name)) })
	}
}
