// Package ivm maintains counts of trees from batch to batch, where counting from each net edge costs more.
// It is factorised incremental view maintenance (F-IVM: Nikolic and Olteanu, SIGMOD 2018).
//
// A tree view is a subtree of a quotient (package count) with the edge that it hangs from. It keeps, for each image of
// its root, the number of homomorphisms of the subtree: the sum, over the neighbours along the edge, of the product of
// what its child views keep there. A batch costs work for the net edges that fit a view and for the neighbours of the
// vertices whose numbers they change. Equal views are shared by all patterns.
//
// In: a count.Plan, the label index (package labeladj) and the net edges by label triple (package program). Out: a
// ViewSet, which sums what a phase of the staged batch changes, and the Terms that a count.Counter is still to count
// from net edges. The backend owns one Views and a ViewSet for each pattern; one goroutine advances them. Numbers are
// by label alone: candidate bits do not matter.
//
// A vertex predicate or a time window becomes part of a view's key and of what Maintainer.sees; parallel edges need
// nothing, as each data edge counts for one.
package ivm
