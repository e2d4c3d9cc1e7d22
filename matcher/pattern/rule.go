package pattern

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/condition"
)

// Declared holds the declared properties and parameters against which a pattern's text is resolved.
type Declared struct {
	Schema     *property.Schema               // nil declares no property
	Parameters map[string]condition.Parameter // the values of $name
	// Used, unless it is nil, gets the names of the parameters that the pattern has. Those that it does not have are
	// then no mistake: they may be for other patterns.
	Used map[string]bool
}

// Rule is a pattern with its conditions and its fields (DESIGN S17, S22). Query alone says less: its Label is empty
// where an element has alternatives, several labels or absent ones. Where a vertex may have several labels
// (property.Schema), what the pattern demands of them are Conditions, and Query has no label of a vertex.
type Rule struct {
	Query        *matcher.Query
	VertexLabels []condition.Labels // by pattern vertex; nil is no demand
	EdgeLabels   []condition.Labels // by pattern edge
	Conditions   []*condition.Condition
	// Everything says that a record has every element with its declared properties: RETURN is absent or has a star.
	Everything bool
	Fields     []matcher.Field // the items of RETURN
	// Parameters are the names of those that the pattern has, sorted.
	Parameters []string

	expression error // the error if it is wanted as a Query, for its labels
}

// whole returns the query with what its text asks of a match.
func (r *Rule) whole(opt Options) (*matcher.Query, error) {
	if r.expression != nil {
		return nil, r.expression
	}
	for _, name := range slices.Sorted(maps.Keys(opt.Declared.Parameters)) {
		_, ok := slices.BinarySearch(r.Parameters, name)
		if opt.Declared.Used != nil {
			opt.Declared.Used[name] = ok || opt.Declared.Used[name]
		} else if !ok {
			has := "it has none"
			if len(r.Parameters) > 0 {
				has = "it has $" + strings.Join(r.Parameters, ", $")
			}
			return nil, fmt.Errorf("%w %q: the parameter $%s is bound, and the pattern does not have it; %s",
				matcher.ErrQuery, opt.Name, name, has)
		}
	}
	q := r.Query
	if q.Groups != nil {
		return q, q.Validate(opt.Directed)
	}
	q.Conditions = r.Conditions
	for _, f := range r.Fields {
		if f.Formula == nil && f.Name == q.ElementName(f.Element) {
			continue // a record has every element under its name
		}
		q.Fields = append(q.Fields, f)
	}
	return q, q.Validate(opt.Directed)
}

// ParseRule reads a Cypher pattern with conditions. A mistake is an *Error.
func ParseRule(src []byte, opt Options, declared Declared) (*Rule, error) {
	b := newBuilder(opt)
	text, err := source(src, b)
	if err != nil {
		return nil, err
	}
	p, ast, err := readCypher(text, b)
	if err != nil {
		return nil, err
	}
	p.several = declared.Schema.Several()
	if len(ast.stages) > 0 {
		return p.groups(ast, src, declared)
	}
	wheres, err := p.matches(ast.matches)
	if err != nil {
		return nil, err
	}
	if err := p.returns(ast.fields); err != nil {
		return nil, err
	}
	q, err := b.query()
	if err != nil {
		return nil, err
	}
	q.Source, q.Language = string(bytes.Clone(src)), Cypher
	r := &Rule{Query: q, VertexLabels: p.vertexLabels, EdgeLabels: p.edgeLabels, expression: p.expression}
	scope := &condition.Scope{Schema: declared.Schema, Parameters: declared.Parameters, Elements: r.elements()}
	maps, err := p.mapConditions(q)
	if err != nil {
		return nil, err
	}
	all := append(maps, wheres...)
	conditions, err := condition.Split(scope, all...)
	if err != nil {
		return nil, b.located(err)
	}
	r.Conditions = append(p.labelConditions(), conditions...)
	if r.Conditions, err = p.timing.resolve(p, q, r.Conditions, scope); err != nil {
		return nil, err
	}
	denied, err := p.negations(r, scope, func(int) bool { return true })
	if err != nil {
		return nil, err
	}
	all = append(all, denied...)
	if err := b.checkVertex(q, len(r.Conditions)+len(q.Negations)); err != nil {
		return nil, err
	}
	if err := r.returns(p, ast.fields, scope); err != nil {
		return nil, err
	}
	r.Parameters = parameters(slices.Concat(all, ast.fields.values(), p.timing.exprs()))
	return r, nil
}

// parameters returns the names of the parameters that expressions have, sorted.
func parameters(exprs []*condition.Expr) []string {
	var names []string
	for _, e := range exprs {
		e.Walk(func(n *condition.Expr) {
			if n.Op == condition.OpParameter {
				names = append(names, n.Text)
			}
		})
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// values returns the fields that are no elements.
func (r *cypherReturn) values() (all []*condition.Expr) {
	if r == nil {
		return nil
	}
	for _, item := range r.items {
		if item.value != nil {
			all = append(all, item.value)
		}
	}
	return all
}

// elements gives the variables, generated names included, what they stand for.
func (r *Rule) elements() map[string]condition.Element {
	return elementsOf(r.Query, r.VertexLabels, r.EdgeLabels)
}

func elementsOf(q *matcher.Query, vertices, edges []condition.Labels) map[string]condition.Element {
	all := make(map[string]condition.Element)
	for i, v := range q.Vertices {
		all[v.Name] = condition.Element{Ref: condition.Ref{Index: i}, Labels: vertices[i]}
	}
	for i, e := range q.Edges {
		all[e.Name] = condition.Element{Ref: condition.Ref{Edge: true, Index: i}, Labels: edges[i]}
	}
	return all
}

// located gives an error of package condition the file.
func (b *builder) located(err error) error {
	var e *condition.Error
	if errors.As(err, &e) {
		return b.fail(position{e.Pos.Line, e.Pos.Col}, "%s", e.Msg)
	}
	return err
}

// matches builds the elements and returns the WHERE clauses. A WHERE reads what is mentioned before it, as in Cypher.
func (p *cypherBuilder) matches(matches []*cypherMatch) ([]*condition.Expr, error) {
	var wheres []*condition.Expr
	for _, m := range matches {
		if err := p.match(m); err != nil {
			return nil, err
		}
		p.pending(m)
		if m.where == nil {
			continue
		}
		rest, err := p.paths(m.where)
		if err != nil {
			return nil, err
		}
		wheres = append(wheres, rest...)
	}
	return wheres, nil
}

const inMatchAlone = "all(..), motifd.increasing(..) and motifd.span(..) stand in the WHERE of a MATCH"

// readable checks that the text itself names what an expression reads, and that this is no path: generated names are
// not for expressions. format says what names something unknown.
func (p *cypherBuilder) readable(e *condition.Expr, format string) (err error) {
	e.Walk(func(n *condition.Expr) {
		edge, ok := p.edgeOf[n.Text]
		where := position{n.Pos.Line, n.Pos.Col}
		switch {
		case err != nil:
		case n.Op == condition.OpAll || n.Op == condition.OpRise || n.Op == condition.OpSpan:
			err = p.fail(where, inMatchAlone)
		case n.Op != condition.OpProperty:
		case !p.known(n.Text):
			err = p.fail(where, format, short(n.Text))
		case ok && p.edges[edge].Hops != nil:
			err = p.fail(where, "%s is a path and has no property; RETURN takes it whole", short(n.Text))
		}
	})
	return err
}

// mapConditions turns property maps into comparisons.
func (p *cypherBuilder) mapConditions(q *matcher.Query) ([]*condition.Expr, error) {
	var all []*condition.Expr
	for _, m := range p.maps {
		variable := q.ElementName(m.of)
		seen := make(map[string]bool)
		for _, entry := range m.entries {
			key, err := p.unquote(entry.key)
			if err != nil {
				return nil, err
			}
			where := pos(entry.key.pos)
			if seen[key] {
				return nil, p.fail(at(entry.key.pos), "the property %s stands twice in the map", short(key))
			}
			seen[key] = true
			if entry.value.Op == condition.OpNull {
				return nil, p.fail(at(entry.key.pos), "a property in a map is never equal to null; write WHERE %s.%s "+
					"IS NULL", variable, key)
			}
			reads := false
			entry.value.Walk(func(n *condition.Expr) { reads = reads || n.Op == condition.OpProperty })
			if reads {
				return nil, p.fail(at(entry.key.pos), "a property map holds constants and parameters; write WHERE "+
					"a.x = b.x")
			}
			property := &condition.Expr{Op: condition.OpProperty, Pos: where, Text: variable, Property: key}
			all = append(all, &condition.Expr{Op: condition.OpCompare, Pos: where,
				Chain: []condition.Relation{condition.Eq}, Args: []*condition.Expr{property, entry.value}})
		}
	}
	return all, nil
}

// returns fills in the fields.
func (r *Rule) returns(p *cypherBuilder, ast *cypherReturn, scope *condition.Scope) error {
	r.Everything = ast == nil || ast.star
	if ast == nil {
		return nil
	}
	taken := make(map[string]bool)
	if ast.star {
		for name := range scope.Elements {
			taken[name] = true
		}
	}
	for _, item := range ast.items {
		f, err := r.field(p, item, scope)
		if err != nil {
			return err
		}
		if taken[f.Name] {
			return p.fail(at(item.pos), "two fields are called %s; give one another name with AS", short(f.Name))
		}
		taken[f.Name] = true
		r.Fields = append(r.Fields, f)
	}
	return nil
}

func (r *Rule) field(p *cypherBuilder, item *cypherItem, scope *condition.Scope) (f matcher.Field, err error) {
	switch {
	case item.element != nil:
		if f.Name, err = p.unquote(item.element); err != nil {
			return f, err
		}
		f.Element = scope.Elements[f.Name].Ref
	case item.as == nil && item.value.Op != condition.OpProperty:
		return f, p.fail(at(item.pos), "the field has no name; write AS and one behind it")
	default:
		if err := p.readable(item.value, "RETURN names %s, which no MATCH mentions"); err != nil {
			return f, err
		}
		f.Name = item.value.Text + "." + item.value.Property
		if f.Formula, err = condition.NewFormula(scope, item.value); err != nil {
			return f, p.located(err)
		}
	}
	if item.as != nil {
		f.Name, err = p.variable(item.as, inWhere)
	}
	return f, err
}
