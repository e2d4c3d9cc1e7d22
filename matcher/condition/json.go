package condition

import (
	"encoding/json"
	"errors"
	"fmt"

	"motifd/dyngraph/property"
)

// A stored query keeps its conditions resolved, so that neither another schema nor other parameters change what a
// version means. The form is a tree of terms by the names below; the names never change.

var codeNames = [...]string{
	constant: "constant", read: "read", neg: "neg", add: "add", sub: "sub", mul: "mul", isTrue: "true", truth: "truth",
	compare: "compare", in: "in", startsWith: "starts with", isNull: "is null", labelled: "labelled", not: "not",
	and: "and", xor: "xor", or: "or",
}

// arity is the number of operands of a term; two stands for two or more from and on.
var arity = [...]int{
	neg: 1, add: 2, sub: 2, mul: 2, isTrue: 1, compare: 2, in: 1, startsWith: 2, isNull: 1, not: 1, and: 2, xor: 2,
	or: 2,
}

type stored struct {
	Code     string           `json:"op"`
	Relation string           `json:"relation,omitempty"`
	Element  *Ref             `json:"element,omitempty"`
	Property string           `json:"property,omitempty"`
	Type     *property.Type   `json:"type,omitempty"`
	Value    *property.Value  `json:"value,omitempty"`
	Members  []property.Value `json:"members,omitempty"`
	Null     bool             `json:"null,omitempty"` // null is a member
	Truth    string           `json:"truth,omitempty"`
	Labels   Labels           `json:"labels,omitempty"`
	Line     int              `json:"line,omitempty"`
	Column   int              `json:"column,omitempty"`
	Args     []*stored        `json:"args,omitempty"`
}

func (t *term) store() *stored {
	s := &stored{Code: codeNames[t.code], Line: t.pos.Line, Column: t.pos.Col}
	switch t.code {
	case constant:
		s.Value = &t.value
	case read:
		s.Element, s.Property, s.Type = &t.slot.Element, t.slot.Property, &t.slot.Type
	case labelled:
		s.Element, s.Labels = &t.slot.Element, t.labels
	case truth:
		s.Truth = t.truth.String()
	case compare:
		s.Relation = t.relation.String()
	case in:
		s.Members, s.Null = t.members.values, t.members.null
	}
	for _, a := range t.args {
		s.Args = append(s.Args, a.store())
	}
	return s
}

var errStored = errors.New("bad stored condition")

// load is the inverse of store. depth bounds the nesting of what may come from a damaged store; resolved expressions
// nest less.
func (s *stored) load(depth int) (*term, error) {
	if s == nil || depth > 2*MaxNodes {
		return nil, fmt.Errorf("%w: it has no end", errStored)
	}
	t := &term{pos: Pos{s.Line, s.Column}, code: or + 1}
	for c, name := range codeNames {
		if name == s.Code {
			t.code = code(c)
		}
	}
	if t.code > or {
		return nil, fmt.Errorf("%w: the operation %q is unknown", errStored, s.Code)
	}
	if n := len(s.Args); n != arity[t.code] && (t.code < and || n < 2) {
		return nil, fmt.Errorf("%w: %q has %d operands", errStored, s.Code, n)
	}
	for _, a := range s.Args {
		arg, err := a.load(depth + 1)
		if err != nil {
			return nil, err
		}
		if wants := t.code < not; arg.isValue() != wants {
			return nil, fmt.Errorf("%w: %q has the operand %q", errStored, s.Code, codeNames[arg.code])
		}
		t.args = append(t.args, arg)
	}
	return t, s.fill(t)
}

func (t *term) isValue() bool { return t.code < isTrue }

// fill sets what a term has beside its operands.
func (s *stored) fill(t *term) error {
	switch t.code {
	case constant:
		if s.Value == nil {
			return fmt.Errorf("%w: a constant without a value", errStored)
		}
		t.value, t.typ = *s.Value, s.Value.Type()
	case read:
		if s.Element == nil || s.Type == nil || s.Element.Index < 0 || s.Property == "" {
			return fmt.Errorf("%w: a property without its element, name or type", errStored)
		}
		t.slot = Slot{*s.Element, s.Property, *s.Type}
		t.typ = *s.Type
	case labelled:
		if s.Element == nil || s.Element.Edge || s.Element.Index < 0 || len(s.Labels) == 0 ||
			s.Labels.Key() != NewLabels(s.Labels...).Key() {
			return fmt.Errorf("%w: labels without their vertex, or not in their one form", errStored)
		}
		*t = *newLabelled(s.Element.Index, s.Labels, t.pos)
	case truth:
		for u := False; u <= True; u++ {
			if u.String() == s.Truth {
				t.truth = u
				return nil
			}
		}
		return fmt.Errorf("%w: the truth %q is unknown", errStored, s.Truth)
	case compare:
		for r := Eq; r <= Ge; r++ {
			if r.String() == s.Relation {
				t.relation = r
				return nil
			}
		}
		return fmt.Errorf("%w: the relation %q is unknown", errStored, s.Relation)
	case neg:
		t.typ = t.args[0].typ
	case add, sub, mul:
		var ok bool
		for _, o := range operations {
			if o.code == t.code {
				t.typ, ok = o.typ(t.args[0].typ, t.args[1].typ)
			}
		}
		if !ok {
			return fmt.Errorf("%w: %q of %v and %v", errStored, s.Code, t.args[0].typ, t.args[1].typ)
		}
	case in:
		if len(s.Members) == 0 {
			return fmt.Errorf("%w: an empty list", errStored)
		}
		t.members = newMembers(s.Members)
		t.members.null = s.Null
	}
	return nil
}

// MarshalJSON implements json.Marshaler.
func (c *Condition) MarshalJSON() ([]byte, error) { return json.Marshal(c.root.store()) }

// UnmarshalJSON implements json.Unmarshaler. Its text comes from MarshalJSON; what cannot is an error.
func (c *Condition) UnmarshalJSON(text []byte) error {
	t, err := loadTerm(text)
	if err != nil {
		return err
	}
	if t.isValue() {
		return fmt.Errorf("%w: a value in place of a condition", errStored)
	}
	*c = *newCondition(t)
	if len(c.Elements) == 0 {
		return fmt.Errorf("%w: it reads nothing", errStored)
	}
	return nil
}

// MarshalJSON implements json.Marshaler.
func (f *Formula) MarshalJSON() ([]byte, error) { return json.Marshal(f.root.store()) }

// UnmarshalJSON implements json.Unmarshaler. Its text comes from MarshalJSON; what cannot is an error.
func (f *Formula) UnmarshalJSON(text []byte) error {
	t, err := loadTerm(text)
	if err != nil {
		return err
	}
	if !t.isValue() {
		return fmt.Errorf("%w: a condition in place of a value", errStored)
	}
	*f = *newFormula(t)
	return nil
}

func loadTerm(text []byte) (*term, error) {
	var s *stored
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("%w: %w", errStored, err)
	}
	return s.load(0)
}
