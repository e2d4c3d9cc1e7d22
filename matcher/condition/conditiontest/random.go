package conditiontest

import (
	"fmt"
	"math/rand/v2"

	"motifd/dyngraph/property"
	"motifd/matcher/condition"
)

// Source draws expressions.
type Source struct{ *rand.Rand }

// Predicate draws an expression that is true, false or unknown; depth bounds its nesting.
func (s Source) Predicate(depth int) *condition.Expr {
	if depth > 0 {
		switch s.IntN(7) {
		case 0, 1, 2:
			op := []condition.Op{condition.OpAnd, condition.OpOr, condition.OpXor}[s.IntN(3)]
			e := &condition.Expr{Op: op}
			for range 2 + s.IntN(2) {
				e.Args = append(e.Args, s.Predicate(depth-1))
			}
			return e
		case 3:
			return node(condition.OpNot, s.Predicate(depth-1))
		}
	}
	switch s.IntN(12) {
	case 0:
		return s.property(property.Bool)
	case 1:
		op := []condition.Op{condition.OpIsNull, condition.OpIsNotNull}[s.IntN(2)]
		return node(op, s.value(s.class(), depth))
	case 2:
		return node(condition.OpStartsWith, s.value(words, 0), s.value(words, 0))
	case 3, 4:
		return s.in(depth)
	case 5:
		return []*condition.Expr{{Op: condition.OpBool, Text: "TRUE"}, {Op: condition.OpBool, Text: "FALSE"},
			{Op: condition.OpNull}, {Op: condition.OpParameter, Text: "flag"}}[s.IntN(4)]
	}
	class := s.class()
	e := &condition.Expr{Op: condition.OpCompare, Args: []*condition.Expr{s.value(class, depth)}}
	for range 1 + s.IntN(8)/6 {
		e.Chain = append(e.Chain, condition.Relation(s.IntN(6)))
		e.Args = append(e.Args, s.value(class, depth))
	}
	return e
}

func node(op condition.Op, args ...*condition.Expr) *condition.Expr {
	return &condition.Expr{Op: op, Args: args}
}

// class is a set of types that compare with one another.
type class int

const (
	numbers class = iota
	words
	flags
	times
	classes
)

func (s Source) class() class {
	if s.IntN(2) == 0 {
		return numbers
	}
	return class(s.IntN(int(classes)))
}

// value draws an expression of a class.
func (s Source) value(c class, depth int) *condition.Expr {
	if s.IntN(30) == 0 {
		return []*condition.Expr{{Op: condition.OpNull}, {Op: condition.OpParameter, Text: "none"}}[s.IntN(2)]
	}
	switch c {
	case words:
		switch s.IntN(4) {
		case 0:
			return &condition.Expr{Op: condition.OpString, Text: Value(s.Rand, types["s"]).Str()}
		case 1:
			return &condition.Expr{Op: condition.OpParameter, Text: "word"}
		}
		return s.property(property.String)
	case flags:
		if s.IntN(4) == 0 {
			return &condition.Expr{Op: condition.OpBool, Text: "TRUE"}
		}
		return s.property(property.Bool)
	case times:
		e := s.property(property.Timestamp)
		if depth > 0 && s.IntN(2) == 0 {
			op := []condition.Op{condition.OpAdd, condition.OpSub}[s.IntN(2)]
			return node(op, e, s.whole())
		}
		return e
	}
	if s.IntN(4) == 0 {
		return s.property(property.Float64)
	}
	return s.exact(depth)
}

// whole draws an int64 without arithmetic.
func (s Source) whole() *condition.Expr {
	switch s.IntN(4) {
	case 0:
		return s.property(property.Int64)
	case 1:
		return &condition.Expr{Op: condition.OpParameter, Text: "day"}
	case 2:
		return &condition.Expr{Op: condition.OpDuration, Text: []string{"PT24H", "P7DT0.5S", "PT1M"}[s.IntN(3)]}
	}
	return &condition.Expr{Op: condition.OpNumber, Text: fmt.Sprint(s.IntN(5))}
}

// exact draws an int64 or decimal.
func (s Source) exact(depth int) *condition.Expr {
	if depth > 0 && s.IntN(2) == 0 {
		if s.IntN(5) == 0 {
			return node(condition.OpNeg, s.exact(depth-1))
		}
		if s.IntN(6) == 0 {
			return node(condition.OpSub, s.property(property.Timestamp), s.property(property.Timestamp))
		}
		op := []condition.Op{condition.OpAdd, condition.OpSub, condition.OpMul}[s.IntN(3)]
		return node(op, s.exact(depth-1), s.exact(depth-1))
	}
	switch s.IntN(6) {
	case 0, 1:
		return s.property(property.Decimal)
	case 2:
		return &condition.Expr{Op: condition.OpNumber, Text: []string{"0.1", "2.50", "9007199254740993", "1.5e1",
			"9223372036854775807", "0.01", "0.00001", "1e2"}[s.IntN(8)]}
	case 3:
		return &condition.Expr{Op: condition.OpParameter, Text: "rate"}
	}
	return s.whole()
}

func (s Source) in(depth int) *condition.Expr {
	c := s.class()
	if s.IntN(3) == 0 {
		name := map[class]string{numbers: []string{"whole", "real"}[s.IntN(2)], words: "words"}[c]
		if name != "" {
			list := &condition.Expr{Op: condition.OpParameter, Text: name}
			if name == "real" {
				return node(condition.OpIn, s.property(property.Float64), list)
			}
			return node(condition.OpIn, s.value(c, depth), list)
		}
	}
	list := &condition.Expr{Op: condition.OpList}
	for range s.IntN(5) {
		var e *condition.Expr
		switch kind := []property.Kind{property.Int64, property.String, property.Bool, property.Int64}[c]; kind {
		case property.String:
			e = &condition.Expr{Op: condition.OpString, Text: Value(s.Rand, types["s"]).Str()}
		case property.Bool:
			e = &condition.Expr{Op: condition.OpBool, Text: []string{"TRUE", "FALSE"}[s.IntN(2)]}
		default:
			texts := []string{"0", "1", "2", "4", "0.5", "0.10"}
			if c == times {
				texts = texts[:4]
			}
			e = &condition.Expr{Op: condition.OpNumber, Text: texts[s.IntN(len(texts))]}
			if s.IntN(3) == 0 {
				e = node(condition.OpNeg, e)
			}
		}
		if s.IntN(8) == 0 {
			e = &condition.Expr{Op: condition.OpNull}
		}
		list.Args = append(list.Args, e)
	}
	return node(condition.OpIn, s.value(c, depth), list)
}

// property draws a property of a kind.
func (s Source) property(kind property.Kind) *condition.Expr {
	var names []string
	for _, name := range []string{"i", "j", "x y", "d", "e", "f", "g", "p", "q", "s", "order", "ts"} {
		if types[name].Kind == kind {
			names = append(names, name)
		}
	}
	return &condition.Expr{Op: condition.OpProperty, Text: variables[s.IntN(len(variables))],
		Property: names[s.IntN(len(names))]}
}
