package count

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
)

// variant returns a pattern that is mostly like q: with a leaf more, another label, or its edges in another order.
func variant(rng *rand.Rand, q *matcher.Query, name string, labels []string) *matcher.Query {
	v := *q
	v.Name, v.Vertices, v.Edges = name, slices.Clone(q.Vertices), slices.Clone(q.Edges)
	label, at := labels[rng.IntN(len(labels))], rng.IntN(len(q.Vertices))
	switch rng.IntN(3) {
	case 0:
		v.Vertices = append(v.Vertices, matcher.QueryVertex{Name: "leaf", Label: label})
		e := q.Edges[0]
		e.Name, e.From, e.To = "last", at, len(q.Vertices)
		v.Edges = append(v.Edges, e)
	case 1:
		v.Vertices[at].Label = label
	case 2:
		rng.Shuffle(len(v.Edges), func(i, k int) { v.Edges[i], v.Edges[k] = v.Edges[k], v.Edges[i] })
	}
	return &v
}

// named is a component of some pattern.
type sameKey struct {
	s     *Plan
	parts *quotientComponents
	p     *component
}

// TestComponentsOfOneKeyCountAlike counts components that have the same key, of different patterns, for the same random
// images and with as many edges that see all of the graph.
func TestComponentsOfOneKeyCountAlike(t *testing.T) {
	alike, positive := 0, 0
	matchertest.ForSeedsUntil(t, 15, func() bool { return alike > 0 && positive > 0 },
		func(t *testing.T, rng *rand.Rand) {
			directed, queries, msgs, edges := matchertest.RandomSpiders(rng)
			for _, q := range slices.Clone(queries) {
				for range 3 {
					queries = append(queries, variant(rng, q, fmt.Sprint(q.Name, "like", len(queries)),
						[]string{"A", "B", "C"}))
				}
			}
			slices.SortFunc(queries, func(a, b *matcher.Query) int { return strings.Compare(a.Name, b.Name) })
			b := &fixture{t: t}
			x := matchertest.NewBench(t, directed, plan.New(), queries, b)
			x.Stage(msgs[:edges])
			x.Commit()
			x.Stage(msgs[edges:])
			var stop atomic.Bool
			c := b.counter(&stop)
			by := map[*componentKey][]sameKey{}
			var names []*componentKey
			for _, p := range x.Plans() {
				s := b.plans[p]
				if s == nil {
					continue
				}
				b.start(c, s)
				all := c.comps.quotients
				if c.comps.injective != nil {
					all = append(slices.Clone(all), c.comps.injective)
				}
				for _, parts := range all {
					for e := range p.Query.Edges {
						parts.anchored(e)
					}
					c.part = parts
					for _, p := range componentList(parts) {
						key := c.keyOf(p)
						if len(by[key]) == 0 {
							names = append(names, key)
						}
						by[key] = append(by[key], sameKey{s, parts, p})
					}
				}
			}
			for _, name := range names {
				first := by[name][0]
				for _, other := range by[name][1:] {
					if other.s == first.s {
						continue
					}
					for range 4 {
						b.start(c, first.s)
						c.q, c.part, c.depth, c.origin = first.parts.q, first.parts, 0, origin{anchor: -1}
						c.rank, c.sign = rng.IntN(len(first.s.rank)),
							[]dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted}[rng.IntN(2)]
						if !mapAround(c, rng, first.p) {
							continue
						}
						version, images := c.version(first.p), []dyngraph.VertexID{}
						for _, v := range first.p.separator {
							images = append(images, c.image[v])
						}
						c.memo.reset()
						c.mapped = first.p.separatorSet
						want := c.compute(first.p)
						b.start(c, other.s)
						c.q, c.part = other.parts.q, other.parts
						for c.rank = 0; c.version(other.p) != version; c.rank++ {
							require.LessOrEqual(t, c.rank, len(other.s.rank))
						}
						for i, v := range other.p.separator {
							c.bind(other.parts.q.Members[other.parts.q.BlockOf[v]], images[i])
						}
						c.memo.reset()
						c.mapped = other.p.separatorSet
						require.Equal(t, want, c.compute(other.p), "%s and %s", first.s.Pattern.Query.Name,
							other.s.Pattern.Query.Name)
						alike++
						if !want.IsZero() {
							positive++
						}
					}
				}
			}
			x.Commit()
		})
}
