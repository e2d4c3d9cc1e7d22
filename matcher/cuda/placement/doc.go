// Package placement chooses between CPU and GPU for each kind of search of a batch (DESIGN A11), by what both were
// measured to take. It has the algorithm alone: no device, no graph, no clock, one owner.
//
//   - In: Work, the estimated size of a search (Sizer) and how far each side is behind the graph; after the search its
//     Cost.
//   - Out: the side that runs it (Placement.Search, Run), with a time limit where it is a trial: whatever is not done
//     by then the other side does.
//   - Measurements: moving averages by kind and size of work (estimate.go); curves from rehearsals at start, batches
//     that are searched for nobody (rehearsal.go); round trip and copy rate of the device (Calibrate).
//   - Trials are paid for: what they may lose is a small share of the time that searches took so far (competitive
//     analysis of the ski rental problem; see Placement).
//
// A second GPU is a third Side: Work.Behind, Cost and the averages are by side, decide compares two.
package placement
