// Package wire reads the fields of Kafka's protocol: big-endian integers, the varints and byte strings of records, and
// the compact strings, arrays and tagged fields of flexible versions.
//
// In: a message as it came from a connection, or a part of it. Out: its fields, one call after the other. After the
// first error a Reader returns zeros, so that callers look at Err once; no length that a peer claims is allocated.
// Byte strings point into the message, which is the caller's.
//
// Sources: the Kafka protocol guide (kafka.apache.org/protocol), KIP-482 for flexible versions.
package wire
