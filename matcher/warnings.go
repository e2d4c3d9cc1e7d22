package matcher

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"motifd/dyngraph"
	"motifd/matcher/condition"
)

// Warnings says why a query cannot match, or why some of its alternatives cannot: because of its pattern, or because no
// vertex or edge of the graph has one of its labels, which new data may change. opt are the graph's. An empty graph
// says nothing about labels, nor does a nil one. The query is valid all the same.
func Warnings(q *Query, opt dyngraph.Options, g *dyngraph.Graph) (warnings []string) {
	if !opt.EdgeIDs {
		if _, text := q.Competing(opt.Directed); text != "" {
			warnings = append(warnings, text)
		}
	}
	warnings = append(warnings, q.warnBlocked()...)
	warnings = append(warnings, q.warnEarly()...)
	if g == nil || g.Vertices() == 0 {
		return warnings
	}
	vertices, edges := missingLabels(q, g)
	warnings = appendMissing(warnings, "vertex", vertices, g.VertexLabels)
	return appendMissing(warnings, "edge", edges, func() []string { return edgeLabels(g) })
}

// warnEarly warns of conditions that compare a time with what seems to be a length of time.
func (q *Query) warnEarly() (warnings []string) {
	add := func(conditions []*condition.Condition, of *Query) {
		for _, c := range conditions {
			for _, text := range c.EarlyTimes(of.ElementName) {
				if len(warnings) < maxMissing && !slices.Contains(warnings, text) {
					warnings = append(warnings, text)
				}
			}
		}
	}
	for stage, of := range q.denying() {
		add(of.Conditions, of)
		for i := range of.Negations {
			add(of.Negations[i].Conditions, of.Subquery(&of.Negations[i]))
		}
		if q.Groups != nil {
			add(q.Groups.Stages[stage].Having, q)
		}
	}
	return warnings
}

// maxMissing is the number of labels of vertices, of edges, and of early times that are warned of one by one.
const maxMissing = 8

// appendMissing appends a warning for each label that is missing, and one for those beyond the first few.
func appendMissing(warnings []string, what string, missing []string, labels func() []string) []string {
	if len(missing) == 0 {
		return warnings
	}
	there := labels()
	for i, l := range missing {
		if i == maxMissing {
			return append(warnings, fmt.Sprintf("no %s in the graph has %d more labels of the pattern", what,
				len(missing)-i))
		}
		warnings = append(warnings, noLabel(what, l, there))
	}
	return warnings
}

// MissingLabels returns how many labels of a query no vertex, or no edge, of a graph has.
func MissingLabels(q *Query, g *dyngraph.Graph) int {
	vertices, edges := missingLabels(q, g)
	return len(vertices) + len(edges)
}

func missingLabels(q *Query, g *dyngraph.Graph) (vertices, edges []string) {
	if q.Groups != nil {
		return missingLabels(q.Groups.union(q.Name), g)
	}
	add := func(to []string, labels condition.Labels, there func(dyngraph.LabelID) bool) []string {
		for _, a := range labels {
			name := a.All[0]
			if l, ok := g.LabelID(name); (!ok || !there(l)) && !slices.Contains(to, name) {
				to = append(to, name)
			}
		}
		return to
	}
	for _, v := range slices.Concat(q.Vertices, q.negatedVertices()) {
		vertices = add(vertices, v.Labels(), func(l dyngraph.LabelID) bool { return g.VertexLabelCount(l) > 0 })
	}
	vertices = append(vertices, missingOfSeveral(q, g)...)
	for _, e := range slices.Concat(q.Edges, q.negatedEdges()) {
		edges = add(edges, e.Labels(), g.HasEdgeLabel)
	}
	return vertices, edges
}

// missingOfSeveral returns the labels that a query demands where a vertex may have several, and that none has: of one
// that shall be absent the data may show none yet, but it may be misspelt as well.
func missingOfSeveral(q *Query, g *dyngraph.Graph) (missing []string) {
	var there []string
	for _, c := range slices.Concat(q.Conditions, q.negatedConditions()) {
		labels, ok := c.Labels()
		if !ok {
			continue
		}
		if there == nil {
			there = g.VertexLabels()
		}
		for _, a := range labels {
			for _, name := range slices.Concat(a.All, a.None) {
				if _, ok := slices.BinarySearch(there, name); !ok && !slices.Contains(missing, name) {
					missing = append(missing, name)
				}
			}
		}
	}
	return missing
}

// noLabel tells of a label that is not among those that there are.
func noLabel(what, label string, there []string) string {
	text := fmt.Sprintf("no %s in the graph has the label %s", what, shown(label))
	labelled := slices.DeleteFunc(slices.Clone(there), func(l string) bool { return l == "" })
	switch nearest := Nearest(label, labelled); {
	case nearest != "":
		text += fmt.Sprintf("; did you mean %s?", shown(nearest))
	case len(there) > 0 && len(labelled) == 0:
		text += "; none has any label"
	case len(labelled) > 0 && len(labelled) <= mostShown:
		for i, l := range labelled {
			labelled[i] = shown(l)
		}
		text += "; there are " + strings.Join(labelled, ", ")
	}
	return text
}

// mostShown is the most labels that a warning lists.
const mostShown = 8

// shown quotes a label, of which a long one is cut.
func shown(label string) string {
	if len(label) > MaxNear {
		return strconv.Quote(label[:MaxNear]) + "..."
	}
	return strconv.Quote(label)
}

func edgeLabels(g *dyngraph.Graph) (names []string) {
	for _, t := range g.Triples() {
		names = append(names, g.LabelName(t.Edge))
	}
	slices.Sort(names)
	return slices.Compact(names)
}
