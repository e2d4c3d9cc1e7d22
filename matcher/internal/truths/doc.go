// Package truths holds, for every data edge and every data vertex, words of bits that say which conditions on it alone
// it meets: the truth words of DESIGN A13.
//
//	idea    a condition on one edge or vertex is evaluated once, when that is staged, and not by each search that meets
//	        it. A distinct condition of the registered queries owns a bit. Comparisons of one property with constants
//	        share a field that holds the rank of the value among the constants, so that 500 thresholds of one amount
//	        take 10 bits and not 500; each comparison is then an interval of ranks.
//	in      the graph (Load), the plans to serve (Prepare), and each batch (Stage, then Commit or Abort)
//	out     a Test for each pattern edge and vertex with conditions of its own, and the words of an edge or vertex in a
//	        view, which it reads
//	owner   candidates.Filter, and with it one backend. Between Stage and Commit or Abort any number of goroutines may
//	        read words. A Test is read through its pointer: Prepare may move fields.
//
// A replaced edge (DESIGN S15) and a revised vertex (S16) have two versions: the words of the old one stay in place
// until Commit, those of the new one are kept by its order in the batch. Each search reads those of the view that it
// searches.
//
// Elements of different labels have different conditions, so fields of different labels lie over one another. What a
// label needs beyond 64 bits goes to further words.
package truths
