package negation

import (
	"context"

	"motifd/dyngraph"
	"motifd/matcher"
)

// concern notes the queries of which a change of the staged batch may turn a negation, or a revised vertex matters: the
// inner backend knows of their cores alone.
func (b *Backend) concern(note func(plan int, sign dyngraph.Sign)) {
	for _, x := range b.list {
		for _, sign := range [2]dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
			if b.concerns(x, sign) {
				note(x.at, sign)
			}
		}
	}
}

func (b *Backend) concerns(x *query, sign dyngraph.Sign) bool {
	for order := range b.d.Net {
		if own := b.d.Net[order].Sign == sign; (!own || x.revised) && b.mayBegin(x, sign, uint32(order)) {
			return true
		}
	}
	return false
}

// mayBegin reports whether a net element fits, going by labels, an element that the groups of a sign found here are
// anchored at: one of the core if it has the sign itself, one of a negation otherwise.
func (b *Backend) mayBegin(x *query, sign dyngraph.Sign, order uint32) bool {
	n := &b.d.Net[order]
	here, there := b.views(sign)
	if n.Sign == sign {
		return x.pattern.Fits(n, here, 0, 0)
	}
	for i := range x.negations {
		if x.negations[i].Fits(n, there) {
			return true
		}
	}
	return false
}

// rehearse has the inner backend rehearse the search of cores.
func (b *Backend) rehearse(inner func(context.Context, []matcher.Request) (bool, error)) func(context.Context,
	[]matcher.Request) (bool, error) {
	return func(ctx context.Context, reqs []matcher.Request) (bool, error) {
		cores := append([]matcher.Request(nil), reqs...)
		for i := range cores {
			if x := b.queries[cores[i].Plan]; x != nil {
				cores[i].Plan, cores[i].Want, cores[i].Silence = x.core, matcher.WantRows, nil
			}
		}
		return inner(ctx, cores)
	}
}
