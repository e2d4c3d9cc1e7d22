// Package cuda is the GPU backend: GAMMA's warp-centric batch-dynamic matching on a mirror of the host's graph (GAMMA
// sections IV and V). Below it are mirror (the device's copy of the graph), placement (the choice between CPU and
// GPU), device (memory, trace) and, in matcher/cpu, rowsort (rows that the device's memory does not hold, or that tie
// in their vertices).
//
//   - program.go, class.go: matching orders as data for the kernels (kernels/plan.cuh). What a vertex predicate or a
//     time window needs is a field of Step or Back; kernels/admission.cuh alone decides by it. An edge's identity is a
//     column of Back.
//   - runner.go, pass.go, limits.go: launches, and what they spend. waves.go, produce.go, orderer.go: anchors in waves,
//     their rows put in order on the device. A counting method is a kernel that pass launches before the general one,
//     as wbmflat is.
//   - search.go, rows.go, emitter.go, enumerate.go, rooted.go: requests; who answers each, groups in canonical order.
//   - place.go, rehearse.go: both sides under a placement. A second GPU is a second mirror and runner behind it.
//
// It has the CPU backend beside it, over the same graph, for what the device does not do: requests that are metered
// group by group, patterns with too many edges, counts beyond 128 bits, and searches that the CPU is faster at. The
// results are the same bytes either way. All of it is behind the build tags cuda and emu.
package cuda
