package matcher

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"motifd/dyngraph"
)

// Warnings says why a query cannot match: because of its pattern, or because no vertex or edge of the graph has one of
// its labels, which new data may change. An empty graph says nothing about labels, nor does a nil one. The query is
// valid all the same.
func Warnings(q *Query, directed bool, g *dyngraph.Graph) (warnings []string) {
	warnings = q.parallelEdges(directed)
	if g == nil || g.Vertices() == 0 {
		return warnings
	}
	vertices, edges := missingLabels(q, g)
	for _, l := range vertices {
		warnings = append(warnings, noLabel("vertex", l, vertexLabels(g)))
	}
	for _, l := range edges {
		warnings = append(warnings, noLabel("edge", l, edgeLabels(g)))
	}
	return warnings
}

// MissingLabels returns how many labels of a query no vertex, or no edge, of a graph has.
func MissingLabels(q *Query, g *dyngraph.Graph) int {
	vertices, edges := missingLabels(q, g)
	return len(vertices) + len(edges)
}

func missingLabels(q *Query, g *dyngraph.Graph) (vertices, edges []string) {
	for _, v := range q.Vertices {
		if l, ok := g.LabelID(v.Label); v.Label != "" && (!ok || g.VertexLabelCount(l) == 0) &&
			!slices.Contains(vertices, v.Label) {
			vertices = append(vertices, v.Label)
		}
	}
	for _, e := range q.Edges {
		if l, ok := g.LabelID(e.Label); e.Label != "" && (!ok || !g.HasEdgeLabel(l)) &&
			!slices.Contains(edges, e.Label) {
			edges = append(edges, e.Label)
		}
	}
	return vertices, edges
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

// mostShown is how many labels a warning lists at most.
const mostShown = 8

// shown quotes a label, of which a long one is cut.
func shown(label string) string {
	if len(label) > MaxNear {
		return strconv.Quote(label[:MaxNear]) + "..."
	}
	return strconv.Quote(label)
}

func vertexLabels(g *dyngraph.Graph) (names []string) {
	for l := range dyngraph.LabelID(g.Labels()) {
		if g.VertexLabelCount(l) > 0 {
			names = append(names, g.LabelName(l))
		}
	}
	slices.Sort(names)
	return names
}

func edgeLabels(g *dyngraph.Graph) (names []string) {
	for _, t := range g.Triples() {
		names = append(names, g.LabelName(t.Edge))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// parallelEdges tells of pattern edges that compete for one data edge: of each source, target and label a graph keeps
// one edge, and a match maps pattern edges to different ones.
func (q *Query) parallelEdges(directed bool) (warnings []string) {
	type pair struct {
		low, high int
		label     string
	}
	between := map[pair][]int{}
	for i, e := range q.Edges {
		if e.Label != "" {
			k := pair{min(e.From, e.To), max(e.From, e.To), e.Label}
			between[k] = append(between[k], i)
		}
	}
	for i, e := range q.Edges { // in the order of the pattern
		k := pair{min(e.From, e.To), max(e.From, e.To), e.Label}
		all := between[k]
		if len(all) < 2 || all[0] != i {
			continue
		}
		up, down := 0, 0
		for _, j := range all {
			switch x := q.Edges[j]; {
			case x.Either:
			case x.From == k.low:
				up++
			default:
				down++
			}
		}
		room := 1
		if directed {
			room = 2 // one each way
		}
		if up <= 1 && down <= 1 && len(all) <= room {
			continue
		}
		what := "between two vertices"
		if directed {
			what = "from one vertex to another"
		}
		warnings = append(
			warnings,
			fmt.Sprintf(
				"%d pattern edges join %q and %q with the label %s, %q first, and cannot match together: a graph "+
					"keeps one edge "+
					"of a label %s",
				len(all),
				q.Vertices[k.low].Name,
				q.Vertices[k.high].Name,
				shown(k.label),
				e.Name,
				what,
			),
		)
	}
	return warnings
}
