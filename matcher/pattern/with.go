package pattern

import (
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"

	"motifd/matcher"
	"motifd/matcher/condition"
)

// cypherStage is a WITH and the clauses before it.
type cypherStage struct {
	matches []*cypherMatch
	with    *cypherWith
}

type cypherWith struct {
	pos   lexer.Position
	items []*cypherWithItem
	where *condition.Expr // nil without WHERE
}

// cypherWithItem is a key, or an aggregate with its name.
type cypherWithItem struct {
	pos      lexer.Position
	key      *cypherName // nil for an aggregate
	function matcher.Function
	of       *cypherName     // an element; nil for *
	value    *condition.Expr // of sum; of collect, what is listed of the element
	distinct bool            // of collect
	most     int             // of collect
	as       *cypherName
}

const withItems = "WITH takes vertices and edges as keys, and aggregates with names: count(*) AS n, count(x) AS n, " +
	"count(DISTINCT x) AS n, sum(x.p) AS total, collect(x)[..5] AS list"

// with reads what stands behind the keyword t.
func (p *parser) with(t lexer.Token) (*cypherWith, error) {
	w := &cypherWith{pos: t.Pos}
	switch t := p.token(); {
	case isKeyword(t, "DISTINCT"):
		return nil, p.fail(at(t.Pos), "WITH DISTINCT is not supported; keys are distinct")
	case t.Value == "*":
		return nil, p.fail(at(t.Pos), "WITH * is not supported; name the keys")
	}
	named := make(map[string]bool)
	for more := true; more; more = p.accept(",") {
		item, err := p.withItem()
		if err != nil {
			return nil, err
		}
		if item.as != nil {
			name, err := p.variable(item.as, inWhere)
			if err != nil {
				return nil, err
			}
			named[name] = true
		}
		w.items = append(w.items, item)
	}
	if p.aggregates == nil {
		p.aggregates = make(map[string]bool)
	}
	for name := range named {
		p.aggregates[name] = true
	}
	if p.keyword("WHERE") {
		var err error
		if w.where, err = p.or(); err != nil {
			return nil, err
		}
		if err := p.refuseNegations(w.where); err != nil {
			return nil, err
		}
		switch t := p.token(); {
		case t.EOF(), t.Value == ";", isKeyword(t, "MATCH"), isKeyword(t, "RETURN"), isKeyword(t, "WITH"):
		default:
			return nil, p.refuseExpression("")
		}
	}
	return w, nil
}

func (p *parser) withItem() (*cypherWithItem, error) {
	item := &cypherWithItem{pos: p.token().Pos}
	t := p.token()
	switch after := p.after(); {
	case isName(t) && after.Value == "(":
		if err := p.aggregate(item); err != nil {
			return nil, err
		}
	case t.Type == quotedToken || t.Type == wordToken && !isReserved(t.Value):
		item.key = p.name()
	default:
		return nil, p.fail(at(t.Pos), "unexpected %s; %s", describe(t), withItems)
	}
	switch t := p.token(); {
	case p.keyword("AS"):
		if item.key != nil {
			return nil, p.fail(at(t.Pos), "a key keeps its name; leave out AS and what follows")
		}
		if item.as = p.name(); item.as == nil {
			return nil, p.fail(at(p.token().Pos), "unexpected %s; after AS stands the name of the aggregate",
				describe(p.token()))
		}
	case item.key == nil && slices.Contains([]string{"+", "-", "*", "/", "%", "^"}, t.Value):
		return nil, p.fail(at(t.Pos), "an aggregate stands alone in WITH, with AS and a name; compute with the "+
			"name in WHERE or RETURN, by + - and *")
	case item.key == nil:
		return nil, p.fail(at(item.pos), "the aggregate has no name; write AS and one behind it")
	}
	switch t := p.token(); {
	case t.EOF(), t.Value == ",", t.Value == ";", isKeyword(t, "WHERE"), isKeyword(t, "MATCH"), isKeyword(t, "RETURN"),
		isKeyword(t, "WITH"):
		return item, nil
	case t.Value == ".":
		return nil, p.fail(at(item.pos), "a property is no key; write the vertex or edge, and the property in RETURN")
	case t.Type == wordToken && clauses[strings.ToUpper(t.Value)] != "":
		return nil, p.fail(at(t.Pos), "%s", clauses[strings.ToUpper(t.Value)])
	default:
		return nil, p.fail(at(t.Pos), "unexpected %s; %s", describe(t), withItems)
	}
}

// aggregate reads a call.
func (p *parser) aggregate(item *cypherWithItem) error {
	name := p.next()
	p.next()
	argument := p.token()
	switch strings.ToLower(name.Value) {
	case "count":
		item.function = matcher.CountRows
		if p.keyword("DISTINCT") {
			item.function = matcher.CountDistinct
		}
		if item.function == matcher.CountRows && p.accept("*") {
			break
		}
		if item.of = p.name(); item.of == nil {
			return p.fail(at(p.token().Pos), "unexpected %s; count takes *, a vertex or an edge", describe(p.token()))
		}
		if p.token().Value == "." {
			return p.fail(at(item.of.pos), "count takes *, a vertex or an edge; count(x.p), which leaves out rows "+
				"without the property, is WHERE x.p IS NOT NULL and count(x)")
		}
	case "sum":
		item.function = matcher.Sum
		if isKeyword(argument, "DISTINCT") {
			return p.fail(at(argument.Pos), "sum(DISTINCT ..) is not supported; a sum is over all rows")
		}
		var err error
		if item.value, err = p.sum(); err != nil {
			return err
		}
	case "collect":
		return p.collect(item, name)
	case "min", "max", "avg", "stdev", "stdevp", "percentilecont", "percentiledisc":
		return p.fail(at(name.Pos), "the aggregate %s is not supported; there are count, sum and collect. An average "+
			"is compared as in WHERE total > 100 * n", short(name.Value))
	default:
		return p.fail(at(name.Pos), "the function %s is no aggregate; %s", short(name.Value), withItems)
	}
	if !p.accept(")") {
		return p.refuseExpression(")")
	}
	return nil
}

// collect reads collect(x)[..N] and collect(x.p)[..N] behind the first parenthesis.
func (p *parser) collect(item *cypherWithItem, name lexer.Token) error {
	item.function, item.distinct = matcher.Collect, p.keyword("DISTINCT")
	t := p.token()
	if item.of = p.name(); item.of == nil {
		return p.fail(at(t.Pos), "unexpected %s; collect takes an edge, or a property of one", describe(t))
	}
	if p.accept(".") {
		key := p.name()
		if key == nil {
			return p.fail(at(p.token().Pos), "unexpected %s; after the dot stands the name of a property",
				describe(p.token()))
		}
		if item.distinct {
			return p.fail(at(t.Pos), "collect(DISTINCT x.p) is not supported; collect(DISTINCT x) lists an edge "+
				"once")
		}
		item.value = &condition.Expr{Op: condition.OpProperty, Pos: pos(t.Pos)}
		var err error
		if item.value.Text, err = p.variable(item.of, inWhere); err != nil {
			return err
		}
		if item.value.Property, err = p.unquote(key); err != nil {
			return err
		}
	}
	if !p.accept(")") {
		return p.fail(at(p.token().Pos), "unexpected %s; collect takes an edge, or a property of one",
			describe(p.token()))
	}
	if !p.accept("[") {
		return p.fail(at(name.Pos), "collect without a bound is not supported; write collect(t)[..5] "+
			"for the 5 latest")
	}
	bound := p.token()
	dots := 0
	for p.accept(".") {
		dots++
	}
	if dots == 2 && p.token().Type == numberToken {
		most, err := strconv.Atoi(p.next().Value)
		if item.most = most; err == nil && 1 <= most && most <= matcher.MaxCollected && p.accept("]") {
			return nil
		}
	}
	return p.fail(at(bound.Pos), "the bound of collect is [..1] to [..%d]: so many are listed, the latest first",
		matcher.MaxCollected)
}

// aggregateAhead reports whether the token is the name of an aggregate.
func (p *parser) aggregateAhead() bool {
	t := p.token()
	if !isName(t) {
		return false
	}
	name, err := p.unquote(&cypherName{t.Pos, t.Value})
	return err == nil && p.aggregates[name]
}
