// Package kafka reads updates from Kafka topics and publishes results to them, through github.com/segmentio/kafka-go.
// It also opens the embedded log, a single-node log in this process that speaks the same protocol (see OpenEmbedded).
//
// What is not obvious:
//
//   - The Source owns its partitions explicitly and keeps its positions in the checkpoint; it never joins a consumer
//     group. Positions are published to a group all the same, when one is configured, so that lag tools work.
//   - Record batches are decoded here (see batch.go), not by kafka-go, whose decoder loses the extent of a batch (and
//     with it the way past compacted and aborted ones), puts no bound on what a compressed batch expands to, and
//     hides a damaged batch behind an intact one. kafka-go still finds leaders, keeps connections and negotiates
//     versions: fetchRequest hooks into its transport as a protocol.RawExchanger.
//   - Record batches are encoded here too (see encode.go), so that producer id, epoch and sequence can be set: that
//     is where transactions fit in (DESIGN P3).
//   - Without transactions the promise is at-least-once with a stable (stream, batch, index). The Sink does better
//     where it can: at Open it reads what follows the last committed mark, and leaves out what was published before
//     the crash.
//   - A partition has one request in flight, so that a retry cannot overtake a later batch.
package kafka
