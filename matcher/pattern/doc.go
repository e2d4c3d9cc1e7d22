// Package pattern turns the text of a pattern into a matcher.Query. It knows two languages:
//
//	cypher   a subset of openCypher: MATCH (a:Account)-[:TRANSFER]->(b) RETURN a, b
//	text     the papers' files: lines `v id label [degree]` and `e u v [label]`
//
// What a language has and motifd has not is refused by name, with the line and column where it stands and what would
// be right (DESIGN S10). The file's extension decides on the language; nothing is guessed from its content.
//
// Parse reads labels and directions. ParseRule reads all that a Cypher pattern may ask (DESIGN S17, S22): conditions,
// property maps, parameters, alternatives of labels, fields of RETURN. It resolves them against declared properties;
// what conditions mean is package condition's. One parser serves both: Parse refuses the rest by name.
//
// Either language feeds a builder, which holds the checks that both share and knows where each element stood in the
// source. Format goes the other way: it prints any query as Cypher.
package pattern
