package count

import (
	"cmp"
	"math/bits"
	"slices"

	"motifd/matcher"
)

// spider is a component of one block, its body, to which three or more paths lead, each from a mapped vertex. Given an
// image of the body the arms are independent: the count is the sum, over those images, of the product of the ways along
// each arm. These are found for all images at once, arm by arm: the first arm finds the images and the ways to each,
// the others multiply and narrow them, and the longest is counted from both ends as a path is. Mapping the body first
// would look at each of its images separately, of which hubs have very many. Without spiders sparse patterns take 1.26
// times as long to count.
type spider struct {
	pathStep // the body
	// arms are paths from a mapped vertex to the body, their last step, without the body's pendants; the shortest
	// first. Only that one may be a single edge.
	arms []path
}

// asSpider returns the component as a spider, nil if it is none.
func (ps *quotientComponents) asSpider(p *component) *spider {
	q := ps.q
	if q.conflictsWithin(p.mask) {
		return nil
	}
	core := q.core(p.mask)
	at := -1
	for m := core; m != 0; m &= m - 1 {
		v := bits.TrailingZeros32(m)
		if bits.OnesCount32(q.Adj[v]&(core|^p.mask)) > 2 {
			if at >= 0 {
				return nil
			}
			at = v
		}
	}
	if at < 0 {
		return nil
	}
	j := &spider{pathStep: ps.step(at)}
	j.pendants = ps.pendants(at, p.mask, core)
	seen, direct := uint32(1)<<at, 0
	for m := q.Adj[at] & (core | ^p.mask); m != 0; m &= m - 1 {
		next := bits.TrailingZeros32(m)
		l, passed := ps.arm(p.mask, core, at, next)
		if l == nil || seen&passed != 0 {
			return nil
		}
		if passed == 0 {
			direct++
		}
		seen |= passed
		j.arms = append(j.arms, *l)
	}
	if seen != core || direct > 1 {
		return nil
	}
	slices.SortStableFunc(j.arms, func(a, b path) int { return cmp.Compare(len(a.steps), len(b.steps)) })
	return j
}

// pendants returns the components that hang from a block of the core of a set.
func (ps *quotientComponents) pendants(at int, set, core uint32) []*component {
	if hang := ps.q.Component(ps.q.Adj[at]&set&^core, set&^core); hang != 0 {
		return ps.split(hang)
	}
	return nil
}

// arm returns the path that leads from a mapped vertex to block to, whose last block before is next, and the blocks
// between; nil if there is none. The core of a set is the set without its pendants.
func (ps *quotientComponents) arm(set, core uint32, to, next int) (l *path, passed uint32) {
	q := ps.q
	l = &path{}
	last := ps.step(to)
	if last.from[0] = q.only(next, to); last.from[0] == nil {
		return nil, 0
	}
	l.steps = append(l.steps, last)
	before, at := to, next
	for core&(1<<at) != 0 {
		around := q.Adj[at] & (core | ^set) &^ (1 << before)
		if passed&(1<<at) != 0 || at == to || bits.OnesCount32(around) != 1 {
			return nil, 0
		}
		passed |= 1 << at
		after := bits.TrailingZeros32(around)
		k := ps.step(at)
		k.pendants = ps.pendants(at, set, core)
		k.from[0], k.from[1] = q.only(after, at), q.only(before, at)
		if k.from[0] == nil || k.from[1] == nil {
			return nil, 0
		}
		l.steps = append(l.steps, k)
		before, at = at, after
	}
	slices.Reverse(l.steps)
	l.ends[0] = l.steps[0].from[0].From
	return l, passed
}

// only returns the edge from block u to block v if there is exactly one, and each data edge counts for one.
func (q *Quotient) only(u, v int) (only *Edge) {
	for i := range q.Edges[v] {
		if e := &q.Edges[v][i]; q.BlockOf[e.From] == u {
			if only != nil || e.Multi != nil && !e.Multi.IsSimple() {
				return nil
			}
			only = e
		}
	}
	return only
}

// countSpider counts a spider. It reports false when countPath would.
func (c *Counter) countSpider(j *spider) (matcher.Count, bool) {
	if !c.paths.begin(c.index.Vertices()) {
		return matcher.Count{}, false
	}
	n, ok := c.alongArms(j)
	c.paths.busy = false
	return n, ok
}

// alongArms counts a spider arm by arm.
func (c *Counter) alongArms(j *spider) (matcher.Count, bool) {
	x := &c.paths
	x.arms = x.arms[:0]
	for i := range j.arms {
		l := &j.arms[i]
		first := &l.steps[0]
		nbr, _, _ := c.neighbors(c.image[l.ends[0]], first.from[0])
		if len(nbr) == 0 {
			return matcher.Count{}, true
		}
		x.arms = append(x.arms, armSize{l, len(nbr)})
		for k := i; k > 0 && x.arms[k].less(&x.arms[k-1]); k-- {
			x.arms[k], x.arms[k-1] = x.arms[k-1], x.arms[k]
		}
	}
	longest := len(x.arms) - 1
	for i := range x.arms[:longest] {
		l := x.arms[i].arm
		last := c.approach(l)
		if i == 0 {
			c.expand(&l.steps[last], 0, x.frontier[0], 1)
		} else {
			c.narrow(l)
		}
		if len(x.frontier[1]) == 0 || x.overflow || c.worker.Stopped {
			return matcher.Count{}, !x.overflow
		}
	}
	x.frontier[1] = c.weigh(&j.pathStep, x.frontier[1])
	l := x.arms[longest].arm
	c.expand(&l.steps[0], 0, []Reached{{c.image[l.ends[0]], 1}}, 0)
	return c.between(l, 0, len(l.steps)-1)
}

// armSize is an arm with the number of neighbours that its mapped vertex has along it.
type armSize struct {
	arm *path
	n   int
}

func (a *armSize) less(b *armSize) bool {
	if len(a.arm.steps) != len(b.arm.steps) {
		return len(a.arm.steps) < len(b.arm.steps)
	}
	return a.n < b.n
}

// approach sets frontier 0 to the images of the step before the last one of an arm, and returns the last one's index.
func (c *Counter) approach(l *path) (last int) {
	x := &c.paths
	last = len(l.steps) - 1
	x.frontier[0] = append(x.frontier[0][:0], Reached{c.image[l.ends[0]], 1})
	for i := range last {
		x.other, x.frontier[0] = x.frontier[0], x.other
		c.expand(&l.steps[i], 0, x.other, 0)
	}
	return last
}

// narrow multiplies the ways to the images of the body in frontier 1 by those along one more arm, whose frontier 0 is
// before the body, and drops those without any.
func (c *Counter) narrow(l *path) {
	x := &c.paths
	few, many := x.frontier[1], x.frontier[0]
	x.sums = append(x.sums[:0], make([]uint64, len(few))...)
	c.push(&l.steps[len(l.steps)-1], few, many)
	kept := few[:0]
	for i, r := range few {
		over, n := bits.Mul64(r.Ways, x.sums[i])
		x.overflow = x.overflow || over != 0
		if n != 0 {
			kept = append(kept, Reached{r.Vertex, n})
		}
	}
	x.frontier[1] = kept
}

// push adds the ways to each image of the step before the body to the sums of its neighbours among the images of the
// body.
func (c *Counter) push(last *pathStep, to, images []Reached) {
	x := &c.paths
	for i, r := range to {
		x.ways[r.Vertex] = uint64(i) + 1
	}
	e := last.from[0]
	c.readAhead(images)
	for _, r := range images {
		nbr, ent, check := c.neighbors(r.Vertex, e)
		if !c.worker.StepBy(len(nbr)) {
			break
		}
		for k, w := range nbr {
			i := x.ways[w]
			if i == 0 || check && !c.admitsEdge(ent[k], e.rank, e.tests) {
				continue
			}
			sum, carry := bits.Add64(x.sums[i-1], r.Ways, 0)
			x.sums[i-1], x.overflow = sum, x.overflow || carry != 0
		}
	}
	for _, r := range to {
		x.ways[r.Vertex] = 0
	}
}

// eachImage counts a spider image by image, for numbers beyond 64 bits. It reports false when the scratch memory is in
// use.
func (c *Counter) eachImage(p *component, s *spider) (total matcher.Count, ok bool) {
	x, l := &c.paths, &s.arms[0]
	if !x.begin(c.index.Vertices()) {
		return total, false
	}
	last := c.approach(l)
	c.expand(&l.steps[last], 0, x.frontier[0], 1) // only the numbers of an arm of one edge matter here
	images := slices.Clone(x.frontier[1])
	x.busy = false
	mapped, rest := c.mapped, c.part.split(p.mask&^(1<<s.at))
	for _, r := range images {
		if !c.worker.Step() {
			break
		}
		c.bind(s.members, r.Vertex)
		c.mapped = mapped | 1<<s.at
		n := c.product(rest)
		if last == 0 { // the arm was a single edge
			n = n.Mul(matcher.CountOf(r.Ways))
		}
		total = total.Add(n)
	}
	c.mapped = mapped
	return total, true
}
