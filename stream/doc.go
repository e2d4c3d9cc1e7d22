// Package stream moves data around the engine: records come from a Source, are decoded, cut into batches by the
// Batcher, stepped through the matcher.Engine, encoded, and published to a Sink, while a Store makes the state
// durable.
//
// For each batch, in this order (DESIGN P3):
//
//	Store.Intent   the batch as it was cut is on disk before its first record is published
//	Engine.Step    matches are found and encoded; records go to the Sink as they come
//	Sink.End       the last records, dead letters and the batch record are published
//	Store.Commit   net edges, positions and the batch record are on disk; the batch is done
//
// Decoding of batch n+1, search of n, and publishing and commit of n-1 overlap (GAMMA Figure 3; DESIGN A12). Records
// are encoded before Step returns, so nothing that a record shows can change under the encoder.
package stream
