package condition

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"motifd/dyngraph/property"
)

// Ref is an element of the pattern: a vertex or an edge, by its index there; or an aggregate of a query with WITH
// (DESIGN S24), by its index among these.
type Ref struct {
	Edge      bool `json:"edge,omitempty"`
	Aggregate bool `json:"aggregate,omitempty"`
	Index     int  `json:"index"`
}

// String returns v0 for the first vertex, e0 for the first edge, a0 for the first aggregate.
func (r Ref) String() string {
	if r.Aggregate {
		return fmt.Sprintf("a%d", r.Index)
	}
	if r.Edge {
		return fmt.Sprintf("e%d", r.Index)
	}
	return fmt.Sprintf("v%d", r.Index)
}

// compare orders vertices before edges, aggregates behind both, and each by index.
func (r Ref) compare(s Ref) int {
	if r.Aggregate != s.Aggregate {
		if s.Aggregate {
			return -1
		}
		return 1
	}
	if r.Edge != s.Edge {
		if s.Edge {
			return -1
		}
		return 1
	}
	return r.Index - s.Index
}

// Element is the vertex or edge that a variable stands for.
type Element struct {
	Ref    Ref
	Labels Labels
}

// Parameter is the value of a parameter: one value, or a list for IN.
type Parameter struct {
	List   bool
	Values []property.Value // one without List
}

// Scope tells the meaning of the names in an expression.
type Scope struct {
	Schema     *property.Schema // nil declares nothing
	Parameters map[string]Parameter
	Elements   map[string]Element // by variable
	Aggregates map[string]Slot    // by the name that WITH gives them
	Counts     []Slot             // those that are 1 at least where a condition is asked
}

// Slot is a property that a condition reads.
type Slot struct {
	Element  Ref
	Property string
	Type     property.Type
}

func fail(at Pos, format string, args ...any) error { return &Error{at, fmt.Sprintf(format, args...)} }

// slot resolves a property against the schema. Under every alternative of the element's labels it is declared, with one
// type: a condition never reads what rides along undeclared.
func (s *Scope) slot(e *Expr) (Slot, error) {
	element, ok := s.Elements[e.Text]
	if !ok {
		return Slot{}, fail(e.Pos, "%s is neither a vertex nor an edge of the pattern", short(e.Text))
	}
	declared, what := s.Schema.VertexDeclarations(), "vertex"
	if element.Ref.Edge {
		declared, what = s.Schema.EdgeDeclarations(), "edge"
	}
	alternatives := element.Labels
	if len(alternatives) == 0 {
		alternatives = Labels{{}}
	}
	var typ property.Type
	var first string
	for _, a := range alternatives {
		labels := a.All
		if len(labels) == 0 {
			labels = []string{""}
		}
		found := false
		for _, label := range labels {
			t, ok := declared.Lookup(label, e.Property)
			if !ok {
				continue
			}
			if typ.Kind != property.Null && t != typ {
				return Slot{}, fail(e.Pos, "property %s has the type %v under the label %s and %v under %s; a "+
					"condition needs one type: declare it alike, or make a query of each label", short(e.Property),
					typ, short(first), t, short(label))
			}
			typ, first, found = t, label, true
		}
		if !found {
			return Slot{}, undeclared(e, declared, what, labels)
		}
	}
	return Slot{element.Ref, e.Property, typ}, nil
}

// aggregate resolves the name of an aggregate.
func (s *Scope) aggregate(e *Expr) (Slot, error) {
	slot, ok := s.Aggregates[e.Text]
	if !ok {
		return slot, fail(e.Pos, "%s is no aggregate that can be read here; a WITH hands on what it names, "+
			"as in WITH m, n, ..", short(e.Text))
	}
	return slot, nil
}

// undeclared says what is declared in place of a property.
func undeclared(e *Expr, declared property.Declarations, what string, labels []string) error {
	under := fmt.Sprintf("for the %s label %s", what, short(strings.Join(labels, ":")))
	if labels[0] == "" {
		under = fmt.Sprintf("for every %s (label %q)", what, property.Any)
	}
	hint := "declare it under graph.properties, or with --properties"
	switch names, others := declared.Names(labels[0]), declared.Labels(e.Property); {
	case what == "vertex" && len(others) == 0 && (e.Property == "key" || e.Property == "id"):
		hint = "the key of a vertex is no property; mark the vertices that you mean by one, such as watched: bool"
	case labels[0] == "" && len(others) > 0:
		hint = fmt.Sprintf("give %s a label that declares it: %s", short(e.Text), list(others))
	case e.Property == property.TimeName && what == "edge":
		hint = "declare it as ts: timestamp, under graph.properties or with --properties"
	case len(names) > 0:
		hint = "declared are " + list(names)
	case len(others) > 0:
		hint = "it is declared for " + list(others)
	case what == "vertex":
		hint = "declare it under graph.properties.vertices, or with --properties"
	}
	return fail(e.Pos, "property %s is not declared %s; %s", short(e.Property), under, hint)
}

// nameOf returns a property as it is written: t.amount.
func (s *Scope) nameOf(slot Slot) string {
	if slot.Element.Aggregate {
		return slot.Property
	}
	for name, e := range s.Elements {
		if e.Ref == slot.Element {
			return name + "." + QuoteProperty(slot.Property)
		}
	}
	return slotKey(slot) // elements without a name have no properties in an expression
}

// list names the first few.
func list(names []string) string {
	const most = 6
	var out []string
	for _, n := range names[:min(most, len(names))] {
		out = append(out, short(n))
	}
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(out, ", "), more)
	}
	return strings.Join(out, ", ")
}

// short quotes s for a message, cut when it is long.
func short(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return fmt.Sprintf("%q...", string(r[:most]))
	}
	return fmt.Sprintf("%q", s)
}

// parameter returns what a parameter is bound to.
func (s *Scope) parameter(e *Expr) (Parameter, error) {
	p, ok := s.Parameters[e.Text]
	switch {
	case !ok:
		others := ""
		if len(s.Parameters) > 0 {
			others = "; bound is " + list(slices.Sorted(maps.Keys(s.Parameters)))
		}
		return p, fail(e.Pos, "the parameter %s is bound to nothing; bind %s under params of the query, or with "+
			"--param%s", short("$"+e.Text), short(e.Text), others)
	case !p.List && len(p.Values) != 1:
		return p, fail(e.Pos, "the parameter %s has %d values; it has one, or is a list", short("$"+e.Text),
			len(p.Values))
	}
	return p, nil
}

// refs adds the elements to a sorted set.
func refs(set []Ref, more ...Ref) []Ref {
	set = append(set, more...)
	slices.SortFunc(set, Ref.compare)
	return slices.Compact(set)
}
