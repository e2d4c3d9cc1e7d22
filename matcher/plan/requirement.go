package plan

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
)

// Column is a kind of adjacency that is counted per data vertex: an edge label and a neighbour label, each possibly
// AnyLabel or a label set, seen from one side or both (GAMMA section IV-B; a column of the encoding table).
type Column struct {
	Dir  dyngraph.Dir
	Both bool // either direction
	Edge dyngraph.LabelID
	Nbr  dyngraph.LabelID
}

// Need is a lower bound on one column's count.
type Need struct {
	Column Column
	Count  uint32
	edge   int // a pattern edge that needs it, for explain
}

// Requirement is the test that a data vertex must pass to be a candidate of a pattern vertex. Pattern vertices with
// equal requirements, in any queries, are a class and share one candidate bit (DESIGN A5; package candidates).
type Requirement struct {
	Label dyngraph.LabelID
	Needs []Need
}

// RequirementOf returns the requirement of pattern vertex v: its label, and for each kind of incident pattern edge the
// number of them. Distinct pattern edges map to distinct data edges, so a data vertex with fewer cannot be its image.
// Of a homomorphism one data edge suffices.
func RequirementOf(p *matcher.Plan, v int) Requirement {
	r := Requirement{Label: p.VertexLabels[v]}
	for i, e := range p.Query.Edges {
		if e.From != v && e.To != v {
			continue
		}
		col := Column{Edge: p.EdgeLabels[i], Nbr: p.VertexLabels[e.From+e.To-v]}
		if p.Directed {
			col.Both = e.Either
			if !e.Either && v == e.To {
				col.Dir = dyngraph.In
			}
		}
		at := slices.IndexFunc(r.Needs, func(n Need) bool { return n.Column == col })
		if at < 0 {
			r.Needs = append(r.Needs, Need{Column: col, Count: 1, edge: i})
		} else if p.Query.MatchMode != matcher.Homomorphism {
			r.Needs[at].Count++
		}
	}
	slices.SortFunc(r.Needs, func(a, b Need) int { return a.Column.compare(b.Column) })
	return r
}

func (c Column) compare(o Column) int {
	return cmp.Or(cmp.Compare(c.Dir, o.Dir), cmp.Compare(c.side(), o.side()),
		matcher.CompareLabels(c.Edge, o.Edge), matcher.CompareLabels(c.Nbr, o.Nbr))
}

// side is 1 for a column of either direction, else 0.
func (c Column) side() uint32 {
	if c.Both {
		return 1
	}
	return 0
}

// Key is equal for equal requirements, and only for these.
func (r Requirement) Key() string {
	b := binary.LittleEndian.AppendUint32(nil, uint32(r.Label))
	for _, n := range r.Needs {
		col := n.Column
		for _, x := range [...]uint32{uint32(col.Dir)<<1 | col.side(), uint32(col.Edge), uint32(col.Nbr), n.Count} {
			b = binary.LittleEndian.AppendUint32(b, x)
		}
	}
	return string(b)
}

// Impossible reports whether the requirement names a label that the graph has never seen.
func (r Requirement) Impossible() bool {
	return r.Label == matcher.UnknownLabel || slices.ContainsFunc(r.Needs, func(n Need) bool {
		return n.Column.Edge == matcher.UnknownLabel || n.Column.Nbr == matcher.UnknownLabel
	})
}

// text renders the need of pattern vertex v for explain.
func (n Need) text(p *matcher.Plan, v int) string {
	e := p.Query.Edges[n.edge]
	other := labelsText(p.Query.Vertices[e.From+e.To-v].Labels())
	return fmt.Sprintf(">=%d %s(%s)", n.Count, edgeText(p, n.edge, v), other)
}
