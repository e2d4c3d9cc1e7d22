package matchertest

import (
	"math"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
)

// expiry gives batches horizons: edges expire that are older than kept, counted from the first message of a batch. The
// times of RandomStream rise by 1,000 with each message. 0: no edge expires.
type expiry struct {
	kept   int64
	before int64 // the last horizon
}

// Expire has edges expire that are older than kept; see RandomStream for times.
func (d *Driver) Expire(kept int64) { d.expiry = expiry{kept, math.MinInt64} }

// Expire has edges expire that are older than kept; see RandomStream for times.
func (b *Bench) Expire(kept int64) { b.expiry = expiry{kept, math.MinInt64} }

// horizons returns those of a batch, and has the graph go by them.
func (x *expiry) horizons(g *dyngraph.Graph, msgs []dyngraph.Message) []dyngraph.Horizon {
	if x.kept == 0 {
		return nil
	}
first:
	for _, m := range msgs {
		for _, u := range m.Updates {
			x.before = max(x.before, u.Attr.TS-x.kept)
			break first
		}
	}
	hs := []dyngraph.Horizon{{Label: property.Any, Before: x.before}}
	g.SetHorizons(hs)
	return hs
}
