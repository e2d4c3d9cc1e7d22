package condition

import "motifd/dyngraph/property"

// Renamed returns the condition about other elements: image gives the new one for each.
func (c *Condition) Renamed(image func(Ref) Ref) *Condition {
	return newCondition(c.root.renamed(image))
}

// Renamed returns the formula about other elements: image gives the new one for each.
func (f *Formula) Renamed(image func(Ref) Ref) *Formula { return newFormula(f.root.renamed(image)) }

func (t *term) renamed(image func(Ref) Ref) *term {
	n := *t
	if t.code == read || t.code == labelled {
		n.slot.Element = image(t.slot.Element)
	}
	n.args = make([]*term, len(t.args))
	for i, a := range t.args {
		n.args[i] = a.renamed(image)
	}
	return &n
}

// timeOf reads the ts of an edge.
func timeOf(edge int, at Pos) *term {
	typ := property.Type{Kind: property.Timestamp}
	return &term{code: read, pos: at, typ: typ,
		slot: Slot{Element: Ref{Edge: true, Index: edge}, Property: property.TimeName, Type: typ}}
}

// Before returns the condition first.ts < second.ts on two edges, by index.
func Before(first, second int, at Pos) *Condition {
	return newCondition(&term{code: compare, relation: Lt, pos: at,
		args: []*term{timeOf(first, at), timeOf(second, at)}})
}

// Apart returns the condition a.ts - b.ts <= most on two edges, by index; most is in milliseconds.
func Apart(a, b int, most int64, at Pos) *Condition {
	bound := property.Int(most)
	apart := &term{code: sub, pos: at, args: []*term{timeOf(a, at), timeOf(b, at)}, typ: bound.Type()}
	return newCondition(&term{code: compare, relation: Le, pos: at,
		args: []*term{apart, {code: constant, pos: at, value: bound, typ: bound.Type()}}})
}

// Timed returns the condition edge.ts IS NOT NULL on an edge, by index.
func Timed(edge int, at Pos) *Condition {
	null := &term{code: isNull, pos: at, args: []*term{timeOf(edge, at)}}
	return newCondition(&term{code: not, pos: at, args: []*term{null}})
}

// Contradict reports whether the conditions cannot all be true, as far as contradictions are found.
func Contradict(conditions []*Condition) bool {
	terms := make([]*term, len(conditions))
	for i, c := range conditions {
		terms[i] = c.root
	}
	return contradict(terms)
}

// Follows reports whether the condition is true or unknown wherever the others are true, as far as contradictions are
// found.
func (c *Condition) Follows(others []*Condition) bool {
	terms := []*term{{code: not, pos: c.root.pos, args: []*term{c.root}}}
	for _, other := range others {
		terms = append(terms, other.root)
	}
	return contradict(terms)
}
