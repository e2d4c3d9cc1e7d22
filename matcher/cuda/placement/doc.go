// Package placement chooses between CPU and GPU for each kind of search of a batch (DESIGN A11), by measured times. It
// is an algorithm without a device, a graph or a clock. A Placement has one owner.
//
//   - In: Work, the estimated size of a search (Sizer) and how far each side is behind the graph; after the search its
//     Cost.
//   - Out: the side that runs the search (Placement.Search, Run). A trial has a time limit: if it is exceeded, the
//     other side finishes the search.
//   - Cost model (curve.go): for each kind of work and side, a curve of time by size. Warm-up benchmarks at the start
//     (warmup.go) and every search add measurements. Another curve by side has the time to catch up with the graph.
//   - Decision (decide.go): the threshold between the sides is where their curves cross. Moving to the other side is a
//     ski rental problem: work moves when the savings missed so far pay for catching up.
//   - Trials: the other side is measured again from time to time, at the cost of a small share of all time.
//
// The tests (placement_*_test.go, rehearsal_test.go) play streams on random machines, and hold what a choice with the
// constants here may cost; docs/notebook/2026-11-gpu.md, "What a choice between CPU and GPU costs", has the figures.
// Assumed costs are rough, and matter until a measurement replaces them.
//
// A second GPU is a third Side: Work.Behind, Cost and the curves are by side; decide compares two.
package placement
