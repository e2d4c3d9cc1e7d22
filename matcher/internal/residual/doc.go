// Package residual extends a part of a match to whole ones: a plain backtracking search over a view of the graph, for
// the packages around a backend, which search a little themselves (DESIGN A20).
//
//   - In: a Pattern, an Order of its elements from those that are given, a view, and a row with the images of the given
//     ones.
//   - Out: each extension of the row, in no order.
//   - Cost: a step goes through the shortest of the lists that the vertices mapped before it have for the edges that it
//     maps. Work counts these steps, and ends a search beyond its budget.
//
// The package knows nothing of anchors, candidate bits or threads: package backtrack of the CPU backend has these.
package residual
