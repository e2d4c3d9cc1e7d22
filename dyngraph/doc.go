// Package dyngraph keeps the dynamic graph: external keys and their dense ids, interned labels, the packed
// memory array of adjacency entries, and the step from a batch of updates to its net effect.
//
// The life of a batch (DESIGN S2, S3, A1):
//
//	Accept   decides message by message what is taken; the graph does not change
//	Stage    folds the accepted updates to their net effect; inserted edges go in physically, deleted ones stay,
//	         and every touched entry is marked with its sign and order. View(Old) and View(New) show both graphs.
//	Commit   drops the deleted edges; or Abort drops the inserted ones (content is restored, layout need not be)
//
// Invariants:
//
//	1  Adjacency entries are sorted by (vertex, direction, edge label, neighbour); each edge has one entry under
//	   either end (GAMMA V-C, GPMA).
//	2  Dense ids and labels are handed out by accepted updates only, in order of first appearance, the lowest free id
//	   first; ids freed by batch n are free again from batch n+2 on (DESIGN S7, A12).
//	3  The net edges of a batch are totally ordered by the index of the last operation that changed the edge's
//	   presence, then by the edge's tuple of dense ids (DESIGN S3).
//	4  A vertex in a batch is a key and a label; under another label it is another vertex with another id, and its
//	   edges are other edges. An edge is its two ends and its label; id, timestamp and properties are attributes, and
//	   an insertion of a present edge renews them. If a declared one then differs (Options.Schema), the edge is
//	   replaced: its old version is deleted and its new one inserted, in one place of the order, while its index and
//	   its entries stay (DESIGN S15). Vertices live until they are deleted: the last edge going does not take them
//	   along.
//	   Where vertices may have several labels, their labels are values (labelled.go), and a vertex is its key alone.
//	5  Edge indexes are re-used as ids are, so edges that batch n deleted can be named until Stage of batch n+2.
//	6  While a batch is staged, the counts (Vertices, Edges, degrees, triples) are of both graphs together.
//	7  A Graph starts no goroutine and has one owner: nothing here is safe for concurrent use, except that any number
//	   of goroutines may read views between Stage and Commit or Abort, and between batches.
//
//	8  An adjacency entry is a neighbour and an edge index, eight bytes. Its vertex, direction and label are in the edge
//	   table, which therefore has an edge before its entries come and until they are gone; degrees, too, are of what the
//	   array holds at every moment, also in the middle of a batch.
//
// The way through the files: accept.go decides, and resolve.go keeps the vertices that it found for Stage;
// fold_plain.go, fold.go and edgetable.go reduce a batch to its net effect, replace.go where it changes values only;
// stage.go orders it and puts it in; commit.go ends it; attrs.go and values.go keep the attributes in columns; graph.go
// has the columns and the views; declare.go changes declarations. pma.go and the files named after it are the array,
// with edge.go and labelset.go; range.go reads it; pma_warm.go and fetch.go read memory ahead, and huge_linux.go asks
// for huge pages; loader.go loads a checkpoint.
package dyngraph
