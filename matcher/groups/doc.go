// Package groups answers queries with WITH (DESIGN S24): a Backend around another one, which gets all other queries
// untouched.
//
// A batch concerns the groups that have, in either graph, a row with a changed element. The search for their keys
// tries each changed element as each element of the stage's patterns and goes on from there, over the graph as it is
// before or behind the batch, until all keys are bound. Each such group is then counted in both graphs. A match begins
// where the conditions behind WITH hold in the new graph alone, and ends where they hold in the old one alone. Where
// they hold in both and the query emits changes, what is shown of the group is compared (shown.go).
//
// The rows of a query with paths are those of its variants (matcher.Query.GroupVariants): a program is compiled for
// each combination of lengths, all of them search for keys, and a group has the rows of all (program.others).
//
// A row that a negation of its stage blocks in a graph is none of the group there (deny.go). Changes of blockers lead
// to keys as well, and count as changes of the rows that they block in one graph alone.
//
// Of vertices with very many edges state is kept for two shapes of queries (shape). It is derived from the graph: a
// batch that it does not know of drops it, and it is made again.
package groups
