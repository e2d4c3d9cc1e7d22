package condition

import "motifd/dyngraph/property"

// Labelled returns the condition on a vertex, by its index, that it has what a pattern demands of its labels (DESIGN
// S21), where a vertex may have several. It is true or false. The demand is not nil.
func Labelled(vertex int, labels Labels, at Pos) *Condition {
	return newCondition(newLabelled(vertex, labels, at))
}

func newLabelled(vertex int, labels Labels, at Pos) *term {
	slot := Slot{Element: Ref{Index: vertex}, Type: property.Type{Kind: property.Labels}}
	return &term{code: labelled, pos: at, slot: slot, labels: labels, may: only(True) | only(False)}
}

// Labels returns what the condition demands of a vertex's labels, if it is that of Labelled.
func (c *Condition) Labels() (Labels, bool) { return c.root.labels, c.root.code == labelled }

// hold reports whether a set of labels is as demanded.
func (l Labels) hold(set property.Value) bool {
	for _, a := range l {
		if a.holds(set) {
			return true
		}
	}
	return false
}

func (a Alternative) holds(set property.Value) bool {
	for _, name := range a.All {
		if !set.HasLabel(name) {
			return false
		}
	}
	for _, name := range a.None {
		if set.HasLabel(name) {
			return false
		}
	}
	return true
}
