// Package benchcase makes and reads the cases of motifd bench: a graph, a stream of updates, and patterns.
//
// In: Sizes, which decide a case alone, by their seed. Out: a Case in memory, and from Write a directory in the text
// of the papers, which motifd and its peers read:
//
//	graph.txt             the initial graph
//	insert.txt, mixed.txt the stream, by its kind
//	queries/NAME.txt      a pattern each
//
// Every edge has the label 0, which the peers ask for. Open reads such a directory, a generated one or another, and
// Fill derives from it the stream that exists is measured on. The caller owns the directories.
//
// The digest of a case is held by a test: figures of two versions of motifd are of the same case.
package benchcase
