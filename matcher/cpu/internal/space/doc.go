// Package space makes the candidate space of one search of a whole graph, or keeps one for batches (DESIGN A22): which
// data vertices can be the image of which pattern vertex, as far as semi-joins over the pattern's edges tell, and the
// matching order that the numbers of candidates suggest.
//
// In: the graph, a plan, and the filter of package candidates: its bits if it has some for the plan, else its lists of
// vertices by label. Out: a Space, which is a candidates.Source with one bit per pattern vertex in one word per data
// vertex, and numbers of candidates and of pairs of candidates that a pattern edge joins. Searches read it as they read
// a Filter: orders and counting plans are compiled with it, and its bits are their admission test.
//
// A Space holds for the graph as it was when it was made, with the staged batch: an edge of either view supports a
// candidate, so that it holds in both. Owner: the search. A Kept space is refreshed from Changes, which the backend
// notes when it stages and ends batches; its Space reads the bits as they are. Owner: the backend, between searches.
//
// A further condition that one edge or vertex decides is part of the bits already (candidates, truths); one between
// elements is not.
package space
