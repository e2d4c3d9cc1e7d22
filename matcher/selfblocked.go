package matcher

import (
	"fmt"
	"slices"
	"strings"

	"motifd/matcher/condition"
)

// BlockedByItself returns edges of the core whose images are a blocker of each match, by own edge of the negation, or
// nil: what the negation asks for of labels, ends and values holds for these. has tells which edges each match has.
// Where the negation has conditions, a match may be without a blocker all the same, if a value is null.
func (q *Query) BlockedByItself(n *Negation, has func(edge int) bool) []int {
	m := selfMapping{q: q, n: n, has: has, vertices: slices.Repeat([]int{-1}, len(n.Vertices))}
	if !m.extend(0) {
		return nil
	}
	return m.edges
}

// warnBlocked warns of negations with conditions that every match meets itself. Those without are refused where they
// are written.
func (q *Query) warnBlocked() (warnings []string) {
	for stage, of := range q.denying() {
		core := q.coreEdges(stage)
		has := func(e int) bool {
			return slices.ContainsFunc(core, func(c QueryEdge) bool { return c.Name == of.Edges[e].Name })
		}
		for i := range of.Negations {
			n := &of.Negations[i]
			met := of.BlockedByItself(n, has)
			if met == nil {
				continue
			}
			var pairs []string
			for k, e := range met {
				pairs = append(pairs, fmt.Sprintf("%s as %s", of.Edges[e].Name, n.Edges[k].Name))
			}
			warnings = append(warnings, fmt.Sprintf("every match has what NOT EXISTS denies: its own %s; nothing will "+
				"match but where a value is missing; add a condition that they do not meet", strings.Join(pairs, ", ")))
		}
	}
	return warnings
}

// selfMapping maps a negation into its core.
type selfMapping struct {
	q        *Query
	n        *Negation
	has      func(edge int) bool
	vertices []int // by own vertex, as far as mapped; -1 for none
	edges    []int // by own edge
}

// extend maps the own edges from the i-th on, and reports whether all that the negation asks for holds then.
func (m *selfMapping) extend(i int) bool {
	if i == len(m.n.Edges) {
		return m.holds()
	}
	own := m.n.Edges[i]
	for e, of := range m.q.Edges {
		if of.Hops != nil || !m.has(e) || slices.Contains(m.edges, e) || !covers(own.Labels(), of.Labels()) {
			continue
		}
		if of.Either && !own.Either {
			continue // it may lead the other way
		}
		ends := [][2]int{{of.From, of.To}}
		if own.Either {
			ends = append(ends, [2]int{of.To, of.From})
		}
		for _, to := range ends {
			kept := slices.Clone(m.vertices)
			if m.mapVertex(own.From, to[0]) && m.mapVertex(own.To, to[1]) {
				m.edges = append(m.edges, e)
				if m.extend(i + 1) {
					return true
				}
				m.edges = m.edges[:i]
			}
			m.vertices = kept
		}
	}
	return false
}

// mapVertex maps an end of an own edge to a core vertex.
func (m *selfMapping) mapVertex(v, to int) bool {
	at := v - len(m.q.Vertices)
	if at < 0 {
		return v == to
	}
	if m.vertices[at] >= 0 {
		return m.vertices[at] == to
	}
	if slices.Contains(m.vertices, to) || slices.Contains(m.q.Named(m.n), to) ||
		!covers(m.n.Vertices[at].Labels(), m.q.Vertices[to].Labels()) {
		return false
	}
	m.vertices[at] = to
	return true
}

// holds reports whether the conditions of the negation hold wherever those of the core do.
func (m *selfMapping) holds() bool {
	image := func(r condition.Ref) condition.Ref {
		switch {
		case r.Edge && r.Index >= len(m.q.Edges):
			r.Index = m.edges[r.Index-len(m.q.Edges)]
		case !r.Edge && r.Index >= len(m.q.Vertices):
			r.Index = m.vertices[r.Index-len(m.q.Vertices)]
		}
		return r
	}
	return !slices.ContainsFunc(m.n.Conditions, func(c *condition.Condition) bool {
		return !c.Renamed(image).Follows(m.q.Conditions)
	})
}

// covers reports whether what meets one demand for labels meets another one as well, as far as equal alternatives tell.
func covers(other, one condition.Labels) bool {
	return len(other) == 0 || len(one) > 0 && !slices.ContainsFunc(one, func(a condition.Alternative) bool {
		return !slices.ContainsFunc(other, func(b condition.Alternative) bool {
			return slices.Equal(a.All, b.All) && slices.Equal(a.None, b.None)
		})
	})
}
