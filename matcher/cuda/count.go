//go:build cuda || emu

package cuda

import "motifd/matcher"

// perUnit converts a number of embeddings into the unit that the query counts. Automorphisms act freely on embeddings,
// so the division that gives the number of subgraphs has no remainder.
func perUnit(p *matcher.Plan, c matcher.Count) matcher.Count {
	if p.Query.Unit != matcher.Subgraphs {
		return c
	}
	return c.Quo(p.Automorphisms)
}
