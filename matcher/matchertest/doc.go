// Package matchertest makes up graphs, patterns and update streams for the tests of the engine and of its backends,
// and holds an oracle that shares no code with them.
//
//	Graph     the dynamic graph as maps of strings: acceptance and net effect by DESIGN S3, word by word
//	Matches   all matches of a query in a Graph, by trying data edges for pattern edges (DESIGN S4)
//	Case      a random stream with queries, from a printed seed, and its cuts into batches
//	Flood     a batch with very many matches
//	Run       drives an Engine over a Case and writes down everything it emits, by keys and by ids
//
// Seeds come from MOTIFD_TEST_SEED when it is set, so that a failure that prints its seed can be run again.
package matchertest
