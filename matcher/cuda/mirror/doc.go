// Package mirror keeps the device's copy of the graph: a packed memory array of entries, ordered by vertex, kind and
// neighbour (GAMMA section V-C; GPMA, Sha et al., VLDB 2017), with candidate bits and labels by vertex.
//
//   - In: the host's graph, each staged delta and how its batch ended, candidate bits of candidates.Filter.
//   - Out: Graph, the addresses that kernels read, valid until the next CatchUp, Stage or Free.
//   - Lazy: a batch that the device does not search costs a note (Ended); CatchUp brings all of them, or copies the
//     graph anew when that is cheaper or something failed (DESIGN A11). Behind estimates how much that is.
//
// The backend owns the one Mirror of a device and calls it from one goroutine. A vertex predicate's bits, and values
// of edges such as a time stamp, are columns beside label and bits, copied in bits.go; a second GPU has a mirror of
// its own.
package mirror
