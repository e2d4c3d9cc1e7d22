// Package placement chooses between CPU and GPU for each kind of search of a batch (DESIGN A11), by what both were
// measured to take. It has the algorithm alone: no device, no graph, no clock, one owner.
//
//   - In: Work, the estimated size of a search (Sizer) and how far each side is behind the graph; after the search its
//     Cost.
//   - Out: the side that runs it (Placement.Search, Run), with a time limit where it is a trial: the other side does
//     what is not done by then.
//   - Cost model (curve.go): per kind of work and side, time by size. Warm-up benchmarks at the start fill it
//     (warmup.go), every search adds to it. What a side takes to catch up with the graph is such a curve, too.
//   - Decision (decide.go): the threshold between the sides is where their curves cross. Moving to the other side is a
//     ski rental problem: it is done when the savings missed so far pay for catching up.
//   - Trials: the other side is measured again now and then; they may cost a small share of all time.
//
// A second GPU is a third Side: Work.Behind, Cost and the curves are by side, decide compares two.
package placement
