package condition

import (
	"motifd/dyngraph/property"
)

// Condition is one operand of the top-level ANDs of a query's WHERE and maps.
type Condition struct {
	// Elements are the elements that it reads, sorted: one makes an own condition of that element, several a comparison
	// between elements.
	Elements []Ref
	Pos      Pos
	program
	root *term
	key  string
}

// Own reports whether the condition is about one element alone.
func (c *Condition) Own() bool { return len(c.Elements) == 1 }

// Last returns the greatest place of the condition's elements, given the places of vertices and edges by index.
func (c *Condition) Last(vertices, edges []int) int {
	last := 0
	for _, r := range c.Elements {
		if r.Edge {
			last = max(last, edges[r.Index])
		} else {
			last = max(last, vertices[r.Index])
		}
	}
	return last
}

// Eval returns the condition's truth for the values of its Slots, in their order. It allocates nothing. A value has its
// slot's type, or is null.
func (c *Condition) Eval(values []property.Value) Truth { return c.truth(c.start, values) }

// WithConstant returns the relation and the constant if the condition compares one property with a constant, as in
// a.x > 5, or 5 < a.x.
func (c *Condition) WithConstant() (relation Relation, constant property.Value, ok bool) {
	if c.root.code != compare {
		return 0, constant, false
	}
	switch a, b := c.root.args[0], c.root.args[1]; {
	case a.code == read && b.isConstant():
		return c.root.relation, b.value, true
	case b.code == read && a.isConstant():
		return c.root.relation.Mirror(), a.value, true
	}
	return 0, constant, false
}

// Format prints the condition as Cypher, chains split and parameters put in; name names an element.
func (c *Condition) Format(name func(Ref) string) string { return c.root.text(named(name)) }

// Operand prints the condition as Format does, beside others that AND joins: an OR or XOR in parentheses.
func (c *Condition) Operand(name func(Ref) string) string {
	if c.root.code == or || c.root.code == xor {
		return "(" + c.Format(name) + ")"
	}
	return c.Format(name)
}

func named(name func(Ref) string) func(Slot) string {
	return func(s Slot) string {
		if s.Type.Kind == property.Labels || s.Element.Aggregate {
			return name(s.Element)
		}
		return name(s.Element) + "." + QuoteProperty(s.Property)
	}
}

// Key returns the condition's normal form with each element replaced by its image; nil stands for the identity. Two
// conditions are the same when their keys are equal: operands of symmetric comparisons are in order, and of mirrored
// ones (a > b, b < a) there is one form. Types are part of it.
func (c *Condition) Key(image func(Ref) Ref) string {
	if image == nil {
		return c.key
	}
	return c.root.key(func(s Slot) string {
		s.Element = image(s.Element)
		return slotKey(s)
	})
}

// OwnKey is the key of an own condition whatever its element: equal for the same condition of another element, or of
// another query. With the element's labels it names what is to be evaluated.
func (c *Condition) OwnKey() string {
	return c.root.key(func(s Slot) string {
		s.Element.Index = 0
		return slotKey(s)
	})
}

func (t *term) key(name func(Slot) string) string { return t.normal(name).format(name) }

// Split resolves expressions, WHERE clauses and property maps, and returns the conditions that all of them make
// together: the operands of top-level ANDs, chains of comparisons split, each once by its Key. What always holds is
// left out. What can never hold is an error, alone or beside the others, as is a type that does not fit and a property
// that is not declared.
func Split(scope *Scope, exprs ...*Expr) ([]*Condition, error) {
	var terms []*term
	for _, e := range exprs {
		r := &resolver{scope: scope}
		root, err := r.predicate(e)
		if err != nil {
			return nil, err
		}
		for _, t := range root.conjuncts(nil) {
			if !t.may.has(True) {
				why := "it is false or unknown whatever the values are"
				if t.why != "" {
					why = t.why
				}
				return nil, neverHolds(t, why)
			}
			if t.may != only(True) {
				terms = append(terms, t)
			}
		}
	}
	if err := scope.together(terms); err != nil {
		return nil, err
	}
	var all []*Condition
	seen := make(map[string]bool)
	for _, t := range terms {
		if c := newCondition(t); !seen[c.key] {
			seen[c.key] = true
			all = append(all, c)
		}
	}
	return all, nil
}

// Together refuses conditions that cannot all be true: those of several WITHs, which Split has seen one by one.
func Together(scope *Scope, conditions []*Condition) error {
	var terms []*term
	for _, c := range conditions {
		terms = append(terms, c.root)
	}
	return scope.together(terms)
}

// together refuses terms that cannot all be true.
func (s *Scope) together(terms []*term) error {
	var counts []*term
	for _, slot := range s.Counts {
		one := property.Int(1)
		args := []*term{{code: read, slot: slot, typ: slot.Type}, {code: constant, value: one, typ: one.Type()}}
		counts = append(counts, &term{code: compare, relation: Ge, typ: property.Type{Kind: property.Bool}, args: args})
	}
	for _, t := range terms {
		if len(counts) > 0 && contradict(append(counts[:len(counts):len(counts)], t)) {
			return neverHolds(t, "a group has one row at least, so that its counts are 1 or more")
		}
	}
	if terms = append(counts, terms...); !contradict(terms) {
		return nil
	}
	last, why := explainContradiction(terms, s.nameOf)
	return neverHolds(last, why)
}

func neverHolds(t *term, why string) error {
	return fail(t.pos, "the condition can never hold: %s; correct it, or remove the query", why)
}

// conjuncts appends the operands of the top-level ANDs.
func (t *term) conjuncts(to []*term) []*term {
	if t.code != and {
		return append(to, t)
	}
	for _, a := range t.args {
		to = a.conjuncts(to)
	}
	return to
}

func newCondition(t *term) *Condition {
	c := &Condition{Pos: t.pos, root: t, key: t.key(slotKey)}
	t.slots(func(s Slot) { c.Elements = refs(c.Elements, s.Element) })
	c.compile(t)
	return c
}

// Preserved reports whether a renaming of the elements maps the set of conditions onto itself: what an automorphism of
// the pattern must do. The conditions are those of Split; image is a permutation.
func Preserved(conditions []*Condition, image func(Ref) Ref) bool {
	keys := make(map[string]bool, len(conditions))
	for _, c := range conditions {
		keys[c.key] = true
	}
	for _, c := range conditions {
		if !keys[c.Key(image)] {
			return false
		}
	}
	return true
}

// Formula is a value computed from properties: a field of RETURN.
type Formula struct {
	Elements []Ref // sorted
	Type     property.Type
	program
	root *term
}

// NewFormula resolves an expression that stands for a value.
func NewFormula(scope *Scope, e *Expr) (*Formula, error) {
	t, err := (&resolver{scope: scope}).value(e)
	if err != nil {
		return nil, err
	}
	f := newFormula(t)
	if len(f.Elements) == 0 {
		return nil, fail(e.Pos, "a constant stands where a field is expected; a field reads the match")
	}
	return f, nil
}

func newFormula(t *term) *Formula {
	f := &Formula{Type: t.typ, root: t}
	t.slots(func(s Slot) { f.Elements = refs(f.Elements, s.Element) })
	f.compile(t)
	return f
}

// Key returns the formula's normal form: equal for formulas that say the same.
func (f *Formula) Key() string { return f.root.key(slotKey) }

// Format prints the formula as Cypher; name names an element.
func (f *Formula) Format(name func(Ref) string) string { return f.root.text(named(name)) }

// Eval returns the value for the values of the formula's Slots, in their order. It allocates nothing.
func (f *Formula) Eval(values []property.Value) property.Value { return f.value(f.start, values) }
