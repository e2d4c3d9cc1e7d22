// Package mirror keeps the device's copy of the graph: a packed memory array of entries, ordered by vertex, kind and
// neighbour (GAMMA section V-C; GPMA, Sha et al., VLDB 2017), with candidate bits and labels by vertex.
//
//   - In: the host's graph, each staged delta and how its batch ended, candidate bits of candidates.Filter.
//   - Out: Graph, the addresses that kernels read, valid until the next CatchUp, Stage or Free.
//   - Lazy: for a batch that the device does not search, the mirror only records the changes (Ended). CatchUp applies
//     the recorded changes, or copies the whole graph if that is cheaper or something failed (DESIGN A11). Behind
//     estimates the bytes to catch up.
//
// A device has one Mirror. The backend owns it and calls it from one goroutine. The bits of a vertex predicate, or
// values of edges such as a time stamp, would be arrays beside label and bits, copied in bits.go. A second GPU has its
// own Mirror.
package mirror
