package conditiontest

import (
	"strings"

	"motifd/matcher/condition"
)

// Format prints an expression as Cypher. Parsing it again gives the same expression.
func Format(e *condition.Expr) string { return format(e, 0) }

// levels are those of openCypher's precedence; 0 binds least.
var levels = map[condition.Op]int{
	condition.OpOr: 1, condition.OpXor: 2, condition.OpAnd: 3, condition.OpNot: 4, condition.OpCompare: 5,
	condition.OpIn: 6, condition.OpStartsWith: 6, condition.OpIsNull: 6, condition.OpIsNotNull: 6,
	condition.OpAdd: 7, condition.OpSub: 7, condition.OpMul: 8, condition.OpNeg: 9,
}

const tight = 10 // binds more than every operation

// format prints an expression, in parentheses if its own level is below this one.
func format(e *condition.Expr, level int) string {
	own, ok := levels[e.Op]
	if !ok {
		own = tight
	}
	text := plain(e, own)
	if own < level {
		return "(" + text + ")"
	}
	return text
}

func plain(e *condition.Expr, own int) string {
	arg := func(i, level int) string { return format(e.Args[i], level) }
	all := func(sign string, level int) string {
		var parts []string
		for i := range e.Args {
			parts = append(parts, arg(i, level))
		}
		return strings.Join(parts, sign)
	}
	switch e.Op {
	case condition.OpNull:
		return "null"
	case condition.OpBool:
		return strings.ToLower(e.Text)
	case condition.OpNumber:
		return e.Text
	case condition.OpString:
		return condition.QuoteString(e.Text)
	case condition.OpParameter:
		return "$" + condition.QuoteProperty(e.Text)
	case condition.OpDuration:
		return "duration(" + condition.QuoteString(e.Text) + ")"
	case condition.OpList:
		return "[" + all(", ", 0) + "]"
	case condition.OpProperty:
		return "`" + strings.ReplaceAll(e.Text, "`", "``") + "`." + condition.QuoteProperty(e.Property)
	case condition.OpNeg:
		return "-" + arg(0, tight)
	case condition.OpAdd:
		return arg(0, own) + " + " + arg(1, own+1)
	case condition.OpSub:
		return arg(0, own) + " - " + arg(1, own+1)
	case condition.OpMul:
		return arg(0, own) + " * " + arg(1, own+1)
	case condition.OpCompare:
		text := arg(0, own+1)
		for i, r := range e.Chain {
			text += " " + r.String() + " " + arg(i+1, own+1)
		}
		return text
	case condition.OpIn:
		return arg(0, own+1) + " IN " + arg(1, own+1)
	case condition.OpStartsWith:
		return arg(0, own+1) + " STARTS WITH " + arg(1, own+1)
	case condition.OpIsNull:
		return arg(0, own+1) + " IS NULL"
	case condition.OpIsNotNull:
		return arg(0, own+1) + " IS NOT NULL"
	case condition.OpNot:
		return "NOT " + arg(0, own)
	case condition.OpAnd:
		return all(" AND ", own+1)
	case condition.OpXor:
		return all(" XOR ", own+1)
	}
	return all(" OR ", own+1)
}
