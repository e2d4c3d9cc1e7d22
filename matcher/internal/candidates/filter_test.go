package candidates

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
)

// TestFilterAgainstRecount plays the maintained filter against one that counts the graph anew, through batches that
// are committed or aborted and queries that come and go. While a batch is staged the bits must hold in both views.
func TestFilterAgainstRecount(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	labels := matchertest.Labels{Vertex: []string{"Account", "Person"}, Edge: []string{"", "TRANSFER"}}
	generations := map[int]int{}
	dormant, woken, long := 0, uint64(0), 0
	for range 30 {
		g := dyngraph.NewGraph(dyngraph.Options{Directed: rng.IntN(3) > 0})
		f := new(Filter)
		f.Load(g)
		var plans []*matcher.Plan
		for range 25 {
			if rng.IntN(3) == 0 {
				switch {
				case rng.IntN(6) == 0:
					plans = nil
				case len(plans) > 0 && rng.IntN(3) == 0:
					plans = plans[1:]
				}
				for range []int{1, 1, 1, 20}[rng.IntN(4)] {
					q := matchertest.RandomQueryOf(rng, 2+rng.IntN(4), "q", g.Directed(), labels)
					if rng.IntN(6) == 0 {
						q = randomStar(rng)
					}
					for i := range q.Edges {
						q.Edges[i].Either = q.Edges[i].Either || !g.Directed()
					}
					p, err := plan.New().Plan(q, g)
					if err != nil {
						t.Fatal(err)
					}
					plans = append(plans, p)
				}
				f.Prepare(plans)
				generations[f.Generation()]++
			}
			taken, _ := g.Accept(randomMessages(rng))
			d, err := g.Stage(taken)
			if err != nil {
				t.Fatal(err)
			}
			if rng.IntN(2) == 0 {
				f.Wake() // what Stage does anyway
			}
			f.Stage(d)
			checkFilter(t, g, f, plans, dyngraph.Old, false)
			checkFilter(t, g, f, plans, dyngraph.New, false)
			if rng.IntN(4) == 0 {
				f.Abort()
				g.Abort()
			} else {
				f.Commit()
				g.Commit()
			}
			checkFilter(t, g, f, plans, dyngraph.New, true)
			dormant += len(f.dormant)
			for i := range f.classes {
				if c := &f.classes[i]; len(c.asks) > 4 && c.fit > 0 {
					long++
				}
			}
		}
		woken += f.Woken()
	}
	if long == 0 {
		t.Error("no vertex fits a class that asks for much")
	}
	if dormant == 0 || woken == 0 {
		t.Errorf("plans were dormant %d times and woken %d times", dormant, woken)
	}
	if len(generations) < 2 {
		t.Errorf("classes were never numbered anew: %v", generations)
	}
}

// TestA13ConditionsOnVerticesAreInTheBits plays the filter against a recount where queries have conditions on vertices
// and batches revise these. The bit of a vertex that is not revised tells exactly whether it meets the conditions.
func TestA13ConditionsOnVerticesAreInTheBits(t *testing.T) {
	flipped, renumbered := false, false
	seen := func() bool { return flipped && renumbered } // few cases renumber classes
	matchertest.ForSeedsUntil(t, 8, seen, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCaseWhere(rng, 6, rng.IntN(2) == 0)
		g, f := c.Graph(), new(Filter)
		f.Load(g)
		var plans []*matcher.Plan
		for _, msgs := range c.Batches {
			if rng.IntN(2) == 0 {
				plans = nil
				for range rng.IntN(12) * rng.IntN(12) { // many, and then few: classes are numbered anew
					p, err := plan.New().Plan(c.Queries[rng.IntN(len(c.Queries))], g)
					require.NoError(t, err)
					plans = append(plans, p)
				}
				f.Prepare(plans)
				renumbered = renumbered || f.Generation() > 0
			}
			taken, _ := g.Accept(msgs)
			d, err := g.Stage(taken)
			require.NoError(t, err)
			f.Stage(d)
			checkFilter(t, g, f, plans, dyngraph.Old, false)
			checkFilter(t, g, f, plans, dyngraph.New, false)
			flipped = checkNotRevised(t, g, f, plans, d) || flipped
			if rng.IntN(4) == 0 {
				f.Abort()
				g.Abort()
			} else {
				f.Commit()
				g.Commit()
			}
			checkFilter(t, g, f, plans, dyngraph.New, true)
		}
	})
}

// checkNotRevised checks that vertices which are not revised meet the conditions of the classes whose bits they have.
// It reports whether a bit is left of a revised vertex that meets them in one view only.
func checkNotRevised(t *testing.T, g *dyngraph.Graph, f *Filter, plans []*matcher.Plan,
	d *dyngraph.Delta) (flipped bool) {
	for _, which := range []dyngraph.Which{dyngraph.Old, dyngraph.New} {
		view := g.View(which)
		for v := range view.VerticesSeq() {
			_, revised := d.RevisionOf(v)
			for _, p := range plans {
				for u := range p.Query.Vertices {
					if !f.Test(p, u).Of(f.Bits()[int(v)*f.Words():]) || p.Asked[u].Meets(view, v, nil) {
						continue
					}
					require.True(t, revised, "vertex %s has a bit and does not meet the conditions", view.Key(v))
					flipped = true
				}
			}
		}
	}
	return flipped
}

// randomStar draws a pattern whose first vertex asks for much.
func randomStar(rng *rand.Rand) *matcher.Query {
	labels, edges := []string{"", "Account", "Person"}, []string{"", "TRANSFER"}
	q := &matcher.Query{Name: "q", Version: 1, Vertices: []matcher.QueryVertex{{Name: "v"}}}
	for i := range 5 + rng.IntN(3) {
		q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("v", i), Label: labels[i%3]})
		e := matcher.QueryEdge{Name: fmt.Sprint("e", i), From: 0, To: i + 1, Label: edges[i/3%2],
			Either: rng.IntN(3) > 0}
		if rng.IntN(2) == 0 {
			e.From, e.To = e.To, e.From
		}
		q.Edges = append(q.Edges, e)
	}
	return q
}

func randomMessages(rng *rand.Rand) []dyngraph.Message {
	labels := []string{"Account", "Person"}
	key := func() (string, string) {
		i := rng.IntN(12)
		return fmt.Sprint(i), labels[i%2]
	}
	var ms []dyngraph.Message
	for range rng.IntN(12) {
		a, al := key()
		b, bl := key()
		u := dyngraph.Update{Op: dyngraph.InsertEdge, From: a, FromLabel: al, To: b, ToLabel: bl,
			Label: []string{"", "TRANSFER"}[rng.IntN(2)]}
		switch rng.IntN(8) {
		case 0, 1:
			u = dyngraph.Update{Op: dyngraph.DeleteEdge, From: a, To: b, Label: u.Label}
		case 2:
			u = dyngraph.Update{Op: dyngraph.DeleteVertex, Key: a}
		}
		ms = append(ms, dyngraph.Message{Updates: []dyngraph.Update{u}})
	}
	return ms
}

// checkFilter compares the bits with the view: exactly, or as an upper bound. The bits of classes that only dormant
// plans have need not be there.
func checkFilter(t *testing.T, g *dyngraph.Graph, f *Filter, plans []*matcher.Plan, which dyngraph.Which, exact bool) {
	t.Helper()
	view := g.View(which)
	row := make([]uint64, f.NumberWords())
	fit := map[*matcher.Plan]uint64{}
	needed := map[int]bool{}
	for _, p := range plans {
		for u := range p.Query.Vertices {
			needed[f.Class(p, u)] = needed[f.Class(p, u)] || !f.Dormant(p)
		}
		if f.Dormant(p) && hasAllEdges(g, view, p) {
			t.Fatalf("dormant, though each pattern edge has a data edge: %v", p)
		}
	}
	for v := range view.VerticesSeq() {
		for _, p := range plans {
			for u := range p.Query.Vertices {
				if f.Test(p, u).Of(f.Bits()[int(v)*f.Words():]) {
					fit[p] |= 1 << u
				}
				want := satisfies(g, view, v, plan.RequirementOf(p, u)) && p.Asked[u].Meets(view, v, nil)
				got := f.Test(p, u).Of(f.Bits()[int(v)*f.Words():])
				class := f.Class(p, u)
				if f.ByNumber(v, row); row[class/64]>>(class%64)&1 == 1 != got {
					t.Fatalf("vertex %s for %s: bit %t, by number %t", view.Key(v), p.Query.Vertices[u].Label, got,
						!got)
				}
				if !needed[class] && !got {
					continue
				}
				if want && !got || exact && got != want {
					t.Fatalf("vertex %s for %s: bit %t, want %t", view.Key(v), p.Query.Vertices[u].Label, got, want)
				}
			}
		}
	}
	for _, p := range plans {
		for u := range p.Query.Vertices {
			each := map[dyngraph.VertexID]bool{}
			f.Each(p, u, func(v dyngraph.VertexID) { each[v] = true })
			for v := range view.VerticesSeq() {
				if got := f.Test(p, u).Of(f.Bits()[int(v)*f.Words():]); got != each[v] {
					t.Fatalf("vertex %s for %s: bit %t, by Each %t", view.Key(v), p.Query.Vertices[u].Label, got,
						each[v])
				}
			}
		}
		if got, want := int(*f.Missing(p)), len(p.Query.Vertices)-bits.OnesCount64(fit[p]); exact && got != want ||
			got > want {
			t.Fatalf("%d vertices are missing, want %d", got, want)
		}
	}
}

// hasAllEdges tells whether each edge of the pattern is fit by a data edge.
func hasAllEdges(g *dyngraph.Graph, view dyngraph.View, p *matcher.Plan) bool {
	for i, q := range p.Query.Edges {
		some := false
		for e := range view.EdgesSeq() {
			from, to, label := view.Edge(e)
			fits := func(a, b dyngraph.VertexID) bool {
				return matcher.LabelFits(p.VertexLabels[q.From], view.Label(a)) &&
					matcher.LabelFits(p.VertexLabels[q.To], view.Label(b)) && matcher.LabelFits(p.EdgeLabels[i], label)
			}
			some = some || fits(from, to) || (q.Either || !g.Directed()) && fits(to, from)
		}
		if !some {
			return false
		}
	}
	return true
}

func satisfies(g *dyngraph.Graph, view dyngraph.View, v dyngraph.VertexID, r plan.Requirement) bool {
	if !matcher.LabelFits(r.Label, view.Label(v)) {
		return false
	}
	for _, n := range r.Needs {
		have := uint32(0)
		for e := range view.EdgesSeq() {
			from, to, label := view.Edge(e)
			if !matcher.LabelFits(n.Column.Edge, label) {
				continue
			}
			col := n.Column
			if from == v && (col.Both || col.Dir == dyngraph.Out) && matcher.LabelFits(col.Nbr, view.Label(to)) {
				have++
			}
			if to == v && (!g.Directed() || col.Both || col.Dir == dyngraph.In) &&
				matcher.LabelFits(col.Nbr, view.Label(from)) {
				have++
			}
		}
		if have < n.Count {
			return false
		}
	}
	return true
}
