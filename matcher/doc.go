// Package matcher finds, batch by batch, the embeddings that appear and disappear.
//
// Engine is the deterministic core: it accepts messages, stages a batch in the dyngraph.Graph, has a Backend search
// the old view for negatives and the new one for positives (GAMMA sections II and IV; DESIGN A1), and hands the
// results on in canonical order (DESIGN S7). It does no I/O, reads no clock and starts no goroutine; a Backend may
// run a worker pool.
//
// Package plan turns a Query into a Plan, packages cpu and reference are backends, package pattern parses queries.
package matcher
