package count

// foreseenDepth is the number of blocks that are mapped one after the other for which MakeComponents makes the
// components: most searches from an anchor end before.
const foreseenDepth = 4

// MakeComponents makes the components that counts from any anchor need first, of the plan that was started last: about
// as many as most. The first searches from an anchor else make them, and this takes longer than most searches.
func (c *Counter) MakeComponents(most int) {
	for e := range c.plan.rank {
		ps := c.comps.injective
		if !c.countsInjectively(e) {
			ps = c.comps.quotients[0]
		}
		if ps.q.isFirst[e] {
			c.part = ps
			if most = c.foresee(ps.anchored(e), foreseenDepth, most); most <= 0 {
				return
			}
		}
	}
}

// foresee makes the components that counts of some components need until depth further blocks are mapped. It returns
// how many more may be made.
func (c *Counter) foresee(all []*component, depth, most int) int {
	for _, p := range all {
		if most--; most <= 0 {
			return most
		}
		if p.leaves != nil {
			continue
		}
		if len(p.separator) <= 2 {
			c.keyOf(p)
		}
		if _, isSpider := p.method.(*spider); p.method != nil && !isSpider || depth == 0 {
			continue
		}
		if p.next < 0 {
			c.part.chooseNext(p)
		}
		if p.leaf == nil {
			most = c.foresee(c.part.restOf(p), depth-1, most)
		}
	}
	return most
}
