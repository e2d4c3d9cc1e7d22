package candidates

import (
	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/internal/truths"
)

// Class returns the number of the class of pattern vertex v. The plan must have been given to Prepare.
func (f *Filter) Class(p *matcher.Plan, v int) int { return f.plans[p].classes[v] }

// Fit returns how many data vertices are candidates of pattern vertex v. The plan must have been given to Prepare.
func (f *Filter) Fit(p *matcher.Plan, v int) int { return f.classes[f.plans[p].classes[v]].fit }

// Each calls do with the data vertices that have the candidate bit of pattern vertex v. If the plan has no bits, these
// are the vertices that fit its label and own conditions in some view. The plan must have been given to Prepare.
func (f *Filter) Each(p *matcher.Plan, v int, do func(dyngraph.VertexID)) {
	classes := f.plans[p].classes
	if classes == nil {
		f.eachLabelled(p.VertexLabels[v], f.truths.OfVertex(p, v), do)
		return
	}
	c := &f.classes[classes[v]]
	if c.table == nil || c.fit == 0 {
		return
	}
	for _, v := range c.table.members {
		if v != dyngraph.NoVertex && f.candidates.has(v, &c.test) {
			do(v)
		}
	}
}

// AtMost returns a bound of the number of vertices that Each calls do with.
func (f *Filter) AtMost(p *matcher.Plan, v int) (n int) {
	if classes := f.plans[p].classes; classes != nil {
		return f.classes[classes[v]].fit
	}
	f.eachTable(p.VertexLabels[v], func(g *table) { n += len(g.members) - len(g.free) })
	return n
}

// MayFit reports whether Each would call do with a vertex, which must fit the label.
func (f *Filter) MayFit(p *matcher.Plan, v int, of dyngraph.VertexID) bool {
	if classes := f.plans[p].classes; classes != nil {
		return f.candidates.has(of, &f.classes[classes[v]].test)
	}
	test := f.truths.OfVertex(p, v)
	return test == nil || f.truths.EitherVertex(test, of)
}

// eachLabelled calls do with the data vertices that fit a label, and pass a test in some view if there is one.
func (f *Filter) eachLabelled(l dyngraph.LabelID, test *truths.Test, do func(dyngraph.VertexID)) {
	f.eachTable(l, func(g *table) {
		for _, v := range g.members {
			if v != dyngraph.NoVertex && (test == nil || f.truths.EitherVertex(test, v)) {
				do(v)
			}
		}
	})
}

// eachTable calls do with the tables of the data labels that satisfy a resolved label.
func (f *Filter) eachTable(l dyngraph.LabelID, do func(*table)) {
	if !matcher.SeveralLabels(l) {
		if int(l) < len(f.tables) && f.tables[l] != nil {
			do(f.tables[l])
		}
		return
	}
	for have, g := range f.tables {
		if g != nil && matcher.LabelFits(l, dyngraph.LabelID(have)) {
			do(g)
		}
	}
}

// Missing points to the number of pattern vertices of a plan that no data vertex fits. While it is not 0, neither view
// has a match. The plan must have been given to Prepare; the number is maintained until a Prepare without the plan, or
// another Generation.
func (f *Filter) Missing(p *matcher.Plan) *int32 { return &f.plans[p].missing }

// Change is a candidate bit that has changed.
type Change struct {
	Vertex dyngraph.VertexID
	Class  int32
}

// Changed returns the bits that the last Stage, Commit or Abort changed, until the next.
func (f *Filter) Changed() []Change { return f.changed }

// Generation changes when Prepare numbers the classes anew; until then a class keeps its number.
func (f *Filter) Generation() int { return f.generation }

// Test tells how the candidate bit of pattern vertex v is read. The plan must have been given to Prepare.
func (f *Filter) Test(p *matcher.Plan, v int) Test { return f.classes[f.plans[p].classes[v]].test }

// VertexTest returns the test of pattern vertex v on a data vertex alone, beside labels and edges; nil if there is
// none. The plan must have been given to Prepare. A candidate bit says that a vertex passes it in some view.
func (f *Filter) VertexTest(p *matcher.Plan, v int) *truths.Test { return f.truths.OfVertex(p, v) }

// EdgeTest returns the test of pattern edge e on a data edge alone, beside labels; nil if there is none. The plan must
// have been given to Prepare.
func (f *Filter) EdgeTest(p *matcher.Plan, e int) *truths.Test { return f.truths.Of(p, e) }

// Truths returns the words that tests of edges and vertices read.
func (f *Filter) Truths() *truths.Table { return &f.truths }

// Bits returns the candidate bits, Words words per vertex, valid until the next Prepare or Stage; a Test reads them.
func (f *Filter) Bits() []uint64 { return f.candidates.bits }

// Words returns the number of words of candidate bits per vertex.
func (f *Filter) Words() int { return f.candidates.words }

// Vertices returns the bound of the ids that there are candidate bits for.
func (f *Filter) Vertices() int { return len(f.candidates.bits) / max(1, f.candidates.words) }

// ByNumber fills row with the candidate bits of a vertex below Vertices, by class number: bit c%64 of word c/64 is that
// of class c. A row has NumberWords words.
func (f *Filter) ByNumber(v dyngraph.VertexID, row []uint64) { f.candidates.byNumber(int(v), row) }

// NumberWords returns the number of words of a row of bits by number, which may be more than there are classes.
func (f *Filter) NumberWords() int { return f.candidates.perVertex }
