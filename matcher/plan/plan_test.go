package plan

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/pattern"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden files")

// payments is a small graph with skewed label statistics.
func payments(t *testing.T) *dyngraph.Graph {
	t.Helper()
	g := dyngraph.NewGraph(dyngraph.Options{Directed: true})
	var us []dyngraph.Update
	edge := func(from, fl, to, tl, label string) {
		us = append(us, dyngraph.Update{Op: dyngraph.InsertEdge, From: from, FromLabel: fl, To: to, ToLabel: tl,
			Label: label})
	}
	for i := range 20 {
		a, b := string(rune('a'+i)), string(rune('a'+(i+1)%20))
		edge(a, "Account", b, "Account", "TRANSFER")
		if i%5 == 0 {
			edge("p"+a, "Person", a, "Account", "OWNS")
			edge(a, "Account", "shop", "Merchant", "PAYS")
		}
	}
	apply(t, g, us)
	return g
}

func apply(t *testing.T, g *dyngraph.Graph, us []dyngraph.Update) {
	t.Helper()
	taken, rejects := g.Accept([]dyngraph.Message{{Updates: us}})
	if len(rejects) > 0 {
		t.Fatal(rejects[0].Err)
	}
	if _, err := g.Stage(taken); err != nil {
		t.Fatal(err)
	}
	g.Commit()
}

// TestExplain compares the text of plans with golden files: the orders are what a reader of them would choose.
func TestExplain(t *testing.T) {
	g := payments(t)
	for name, text := range map[string]string{
		"ring3": "MATCH (a:Account)-[:TRANSFER]->(b:Account)-[:TRANSFER]->(c:Account)-[:TRANSFER]->(a)",
		"owners": "MATCH (p:Person)-[:OWNS]->(a:Account)-[:TRANSFER]->(b:Account)<-[:OWNS]-(p), " +
			"(b)-[:PAYS]->(m:Merchant)",
		"wildcard": "MATCH (a)-->(b)--(c), (a)-[:OWNS]->(c)",
		"fan-in":   "MATCH (x:Account)-[:PAYS]->(m:Merchant), (y:Account)-[:PAYS]->(m), (z:Account)-[:PAYS]->(m)",
		"unknown":  "MATCH (a:Account)-[:LOAN]->(b:Bank)",
		"parallel": "MATCH (a:Account)-[]->(b:Account), (a)-[]->(b)",
		"ring4": "MATCH (a:Account)-[:TRANSFER]->(b:Account)-[:TRANSFER]->(c:Account)-[:TRANSFER]->(d:Account)" +
			"-[:TRANSFER]->(a)",
		"lollipop": "MATCH (a:Account)-[:TRANSFER]->(b:Account)-[:TRANSFER]->(c:Account)-[:TRANSFER]->(a), " +
			"(p:Person)-[:OWNS]->(b)",
		"negation": "MATCH (a:Account)-[t:TRANSFER]->(b:Account) WHERE NOT EXISTS { (p:Person)-[:OWNS]->(a), " +
			"(p)-[:OWNS]->(b) } AND NOT (a)<-[:TRANSFER|LOAN]-(b)",
		"homomorphism": "MATCH (a:Account)-[:TRANSFER]->(b:Account)<-[:TRANSFER]-(c:Account)-[:TRANSFER]->(b)",
		"trail":        "MATCH (p:Person)-[:OWNS]->(a:Account)-[:TRANSFER]->(b:Account)<-[:TRANSFER]-(c:Account)",
		"alternatives": "MATCH (a:Account|Person|Bank)-[:PAYS|OWNS|LOAN]->(b:Merchant|Account), " +
			"(b:Merchant|Account)<-[:TRANSFER|LOAN]-(c:Account)",
	} {
		q, err := pattern.Parse(pattern.Cypher, []byte(text), pattern.Options{Name: name, File: name, Directed: true})
		if err != nil {
			t.Fatal(err)
		}
		if name == "ring3" || name == "fan-in" || name == "parallel" {
			q.Unit = matcher.Subgraphs
		}
		switch name {
		case "homomorphism":
			q.MatchMode = matcher.Homomorphism
		case "trail":
			q.MatchMode, q.Emit = matcher.Trail, matcher.EmitCounts
		}
		q.Version = 1
		pl := New()
		p, err := pl.Plan(q, g)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", name+".txt")
		if *rewrite {
			if err := os.WriteFile(file, []byte(p.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if p.String() != string(want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, p, want)
		}
	}
}

// TestOrdersAreConnected: every order of every random pattern maps every vertex once, joined to what is mapped, and
// uses every pattern edge once.
func TestOrdersAreConnected(t *testing.T) {
	g := payments(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 300 {
		q := randomQuery(rng, 2+rng.IntN(10))
		p, err := New().Plan(q, g)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range append(p.Anchored, *p.Static()) {
			edges, vertices := map[int]bool{}, map[int]bool{}
			if o.Edge >= 0 {
				edges[o.Edge] = true
			}
			for i, s := range o.Steps {
				if i > 1 && len(s.Back) == 0 || i == 1 && o.Edge < 0 && len(s.Back) == 0 || vertices[s.Vertex] {
					t.Fatalf("order %+v of %s is not connected", o, describe(q))
				}
				vertices[s.Vertex] = true
				for _, b := range s.Back {
					e := q.Edges[b.Edge]
					if edges[b.Edge] || b.Step >= i || e.From+e.To-s.Vertex != o.Steps[b.Step].Vertex {
						t.Fatalf("order %+v of %s: bad back edge %+v", o, describe(q), b)
					}
					edges[b.Edge] = true
				}
			}
			if len(edges) != len(q.Edges) || len(vertices) != len(q.Vertices) {
				t.Fatalf("order %+v of %s is not complete", o, describe(q))
			}
		}
	}
}

// randomQuery returns a connected pattern of n vertices.
func randomQuery(rng *rand.Rand, n int) *matcher.Query {
	q := &matcher.Query{Name: "q", Version: 1}
	labels := []string{"", "Account", "Person"}
	name := func(kind string, i int) string { return kind + strings.Repeat("i", i) }
	for i := range n {
		q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: name("v", i), Label: labels[rng.IntN(len(labels))]})
	}
	add := func(a, b int) {
		q.Edges = append(q.Edges, matcher.QueryEdge{Name: name("e", len(q.Edges)), From: a, To: b,
			Label: []string{"", "TRANSFER"}[rng.IntN(2)], Either: rng.IntN(3) == 0})
	}
	for i := 1; i < n; i++ {
		add(i, rng.IntN(i))
	}
	for range rng.IntN(n + 1) {
		if a, b := rng.IntN(n), rng.IntN(n); a != b {
			add(a, b)
		}
	}
	return q
}

// TestAutomorphismsAgainstPermutations plays the stabiliser chain against all permutations of small patterns.
func TestAutomorphismsAgainstPermutations(t *testing.T) {
	g := payments(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 400 {
		q := randomQuery(rng, 2+rng.IntN(5))
		if rng.IntN(2) == 0 { // more symmetry
			for i := range q.Vertices {
				q.Vertices[i].Label = ""
			}
			for i := range q.Edges {
				q.Edges[i].Label, q.Edges[i].Either = "", true
			}
		}
		p, err := New().Plan(q, g)
		if err != nil {
			t.Fatal(err)
		}
		perms := automorphismsByTrying(q)
		kernel := uint64(1)
		for i := range q.Edges {
			same := uint64(1)
			for j := range i {
				if edgeKindOf(q, i) == edgeKindOf(q, j) {
					same++
				}
			}
			kernel *= same
		}
		if want := matcher.CountOf(uint64(len(perms)) * kernel); p.Automorphisms != want {
			t.Fatalf("%s: %s automorphisms, there are %s", describe(q), p.Automorphisms, want)
		}
		// Among the images of any assignment of ids exactly one satisfies the constraints: the smallest.
		ids := rng.Perm(len(q.Vertices))
		satisfied := 0
		for _, perm := range perms {
			ok := true
			for _, l := range p.VertexLess {
				ok = ok && ids[perm[l[0]]] < ids[perm[l[1]]]
			}
			if !ok {
				continue
			}
			satisfied++
			for _, other := range perms {
				for v := range perm {
					if a, b := ids[other[v]], ids[perm[v]]; a != b {
						if a < b {
							t.Fatalf("%s: the representative is not the smallest", describe(q))
						}
						break
					}
				}
			}
		}
		if satisfied != 1 {
			t.Fatalf("%s: %d representatives of one orbit", describe(q), satisfied)
		}
	}
}

// edgeKind tells pattern edges between the same vertices apart, or not.
type edgeKind struct {
	from, to int    // sorted when the edge matches in either direction
	labels   string // condition.Labels.Key
	either   bool
}

func edgeKindOf(q *matcher.Query, e int) edgeKind {
	qe := q.Edges[e]
	k := edgeKind{qe.From, qe.To, qe.Labels().Key(), qe.Either}
	if k.either && k.from > k.to {
		k.from, k.to = k.to, k.from
	}
	return k
}

// automorphismsByTrying returns all permutations of the vertices that keep labels and edges.
func automorphismsByTrying(q *matcher.Query) (all [][]int) {
	count := map[edgeKind]int{}
	for i := range q.Edges {
		count[edgeKindOf(q, i)]++
	}
	var try func(perm []int)
	try = func(perm []int) {
		if len(perm) < len(q.Vertices) {
		next:
			for w := range q.Vertices {
				for _, x := range perm {
					if x == w {
						continue next
					}
				}
				if q.Vertices[len(perm)].Label == q.Vertices[w].Label {
					try(append(perm[:len(perm):len(perm)], w))
				}
			}
			return
		}
		for k, n := range count {
			k.from, k.to = perm[k.from], perm[k.to]
			if k.either && k.from > k.to {
				k.from, k.to = k.to, k.from
			}
			if count[k] != n {
				return
			}
		}
		all = append(all, perm)
	}
	try(nil)
	return all
}

// TestMustDiffer covers which vertices a data vertex could fit both of: those of one label, and those of any.
func TestMustDiffer(t *testing.T) {
	a, b := dyngraph.LabelID(3), dyngraph.LabelID(4)
	require.Equal(t, []uint32{0b10100, 0b11000, 0b10001, 0b10010, 0b01111},
		mustDiffer(matcher.Isomorphism, []dyngraph.LabelID{a, b, a, b, matcher.AnyLabel}))
	require.Equal(t, []uint32{0b10, 0b01}, mustDiffer(matcher.Isomorphism,
		[]dyngraph.LabelID{matcher.UnknownLabel, matcher.UnknownLabel}))
	require.Equal(t, []uint32{0, 0}, mustDiffer(matcher.Trail, []dyngraph.LabelID{a, a}))
}

// TestEdgesMustDiffer covers which edges of a trail one data edge could fit: two with the same labels and directions
// that no edge of the pattern keeps apart.
func TestEdgesMustDiffer(t *testing.T) {
	g := payments(t)
	for text, want := range map[string][][]int{
		"MATCH (a)-[:TRANSFER]->(b)-[:TRANSFER]->(c)":                   {nil, nil}, // b would be a
		"MATCH (a)-[:TRANSFER]->(b)<-[:TRANSFER]-(c)":                   {{1}, {0}},
		"MATCH (a)-[:TRANSFER]->(b)<-[:PAYS]-(c)":                       {nil, nil},
		"MATCH (a)-[:TRANSFER]->(b)<--(c)":                              {{1}, {0}},
		"MATCH (a:Account)-->(b)<--(c:Person)":                          {nil, nil},
		"MATCH (a)-[:TRANSFER]-(b)-[:TRANSFER]->(c)":                    {{1}, {0}},
		"MATCH (a)-[:TRANSFER]->(b)<-[:TRANSFER]-(c), (a)-[:OWNS]->(c)": {nil, nil, nil}, // c would be a
		"MATCH (a)-->(b)-->(c)-->(d)":                                   {{2}, nil, {0}},
	} {
		q, err := pattern.Parse(pattern.Cypher, []byte(text), pattern.Options{Name: "q", Directed: true,
			MatchMode: matcher.Trail})
		require.NoError(t, err)
		p, err := New().Plan(q, g)
		require.NoError(t, err)
		require.Equal(t, want, p.EdgesMustDiffer, text)
		require.Equal(t, want[0] != nil, p.ComparesEdges(), text)
	}
}

// describe prints a pattern's vertices and edges.
func describe(q *matcher.Query) string { return fmt.Sprintf("%+v %+v", q.Vertices, q.Edges) }
