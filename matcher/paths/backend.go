package paths

import (
	"context"

	"motifd/dyngraph"
	"motifd/matcher"
)

// Backend implements matcher.Backend around another one.
type Backend struct {
	matcher.Backend
	any bool  // some prepared plan has variants
	of  []int // by index of a part among those that the inner backend was given: the index of its plan
}

var _ matcher.Backend = (*Backend)(nil)

// New wraps a backend; Close closes it.
func New(inner matcher.Backend) *Backend { return &Backend{Backend: inner} }

// Prepare implements matcher.Backend.
func (b *Backend) Prepare(plans []*matcher.Plan) error {
	b.any, b.of = false, b.of[:0]
	var parts []*matcher.Plan
	for i, p := range plans {
		b.any = b.any || len(p.Variants) > 0
		for _, part := range p.Parts() {
			parts, b.of = append(parts, part), append(b.of, i)
		}
	}
	return b.Backend.Prepare(parts)
}

// Capabilities implements matcher.Backend: those of the inner one, with plans in place of their parts.
func (b *Backend) Capabilities() matcher.Capabilities {
	can := b.Backend.Capabilities()
	if concern := can.Concern; concern != nil {
		can.Concern = func(note func(plan int, sign dyngraph.Sign)) {
			if !b.any {
				concern(note)
				return
			}
			concern(func(part int, sign dyngraph.Sign) { note(b.of[part], sign) })
		}
	}
	if rehearse := can.Rehearse; rehearse != nil {
		can.Rehearse = func(ctx context.Context, reqs []matcher.Request) (bool, error) {
			parts, _ := expand(reqs)
			return rehearse(ctx, parts)
		}
	}
	return can
}

// expand returns the requests with one for each variant in place of those with paths, and the index of the request that
// each is for.
func expand(reqs []matcher.Request) (parts []matcher.Request, of []int) {
	for i := range reqs {
		for _, p := range reqs[i].Plan.Parts() {
			part := reqs[i]
			part.Plan = p
			parts, of = append(parts, part), append(of, i)
		}
	}
	return parts, of
}

// hasPaths reports whether some request is for a query with paths.
func hasPaths(reqs []matcher.Request) bool {
	for i := range reqs {
		if len(reqs[i].Plan.Variants) > 0 {
			return true
		}
	}
	return false
}
