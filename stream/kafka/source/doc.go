// Package source reads the records of a Kafka topic.
//
// In: the options of an input, and the positions, topic id and leader epochs of a checkpoint. Out: records in the order
// of their timestamps, or in the order of fetching (Options.Merge), each with the position after it. The caller owns
// the records. Until Close the Source owns its connections and goroutines: one of each for a partition.
//
// What is not obvious:
//
//   - A Source chooses its partitions itself and keeps its positions in the checkpoint; it joins no consumer group.
//   - Lost input is an error, stream.ErrDataLoss, unless AllowDataLoss is set: a position outside the log, a topic that
//     was created anew (topic ids, KIP-516), a log that was cut by an unclean leader election (leader epochs, KIP-101
//     and KIP-320).
//   - Offsets without records for the reader (compacted, aborted, control batches) are skipped; see gaps.
package source
