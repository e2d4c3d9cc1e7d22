package plan

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
)

// Column is a kind of adjacency that the filter counts per data vertex: an edge label and a neighbour label, each
// possibly AnyLabel, seen from one side or both (GAMMA section IV-B; the columns of the encoding table).
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

// Class is what a data vertex must satisfy to be a candidate of a query vertex. Query vertices with equal
// requirements, in whatever query, share a class and its candidate bit (DESIGN A5).
type Class struct {
	Label dyngraph.LabelID
	Needs []Need
}

// Requirement returns the class of pattern vertex v: its label, and for each kind of incident pattern edge how many
// there are. Distinct pattern edges map to distinct data edges, so a data vertex with fewer cannot be its image.
func Requirement(p *matcher.Plan, v int) Class {
	c := Class{Label: p.VertexLabels[v]}
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
		at := slices.IndexFunc(c.Needs, func(n Need) bool { return n.Column == col })
		if at < 0 {
			c.Needs = append(c.Needs, Need{Column: col, Count: 1, edge: i})
		} else {
			c.Needs[at].Count++
		}
	}
	slices.SortFunc(c.Needs, func(a, b Need) int { return a.Column.compare(b.Column) })
	return c
}

func (c Column) compare(o Column) int {
	return cmp.Or(cmp.Compare(c.Dir, o.Dir), cmp.Compare(c.side(), o.side()), cmp.Compare(c.Edge, o.Edge), cmp.Compare(c.Nbr, o.Nbr))
}

// side is 1 for a column of either direction, else 0.
func (c Column) side() uint32 {
	if c.Both {
		return 1
	}
	return 0
}

// key identifies the class.
func (c Class) key() string {
	b := binary.LittleEndian.AppendUint32(nil, uint32(c.Label))
	for _, n := range c.Needs {
		for _, x := range [...]uint32{uint32(n.Column.Dir)<<1 | n.Column.side(), uint32(n.Column.Edge), uint32(n.Column.Nbr), n.Count} {
			b = binary.LittleEndian.AppendUint32(b, x)
		}
	}
	return string(b)
}

// impossible tells that the graph has no label that the class asks for.
func (c Class) impossible() bool {
	return c.Label == matcher.UnknownLabel || slices.ContainsFunc(c.Needs, func(n Need) bool {
		return n.Column.Edge == matcher.UnknownLabel || n.Column.Nbr == matcher.UnknownLabel
	})
}

func (n Need) text(p *matcher.Plan, v int) string {
	e := p.Query.Edges[n.edge]
	other := p.Query.Vertices[e.From+e.To-v].Label
	if other != "" {
		other = ":" + other
	}
	return fmt.Sprintf(">=%d %s(%s)", n.Count, edgeText(p, n.edge, v), other)
}
