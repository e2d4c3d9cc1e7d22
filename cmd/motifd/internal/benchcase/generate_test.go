package benchcase

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/cmd/motifd/internal/command"
	"motifd/dyngraph"
	"motifd/matcher/pattern"
	"motifd/matcher/reference"
)

// small is a case that is made in no time.
func small(seed uint64) Sizes {
	return Sizes{
		Vertices: 1000, Edges: 8000, Labels: 3, Exponent: 2.6, Updates: 900, Stream: "insert", Seed: seed,
		Classes: Classes, Sizes: []int{4, 5, 6, 7, 8}, Queries: 4,
	}
}

func generated(t *testing.T, s Sizes) *Case {
	t.Helper()
	c, err := s.Generate()
	require.NoError(t, err)
	return c
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

func TestDeterminism(t *testing.T) {
	one := generated(t, small(3))
	require.Equal(t, one, generated(t, small(3)))
	other := generated(t, small(4))
	require.NotEqual(t, one.Graph, other.Graph)
	require.NotEqual(t, one.Labels, other.Labels)
	trees := small(3)
	trees.Classes, trees.Sizes, trees.Queries = []string{Tree}, []int{3}, 1
	same := generated(t, trees)
	require.Equal(t, one.Graph, same.Graph)
	require.Equal(t, one.Stream, same.Stream)
}

// TestKeepsCase holds a digest of the default case: figures of two versions of motifd are of the same case.
func TestKeepsCase(t *testing.T) {
	s := Presets["synth"]
	s.Seed, s.Stream = 1, "insert"
	c := generated(t, s)
	sum := uint64(14695981039346656037) // FNV-1a
	add := func(xs ...uint32) {
		for _, x := range xs {
			sum = (sum ^ uint64(x)) * 1099511628211
		}
	}
	add(c.Labels...)
	for _, e := range c.Graph {
		add(e[:]...)
	}
	for _, op := range c.Stream {
		add(op.Edge[:]...)
	}
	for _, q := range c.Queries {
		add(q.Labels...)
		for _, e := range q.Edges {
			add(e[:]...)
		}
	}
	require.Equal(t, synthDigest, strconv.FormatUint(sum, 16))
}

const synthDigest = "129f4c402ac852f9"

// TestGraph holds the sizes, that no edge is twice there, and the skew: the largest degrees follow the power
// law of the exponent, as Hill's estimate has it.
func TestGraph(t *testing.T) {
	t.Parallel()
	for _, preset := range []string{"synth", "github"} {
		s := Presets[preset]
		s.Seed, s.Stream = rand.Uint64(), "insert"
		t.Logf("%s: seed %d", preset, s.Seed)
		c := generated(t, s)
		edges := slices.Clone(c.Graph)
		for _, op := range c.Stream {
			edges = append(edges, op.Edge)
		}
		require.Len(t, edges, s.Edges)
		require.Len(t, c.Stream, s.Updates)
		require.Len(t, c.Labels, s.Vertices)
		byLabel := make([]int, s.Labels)
		for _, l := range c.Labels {
			byLabel[l]++
		}
		require.Greater(t, slices.Min(byLabel), s.Vertices/s.Labels*9/10)
		seen, degree := make(map[Edge]bool), make([]int, s.Vertices)
		for _, e := range edges {
			require.Less(t, e[0], e[1])
			require.False(t, seen[e], e)
			seen[e] = true
			degree[e[0]]++
			degree[e[1]]++
		}
		slices.Sort(degree)
		slices.Reverse(degree)
		require.Greater(t, degree[0], 20*2*s.Edges/s.Vertices, "no hub")
		const top = 400
		hill := 0.0
		for _, d := range degree[:top] {
			hill += math.Log(float64(d) / float64(degree[top]))
		}
		exponent := 1 + top/hill
		t.Logf("%s: largest degrees %v, exponent %.2f", preset, degree[:5], exponent)
		require.InDelta(t, s.Exponent, exponent, 0.35)
	}
}

// TestStream follows the stream in a set: every update changes the graph.
func TestStream(t *testing.T) {
	for _, stream := range []string{"insert", "mixed"} {
		s := small(rand.Uint64())
		s.Stream = stream
		t.Logf("%s: seed %d", stream, s.Seed)
		c := generated(t, s)
		graph, deletions, again := make(map[Edge]bool), 0, 0
		for _, e := range c.Graph {
			graph[e] = true
		}
		inserted := make(map[Edge]bool)
		for i, op := range c.Stream {
			require.Equal(t, op.Delete, graph[op.Edge], i)
			graph[op.Edge] = !op.Delete
			if op.Delete {
				deletions++
				if inserted[op.Edge] {
					again++
				}
			} else {
				inserted[op.Edge] = true
			}
		}
		want := 0
		if stream == "mixed" {
			want = s.Updates / 3
			require.Positive(t, again, "nothing that the stream inserted is deleted again")
		}
		require.Len(t, c.Stream, s.Updates)
		require.Equal(t, want, deletions)
		require.Len(t, c.Graph, s.Edges-s.Updates+want)
	}
}

// TestQueries holds that the patterns are of the classes that they are called, counted anew here, and that the
// graph which has had every edge of the stream holds a match of each, as the oracle says.
func TestQueries(t *testing.T) {
	t.Parallel()
	s := small(rand.Uint64())
	s.Vertices, s.Edges, s.Labels, s.Updates = 300, 1500, 2, 100
	t.Logf("seed %d", s.Seed)
	c := generated(t, s)
	require.Len(t, c.Queries, len(s.Classes)*len(s.Sizes)*s.Queries)
	graph := dyngraph.NewGraph(dyngraph.Options{})
	var messages []dyngraph.Message
	for v, l := range c.Labels {
		messages = append(messages, dyngraph.Message{Updates: []dyngraph.Update{{
			Op: dyngraph.InsertVertex, Key: strconv.Itoa(v), Label: fmt.Sprint(l),
		}}})
	}
	insert := func(e Edge) {
		messages = append(messages, dyngraph.Message{Updates: []dyngraph.Update{{
			Op: dyngraph.InsertEdge, From: fmt.Sprint(e[0]), To: fmt.Sprint(e[1]), Label: "0",
		}}})
	}
	for _, e := range c.Graph {
		insert(e)
	}
	for _, op := range c.Stream {
		insert(op.Edge)
	}
	updates, rejects := graph.Accept(messages)
	require.Empty(t, rejects)
	_, err := graph.Stage(updates)
	require.NoError(t, err)
	graph.Commit()
	dir := t.TempDir()
	require.NoError(t, c.Write(dir, s.Stream))
	byClass := make(map[string]int)
	for i := range c.Queries {
		g := &c.Queries[i]
		q, err := pattern.ParseFile(filepath.Join(dir, "queries", g.Name+".txt"), pattern.Options{})
		require.NoError(t, err) // it is connected, too
		n, m := len(q.Vertices), len(q.Edges)
		class := classOf(len(g.Labels), len(g.Edges))
		switch mean := 2 * float64(m) / float64(n); class {
		case Dense:
			require.GreaterOrEqual(t, mean, 3.0)
		case Sparse:
			require.Less(t, mean, 3.0)
			require.GreaterOrEqual(t, m, n)
		case Tree:
			require.Equal(t, n-1, m)
		}
		require.Contains(t, g.Name, fmt.Sprintf("%s-%d-", class, n))
		byClass[class]++
		if n <= 5 { // the oracle is slow
			require.NotEmpty(t, reference.Matches(graph.View(dyngraph.New), q), g.Name)
		}
	}
	require.Equal(t, map[string]int{Dense: 20, Sparse: 20, Tree: 20}, byClass)
}

// TestWritesCase reads back what was written: the peers' format, and motifd's.
func TestWritesCase(t *testing.T) {
	c := &Case{
		Labels: []uint32{0, 1, 0}, Graph: []Edge{{0, 1}},
		Stream:  []Op{{Edge: Edge{1, 2}}, {Delete: true, Edge: Edge{0, 1}}},
		Queries: []Query{{Name: "q", Labels: []uint32{0, 1, 0}, Edges: []Edge{{0, 1}, {1, 2}}}},
	}
	dir := filepath.Join(t.TempDir(), "new", "case")
	require.NoError(t, c.Write(dir, "mixed"))
	require.Equal(t, "v 0 0\nv 1 1\nv 2 0\ne 0 1 0\n", readFile(t, filepath.Join(dir, "graph.txt")))
	require.Equal(t, "e 1 2 0\n-e 0 1 0\n", readFile(t, filepath.Join(dir, "mixed.txt")))
	require.Equal(t, "v 0 0\nv 1 1\nv 2 0\ne 0 1 0\ne 1 2 0\n", readFile(t, filepath.Join(dir, "queries", "q.txt")))
	in, err := Open(dir, "mixed")
	require.NoError(t, err)
	require.Equal(t, []Pattern{{Name: "q", Path: filepath.Join(dir, "queries", "q.txt"), Class: Tree,
		Vertices: 3, Edges: 2}}, in.Queries)
	_, err = Open(dir, "insert")
	require.ErrorAs(t, err, new(command.Refused))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "queries", "p.cypher"), []byte("MATCH (a)--(b)"), 0o644))
	_, err = Open(dir, "mixed")
	require.ErrorContains(t, err, "query p: a case's patterns are in the papers' text")
}

// TestRefuses holds that sizes which cannot be are refused by the name of their flag, and soon.
func TestRefuses(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*Sizes){
		"--vertices: 1 is out of range":   func(s *Sizes) { s.Vertices = 1 },
		"--edges: 300000 is out of range": func(s *Sizes) { s.Edges = 300_000 },
		"--labels: -1 is out of range":    func(s *Sizes) { s.Labels = -1 },
		"--exponent: 2 is out of range":   func(s *Sizes) { s.Exponent = 2 },
		"--updates: 8000 is out of range": func(s *Sizes) { s.Updates = 8000 },
		"--stream: \"x\" is neither":      func(s *Sizes) { s.Stream = "x" },
		"--queries: -1 is out of range":   func(s *Sizes) { s.Queries = -1 },
		"there is no class \"star\"":      func(s *Sizes) { s.Classes = []string{"star"} },
		"--sizes: 33 is out of range":     func(s *Sizes) { s.Sizes = []int{33} },
		"--sizes: 3 vertices cannot":      func(s *Sizes) { s.Sizes = []int{3} },
		"to hold no dense pattern of 8 vertices": func(s *Sizes) {
			s.Vertices, s.Edges, s.Exponent, s.Updates, s.Classes, s.Sizes = 1000, 1000, 1000, 10, []string{Dense},
				[]int{8}
		},
	} {
		s := small(1)
		change(&s)
		_, err := s.Generate()
		require.ErrorContains(t, err, want)
		require.ErrorAs(t, err, new(command.Refused))
	}
}
