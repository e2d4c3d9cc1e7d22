//go:build cuda || emu

package cuda

import (
	"math/big"

	"motifd/matcher"
)

// perUnit turns a number of embeddings into one of what the query counts. Automorphisms act freely on embeddings, so the
// number of subgraphs is an exact quotient.
func perUnit(p *matcher.Plan, c matcher.Count) matcher.Count {
	if p.Query.Unit != matcher.Subgraphs || c == matcher.MaxCount {
		return c
	}
	q := new(big.Int).Quo(c.Big(), p.Automorphisms.Big())
	low := new(big.Int).And(q, new(big.Int).SetUint64(^uint64(0)))
	return matcher.Count{Hi: q.Rsh(q, 64).Uint64(), Lo: low.Uint64()}
}
