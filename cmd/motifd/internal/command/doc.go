// Package command holds what the subcommands of motifd have in common: how they refuse input, log, show progress on a
// terminal, and write JSON and summaries.
//
// In: the streams of the process and plain values. Out: an error that Refuse marked ends the process with status 2 and
// means that nothing was started; all else is text on a stream or in a file. The caller owns the streams; a Progress
// belongs to one task and is safe for concurrent use.
//
// It knows nothing of graphs, queries or Kafka, and imports no other package of motifd.
package command
