package matchertest

import (
	"fmt"
	"math/big"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
)

// ClosedForm is a pattern and a graph of which a formula tells the number of matches. Nobody can enumerate them: they
// are up to 10^80.
type ClosedForm struct {
	Name     string
	Directed bool
	Query    *matcher.Query
	Load     []dyngraph.Update // a graph
	Change   []dyngraph.Update // one edge more
	Before   *big.Int          // embeddings in the graph
	After    *big.Int          // and with the change
	Symmetry *big.Int          // embeddings for each subgraph
}

// ClosedForms returns the closed forms: paths, double brooms, complete bipartite graphs, hubs and stars whose leaves
// may meet, with pattern edges that take any label, any direction, or are parallel.
func ClosedForms() (all []*ClosedForm) {
	for _, labels := range []int{1, 2, 5} {
		all = append(all, pathOfLayers(labels))
	}
	for _, directed := range []bool{true, false} {
		for _, labels := range []int{1, 2} {
			all = append(all, doubleBroom(directed, labels), bipartite(directed, labels))
		}
	}
	return append(
		all,
		directedHub(1, false),
		directedHub(3, false),
		directedHub(2, true),
		labelledStar(1),
		labelledStar(2),
		doubledStar(true),
		doubledStar(false),
	)
}

// Play drives an engine through a closed form: the graph in one batch, the edge that comes and goes, and the whole
// graph.
func (f *ClosedForm) Play(t *testing.T, backend func() matcher.Backend, planner matcher.Planner, budget uint64) {
	t.Helper()
	for _, unit := range []matcher.Unit{matcher.Embeddings, matcher.Subgraphs} {
		d := NewDriver(t, f.Directed, backend(), planner)
		q := *f.Query
		q.Unit, q.WorkBudget = unit, budget
		per := big.NewInt(1)
		if unit == matcher.Subgraphs {
			per = f.Symmetry
		}
		check := func(what string, out *Output, want *big.Int) {
			t.Helper()
			got := new(big.Int)
			for _, r := range out.Records {
				if r.Kind == matcher.EventNotice {
					t.Fatalf("%s, unit %d, %s: %+v", f.Name, unit, what, r)
				}
				n := r.Count.Big()
				if r.Sign == dyngraph.Deleted {
					n.Neg(n)
				}
				got.Add(got, n)
			}
			if got.Mul(got, per).Cmp(want) != 0 {
				t.Fatalf("%s, unit %d, %s: counted %v, there are %v", f.Name, unit, what, got, want)
			}
		}
		more := new(big.Int).Sub(f.After, f.Before)
		check("registration", d.Register(&q), new(big.Int))
		check("load", d.Batch([]dyngraph.Message{{Updates: f.Load}}), f.Before)
		check("insertion", d.Batch([]dyngraph.Message{{Updates: f.Change}}), more)
		again := q
		again.Name, again.Backfill = "all", matcher.BackfillFull
		check("snapshot", d.Register(&again), f.After)
		d.Remove(again.Name)
		var away []dyngraph.Update
		for _, u := range f.Change {
			u.Op = dyngraph.DeleteEdge
			away = append(away, u)
		}
		check("deletion", d.Batch([]dyngraph.Message{{Updates: away}}), new(big.Int).Neg(more))
	}
}

func (f *ClosedForm) vertex(label string) int {
	f.Query.Vertices = append(
		f.Query.Vertices,
		matcher.QueryVertex{Name: fmt.Sprint("u", len(f.Query.Vertices)), Label: label},
	)
	return len(f.Query.Vertices) - 1
}

func (f *ClosedForm) edge(from, to int) {
	f.Query.Edges = append(
		f.Query.Edges,
		matcher.QueryEdge{Name: fmt.Sprint("e", len(f.Query.Edges)), From: from, To: to, Either: !f.Directed},
	)
}

// leaves adds leaves of a label to a vertex.
func (f *ClosedForm) leaves(n, of int, label string) {
	for range n {
		f.edge(of, f.vertex(label))
	}
}

// load adds an edge, of a label, between two vertices whose labels their keys begin with.
func (f *ClosedForm) load(from, to string, label int) {
	f.Load = append(f.Load, insertion(from, to, label))
}

func insertion(from, to string, label int) dyngraph.Update {
	return dyngraph.Update{
		Op:        dyngraph.InsertEdge,
		From:      from,
		To:        to,
		Label:     fmt.Sprint("t", label),
		FromLabel: from[:1],
		ToLabel:   to[:1],
	}
}

func newClosedForm(directed bool, name string, args ...any) *ClosedForm {
	return &ClosedForm{
		Name:     fmt.Sprintf(name, args...),
		Directed: directed,
		Query:    &matcher.Query{Name: "q", Emit: matcher.EmitCounts},
	}
}

func power(n, k int64) *big.Int { return new(big.Int).Exp(big.NewInt(n), big.NewInt(k), nil) }

// falling is n (n-1) ... (n-k+1).
func falling(n, k int64) *big.Int {
	if k > n {
		return new(big.Int)
	}
	return new(big.Int).MulRange(n-k+1, n)
}

func times(of ...*big.Int) *big.Int {
	n := big.NewInt(1)
	for _, x := range of {
		n.Mul(n, x)
	}
	return n
}

// pathOfLayers has a path of 8 vertex labels for a pattern. The graph has 8 layers of 15 vertices, one layer for each
// label. Each vertex is joined to all of the next layer; the edges have the given number of labels. One edge is
// parallel to another.
func pathOfLayers(labels int) *ClosedForm {
	f := newClosedForm(true, "path, %d labels", labels)
	const n = 15
	for layer, l := range "ABCDEFGH" {
		if v := f.vertex(string(l)); v > 0 {
			f.edge(v-1, v)
		}
		for i := range n {
			for j := range n {
				if layer > 0 {
					f.load(fmt.Sprint(string("ABCDEFGH"[layer-1]), i), fmt.Sprint(string(l), j), (i+j+layer)%labels)
				}
			}
		}
	}
	f.Change = append(f.Change, insertion("C3", "D4", 9))
	f.Before, f.Symmetry = power(n, 8), big.NewInt(1)
	f.After = new(big.Int).Add(f.Before, power(n, 6))
	return f
}

// doubleBroom is two hubs with 10 leaves each, in a graph of two joined hubs with 499 and 699 other neighbours, of
// which they share 200. One edge more is one that they share more.
func doubleBroom(directed bool, labels int) *ClosedForm {
	f := newClosedForm(directed, "double broom, directed %v, %d labels", directed, labels)
	a, b := f.vertex(""), f.vertex("")
	f.edge(a, b)
	f.leaves(10, a, "")
	f.leaves(10, b, "")
	f.load("h1", "h2", 0)
	for i := range 998 {
		if key := fmt.Sprint("k", i); i < 499 {
			f.load("h1", key, i%labels)
		}
		if key := fmt.Sprint("k", i); i >= 299 {
			f.load("h2", key, 0)
		}
	}
	f.Change = append(f.Change, insertion("h2", "k0", 0))
	count := func(only, both, other int64) *big.Int {
		n := new(big.Int)
		for j := int64(0); j <= 10; j++ {
			n.Add(n, times(new(big.Int).Binomial(10, j), falling(only, 10-j), falling(both, j),
				falling(both+other-j, 10)))
		}
		if !directed { // either hub is the first
			n.Mul(n, big.NewInt(2))
		}
		return n
	}
	f.Before, f.After = count(299, 200, 499), count(298, 201, 499)
	f.Symmetry = times(falling(10, 10), falling(10, 10))
	if !directed {
		f.Symmetry.Mul(f.Symmetry, big.NewInt(2))
	}
	return f
}

// bipartite is K2,10 in K2,60, and then in K2,61 less an edge that comes.
func bipartite(directed bool, labels int) *ClosedForm {
	f := newClosedForm(directed, "K2,10, directed %v, %d labels", directed, labels)
	a, b := f.vertex(""), f.vertex("")
	for range 10 {
		v := f.vertex("")
		f.edge(a, v)
		f.edge(b, v)
	}
	for i := range 61 {
		f.load("h1", fmt.Sprint("k", i), i%labels)
		if i < 60 {
			f.load("h2", fmt.Sprint("k", i), 0)
		}
	}
	f.Change = append(f.Change, insertion("h2", "k60", 0))
	two := big.NewInt(2)
	f.Before, f.After, f.Symmetry = times(two, falling(60, 10)), times(two, falling(61, 10)),
		times(two, falling(10, 10))
	return f
}

// directedHub is a hub with 10 leaves that lead to it and 14 that it leads to, in a graph of a hub with 300 and 400
// neighbours; of these it shares 100 if both is set. One edge more is one to the hub.
func directedHub(labels int, both bool) *ClosedForm {
	f := newClosedForm(true, "directed hub, %d labels, shared %v", labels, both)
	hub := f.vertex("")
	for range 10 {
		f.edge(f.vertex(""), hub)
	}
	f.leaves(14, hub, "")
	shared := int64(0)
	if both {
		shared = 100
	}
	for i := range int64(300) {
		f.load(fmt.Sprint("i", i), "h", int(i)%labels)
	}
	for i := range int64(400) {
		if key := fmt.Sprint("o", i); i >= shared {
			f.load("h", key, int(i)%labels)
		} else {
			f.load("h", fmt.Sprint("i", i), int(i)%labels)
		}
	}
	f.Change = append(f.Change, insertion("o399", "h", 0))
	count := func(in, both, out int64) *big.Int {
		n := new(big.Int)
		for j := int64(0); j <= 10; j++ {
			n.Add(n, times(new(big.Int).Binomial(10, j), falling(in, 10-j), falling(both, j), falling(both+out-j, 14)))
		}
		return n
	}
	f.Before, f.After = count(300-shared, shared, 400-shared), count(300-shared, shared+1, 399-shared)
	f.Symmetry = times(falling(10, 10), falling(14, 14))
	return f
}

// labelledStar is a hub with 5 leaves of each of three labels, and 5 of any, in a graph of a hub with 40, 50 and 60 of
// these labels and 30 of another. One edge more is one of a label.
func labelledStar(labels int) *ClosedForm {
	f := newClosedForm(true, "star of 5+5+5 and 5, %d labels", labels)
	hub := f.vertex("")
	for _, l := range []string{"A", "B", "C", ""} {
		f.leaves(5, hub, l)
	}
	for l, n := range map[string]int{"A": 40, "B": 50, "C": 60, "D": 30} {
		for i := range n {
			f.load("h", fmt.Sprint(l, i), i%labels)
		}
	}
	f.Change = append(f.Change, insertion("h", "B50", 0))
	count := func(a, b, c, d int64) *big.Int {
		return times(falling(a, 5), falling(b, 5), falling(c, 5), falling(a+b+c+d-15, 5))
	}
	f.Before, f.After = count(40, 50, 60, 30), count(40, 51, 60, 30)
	f.Symmetry = times(falling(5, 5), falling(5, 5), falling(5, 5), falling(5, 5))
	return f
}

// doubledStar is a hub with 8 leaves, each joined twice, in a graph of a hub with 60 neighbours that it is joined to by
// one to four edges. One edge more is a fourth one.
func doubledStar(directed bool) *ClosedForm {
	f := newClosedForm(directed, "star of doubled edges, directed %v", directed)
	hub := f.vertex("")
	for range 8 {
		v := f.vertex("")
		f.edge(hub, v)
		f.edge(hub, v)
	}
	edges := make([]int64, 60)
	for i := range edges {
		edges[i] = int64(1 + i%4)
		for l := range edges[i] {
			f.load("h", fmt.Sprint("k", i), int(l))
		}
	}
	f.Change = append(f.Change, insertion("h", "k2", 7))
	count := func() *big.Int {
		choices := make([]*big.Int, 9) // choices[k]: sets of k leaves
		for k := range choices {
			choices[k] = new(big.Int)
		}
		choices[0].SetInt64(1)
		for _, n := range edges {
			for k := 8; k > 0; k-- {
				choices[k].Add(choices[k], times(choices[k-1], falling(n, 2)))
			}
		}
		return times(choices[8], falling(8, 8))
	}
	f.Before = count()
	edges[2]++
	f.After = count()
	f.Symmetry = times(falling(8, 8), power(2, 8))
	return f
}
