// Package checkpoint keeps the daemon's state in a Pebble database: the graph, the registered queries, the input
// positions, and the batch log with intents and effects. It implements stream.Store. FORMAT.md describes every key.
//
// Invariants:
//
//	1  What Intent, Decide, Commit and Bootstrap acknowledged survives a crash; each of them is one atomic write, so a
//	   crash leaves the state after one of them, never one in between.
//	2  The first write, sync or create that fails breaks the store: nothing is written any more, and every later call
//	   fails with ErrBroken. The directory then looks as after a crash at that moment, and opening it again recovers.
//	   The process never exits from here.
//	3  The log is contiguous: committed batches first, then open intents. The present less the logged effects is the
//	   base that a replay starts from (DESIGN P2).
//	4  The number of labels, vertices and edges and a digest of each are kept with the state and checked by every load:
//	   a record that was lost or altered inside the store is found, not served.
package checkpoint
