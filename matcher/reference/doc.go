// Package reference is a deliberately dumb matcher, the oracle that the other backends are held against (DESIGN P1).
//
// It takes nothing from a Plan but the query: no matching order, no filter, no symmetry constraint. It finds all
// matches of either graph by backtracking, differences the two sets, and reads each match's anchor off its edges
// (DESIGN A2). All matches are held in memory at once, so it is for small graphs: what DESIGN P4 promises does not
// hold here.
package reference
