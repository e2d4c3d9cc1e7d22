package pattern

import (
	"motifd/matcher"
	"motifd/matcher/condition"
)

// keyScope returns the scope of expressions behind WITH: keys and the aggregates that it names, by their indexes in the
// query.
func (p *stageBuilder) keyScope() *condition.Scope {
	q, scope := p.r.Query, p.elements
	keys := &condition.Scope{Schema: scope.Schema, Parameters: scope.Parameters,
		Elements: make(map[string]condition.Element), Aggregates: make(map[string]condition.Slot)}
	for i, v := range q.Vertices {
		keys.Elements[v.Name] = condition.Element{Ref: condition.Ref{Index: i}, Labels: scope.Elements[v.Name].Labels}
	}
	for i, e := range q.Edges {
		keys.Elements[e.Name] = condition.Element{Ref: condition.Ref{Edge: true, Index: i},
			Labels: scope.Elements[e.Name].Labels}
	}
	for i, a := range q.Groups.Aggregates() {
		slot := condition.Slot{Element: condition.Ref{Aggregate: true, Index: i}, Property: a.Name, Type: a.Type()}
		if p.carried[a.Name] {
			keys.Aggregates[a.Name] = slot
		}
		if a.Function == matcher.CountRows || a.Function == matcher.CountDistinct {
			keys.Counts = append(keys.Counts, slot)
		}
	}
	return keys
}

// readsKeys refuses an expression behind WITH that reads an element which is no key, or a list.
func (p *stageBuilder) readsKeys(e *condition.Expr, keys *condition.Scope, clause string) (err error) {
	e.Walk(func(n *condition.Expr) {
		if err == nil && (n.Op == condition.OpAll || n.Op == condition.OpRise || n.Op == condition.OpSpan) {
			err = p.fail(position{n.Pos.Line, n.Pos.Col}, inMatchAlone)
		}
		if err != nil || n.Op != condition.OpProperty {
			return
		}
		if _, ok := keys.Elements[n.Text]; !ok {
			err = p.fail(position{n.Pos.Line, n.Pos.Col}, "%s names %s, which is no key of WITH; behind WITH there "+
				"are its keys and aggregates", clause, short(n.Text))
		}
	})
	if err != nil {
		return err
	}
	return p.listed(e)
}

// groupReturns fills in the fields of a query with WITH, by default all aggregates, and which keys it shows, by default
// all of them.
func (p *stageBuilder) groupReturns(r *Rule, ast *cypherReturn, keys *condition.Scope) error {
	q := r.Query
	r.Everything = ast == nil || ast.star
	taken := make(map[string]bool)
	if r.Everything {
		for i := range q.Vertices {
			q.Groups.Shown = append(q.Groups.Shown, condition.Ref{Index: i})
		}
		for i := range q.Edges {
			q.Groups.Shown = append(q.Groups.Shown, condition.Ref{Edge: true, Index: i})
		}
		for i, a := range q.Groups.Aggregates() {
			if _, ok := keys.Aggregates[a.Name]; ok {
				q.Fields = append(q.Fields, matcher.Field{Name: a.Name,
					Element: condition.Ref{Aggregate: true, Index: i}})
			}
		}
		for name := range keys.Elements {
			taken[name] = true
		}
		for name := range keys.Aggregates {
			taken[name] = true
		}
	}
	if ast == nil {
		return nil
	}
	for _, item := range ast.items {
		f, err := p.groupField(item, keys)
		if err != nil {
			return err
		}
		if taken[f.Name] {
			return p.fail(at(item.pos), "two fields are called %s; give one another name with AS", short(f.Name))
		}
		taken[f.Name] = true
		if f.Formula == nil && !f.Element.Aggregate && f.Name == q.ElementName(f.Element) {
			if !r.Everything {
				q.Groups.Shown = append(q.Groups.Shown, f.Element)
			}
			continue // a record has every key under its name
		}
		q.Fields = append(q.Fields, f)
	}
	return nil
}

func (p *stageBuilder) groupField(item *cypherItem, keys *condition.Scope) (f matcher.Field, err error) {
	switch {
	case item.element != nil:
		if f.Name, err = p.variable(item.element, inReturn); err != nil {
			return f, err
		}
		element, ok := keys.Elements[f.Name]
		if !ok {
			return f, p.fail(at(item.pos), "RETURN names %s, which is no key and no aggregate of WITH", short(f.Name))
		}
		f.Element = element.Ref
	case item.value.Op == condition.OpAggregate:
		f.Name = item.value.Text
		slot, ok := keys.Aggregates[f.Name]
		if !ok {
			return f, p.fail(at(item.pos), "RETURN names %s, which the last WITH leaves out", short(f.Name))
		}
		f.Element = slot.Element
	case item.as == nil && item.value.Op != condition.OpProperty:
		return f, p.fail(at(item.pos), "the field has no name; write AS and one behind it")
	default:
		if err := p.readsKeys(item.value, keys, "RETURN"); err != nil {
			return f, err
		}
		f.Name = item.value.Text + "." + item.value.Property
		if f.Formula, err = condition.NewFormula(keys, item.value); err != nil {
			return f, p.located(err)
		}
	}
	if item.as != nil {
		f.Name, err = p.variable(item.as, inWhere)
	}
	return f, err
}
