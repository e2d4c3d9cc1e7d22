// Package labeladj indexes the adjacency of a graph by label, for counting. A vertex has one block, sorted by kind,
// then by neighbour; a kind is the direction and label of an edge and the label of the neighbour. The neighbours of one
// kind are then one slice, where a range of the graph's packed memory array mixes neighbours of all labels (as in GSI:
// Zeng et al., ICDE 2020, section IV, which partitions by edge label only).
//
// In: a dyngraph.Graph and the staged batch. Out: slices of neighbours with their entries, those of the staged batch
// marked; what a search sees of marked entries is its own decision. The CPU backend owns the one Index, makes it when
// something is first counted and drops it when no query counts; it calls CatchUp before it counts and End when a batch
// ends. Counting (package count) and incrementally maintained counts (package ivm) read it.
//
// What comes next: a parallel edge needs nothing here, as entries name edges and parallel entries are adjacent. A
// vertex predicate or a time window is checked by the reader of a slice; to index by it, widen Key.
package labeladj
