// Package count counts the matches of a pattern without enumerating them, from a net edge or in a whole graph.
//
// The pattern algebra: matches are the injective homomorphisms of a pattern. By Moebius inversion over the partitions
// of its vertices they are a signed sum of the homomorphisms of its quotients (Rota 1964; Curticapean, Dell and Marx,
// STOC 2017). Once some blocks of a quotient are mapped, the rest falls apart into components; the count of a component
// depends on the images of its separator alone, and is memoized by them. One elimination (FAQ and InsideOut: Abo
// Khamis, Ngo and Rudra, PODS 2016) maps block after block and multiplies the counts of the components that remain. The
// other strategy counts on the pattern itself, and corrects by inclusion and exclusion for vertices whose images
// coincide.
//
// In: a matcher.Plan with its candidate tests, compiled once into a Plan; the index by label (package labeladj), the
// candidate bits and the batch orders of the staged edges. Out: exact counts of any size. The backend owns Plans; each
// worker of package work owns a Counter with its caches, and may give away part of a sum. Package ivm reads the
// algebra.
//
// Where the next capability goes: a counting method is one more kind of component: a type with the method count, chosen
// in newMethod. Whether a vertex or an edge may extend a partial map is decided in admission.go alone: a vertex
// predicate joins filter.passes, a time window or any other condition on one data edge joins admitsEdge. Parallel edges
// are counted by MultiEdge.
package count
