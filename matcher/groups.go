package matcher

import (
	"fmt"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher/condition"
)

// Groups are the stages of a query with WITH (DESIGN S24). A match of such a query is an assignment of its keys, which
// are Query.Vertices and Query.Edges, for which the conditions behind each WITH are true.
type Groups struct {
	// Vertices and Edges are the elements of all stages. Those of MATCH clauses, conditions and aggregates are indexes
	// of them; those of conditions behind WITH and of fields are indexes of the query's keys.
	Vertices []QueryVertex `json:"vertices"`
	Edges    []QueryEdge   `json:"edges"`
	Stages   []Stage       `json:"stages"`
	// Shown are the keys whose values records show: those that RETURN lists, or all without RETURN. They are indexes
	// of the query's vertices and edges. A match that goes on is changed if a declared value of a shown key differs,
	// or one of Query.Fields (EmitsChanges).
	Shown []condition.Ref `json:"shown,omitempty"`
}

// MaxStages bounds the WITHs of a query.
const MaxStages = 4

// Stage is a WITH and the clauses before it. Its rows are the joins of the matches of its MATCH clauses that meet
// Conditions. They are grouped by the keys; a group has one row at least.
type Stage struct {
	Matches    []MatchClause          `json:"matches"`
	Conditions []*condition.Condition `json:"conditions,omitempty"`
	// Rises and Spans are the demands on the ts of edges and paths, as in Query. A condition that reads a path holds
	// for each of its edges.
	Rises []Rise `json:"rises,omitempty"`
	Spans []Span `json:"spans,omitempty"`
	// Negations block rows (DESIGN S25): a row that one of them blocks in a view is none of the stage there. The core
	// is the elements of all stages, of which a negation names and reads those that the stage binds.
	Negations []Negation `json:"negations,omitempty"`
	// Vertices and Edges are the keys, as indexes of Groups.Vertices and Groups.Edges. A stage has those of the one
	// before it, and perhaps others behind them.
	Vertices   []int       `json:"vertices,omitempty"`
	Edges      []int       `json:"edges,omitempty"`
	Aggregates []Aggregate `json:"aggregates"`
	// Having is the condition behind the WITH.
	Having []*condition.Condition `json:"having,omitempty"`
}

// MatchClause is a pattern of its own: its vertices and its edges are mapped injectively. Across clauses nothing is.
type MatchClause struct {
	Vertices []int `json:"vertices"`
	Edges    []int `json:"edges"`
}

// validateGroups is Validate for a query with WITH.
func (q *Query) validateGroups(directed bool) error {
	g := q.Groups
	if err := checkName(q.Name); err != nil {
		return q.bad("its name %v", err)
	}
	union := Query{Name: q.Name, Vertices: g.Vertices, Edges: g.Edges}
	if err := union.CheckPattern(directed); err != nil {
		return err
	}
	if n := len(g.Stages); n < 1 || n > MaxStages {
		return q.bad("it has %d WITHs; a query has 1 to %d", n, MaxStages)
	}
	for s := range g.Stages {
		if err := g.Stages[s].check(g, directed); err != nil {
			return q.bad("WITH %d %v", s+1, err)
		}
	}
	last := &g.Stages[len(g.Stages)-1]
	if len(last.Vertices) != len(q.Vertices) || len(last.Edges) != len(q.Edges) {
		return q.bad("its keys are not those of the last WITH")
	}
	if n := g.Negations(); n > MaxNegations {
		return q.bad("it has %d negations; a query has at most %d", n, MaxNegations)
	}
	known := 0
	for s := range g.Stages {
		at := &g.Stages[s]
		known += len(at.Aggregates)
		if v, e := len(at.Vertices), len(at.Edges); v > len(last.Vertices) || e > len(last.Edges) ||
			!slices.Equal(at.Vertices, last.Vertices[:v]) || !slices.Equal(at.Edges, last.Edges[:e]) ||
			s > 0 && (v < len(g.Stages[s-1].Vertices) || e < len(g.Stages[s-1].Edges)) {
			return q.bad("WITH %d has keys that a later one has not", s+1)
		}
		for _, c := range at.Having {
			if err := q.checkElements(c.Elements); err != nil {
				return q.bad("%v", err)
			}
			for _, r := range c.Elements {
				switch {
				case r.Aggregate && r.Index >= known:
					return q.bad("WITH %d reads an aggregate of a later one", s+1)
				case r.Edge && r.Index >= len(at.Edges), !r.Aggregate && !r.Edge && r.Index >= len(at.Vertices):
					return q.bad("WITH %d reads a key of a later one", s+1)
				}
			}
		}
	}
	if err := q.checkFields(); err != nil {
		return q.bad("%v", err)
	}
	if err := q.checkElements(g.Shown); err != nil {
		return q.bad("%v", err)
	}
	switch {
	case len(q.Conditions) > 0:
		return q.bad("it has conditions outside its stages")
	case q.Within > 0:
		return q.bad("within is about the edges of a match, and one behind WITH has its keys alone; bind a pivot " +
			"edge as a key and write WHERE t.ts <= o.ts AND o.ts - t.ts <= $day")
	case q.EmitsChanges() && q.Once != nil:
		return q.bad("once emits positives only, and on_change: emit, which upsert implies, tells of changes of " +
			"matches; leave out once, or write a changelog with on_change: silent")
	}
	return nil
}

// EmitsChanges reports whether the query emits matches that go on and show another value (DESIGN S24): it has WITH and
// on_change: emit.
func (q *Query) EmitsChanges() bool { return q.Groups != nil && !q.SilentChange }

// check checks that all indexes of a stage are those of elements.
func (s *Stage) check(g *Groups, directed bool) error {
	within := func(all []int, n int) error {
		for _, i := range all {
			if i < 0 || i >= n {
				return fmt.Errorf("names element %d; there are %d", i, n)
			}
		}
		return nil
	}
	for _, m := range append(slices.Clone(s.Matches), MatchClause{s.Vertices, s.Edges}) {
		if err := within(m.Vertices, len(g.Vertices)); err != nil {
			return err
		}
		if err := within(m.Edges, len(g.Edges)); err != nil {
			return err
		}
	}
	union := g.ofStage(s)
	for _, c := range s.Conditions {
		if err := union.checkElements(c.Elements); err != nil {
			return err
		}
	}
	if err := union.checkRead(); err != nil {
		return err
	}
	if err := s.checkNegations(union, directed); err != nil {
		return err
	}
	isPath := func(r condition.Ref) bool { return r.Edge && g.Edges[r.Index].Hops != nil }
	switch {
	case slices.ContainsFunc(s.Edges, func(e int) bool { return g.Edges[e].Hops != nil }):
		return fmt.Errorf("has a path for a key")
	case len(s.Matches) == 0:
		return fmt.Errorf("has no MATCH before it")
	case len(s.Vertices)+len(s.Edges) == 0:
		return fmt.Errorf("has no key")
	case len(s.Aggregates) == 0:
		return fmt.Errorf("has no aggregate")
	}
	for i := range s.Aggregates {
		a := &s.Aggregates[i]
		if err := a.check(); err != nil {
			return err
		}
		if err := union.checkElements(a.elements()); err != nil {
			return err
		}
		if slices.ContainsFunc(a.elements(), isPath) {
			return fmt.Errorf("has the aggregate %q of a path; paths are not aggregated", a.Name)
		}
	}
	return nil
}

// Competing returns the first MATCH clause with pattern edges that compete for one data edge (see Query.Competing), the
// edge and why; -1 if there is none.
func (g *Groups) Competing(directed bool) (edge int, text string) {
	for s := range g.Stages {
		for _, m := range g.Stages[s].Matches {
			var edges []QueryEdge
			for _, e := range m.Edges {
				edges = append(edges, g.Edges[e])
			}
			if e, text := (&Query{Vertices: g.Vertices, Edges: edges}).Competing(directed); text != "" {
				return m.Edges[e], text
			}
		}
	}
	return -1, ""
}

// all returns the elements and the row conditions of the query as those of a pattern.
func (g *Groups) union(name string) *Query {
	u := &Query{Name: name, Vertices: g.Vertices, Edges: g.Edges}
	for s := range g.Stages {
		u.Conditions = append(u.Conditions, g.Stages[s].Conditions...)
		u.Negations = append(u.Negations, g.Stages[s].Negations...)
		for _, a := range g.Stages[s].Aggregates {
			if a.Formula != nil {
				u.Fields = append(u.Fields, Field{Name: a.Name, Formula: a.Formula})
			}
		}
	}
	return u
}

// GroupPlan has the labels, columns and conditions that a query with WITH reads of a graph.
type GroupPlan struct {
	VertexLabels []dyngraph.LabelID // by Groups.Vertices, as in Plan
	EdgeLabels   []dyngraph.LabelID // by Groups.Edges
	Stages       []StagePlan
	Fields       [][]Read // by Query.Fields: where the slots of its formula are, by key; an aggregate has no column
}

// StagePlan has what a stage reads of a graph.
type StagePlan struct {
	Conditions []Condition // of Stage.Conditions
	Formulas   [][]Read    // by aggregate: where the slots of its formula are
	Negations  []NegationPlan
	Having     [][]Read // by condition behind WITH: where its slots are; an aggregate has no column
}

// PlanGroups resolves a query with WITH against a graph.
func PlanGroups(q *Query, g *dyngraph.Graph) (*GroupPlan, error) {
	return q.resolveGroups(declaration{g.Options().Schema, g.Columns(), g.VertexColumns()}, func(label string,
		anyOf []string) dyngraph.LabelID {
		return ResolveLabel(g, label, anyOf)
	})
}

func (q *Query) resolveGroups(d declaration, resolve func(string, []string) dyngraph.LabelID) (*GroupPlan, error) {
	p := &GroupPlan{}
	union := q.Groups.union(q.Name)
	for _, v := range union.Vertices {
		p.VertexLabels = append(p.VertexLabels, resolve(v.Label, v.AnyOf))
	}
	for _, e := range union.Edges {
		p.EdgeLabels = append(p.EdgeLabels, resolve(e.Label, e.AnyOf))
	}
	for s := range q.Groups.Stages {
		stage, of := &q.Groups.Stages[s], StagePlan{}
		for _, c := range stage.Conditions {
			reads, err := union.columns(d, c.Slots)
			if err != nil {
				return nil, err
			}
			of.Conditions = append(of.Conditions, Condition{Condition: c, Reads: reads})
		}
		for _, a := range stage.Aggregates {
			if a.Time != nil {
				if _, err := union.columns(d, a.Time.Slots); err != nil {
					return nil, err
				}
			}
			var reads []Read
			if a.Formula != nil {
				var err error
				if reads, err = union.columns(d, a.Formula.Slots); err != nil {
					return nil, err
				}
			}
			of.Formulas = append(of.Formulas, reads)
		}
		var err error
		if of.Negations, err = q.resolveNegations(s, d, resolve); err != nil {
			return nil, err
		}
		for _, c := range stage.Having {
			reads, err := q.columns(d, c.Slots)
			if err != nil {
				return nil, err
			}
			of.Having = append(of.Having, reads)
		}
		p.Stages = append(p.Stages, of)
	}
	for _, f := range q.Fields {
		var reads []Read
		if f.Formula != nil {
			var err error
			if reads, err = q.columns(d, f.Formula.Slots); err != nil {
				return nil, err
			}
		}
		p.Fields = append(p.Fields, reads)
	}
	return p, nil
}

// columns returns where slots of the query are.
func (q *Query) columns(d declaration, slots []condition.Slot) ([]Read, error) {
	reads := make([]Read, len(slots))
	for k, s := range slots {
		reads[k].Element = s.Element
		if s.Element.Aggregate {
			continue
		}
		column, err := q.read(d, s)
		if err != nil {
			return nil, err
		}
		reads[k].Column = column
	}
	return reads, nil
}

// sameGroups reports whether two queries group alike.
func sameGroups(a, b *Groups) bool {
	if a == nil || b == nil {
		return a == b
	}
	x, y := a.union(""), b.union("")
	if !samePattern(x, y) || len(a.Stages) != len(b.Stages) {
		return false
	}
	for i := range a.Stages {
		s, t := &a.Stages[i], &b.Stages[i]
		if !slices.EqualFunc(s.Matches, t.Matches, func(m, n MatchClause) bool {
			return slices.Equal(m.Vertices, n.Vertices) && slices.Equal(m.Edges, n.Edges)
		}) || !slices.Equal(s.Vertices, t.Vertices) || !slices.Equal(s.Edges, t.Edges) ||
			!sameConditions(a.ofStage(s), b.ofStage(t)) || !sameNegations(a.ofStage(s), b.ofStage(t)) ||
			!sameKeys(s.Having, t.Having) ||
			!slices.EqualFunc(s.Aggregates, t.Aggregates, sameAggregate) {
			return false
		}
	}
	return true
}

// misled reports whether some label would be resolved to another one.
func (p *GroupPlan) misled(q *Groups, g *dyngraph.Graph) bool {
	for i, v := range q.Vertices {
		if p.VertexLabels[i] != ResolveLabel(g, v.Label, v.AnyOf) {
			return true
		}
	}
	for i, e := range q.Edges {
		if p.EdgeLabels[i] != ResolveLabel(g, e.Label, e.AnyOf) {
			return true
		}
	}
	for s := range p.Stages {
		for i := range p.Stages[s].Negations {
			if p.Stages[s].Negations[i].misled(&q.Stages[s].Negations[i], g) {
				return true
			}
		}
	}
	return false
}
