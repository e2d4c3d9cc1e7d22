// Package condition holds what a pattern demands of the properties of a match: the WHERE of DESIGN S17.
//
//	idea    a WHERE is a set of conditions, the operands of its top-level ANDs. Each is about one element of the pattern
//	        (own) or compares several. It is resolved against the declared properties once, and then evaluated on an
//	        array of values in Kleene's three-valued logic: a match needs True.
//	in      an Expr, as package pattern parses it; a Scope: the schema, the parameters, the elements by name
//	out     Conditions and Fields, with the Slots they read, a normal form under renaming of elements (Key), and Eval
//	owner   an Expr belongs to its maker; Conditions and Fields are immutable and safe for concurrent use
//	source  openCypher 9, sections on expressions and null; Kleene (1952) for the truth tables
//
// The way of an expression: Expr (as written) -> term (resolved: types, constants folded, chains split) -> Condition
// (a flat program). Package reference evaluates an Expr directly, with big rationals: the twin of all this.
package condition
