package matcher

import (
	"fmt"
	"slices"
)

// NotOnGPU returns why a GPU does not search a plan; nothing if it does. A reason continues "searched on the CPU: ".
func (p *Plan) NotOnGPU() (why []string) {
	q := p.Query
	if q.Groups != nil {
		return []string{"a GPU does not group"}
	}
	if q.MatchMode != Isomorphism {
		why = append(why, "a GPU maps different vertices to different ones, and edges likewise")
	}
	if q.IsVertex() {
		why = append(why, "a GPU takes patterns with edges")
	}
	if len(q.Edges) > MaxGPUEdges {
		why = append(why, fmt.Sprintf("a GPU takes patterns of at most %d edges", MaxGPUEdges))
	}
	less := slices.IndexFunc(p.EdgeLess, func(l [2]int) bool { return p.Several[l[0]] })
	if less >= 0 && q.Unit == Subgraphs {
		why = append(why, fmt.Sprintf("a GPU does not order the parallel edges that %s and %s can be",
			q.Edges[p.EdgeLess[less][0]].Name, q.Edges[p.EdgeLess[less][1]].Name))
	}
	for i := range p.Conditions {
		if c := &p.Conditions[i]; !c.onGPU() {
			why = append(why, fmt.Sprintf("a GPU does not test %s", c.Format(q.ElementName)))
		}
	}
	return why
}

// onGPU reports whether a GPU tests a condition: one on one element alone, by the edge's truth words or the vertex's
// candidate bits, or one that reads and computes whole numbers.
func (c *Condition) onGPU() bool {
	if c.Own() {
		return true
	}
	_, ok := c.Stack()
	return ok
}
