package matcher

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrCompeting is wrapped by the error that refuses a pattern whose edges compete for one data edge.
var ErrCompeting = errors.New("pattern edges compete for one data edge")

// CheckCompeting refuses pattern edges that compete for one data edge (DESIGN S14): where an edge is identified by its
// ends and its label, a graph keeps one edge of each source, target and label, and a match maps pattern edges to
// different ones. It is not part of Validate: a query that a checkpoint holds stays, and matches nothing.
func (q *Query) CheckCompeting(directed bool) error {
	if _, text := q.Competing(directed); text != "" {
		return fmt.Errorf("%w %q: %w: %s", ErrQuery, q.Name, ErrCompeting, text)
	}
	for _, of := range q.denying() {
		if _, _, text := of.CompetingNegated(directed); text != "" {
			return fmt.Errorf("%w %q: %w: in a negation, %s", ErrQuery, q.Name, ErrCompeting, text)
		}
	}
	return nil
}

// Competing returns the first pattern edge for which those before it leave no data edge, where edges are identified by
// their ends and labels, and says with which ones it competes; -1 and "" if there is none.
func (q *Query) Competing(directed bool) (edge int, text string) {
	if q.Groups != nil {
		return q.Groups.Competing(directed)
	}
	if q.HasPaths() {
		return q.competingPaths(directed)
	}
	if q.MatchMode == Homomorphism {
		return -1, "" // none wants a data edge for itself
	}
	taken := map[slot]int{}
	for i := range q.Edges {
		if q.Edges[i].Label == "" && q.Edges[i].AnyOf == nil {
			continue // there is always another label
		}
		if seen := []int{i}; !q.takeSlot(i, directed, taken, &seen) {
			slices.Sort(seen)
			return i, q.tellCompeting(seen)
		}
	}
	return -1, ""
}

// competingPaths is Competing of a query with paths: some of its variants would match nothing.
func (q *Query) competingPaths(directed bool) (edge int, text string) {
	for _, v := range q.Variants() {
		if e, text := v.Competing(directed); e >= 0 {
			for edge = range q.Edges {
				if part, _ := v.Part(edge); part[0] <= e && e < part[1] {
					return edge, text
				}
			}
		}
	}
	return -1, ""
}

// slot is a possible data edge of a match: its ends, as the pattern vertices mapped there, and its label.
type slot struct {
	from, to int
	label    string
}

// takeSlot gives a pattern edge a slot, and those that have it already others (bipartite matching by augmenting paths).
// seen collects the edges that would have to move.
func (q *Query) takeSlot(edge int, directed bool, taken map[slot]int, seen *[]int) bool {
	for _, s := range q.slots(edge, directed) {
		holder, held := taken[s]
		if held {
			if slices.Contains(*seen, holder) {
				continue
			}
			*seen = append(*seen, holder)
			if !q.takeSlot(holder, directed, taken, seen) {
				continue
			}
		}
		taken[s] = edge
		return true
	}
	return false
}

func (q *Query) slots(edge int, directed bool) (all []slot) {
	e := q.Edges[edge]
	labels := e.AnyOf
	if labels == nil {
		labels = []string{e.Label}
	}
	from, to := e.From, e.To
	if !directed {
		from, to = min(from, to), max(from, to)
	}
	for _, l := range labels {
		all = append(all, slot{from, to, l})
		if directed && e.Either {
			all = append(all, slot{to, from, l})
		}
	}
	return all
}

func (q *Query) tellCompeting(edges []int) string {
	names := make([]string, len(edges))
	for i, e := range edges {
		names[i] = shown(q.Edges[e].Name)
	}
	e := q.Edges[edges[0]]
	return fmt.Sprintf("the edges %s between %q and %q cannot match together: without ids a graph keeps one edge of "+
		"each source, target and label; set graph.edge_identity: id and give updates ids, or write one edge",
		strings.Join(names, ", "), q.Vertices[e.From].Name, q.Vertices[e.To].Name)
}
