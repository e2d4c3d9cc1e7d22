// Package cuda is the GPU backend: GAMMA's warp-centric batch-dynamic matching on a mirror of the host's graph (GAMMA
// sections IV and V), on one device or several. Below it are mirror (a device's copy of the graph), placement (the
// choice between CPU and GPU), device (memory, trace) and, in matcher/internal, rowsort (rows that the device's memory
// does not hold, or that tie in their vertices).
//
//   - program.go, class.go: matching orders as data for the kernels (kernels/plan.cuh). The identity of an edge is a
//     field of Back.
//   - where.go: conditions as data: intervals of truth words of edges, instructions for values of several elements, and
//     sets of labels (kernels/where.cuh). matcher.Plan.NotOnGPU keeps plans with other conditions from the device.
//   - runner.go, pass.go, limits.go: launches, and their steps and time, charged to budgets.
//   - waves.go, produce.go, orderer.go: searches for rows, in waves of anchors; the device sorts the rows of a wave. A
//     counting method is a kernel that pass launches before the general one, as it does with wbmflat.
//   - side.go, totals.go, shares.go: a device with its mirror and runner is a side; what sides do together; the tasks
//     of counts and existence, which are dealt to them. waves.go deals them the anchors of rows.
//   - exchange.go, handover.go: a side without work gets a part of that of another one.
//   - search.go, rows.go, emitter.go, enumerate.go, rooted.go: requests. Each is given to the device or to the CPU
//     backend, and the groups of both are emitted in canonical order.
//   - space.go: candidates of a search for rows of a whole graph that can complete a match (DESIGN A27).
//   - mapped.go: a graph that does not fit a device, which reads a part of it from the host (DESIGN A25).
//   - place.go, rehearse.go: the choice between CPU and GPU for each search.
//
// Each constant says where it comes from: the paper, the arithmetic, or the measurement. "Not tuned" says that there is
// none, and that nobody has measured other values.
//
// The backend contains a CPU backend over the same graph. It does the work that the device does not do: requests that
// are metered group by group, patterns with too many edges, counts beyond 128 bits, and searches at which the CPU is
// faster. The results have the same bytes on both sides. The package has the build tags cuda and emu.
package cuda
