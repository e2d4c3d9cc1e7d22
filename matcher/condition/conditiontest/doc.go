// Package conditiontest makes up expressions and values for tests, and prints expressions.
//
//	idea    expressions mostly fit the types of one fixed scope, so that most of them resolve; values lie where
//	        comparisons change
//	in      a random source
//	out     a condition.Expr, its text as Cypher, values by slot
//	owner   the tests of packages condition, pattern and reference
package conditiontest
