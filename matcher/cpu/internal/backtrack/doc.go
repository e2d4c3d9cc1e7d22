// Package backtrack finds the matches of a compiled order by backtracking search (GAMMA, Algorithm 1, with one worker
// in the place of a warp; candidates by intersection of sorted lists, as in worst-case-optimal joins).
//
// In go a program.Order and an anchor (a net edge with its place in the batch) or a root vertex; out go rows, into the
// rowsort.Sorter that the caller set, or a count, or one witness. A Search belongs to one worker, which keeps it from
// search to search for its caches; Shared holds the memory that the searches of a backend share. Work given away is a
// Part, which another worker's Search resumes. Special cases of the general step: a suffix is remembered by the image
// of its root in a Memo (memoisation of sub-results, as in CaLiG and tree-decomposition joins), and a capped request
// may go over to CanonicalSearch, which finds rows in canonical order and stops (conflict-directed backjumping;
// Prosser, 1993). A count needs no data edges where nothing compares or tests them: vertices.go and tail.go.
//
// Rows go into the concrete Sorter and not through an interface: a search writes suffixes of up to millions of rows
// straight into the Sorter's block (rows.go), without a call for each row.
//
// A vertex predicate is part of the candidate test (candidates, neighbors); any other condition joins
// program.Admission, which alone decides whether a vertex or an edge is taken. A parallel edge is the business of
// edges.go.
package backtrack
