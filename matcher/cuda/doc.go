// Package cuda is the GPU backend: GAMMA's warp-centric batch-dynamic matching on a mirror of the host's graph
// (GAMMA sections IV and V). All but the choice between CPU and GPU is behind the build tags cuda and emu. It has the
// CPU backend beside it, over the same graph, for what the device does not do:
//
//   - requests with a work budget, which is measured in the CPU backend's steps
//   - counts beyond 128 bits
//   - with Options.Placement, searches that it is faster at
//
// The results are the same bytes either way.
package cuda
