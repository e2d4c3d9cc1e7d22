package dyngraph

import "strings"

// labelTable interns labels. Vertex and edge labels share it; ids are given in order of first appearance.
type labelTable struct {
	names []string // names[NoLabel] is ""
	ids   map[string]LabelID
}

func newLabelTable() labelTable {
	return labelTable{names: []string{""}, ids: map[string]LabelID{"": NoLabel}}
}

func (t *labelTable) intern(name string) LabelID {
	if name == "" {
		return NoLabel
	}
	if id, ok := t.ids[name]; ok {
		return id
	}
	id := LabelID(len(t.names))
	name = strings.Clone(name) // do not keep the record that it came in alive
	t.names = append(t.names, name)
	t.ids[name] = id
	return id
}

// truncate forgets the labels from id n on.
func (t *labelTable) truncate(n int) {
	for _, name := range t.names[n:] {
		delete(t.ids, name)
	}
	clear(t.names[n:])
	t.names = t.names[:n]
}
