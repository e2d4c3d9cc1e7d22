// Package recordbatch decodes and encodes Kafka's record batches, format version 2.
//
// In: bytes of a partition's log, as a fetch response or a segment file holds them; or records to write. Out: batches
// with the extent of offsets that each covers (Next), their records decompressed within a limit (Batch.Payload,
// Batch.Records); or an encoded batch ready for a produce request (Builder), to which Stamp adds the id, epoch and
// sequence number of an idempotent producer.
//
// Batches and records point into the bytes that they were read from, which are the caller's. The bytes that
// Builder.Finish returns are the builder's until Reset. A Decompressor may be used by several goroutines.
//
// Sources: kafka.apache.org/documentation/#recordbatch, KIP-98 (idempotent producers, control batches).
package recordbatch
