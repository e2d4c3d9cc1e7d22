// Package audit compares the count of each query in the graph of a checkpoint with a baseline count plus the positives
// less the negatives that the batch log has since (DESIGN S5).
//
// In: the batch log of a checkpoint, and a function that counts. Out: a Report. The baseline is counted anew, in the
// graph before the log's first batch, or in that of the query's registration if that came later; a query that was
// registered with a backfill has its snapshot for a baseline. Both counts are searches of a whole graph from its
// vertices, where a batch is searched from its updates.
//
// What a batch did to a query is in the same write of the checkpoint as the batch's effect on the graph, so that the
// sums are exact whatever killed the daemon.
package audit
