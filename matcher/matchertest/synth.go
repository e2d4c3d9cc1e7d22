package matchertest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/pattern"
)

// Synth is the folder of the synth case of the known data, which lies beside the repository: an undirected graph in
// the papers' text, graph.txt, a stream that inserts edges, insert.txt, and queries. Edges have one label; labels of
// vertices are numbers, here behind a v.
type Synth string

func (s Synth) read(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(string(s), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Updates reads the graph or the stream, by the name of its file.
func (s Synth) Updates(t testing.TB, name string) (us []dyngraph.Update) {
	t.Helper()
	for line := range strings.Lines(s.read(t, name)) {
		switch f := strings.Fields(line); {
		case len(f) >= 3 && f[0] == "v":
			us = append(us, dyngraph.Update{Op: dyngraph.InsertVertex, Key: f[1], Label: "v" + f[2]})
		case len(f) >= 3 && f[0] == "e":
			us = append(us, dyngraph.Update{Op: dyngraph.InsertEdge, From: f[1], To: f[2], Label: "e"})
		}
	}
	return us
}

// Query reads a query by its name, Q_0 to Q_29; it emits deltas.
func (s Synth) Query(t testing.TB, name string) *matcher.Query {
	t.Helper()
	q, err := pattern.Parse(pattern.Text, []byte(s.read(t, filepath.Join("queries", name+".txt"))),
		pattern.Options{Name: name})
	if err != nil {
		t.Fatal(err)
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
