package pattern

import (
	"slices"

	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/condition"
)

// functionNames are the aggregates as a query spells them.
var functionNames = [...]string{matcher.CountRows: "count", matcher.CountDistinct: "count", matcher.Sum: "sum",
	matcher.Collect: "collect"}

// aggregateOf resolves an aggregate.
func (p *cypherBuilder) aggregateOf(item *cypherWithItem, scope *condition.Scope) (a matcher.Aggregate, err error) {
	a.Function = item.function
	if a.Name, err = p.variable(item.as, inWhere); err != nil {
		return a, err
	}
	if item.of != nil {
		name, err := p.variable(item.of, inWhere)
		if err != nil {
			return a, err
		}
		if !p.known(name) {
			return a, p.fail(at(item.of.pos), "%s names %s, which no MATCH mentions", functionNames[a.Function],
				short(name))
		}
		if p.isPath(name) {
			return a, p.refusePath(item.of.pos, name)
		}
		if a.Function == matcher.Collect {
			return a, p.collected(item, scope, name, &a)
		}
		if ref := scope.Elements[name].Ref; a.Function == matcher.CountDistinct {
			a.Of = &ref
		}
	}
	if item.value == nil {
		return a, nil
	}
	var path string
	item.value.Walk(func(n *condition.Expr) {
		if n.Op == condition.OpProperty && p.isPath(n.Text) {
			path = n.Text
		}
	})
	if path != "" {
		return a, p.refusePath(item.pos, path)
	}
	if err := p.readable(item.value, "sum names %s, which no MATCH mentions"); err != nil {
		return a, err
	}
	if a.Formula, err = condition.NewFormula(scope, item.value); err != nil {
		return a, p.located(err)
	}
	switch t := a.Formula.Type; {
	case t.Kind == property.Float64:
		return a, p.fail(at(item.pos), "a sum of float64 would depend on the order of the rows; declare the property "+
			"as decimal(s)")
	case !t.Exact():
		return a, p.fail(at(item.pos), "sum takes int64 and decimal; this is a %v", t)
	}
	return a, nil
}

// collected resolves collect(x)[..N] and collect(x.p)[..N].
func (p *cypherBuilder) collected(item *cypherWithItem, scope *condition.Scope, name string,
	a *matcher.Aggregate) (err error) {
	ref := scope.Elements[name].Ref
	if !ref.Edge {
		return p.fail(at(item.of.pos), "collect takes an edge, the latest by ts, and %s is a vertex; collect an edge "+
			"of it, which shows both its ends", short(name))
	}
	a.Of, a.Most, a.Distinct = &ref, item.most, item.distinct
	ts := &condition.Expr{Op: condition.OpProperty, Text: name, Property: property.TimeName, Pos: pos(item.of.pos)}
	if a.Time, err = condition.NewFormula(scope, ts); err != nil {
		return p.located(err)
	}
	if item.value == nil {
		return nil
	}
	if a.Formula, err = condition.NewFormula(scope, item.value); err != nil {
		return p.located(err)
	}
	return nil
}

// listed refuses an expression that reads a list.
func (p *stageBuilder) listed(e *condition.Expr) (err error) {
	e.Walk(func(n *condition.Expr) {
		if err == nil && n.Op == condition.OpAggregate && slices.ContainsFunc(p.r.Query.Groups.Aggregates(),
			func(a *matcher.Aggregate) bool { return a.Name == n.Text && a.Function == matcher.Collect }) {
			err = p.fail(position{n.Pos.Line, n.Pos.Col}, "%s is a list, which stands alone in RETURN; compare a "+
				"count or a sum", short(n.Text))
		}
	})
	return err
}
