// Package publish writes the records of batches to Kafka topics.
//
// In: batches of records, their dead letters and batch records (stream.Sink), and the offsets that the checkpoint
// stored with the last batch. Out: record batches in the output topics, each record named by (stream, batch, index) in
// its headers, and the next offsets to store. A sink owns its connections, and the buffers of records on their way.
//
// TxnSink publishes exactly once, in transactions that carry a progress record (KIP-98, KIP-360, KIP-447, KIP-890).
// Sink does without: at least once, and at Open it reads what follows the last committed offsets and leaves out what
// was published before a crash. Output chooses between the two by what the brokers can do.
//
// The input's positions are also stored as offsets of a consumer group, if one is configured, so that lag tools work.
package publish
