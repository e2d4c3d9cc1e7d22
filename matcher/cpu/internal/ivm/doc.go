// Package ivm maintains counts of trees from batch to batch, where counting from each net edge costs more.
// It is factorised incremental view maintenance (F-IVM: Nikolic and Olteanu, SIGMOD 2018).
//
// A tree view is a subtree of a quotient (package count) with the edge that joins it to its root vertex. It keeps, for
// each image of the root, the number of homomorphisms of the subtree: the sum, over the neighbours along the edge, of
// the product of the numbers of its child views there. The work of a batch is in proportion to the net edges that fit a
// view, and to the neighbours of the vertices whose numbers they change. All patterns share equal views.
//
// In: a count.Plan, the label index (package labeladj) and the net edges by label triple (package program). Out: a
// ViewSet, which sums the changes of a phase of the staged batch, and the Terms that a count.Counter still has to count
// from net edges. The backend owns one Views and a ViewSet for each pattern; one goroutine advances them. Numbers
// depend on labels only, not on candidate bits.
//
// A vertex predicate becomes part of treeView.key, treeView.build and Maintainer.spread; or compiler.add refuses plans
// with predicates, which then count without views. Plans with a time window count without views. Parallel edges need
// nothing, as each data edge counts once.
package ivm
