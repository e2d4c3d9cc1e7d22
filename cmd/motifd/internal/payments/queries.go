package payments

import (
	"fmt"
	"slices"
	"strings"
)

// Query finds one kind of plant. Each match is reported once with unit: subgraphs.
type Query struct {
	Name, Text string // Text is Cypher
}

// fanQueries are the names of the fan queries.
var fanQueries = [...]string{"fan-in", "fan-out"}

// RingQuery is the name of the query for rings of n accounts.
func RingQuery(n int) string { return fmt.Sprintf("ring%d", n) }

// Queries returns the queries that find the plants.
func Queries() []Query {
	var out []Query
	for n := 3; n <= 6; n++ {
		b := new(strings.Builder)
		fmt.Fprint(b, "MATCH (a1:Account)")
		for i := 2; i <= n; i++ {
			fmt.Fprintf(b, "-[:TRANSFER]->(a%d:Account)", i)
		}
		fmt.Fprint(b, "-[:TRANSFER]->(a1)")
		out = append(out, Query{RingQuery(n), b.String()})
	}
	for i, arrow := range []string{"<-[:TOP_UP]-", "-[:WITHDRAWAL]->"} {
		paths := make([]string, fanSize)
		for k := range paths {
			wallet := "(w)"
			if k == 0 {
				wallet = "(w:Wallet)"
			}
			paths[k] = fmt.Sprintf("%s%s(a%d:Account)", wallet, arrow, k+1)
		}
		out = append(out, Query{fanQueries[i], "MATCH " + strings.Join(paths, ",\n      ")})
	}
	return out
}

// Key names a match of one of Queries, given the keys of its vertices in pattern order. Matches on the same edges have
// the same key: rotations of a ring, and orders of a fan's accounts.
func Key(query string, vertices []string) string {
	v := slices.Clone(vertices)
	if strings.HasPrefix(query, "ring") {
		first := slices.Index(v, slices.Min(v))
		v = append(v[first:], v[:first]...)
	} else {
		slices.Sort(v[1:])
	}
	return query + " " + strings.Join(v, " ")
}
