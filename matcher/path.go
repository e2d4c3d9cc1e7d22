package matcher

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"motifd/matcher/condition"
)

// Bounds on paths (DESIGN S26).
const (
	// MaxHops is the maximum length of a path, in edges.
	MaxHops = 6
	// MaxVariants bounds the product of the numbers of lengths of a query's paths.
	MaxVariants = 36
)

// Hops makes a pattern edge a path of Least to Most edges (DESIGN S26). Its inner vertices may have any label.
type Hops struct {
	Least int `json:"least"`
	Most  int `json:"most"`
}

// Span bounds the greatest ts of some edges less the least, in milliseconds. An edge without ts is in no such span.
type Span struct {
	Edges []int         `json:"edges"` // pattern edges; of a path all of its edges are meant
	Most  int64         `json:"most"`
	Pos   condition.Pos `json:"pos"` // in the pattern's text
}

// Rise demands that the ts of some edges increase, in the order in which they stand (motifd.increasing).
type Rise struct {
	Edges []int         `json:"edges"` // likewise
	Pos   condition.Pos `json:"pos"`
}

// Format prints a rise as in a pattern; name gives the name of an edge.
func (r *Rise) Format(name func(edge int) string) string {
	return "motifd.increasing(" + listed(r.Edges, name) + ")"
}

// Format prints a span, likewise.
func (s *Span) Format(name func(edge int) string) string {
	most := strconv.FormatInt(s.Most, 10)
	if condition.IsDuration(s.Most) {
		most = "duration('" + condition.FormatDuration(s.Most) + "')"
	}
	return "motifd.span(" + listed(s.Edges, name) + ") <= " + most
}

func listed(edges []int, name func(edge int) string) string {
	var names []string
	for _, e := range edges {
		names = append(names, name(e))
	}
	return strings.Join(names, ", ")
}

// HasPaths reports whether some edge of the pattern is a path.
func (q *Query) HasPaths() bool {
	return slices.ContainsFunc(q.Edges, func(e QueryEdge) bool { return e.Hops != nil })
}

// Extended reports whether the query has what versions before checkpoint format 6 would overlook.
func (q *Query) Extended() bool {
	return q.HasPaths() || q.Groups != nil || len(q.Negations) > 0 || q.Once != nil
}

// Paths returns the pattern edges that are paths, ascending.
func (q *Query) Paths() (paths []int) {
	for i := range q.Edges {
		if q.Edges[i].Hops != nil {
			paths = append(paths, i)
		}
	}
	return paths
}

// verticesOf returns how many of the columns of a match are vertices: each further edge of a path has one more of
// either kind.
func (q *Query) verticesOf(row []uint32) int {
	return len(q.Vertices) + (len(row)-len(q.Vertices)-len(q.Edges))/2
}

// checkPaths checks the bounds of paths, before any variant is made.
func (q *Query) checkPaths() error {
	variants := 1
	for _, e := range q.Edges {
		h := e.Hops
		if h == nil {
			continue
		}
		switch {
		case h.Least < 1 || h.Most > MaxHops || h.Least > h.Most:
			return q.bad("path %q has %d to %d edges; a path has 1 to %d, as in *1..%d", e.Name, h.Least, h.Most,
				MaxHops, MaxHops)
		case e.From == e.To && h.Least < 2:
			return q.bad("path %q leads from %q to itself and may have one edge, which would be a self-loop; "+
				"write *2..%d", e.Name, q.Vertices[e.From].Name, h.Most)
		}
		if variants *= h.Most - h.Least + 1; variants > MaxVariants {
			return q.bad("its paths have more than %d combinations of lengths; make the ranges smaller, or make "+
				"several queries", MaxVariants)
		}
	}
	return nil
}

// pathRead returns the path that a condition reads, or -1. A valid query's condition reads one at most.
func (q *Query) pathRead(c *condition.Condition) int {
	for _, r := range c.Elements {
		if r.Edge && q.Edges[r.Index].Hops != nil {
			return r.Index
		}
	}
	return -1
}

// checkRead checks what conditions, fields, rises and spans read of paths.
func (q *Query) checkRead() error {
	for _, c := range q.Conditions {
		paths := 0
		for _, r := range c.Elements {
			if r.Edge && q.Edges[r.Index].Hops != nil {
				paths++
			}
		}
		if paths > 1 {
			return fmt.Errorf("the condition at %d:%d reads two paths; it reads the edges of one", c.Pos.Line,
				c.Pos.Col)
		}
	}
	for _, f := range q.Fields {
		if f.Formula == nil {
			continue
		}
		for _, r := range f.Formula.Elements {
			if r.Edge && q.Edges[r.Index].Hops != nil {
				return fmt.Errorf("field %q reads a property of path %q; a path has no properties", f.Name,
					q.Edges[r.Index].Name)
			}
		}
	}
	var read []int
	for _, r := range q.Rises {
		read = append(read, r.Edges...)
	}
	for _, s := range q.Spans {
		if s.Most < 0 {
			return fmt.Errorf("the span at %d:%d is at most %d ms, which none is", s.Pos.Line, s.Pos.Col, s.Most)
		}
		read = append(read, s.Edges...)
	}
	for _, e := range read {
		if e < 0 || e >= len(q.Edges) {
			return fmt.Errorf("it reads edge %d; the pattern has %d", e, len(q.Edges))
		}
	}
	return nil
}
