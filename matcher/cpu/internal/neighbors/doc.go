// Package neighbors caches what searches read of the graph again and again, neighbor lists filtered by candidate class,
// and intersects them (DESIGN A7; worst-case-optimal joins intersect sorted lists vertex by vertex).
//
// In go a vertex and a program.BackEdge; out come ascending vertices with their adjacency entries. Lists hold staged
// entries too: whether an entry is visible depends on the anchor, and is decided by the caller. A Cache belongs to a
// backend and is shared by its workers without locks; Lists and Intersecter are one worker's access to it. A list is
// valid while the epochs of its vertex stay the same; the backend advances them (Cache.Outdate) for the edges and
// candidate bits that a staged batch changes.
//
// A vertex predicate becomes part of program.ListKey, and its changes advance list epochs.
package neighbors
