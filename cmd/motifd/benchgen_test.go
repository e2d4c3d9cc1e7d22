package main

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

	"motifd/dyngraph"
	"motifd/matcher/pattern"
	"motifd/matcher/reference"
)

// smallBench is a case that is made in no time.
func smallBench(seed uint64) benchSizes {
	return benchSizes{
		Vertices: 1000, Edges: 8000, Labels: 3, Exponent: 2.6, Updates: 900, Stream: "insert", Seed: seed,
		Classes: benchClasses, Sizes: []int{4, 5, 6, 7, 8}, Queries: 4,
	}
}

func generated(t *testing.T, s benchSizes) *benchCase {
	t.Helper()
	c, err := s.generate()
	require.NoError(t, err)
	return c
}

func TestBenchGenDeterminism(t *testing.T) {
	one := generated(t, smallBench(3))
	require.Equal(t, one, generated(t, smallBench(3)))
	other := generated(t, smallBench(4))
	require.NotEqual(t, one.Graph, other.Graph)
	require.NotEqual(t, one.Labels, other.Labels)
	trees := smallBench(3)
	trees.Classes, trees.Sizes, trees.Queries = []string{benchTree}, []int{3}, 1
	same := generated(t, trees)
	require.Equal(t, one.Graph, same.Graph)
	require.Equal(t, one.Stream, same.Stream)
}

// TestBenchGenKeepsCase holds a digest of the default case: figures of two versions of motifd are of the same case.
func TestBenchGenKeepsCase(t *testing.T) {
	s := benchPresets["synth"].benchSizes
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
	require.Equal(t, benchDigest, strconv.FormatUint(sum, 16))
}

const benchDigest = "129f4c402ac852f9"

// TestBenchGenGraph holds the sizes, that no edge is twice there, and the skew: the largest degrees follow the power
// law of the exponent, as Hill's estimate has it.
func TestBenchGenGraph(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector; make test runs it")
	}
	t.Parallel()
	for _, preset := range []string{"synth", "github"} {
		s := benchPresets[preset].benchSizes
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
		seen, degree := make(map[benchEdge]bool), make([]int, s.Vertices)
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

// TestBenchGenStream follows the stream in a set: every update changes the graph.
func TestBenchGenStream(t *testing.T) {
	for _, stream := range []string{"insert", "mixed"} {
		s := smallBench(rand.Uint64())
		s.Stream = stream
		t.Logf("%s: seed %d", stream, s.Seed)
		c := generated(t, s)
		graph, deletions, again := make(map[benchEdge]bool), 0, 0
		for _, e := range c.Graph {
			graph[e] = true
		}
		inserted := make(map[benchEdge]bool)
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

// TestBenchGenQueries holds that the patterns are of the classes that they are called, counted anew here, and that the
// graph which has had every edge of the stream holds a match of each, as the oracle says.
func TestBenchGenQueries(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector; make test runs it")
	}
	t.Parallel()
	s := smallBench(rand.Uint64())
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
	insert := func(e benchEdge) {
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
	require.NoError(t, c.write(dir, s.Stream))
	byClass := make(map[string]int)
	for i := range c.Queries {
		g := &c.Queries[i]
		q, err := pattern.ParseFile(filepath.Join(dir, "queries", g.Name+".txt"), false)
		require.NoError(t, err) // it is connected, too
		n, m := len(q.Vertices), len(q.Edges)
		switch mean := 2 * float64(m) / float64(n); g.class() {
		case benchDense:
			require.GreaterOrEqual(t, mean, 3.0)
		case benchSparse:
			require.Less(t, mean, 3.0)
			require.GreaterOrEqual(t, m, n)
		case benchTree:
			require.Equal(t, n-1, m)
		}
		require.Contains(t, g.Name, fmt.Sprintf("%s-%d-", g.class(), n))
		byClass[g.class()]++
		if n <= 5 { // the oracle is slow
			require.NotEmpty(t, reference.Matches(graph.View(dyngraph.New), q), g.Name)
		}
	}
	require.Equal(t, map[string]int{benchDense: 20, benchSparse: 20, benchTree: 20}, byClass)
}

// TestBenchGenWritesCase reads back what was written: the peers' format, and motifd's.
func TestBenchGenWritesCase(t *testing.T) {
	c := &benchCase{
		Labels: []uint32{0, 1, 0}, Graph: []benchEdge{{0, 1}},
		Stream:  []benchOp{{Edge: benchEdge{1, 2}}, {Delete: true, Edge: benchEdge{0, 1}}},
		Queries: []benchQuery{{Name: "q", Labels: []uint32{0, 1, 0}, Edges: []benchEdge{{0, 1}, {1, 2}}}},
	}
	dir := filepath.Join(t.TempDir(), "new", "case")
	require.NoError(t, c.write(dir, "mixed"))
	require.Equal(t, "v 0 0\nv 1 1\nv 2 0\ne 0 1 0\n", readFile(t, filepath.Join(dir, "graph.txt")))
	require.Equal(t, "e 1 2 0\n-e 0 1 0\n", readFile(t, filepath.Join(dir, "mixed.txt")))
	require.Equal(t, "v 0 0\nv 1 1\nv 2 0\ne 0 1 0\ne 1 2 0\n", readFile(t, filepath.Join(dir, "queries", "q.txt")))
	in, err := openBenchCase(dir, "mixed")
	require.NoError(t, err)
	require.Equal(t, []benchPattern{{name: "q", path: filepath.Join(dir, "queries", "q.txt"), class: benchTree,
		vertices: 3, edges: 2}}, in.queries)
	_, err = openBenchCase(dir, "insert")
	require.ErrorAs(t, err, new(refused))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "queries", "p.cypher"), []byte("MATCH (a)--(b)"), 0o644))
	_, err = openBenchCase(dir, "mixed")
	require.ErrorContains(t, err, "query p: a case's patterns are in the papers' text")
}

// TestBenchGenRefuses holds that sizes which cannot be are refused by the name of their flag, and soon.
func TestBenchGenRefuses(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector; make test runs it")
	}
	t.Parallel()
	for want, change := range map[string]func(*benchSizes){
		"--vertices: 1 is out of range":   func(s *benchSizes) { s.Vertices = 1 },
		"--edges: 300000 is out of range": func(s *benchSizes) { s.Edges = 300_000 },
		"--labels: -1 is out of range":    func(s *benchSizes) { s.Labels = -1 },
		"--exponent: 2 is out of range":   func(s *benchSizes) { s.Exponent = 2 },
		"--updates: 8000 is out of range": func(s *benchSizes) { s.Updates = 8000 },
		"--stream: \"x\" is neither":      func(s *benchSizes) { s.Stream = "x" },
		"--queries: -1 is out of range":   func(s *benchSizes) { s.Queries = -1 },
		"there is no class \"star\"":      func(s *benchSizes) { s.Classes = []string{"star"} },
		"--sizes: 33 is out of range":     func(s *benchSizes) { s.Sizes = []int{33} },
		"--sizes: 3 vertices cannot":      func(s *benchSizes) { s.Sizes = []int{3} },
		"to hold no dense pattern of 8 vertices": func(s *benchSizes) {
			s.Vertices, s.Edges, s.Exponent, s.Updates, s.Classes, s.Sizes = 1000, 1000, 1000, 10, []string{benchDense},
				[]int{8}
		},
	} {
		s := smallBench(1)
		change(&s)
		_, err := s.generate()
		require.ErrorContains(t, err, want)
		require.ErrorAs(t, err, new(refused))
	}
}
