//go:build data

package cpu_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/pattern"
	"motifd/stream/monitor"
)

// synth is a graph of 20,000 vertices with a stream of 15,000 insertions and 30 queries with known counts.
var synth = filepath.Join("..", "..", "..", "shared", "data", "synth")

// synthGraph loads the graph, undirected.
func synthGraph(tb testing.TB) *dyngraph.Graph {
	tb.Helper()
	l := dyngraph.NewLoader(dyngraph.Options{})
	labels := map[string]dyngraph.LabelID{}
	label := func(name string) dyngraph.LabelID {
		if _, ok := labels[name]; !ok {
			labels[name] = dyngraph.LabelID(len(labels) + 1)
			require.NoError(tb, l.Label(name))
		}
		return labels[name]
	}
	for _, f := range synthLines(tb, "graph.txt") {
		if f[0] == "v" {
			require.NoError(tb, l.Vertex(dyngraph.VertexRecord{ID: vertexID(tb, f[1]), Key: f[1],
				Label: label("L" + f[2])}))
		}
	}
	for _, f := range synthLines(tb, "graph.txt") {
		if f[0] == "e" {
			require.NoError(tb, l.Edge(dyngraph.EdgeRecord{From: vertexID(tb, f[1]), To: vertexID(tb, f[2]),
				Label: label("E" + f[3])}))
		}
	}
	g, err := l.Graph()
	require.NoError(tb, err)
	return g
}

func synthLines(tb testing.TB, name string) (lines [][]string) {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join(synth, name))
	require.NoError(tb, err)
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 0 && f[0] != "t" {
			lines = append(lines, f)
		}
	}
	return lines
}

func vertexID(tb testing.TB, s string) dyngraph.VertexID {
	tb.Helper()
	n, err := strconv.ParseUint(s, 10, 32)
	require.NoError(tb, err)
	return dyngraph.VertexID(n)
}

// synthStream is the stream of insertions in batches.
func synthStream(tb testing.TB, batch int) (batches [][]dyngraph.Update) {
	tb.Helper()
	var us []dyngraph.Update
	for _, f := range synthLines(tb, "insert.txt") {
		us = append(us, dyngraph.Update{Op: dyngraph.InsertEdge, From: f[1], To: f[2], Label: "E" + f[3]})
	}
	return slices.Collect(slices.Chunk(us, batch))
}

// synthQuery reads a query in the papers' text format and names the labels as synthGraph does.
func synthQuery(tb testing.TB, name string, emit matcher.Emit) *matcher.Query {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join(synth, "queries", name+".txt"))
	require.NoError(tb, err)
	q, err := pattern.Parse(pattern.Text, b, pattern.Options{Name: name})
	require.NoError(tb, err)
	for i := range q.Vertices {
		q.Vertices[i].Label = "L" + q.Vertices[i].Label
	}
	for i := range q.Edges {
		q.Edges[i].Label, q.Edges[i].Either = "E"+q.Edges[i].Label, true
	}
	q.Name, q.Version, q.Emit = name, 1, emit
	return q
}

// BenchmarkDataSynth replays the stream in batches of 1,000 through one thread and reports search time alone, as
// `motifd replay --summary` does with match_s; the least of all rounds.
func BenchmarkDataSynth(b *testing.B) {
	batches := synthStream(b, 1000)
	want := map[string]string{}
	for _, f := range synthLines(b, "expected.tsv") {
		if f[1] == "insert" {
			want[f[0]] = f[2]
		}
	}
	for i := range 30 {
		name := fmt.Sprint("Q_", i)
		b.Run(name, func(b *testing.B) {
			least, steps := int64(1<<62), uint64(0)
			for b.Loop() {
				began := time.Now()
				backend := cpu.New(cpu.Options{Threads: 1, Clock: func() int64 { return int64(time.Since(began)) }})
				e, err := monitor.NewEngine(matcher.EngineOptions{Graph: synthGraph(b), Backend: backend})
				require.NoError(b, err)
				require.NoError(b, e.Restore(b.Context(),
					[]matcher.QueryState{{Query: synthQuery(b, name, matcher.EmitCounts)}}))
				ns, total := int64(0), matcher.Count{}
				steps = 0
				for n, us := range batches {
					s, err := e.Step(context.Background(), &matcher.Batch{Number: uint64(n + 1), Updates: us},
						func(*matcher.Event) error { return nil }, nil)
					require.NoError(b, err)
					for _, q := range s.Queries {
						ns, steps, total = ns+q.SearchNS, steps+q.Steps, total.Add(q.Positive)
					}
				}
				require.Equal(b, want[name], total.String())
				least = min(least, ns)
			}
			b.ReportMetric(float64(least)/1e6, "match-ms")
			b.ReportMetric(float64(steps), "steps")
			b.ReportMetric(0, "ns/op")
		})
	}
}
