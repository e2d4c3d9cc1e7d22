package payments

import (
	"fmt"
	"strconv"
	"strings"
)

// SynthProperties declares what the payments of a Synth have, as the file of --properties does.
const SynthProperties = "edges:\n  TRANSFER: {amount: decimal(2), ts: timestamp}\n"

// patterns are the structures that the typology's queries look for: the smallest one that is planted or, for cycles,
// all.
func (t Typology) patterns() [][]link {
	of := func(_ int, links []link) [][]link { return [][]link{links} }
	switch t {
	case Cycle:
		return [][]link{cycle(3), cycle(4), cycle(5)}
	case FanIn, FanOut:
		return [][]link{fan(4, t == FanIn)}
	case ScatterGather:
		return of(layers(1, 3, 1))
	case GatherScatter:
		return of(layers(3, 1, 3))
	case Bipartite:
		return of(layers(2, 3))
	case Stack:
		return of(layers(2, 2, 2))
	default:
		return [][]link{cycle(5)[:4]}
	}
}

// asked is the number of payments in the pattern that finds a case of n payments.
func (t Typology) asked(n int) int {
	if t == Cycle {
		return n
	}
	return len(t.patterns()[0])
}

// SynthQueries returns the queries that find the cases of a Synth with unit: subgraphs and within: 72h: one for each
// typology, named after it, and for cycles one for each length (cycle3 to cycle5). They look for sums that are split
// below 10,000 euros and, where money is passed on, for the order of the times.
func SynthQueries() (out []Query) {
	for _, t := range Typologies {
		for _, links := range t.patterns() {
			name := string(t)
			if t == Cycle {
				name += strconv.Itoa(len(links))
			}
			out = append(out, synthQuery(name, links, t == Cycle || t == ScatterGather || t == Random))
		}
	}
	return out
}

// synthQuery is the query for a structure. Where money is passed on whole, each payment after the first round is at
// most the one that its account received, and at least nine tenths of it.
func synthQuery(name string, links []link, whole bool) Query {
	var paths, where []string
	for i, l := range links {
		paths = append(paths, fmt.Sprintf("(a%d:Account)-[t%d:TRANSFER]->(a%d:Account)", l.from+1, i+1, l.to+1))
		if l.round == 0 {
			where = append(where, fmt.Sprintf("9000 <= t%d.amount < 10000", i+1))
			continue
		}
		for k, before := range links {
			if before.to == l.from && before.round == l.round-1 {
				where = append(where, fmt.Sprintf("t%d.ts < t%d.ts", k+1, i+1))
				if whole {
					where = append(where, fmt.Sprintf("t%d.amount >= t%d.amount", k+1, i+1),
						fmt.Sprintf("9 * t%d.amount <= 10 * t%d.amount", k+1, i+1))
				}
			}
		}
	}
	return Query{name, fmt.Sprintf("MATCH %s\nWHERE %s\n", strings.Join(paths, ",\n      "),
		strings.Join(where, "\n  AND "))}
}
