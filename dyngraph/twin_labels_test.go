package dyngraph

import (
	"maps"
	"slices"
	"strings"

	"motifd/dyngraph/property"
)

// Where vertices may have several labels, the twin has a truth for each label among the values of a vertex, and its
// label is always "".

// twinNames are the labels of a vertex that may have several, by place behind the declared values.
var twinNames = [...]string{"A", "B", "C"}

// severalSchema is twinSchema where a vertex may have several labels: no name has two types.
func severalSchema(declared bool) *property.Schema {
	if !declared {
		return &property.Schema{SeveralLabels: true}
	}
	vertices := maps.Clone(twinSchema.Vertices)
	vertices["B"] = map[string]property.Type{"wealth": twinMoney}
	return &property.Schema{Edges: twinSchema.Edges, Vertices: vertices, SeveralLabels: true}
}

// first returns the column of the first declared property of vertices: that of labels comes before.
func (w *twin) first() int {
	if w.several {
		return 1
	}
	return 0
}

// makeSeveral gives an update several labels in place of one; seldom a change that is none.
func makeSeveral(pick source, u *Update) {
	if u.Op.OfVertex() && u.Attr.Values != nil {
		u.Attr.Values = append([]property.Value{{}}, u.Attr.Values...)
	}
	for i := range u.Named {
		u.Named[i]++
	}
	text := func(signed bool) string {
		var labels []string
		for range pick(4) {
			label := twinNames[pick(len(twinNames))]
			if signed && pick(50) > 0 {
				label = []string{"+", "-"}[pick(2)] + label
			}
			labels = append(labels, label)
		}
		return property.JoinLabels(labels...)
	}
	switch u.Op {
	case InsertEdge, DeleteEdge:
		if pick(2) == 0 {
			u.FromLabel, u.ToLabel = text(false), text(false)
		}
	case InsertVertex:
		u.Label = text(false)
		if pick(2) == 0 {
			u.Op, u.Label = ReviseVertex, text(true)
		}
	case ReviseVertex:
		u.Label = text(true)
	}
}

// changeFits tells whether the labels of an operation on a vertex are a change.
func (w *twin) changeFits(u *Update) bool {
	if !w.several || u.Op != ReviseVertex || u.Label == "" {
		return true
	}
	for _, l := range strings.Split(u.Label, "\x00") {
		if l[0] != '+' && l[0] != '-' {
			return false
		}
	}
	return true
}

// relabel gives a vertex labels: an edge and +v name some, which come to those of an edge's end; =v has signs.
func (w *twin) relabel(key, text string, op Op) {
	v := w.verts[key]
	if op == InsertVertex {
		for i := range twinNames {
			v.values[twinVertexColumns+i] = property.Value{}
		}
	}
	for _, l := range strings.Split(text, "\x00") {
		to := property.Truth(true)
		if op == ReviseVertex && l != "" {
			if l[0] == '-' {
				to = property.Value{}
			}
			l = l[1:]
		}
		if l == "" {
			continue
		}
		if !to.IsNull() {
			w.intern(l)
		}
		v.values[twinVertexColumns+slices.Index(twinNames[:], l)] = to
	}
	w.verts[key] = v
}

// internAdded interns the labels that a change adds.
func (w *twin) internAdded(change string) {
	for _, l := range strings.Split(change, "\x00") {
		if name, ok := strings.CutPrefix(l, "+"); ok {
			w.intern(name)
		}
	}
}

// labelsOf returns the labels of a vertex, ascending.
func (v *twinVertex) labelsOf() (labels []string) {
	for i, name := range twinNames {
		if !v.values[twinVertexColumns+i].IsNull() {
			labels = append(labels, name)
		}
	}
	return labels
}
