//go:build cuda || emu

package cuda

import "motifd/matcher"

// perUnit turns a number of embeddings into one of what the query counts. Automorphisms act freely on embeddings, so
// the number of subgraphs is an exact quotient.
func perUnit(p *matcher.Plan, c matcher.Count) matcher.Count {
	if p.Query.Unit != matcher.Subgraphs {
		return c
	}
	return c.Quo(p.Automorphisms)
}
