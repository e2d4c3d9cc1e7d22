package condition

import "fmt"

// Pos is a line and a column of the source, from 1; the column counts characters.
type Pos struct{ Line, Col int }

// Error is a mistake in an expression, or something that motifd does not support there.
type Error struct {
	Pos Pos
	Msg string // what is wrong and what would be right
}

// Error returns "line:column: message".
func (e *Error) Error() string { return fmt.Sprintf("%d:%d: %s", e.Pos.Line, e.Pos.Col, e.Msg) }

// Op is the operation of a node of an expression.
type Op uint8

// The operations of an Expr, with what it holds.
const (
	OpNull       Op = iota + 1 // null
	OpBool                     // Text: TRUE or FALSE
	OpNumber                   // Text, as written, without sign
	OpString                   // Text: the string itself
	OpParameter                // Text: its name
	OpDuration                 // Text: the ISO 8601 duration
	OpList                     // Args
	OpProperty                 // Text: the variable; Property
	OpNeg                      // -Args[0]
	OpAdd                      // Args[0] + Args[1]
	OpSub                      // Args[0] - Args[1]
	OpMul                      // Args[0] * Args[1]
	OpCompare                  // Args[0] Chain[0] Args[1] Chain[1] ...
	OpIn                       // Args[0] IN Args[1]
	OpStartsWith               // Args[0] STARTS WITH Args[1]
	OpIsNull                   // Args[0] IS NULL
	OpIsNotNull                // Args[0] IS NOT NULL
	OpNot                      // NOT Args[0]
	OpAnd                      // two or more
	OpXor                      // two or more
	OpOr                       // two or more
	OpAggregate                // Text: the name that WITH gives it
	// What follows is for package pattern, which resolves it; Split refuses it.
	OpAll     // all(Text IN Property WHERE Args[0])
	OpRise    // motifd.increasing(Args)
	OpSpan    // motifd.span(Args)
	OpElement // Text: the variable
)

// Relation is the sign between two operands of a comparison.
type Relation uint8

// The relations.
const (
	Eq Relation = iota
	Ne
	Lt
	Le
	Gt
	Ge
)

// String returns the sign.
func (r Relation) String() string { return [...]string{"=", "<>", "<", "<=", ">", ">="}[min(r, Ge)] }

// holds reports whether the relation holds between operands of this order.
func (r Relation) holds(order int) bool {
	switch r {
	case Eq:
		return order == 0
	case Ne:
		return order != 0
	case Lt:
		return order < 0
	case Le:
		return order <= 0
	case Gt:
		return order > 0
	}
	return order >= 0
}

// Mirror returns the relation that says the same with the operands exchanged.
func (r Relation) Mirror() Relation {
	switch r {
	case Lt, Le:
		return r + (Gt - Lt)
	case Gt, Ge:
		return r - (Gt - Lt)
	}
	return r
}

// Expr is a node of an expression as written. Op says which fields count.
type Expr struct {
	Op       Op
	Pos      Pos // of the first token; of the operator for an operation with two sides
	Text     string
	Property string
	Chain    []Relation
	Args     []*Expr
}

// Walk calls f for every node, operators before their operands.
func (e *Expr) Walk(f func(*Expr)) {
	f(e)
	for _, a := range e.Args {
		a.Walk(f)
	}
}
