// Package mirror keeps the device's copy of the graph: a packed memory array of entries, ordered by vertex, kind and
// neighbour (GAMMA section V-C; GPMA, Sha et al., VLDB 2017), with candidate bits and labels by vertex.
//
//   - In: the host's graph, each staged delta and how its batch ended, candidate bits and truth words of
//     candidates.Filter, and which columns of edges programs read (Reads).
//   - Out: Graph, the addresses that kernels read, valid until the next CatchUp, Stage or Free.
//   - Lazy: for a batch that the device does not search, the mirror only records the changes (Ended). CatchUp applies
//     the recorded changes, or copies the whole graph if that is cheaper or something failed (DESIGN A11). Behind
//     estimates the bytes to catch up.
//
// What the device has no room for is in memory of the host that kernels read (near.go). What searches read most is on
// the device (hot.go; DESIGN A25).
//
// A device has one Mirror. The backend owns it and calls it from one goroutine. What conditions read of edges is copied
// in facts.go. A second GPU has its own Mirror.
package mirror
