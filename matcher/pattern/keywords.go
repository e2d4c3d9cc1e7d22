package pattern

import (
	"fmt"
	"strings"
)

const readsOnly = " is not supported: a pattern only reads; updates come from the stream"

// clauses are the words that begin a part of Cypher which motifd has not, or has elsewhere, with what would be right.
var clauses = map[string]string{
	"WHERE": "WHERE stands behind the paths of a MATCH, once, not inside a vertex or an edge",
	"OPTIONAL": "OPTIONAL MATCH is not supported: every edge of a pattern must match; make a second query of the " +
		"optional part",
	"MANDATORY": "MANDATORY MATCH is not supported; write MATCH",
	"WITH":      "WITH stands behind the MATCHes that it groups: WITH m, count(*) AS n WHERE n >= 10",
	"UNION":     "UNION is not supported; make a query of each part",
	"UNWIND":    "UNWIND is not supported; a pattern is MATCH, WITH and RETURN",
	"CALL":      "CALL is not supported; a pattern is MATCH, WITH and RETURN",
	"YIELD":     "YIELD is not supported; a pattern is MATCH, WITH and RETURN",
	"LOAD":      "LOAD is not supported; a pattern is MATCH, WITH and RETURN",
	"USE":       "USE is not supported; there is one graph",
	"EXPLAIN":   "EXPLAIN is not supported in a pattern; run `motifd explain`",
	"PROFILE":   "PROFILE is not supported in a pattern; run `motifd explain`",
	"USING":     "USING is not supported; `motifd explain` shows the order that is chosen",
	"ORDER":     "ORDER BY is not supported; the order of the output is fixed",
	"SKIP":      "SKIP is not supported; every match is reported",
	"OFFSET":    "OFFSET is not supported; every match is reported",
	"LIMIT":     "LIMIT is not supported in a pattern; set max_matches_per_batch on the query",
	"AS":        "AS stands behind a field of RETURN, once",
	"DISTINCT": "DISTINCT is not supported; matches are distinct, and the unit subgraphs reports one for each set " +
		"of symmetric copies",
	"CREATE":  "CREATE" + readsOnly,
	"MERGE":   "MERGE" + readsOnly,
	"SET":     "SET" + readsOnly,
	"DELETE":  "DELETE" + readsOnly,
	"DETACH":  "DETACH DELETE" + readsOnly,
	"REMOVE":  "REMOVE" + readsOnly,
	"INSERT":  "INSERT" + readsOnly,
	"FOREACH": "FOREACH" + readsOnly,
	"DROP":    "DROP" + readsOnly,
	"EXISTS": "EXISTS stands behind NOT and before braces, as in NOT EXISTS { (a)-[:KNOWS]->(b) }; the edges of a " +
		"match stand in MATCH, and a property is tested by IS NOT NULL",
	"NOT":        "NOT stands before a condition, as in WHERE NOT a.x = 1",
	"CASE":       "CASE is not supported; write conditions with AND and OR",
	"ALL":        "ALL is not supported; write a path with its lengths, as in -[t:T*1..5]->",
	"ANY":        "ANY is not supported; write a path with its lengths, as in -[t:T*1..5]->",
	"SHORTEST":   "SHORTEST is not supported; write a path with its lengths, as in -[t:T*1..5]->",
	"REPEATABLE": "REPEATABLE ELEMENTS is not supported; vertices and edges of a match are distinct",
	"DIFFERENT":  "DIFFERENT RELATIONSHIPS is the rule already; leave it out",
}

// reservedWords are openCypher's, beside those in clauses.
var reservedWords = wordSet(
	`ADD AND ASC ASCENDING BY CONSTRAINT CONTAINS DESC DESCENDING DO ELSE END ENDS FALSE FOR IN IS
	MATCH NULL OF ON OR REQUIRE RETURN SCALAR STARTS THEN TRUE UNIQUE WHEN XOR`,
)

// notReserved are words of clauses that openCypher lets be names.
var notReserved = wordSet(
	`CALL YIELD LOAD USE EXPLAIN PROFILE USING OFFSET INSERT FOREACH ANY SHORTEST REPEATABLE DIFFERENT`,
)

func wordSet(s string) map[string]bool {
	set := make(map[string]bool)
	for _, w := range strings.Fields(s) {
		set[w] = true
	}
	return set
}

// isReserved tells whether an unquoted word cannot be the name of a vertex or edge.
func isReserved(text string) bool {
	upper := strings.ToUpper(text)
	_, clause := clauses[upper]
	return reservedWords[upper] || clause && !notReserved[upper]
}

// refuseReserved says what to write in place of a reserved word. In RETURN it may have been meant as a keyword.
func refuseReserved(text string, where spot) string {
	upper := strings.ToUpper(text)
	if why, ok := clauses[upper]; ok && where == inReturn {
		return fmt.Sprintf("%s; as a name it is written `%s`, in backquotes", why, text)
	}
	return fmt.Sprintf("%s is a reserved word of Cypher; as a name it is written `%s`, in backquotes", upper, text)
}
