// Package negation searches queries with NOT (..) and NOT EXISTS {..} (DESIGN S25, A20). Its Backend wraps another,
// which searches the core: the query without its negations. Requests for other queries go through untouched.
//
// A match of the core is blocked in a view if some negation has a row there for it. The matches that a batch makes, or
// breaks, are of three kinds, by what changed of their core:
//
//   - Edges of the core are inserted, deleted or replaced. The inner backend finds such rows, under their anchors;
//     those that are blocked in the searched view are dropped (filter.go).
//   - The batch revises vertices that matter for the query. Then all rows with own changes are found here (own.go): a
//     row may hold in the core of both views, and the inner backend would drop it.
//   - Nothing of the core changed: the negation turned the match. Each change in the view where it is blocked is mapped
//     to each element of a negation, extended to its rows, and these to rows of the core without own changes
//     (blockers.go; package residual leads from one to the other).
//
// Groups of the second and third kind are merged with those of the inner backend by anchor (merge.go). The versions
// that they are anchored at have different signs, so no two groups of a request have the same order.
//
// Searches here are plain backtracking (package residual) on the caller's goroutine. Their steps and time count against
// the budget of the request.
package negation
