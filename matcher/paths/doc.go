// Package paths lets any backend search queries with paths, -[t:T*1..5]-> (DESIGN S26).
//
//	idea    the matches of such a query are the disjoint union of those of its variants, which are plain queries, one
//	        for each combination of lengths. A Backend here wraps another one, asks it for all variants in one search,
//	        and hands their matches on as the query's.
//	in      plans with Plan.Variants, and any others
//	out     groups, counts and witnesses by the given plans; for a query with paths Rows.Of tells the variant of the
//	        rows
//	order   a backend emits by (anchor, request, row). The variants of a query are requests one behind the other, by
//	        lengths, so that results come in the order of DESIGN S7: nothing is held back or sorted here
//
// The inner backend may search variants that are asked for together at once; see Plan.Together.
//
// Queries without paths pass through. A search in which no query has paths costs one look at each request. Queries with
// WITH do not come here: package groups searches the variants of those.
package paths
