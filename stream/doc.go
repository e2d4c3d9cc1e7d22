// Package stream moves data around the engine: records come from a Source, are decoded, cut into batches by the
// Batcher, stepped through the matcher.Engine, encoded, and published to a Sink, while a Store makes the state
// durable.
//
// For each batch, in this order (DESIGN P3):
//
//	Store.Intent   the batch as it was cut is on disk before its first record is published
//	Engine.Step    matches are found and encoded, beside the intent; records go to the Sink as they come
//	Sink.End       the last records, dead letters and the batch record are published
//	Store.Commit   net edges, positions and the batch record are on disk; the batch is done
//
// Decoding of batch n+1, search of n, and publishing and commit of n-1 overlap (GAMMA Figure 3; DESIGN A12). Records
// are encoded by several goroutines, beside the search, but all before Step changes the graph, so nothing that a
// record shows can change under the encoder.
//
// What is not obvious:
//
//  1. A crash may leave several open intents, as many as PipelineOptions.MaxInFlight. They are stepped again in
//     order, and what the Sink's Progress says is published already is computed but not published.
//  2. The engine's goroutine is also the batcher: while it searches, messages wait in the queue, and their time
//     counts towards BatcherOptions.Linger. A batch that is late is cut as soon as the queue is empty.
//  3. Messages without content (blank lines, comments) never make a batch; their positions move with the next one.
//  4. A stop is graceful between two batches. What was decoded and not cut is dropped, and read again by the next
//     start, whose cuts are then the same if they depend on size alone.
//  5. An error of one part ends all others at once, the search included. The batch in progress stays an open intent.
//  6. An intent is written beside the search of its batch (IntentStarter), and the publisher waits for it before it
//     begins the batch at the Sink. Exactly once needs no more: until then nothing of the batch has left the process
//     but what the engine holds in memory, so a crash or a failed write loses the batch whole, and the input is read
//     again from the positions of the last intent. Intents reach the log in order, each before the suspensions of its
//     batch and before its commit; so recovery finds the same as if the engine had waited. Changes of queries do
//     wait, since Change answers that they are logged.
//  7. What the engine emits is encoded by package encode, side by side on several goroutines. Only the engine's
//     goroutine hands records on to the publisher; so a sink that is slow stops the engine's goroutine, and that the
//     encoders.
package stream
