// Package codec turns records into bytes and back: updates from JSON, CSV and the papers' v/e text, and match deltas,
// dead letters and batch records to JSON. docs/formats.md is the user's page on all of them.
//
// The decoders keep these promises (DESIGN S10):
//
//	1  A record is decoded whole or not at all: an array with one bad element is refused.
//	2  Whatever the bytes, the answer is a message or a *stream.DecodeError; there is no panic, no unbounded recursion
//	   and no memory beyond a small multiple of the record.
//	3  Nothing is guessed and nothing unknown is dropped: unknown fields, duplicate names, wrong types and fields of
//	   another operation are errors that say where they are and what would be right.
//
// What depends on the graph (self-loops, contradicting labels, exhausted ids) is decided later, by acceptance.
//
// The encoder writes the same bytes for the same event, always: fields have a fixed order and nothing is taken from
// the clock or from a map's order (DESIGN S7).
package codec
