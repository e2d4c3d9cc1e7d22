// Package file reads updates from files, directories and standard input, plain or compressed, and writes records to
// files or standard output as JSON lines.
//
// An offset is a byte offset in the decompressed file, a partition the file's place in the list of files, which it
// keeps. Memory is bounded by SourceOptions.MaxRecordBytes and the decompressor's window, whatever the input holds.
//
// Output files are truncated to the length of the last commit when they are opened, so that a batch that is done
// again after a crash appears once (DESIGN P3).
package file
