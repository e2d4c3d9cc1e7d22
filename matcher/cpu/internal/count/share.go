package count

import (
	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/work"
)

// binding is the state that the count of a component depends on: images and what is visible.
type binding struct {
	q      *Quotient           // at hand
	part   *quotientComponents // its components
	rank   int                 // of the anchor's edge; -1 for a whole graph
	sign   dyngraph.Sign       // of the phase: Deleted sees the old graph, Inserted the new one
	image  [matcher.MaxVertices]dyngraph.VertexID
	mapped uint32
	origin origin
}

// openSum is an unfinished sum over the images of a component's next block, of the counts of the rest of the component.
type openSum struct {
	rest   uint32 // blocks that remain
	next   int
	mapped uint32
	images []dyngraph.VertexID
	ways   []matcher.Count // how often each image counts; nil if once
	at     int             // images before it are done or under way
	given  []*portion
}

// portion is a part of the images of a sum that is given to another worker. The giver waits for its result after its
// own images, because the sum may be a factor of another one, or be memoized.
type portion struct {
	scene  binding
	of     openSum
	sum    matcher.Count
	halted bool // the worker was stopped: sum is void
	done   bool // guarded by the pool
}

// shares reports whether sums may be shared with other workers. Sums of pendants of a path or spider may not, because
// its scratch memory is in use.
func (c *Counter) shares() bool { return c.worker.Hungry != nil && !c.paths.busy }

// sumOver is the sum over images of a component's next block.
func (c *Counter) sumOver(p *component, images []dyngraph.VertexID, ways []matcher.Count) openSum {
	return openSum{rest: p.mask &^ (1 << p.next), next: p.next, mapped: c.mapped, images: images, ways: ways}
}

// times multiplies a number by the multiplicity of image i.
func (s *openSum) times(n matcher.Count, i int) matcher.Count {
	if s.ways == nil {
		return n
	}
	return n.Mul(s.ways[i])
}

// addUp adds up a sum. It may give some of the images away. rest holds the components that remain.
func (c *Counter) addUp(of openSum, rest []*component) (total matcher.Count) {
	k := len(c.sums)
	c.sums = append(c.sums, of)
	for c.sums[k].at < len(c.sums[k].images) {
		i := c.sums[k].at
		w := c.sums[k].images[i]
		c.sums[k].at++
		if !c.worker.Step() || c.worker.Stopped {
			break
		}
		if c.worker.Asked(c.worker.Steps) {
			c.share()
		}
		c.bind(c.q.Members[of.next], w)
		c.mapped = of.mapped | 1<<of.next
		total = total.Add(of.times(c.product(rest), i))
	}
	c.mapped = of.mapped
	given := c.sums[k].given
	c.sums = c.sums[:k]
	for _, p := range given {
		c.worker.Pool.Await(&p.done, c.worker, c.Resume)
		c.worker.Stopped = c.worker.Stopped || p.halted
		total = total.Add(p.sum)
	}
	return total
}

// share gives away half of the remaining images of the outermost unfinished sum, if another worker wants them.
func (c *Counter) share() {
	if !c.worker.Splits() {
		return
	}
	for k := range c.sums {
		f := &c.sums[k]
		left := len(f.images) - f.at
		if left == 0 {
			continue
		}
		mid := f.at + left/2
		p := &portion{scene: c.binding, of: *f}
		p.of.images, p.of.at, p.of.given = f.images[mid:], 0, nil
		if f.ways != nil {
			p.of.ways = f.ways[mid:]
		}
		f.images, f.given = f.images[:mid], append(f.given, p)
		c.worker.GiveAway(p)
		return
	}
}

// Resume continues a portion that another worker has given away.
func (c *Counter) Resume(p *work.Part) { c.addPortion(p.Work.(*portion)) }

// addPortion adds up a portion. The counter may be waiting for a portion of another sum, and continues with that sum
// afterwards.
func (c *Counter) addPortion(p *portion) {
	scene, sums, common, ways, depth := c.binding, c.sums, c.common, c.ways, c.depth
	c.binding, c.sums, c.depth = p.scene, sums[len(sums):], 0
	if depth > 0 { // others may be adding up the images in these
		c.common = [len(common)][]dyngraph.VertexID{}
		c.ways = [len(ways)][]matcher.Count{}
	}
	c.part = c.comps.injective // components are the worker's own
	if c.q != c.plan.injective {
		c.part = c.comps.quotients[c.q.index]
	}
	if c.worker.Stop.Load() {
		c.worker.Stopped = true
	}
	if !c.worker.Stopped {
		p.sum = c.addUp(p.of, c.part.split(p.of.rest))
	}
	p.halted = c.worker.Stopped
	c.binding, c.sums, c.common, c.ways, c.depth = scene, sums, common, ways, depth
	c.worker.Pool.Finish(&p.done)
}
