package plan

import (
	"math/bits"
	"slices"

	"motifd/matcher"
)

const (
	// maxMembers bounds the members of a class: a backend keeps a set of them in one word.
	maxMembers = 64
	// maxRemoved and maxSubsets bound the search for subgraphs: that many vertices are removed at most, and as many as
	// leave no more subsets than that to look at.
	maxRemoved, maxSubsets = 3, 1000
	// worthwhile is the part of its members' work that a class must save: what it saves is estimated roughly.
	worthwhile = 0.1
)

// coalesce divides the anchored orders into classes (GAMMA section V-B; DESIGN A6). Those that automorphisms of the
// whole pattern map to one another, anchors with their orientation, are images of one of them, which costs nothing.
// Of the others, those that automorphisms of the pattern less some vertices map to one another become members of a
// class, the class that promises to save most first, as long as it is worthwhile. Exactly one automorphism is kept
// for each: which of them does not matter, as the matches of the subgraph that begin with an update are closed under
// those that fix the anchor. All that holds for embeddings, not where symmetry constraints single out one match of an
// orbit; and for conditions on one element each, which the kinds of edges and vertices include, not for those between
// elements. Where elements may share images nothing is searched together: an anchor then stands for the first pattern
// edge that has its image, and automorphisms do not keep which one is the first.
func (o *orderer) coalesce() {
	p := o.p
	alone := p.Query.Unit != matcher.Embeddings || p.Query.MatchMode != matcher.Isomorphism
	if alone || !p.Query.OwnOnly() {
		if !alone {
			p.Alike = o.representatives(newMapper(p, ownConditions(p.Query)), maxMembers)
		}
		for i := range p.Anchored {
			p.Classes = append(p.Classes, o.alone(matcher.Member{Anchor: i, Order: p.Anchored[i]}))
		}
		return
	}
	m := newMapper(p, p.Query.Conditions)
	pool := o.representatives(m, len(p.Anchored))
	groups := m.groups(pool)
	for {
		var best matcher.Class
		most, at := 0.0, -1
		for i := range groups {
			g := &groups[i]
			if len(g.members) < 2 {
				continue
			}
			if g.class.Members == nil {
				o.build(m, g, pool)
			}
			if g.saved > most {
				best, most, at = g.class, g.saved, i
			}
		}
		if at < 0 {
			break
		}
		p.Classes = append(p.Classes, best)
		taken := slices.Clone(groups[at].members[:len(best.Members)])
		for i := range groups {
			groups[i].remove(taken)
		}
		for _, k := range taken {
			pool[k].Order.Steps = nil
		}
	}
	for _, r := range pool {
		if r.Order.Steps != nil {
			p.Classes = append(p.Classes, o.alone(r))
		}
	}
	slices.SortFunc(p.Classes, func(a, b matcher.Class) int { return a.Members[0].Anchor - b.Members[0].Anchor })
}

func (o *orderer) alone(m matcher.Member) matcher.Class {
	return matcher.Class{Shared: len(m.Order.Steps), Members: []matcher.Member{m}}
}

// representatives returns one anchored order of each class under the automorphisms of the whole pattern, with the
// others as its images: a class has most orders, or is divided.
func (o *orderer) representatives(m *mapper, most int) (pool []matcher.Member) {
	all := uint32(1)<<(m.n-1)<<1 - 1
	colour := m.colours(all)
next:
	for i := range o.p.Anchored {
		a := &o.p.Anchored[i]
		for k := range pool {
			r := &pool[k]
			if 1+len(r.Images) >= most {
				continue
			}
			if image := m.find(all, colour, &r.Order, a); image != nil {
				r.Images = append(r.Images, matcher.Image{Anchor: i, Vertices: image,
					Edges: m.edges(image, r.Order.Edge, a.Edge)})
				continue next
			}
		}
		pool = append(pool, matcher.Member{Anchor: i, Order: *a})
	}
	return pool
}

// orbit has the orders that automorphisms of a subgraph map to one another: indexes into a pool of orders.
type orbit struct {
	set     uint32 // the subgraph's vertices
	colour  []uint64
	ends    uint64 // equal for orders whose anchors' ends have equal colours, mostly for those alone
	members []int
	class   matcher.Class // once built
	saved   float64       // 0: not worthwhile
}

// remove takes members away that are in another class.
func (g *orbit) remove(taken []int) {
	n := len(g.members)
	g.members = slices.DeleteFunc(g.members, func(k int) bool { return slices.Contains(taken, k) })
	if len(g.members) < n {
		g.class = matcher.Class{}
	}
}

// groups finds the orbits, of more than one order, under the automorphisms of connected subgraphs: the largest
// subgraphs first.
func (m *mapper) groups(pool []matcher.Member) (found []orbit) {
	subsets, count := 0, 1
	for k := 1; k <= maxRemoved && m.n-k >= 3 && len(pool) > 1; k++ {
		count = count * (m.n - k + 1) / k
		if subsets += count; subsets > maxSubsets {
			break
		}
		// Gosper's enumeration of the subsets of k.
		for less := uint64(1)<<k - 1; less < 1<<m.n; {
			if set := uint32(1<<m.n-1) &^ uint32(less); m.connected(set) {
				found = append(found, m.orbits(set, pool)...)
			}
			low := less & -less
			high := less + low
			less = high | (less^high)/low>>2
		}
	}
	return found
}

// orbits returns those of one subgraph.
func (m *mapper) orbits(set uint32, pool []matcher.Member) (found []orbit) {
	colour := m.colours(set)
	alike := false
	for s := set; s != 0; s &= s - 1 {
		v := bits.TrailingZeros32(s)
		for t := s & (s - 1); t != 0; t &= t - 1 {
			alike = alike || colour[v] == colour[bits.TrailingZeros32(t)]
		}
	}
	if !alike {
		return nil
	}
next:
	for i := range pool {
		a := &pool[i].Order
		if set>>a.Steps[0].Vertex&1 == 0 || set>>a.Steps[1].Vertex&1 == 0 {
			continue
		}
		ends := mix(colour[a.Steps[0].Vertex]) ^ colour[a.Steps[1].Vertex]
		for k := range found {
			g := &found[k]
			if g.ends == ends && len(g.members) < maxMembers &&
				m.find(set, colour, &pool[g.members[0]].Order, a) != nil {
				g.members = append(g.members, i)
				continue next
			}
		}
		found = append(found, orbit{set: set, colour: colour, ends: ends, members: []int{i}})
	}
	return slices.DeleteFunc(found, func(g orbit) bool { return len(g.members) < 2 })
}

// build makes the class of an orbit, and estimates what it saves.
func (o *orderer) build(m *mapper, g *orbit, pool []matcher.Member) {
	first := &pool[g.members[0]].Order
	b := newBuilder(o)
	b.begin(first.Edge, first.Steps[0].Vertex, first.Steps[1].Vertex)
	b.grow(g.set)
	shared := b.steps
	together, matches := o.work(shared, 2)
	apart, later := 0.0, false
	g.class = matcher.Class{Shared: len(shared)}
	for _, k := range g.members {
		r := pool[k]
		image := m.find(g.set, g.colour, first, &r.Order)
		edges := m.edges(image, first.Edge, r.Order.Edge)
		b := newBuilder(o)
		b.used[r.Order.Edge] = true
		for i := range shared {
			step := matcher.Step{Vertex: image[shared[i].Vertex], Back: slices.Clone(shared[i].Back)}
			for j := range step.Back {
				step.Back[j].Edge = edges[step.Back[j].Edge]
				b.used[step.Back[j].Edge] = true
			}
			b.put(step)
		}
		b.grow(everything)
		alone, _ := o.work(r.Order.Steps, 2)
		rest, _ := o.work(b.steps, len(shared))
		apart += alone
		later = later || o.joinsLater(b.steps, r.Order.Steps)
		together += rest + switchWork*matches
		r.Order.Steps = b.steps
		g.class.Members = append(g.class.Members, r)
	}
	// An order that is tested later than the order alone may have far more partial matches than edges drawn at random
	// would make: data is clustered, and the filter is not in the estimate.
	if g.saved = apart - together; later || g.saved < worthwhile*apart {
		g.saved = 0
	}
}

// joinsLater tells whether an order has, after some step, mapped fewer edges of the pattern than another one of the
// same anchor, or vertices of fewer edges, which the filter asks less of.
func (o *orderer) joinsLater(a, b []matcher.Step) bool {
	edges, degrees := 0, 0
	for i := range a {
		edges += len(b[i].Back) - len(a[i].Back)
		degrees += len(o.at[b[i].Vertex]) - len(o.at[a[i].Vertex])
		if edges > 0 || degrees > 0 {
			return true
		}
	}
	return false
}

// switchWork is the work of going on with a member, in units of a candidate that is tried.
const switchWork = 3

// work estimates what it takes, for one update, to map the steps from one on, in candidates read and tried, and how
// many partial matches come of it: as if edges were drawn at random.
func (o *orderer) work(steps []matcher.Step, from int) (work, matches float64) {
	n := make([]float64, len(steps))
	n[0], n[1] = 1, 1
	for i := 2; i < len(steps); i++ {
		s := &steps[i]
		admitted := max(1, o.st.vertices(o.p.VertexLabels[s.Vertex]))
		least, all, last := 0.0, 1.0, 1
		for k, b := range s.Back {
			fan := o.fanout[b.Edge][0]
			if o.p.Query.Edges[b.Edge].From == s.Vertex {
				fan = o.fanout[b.Edge][1]
			}
			if k == 0 || fan < least {
				least = fan
			}
			all *= min(1, fan/admitted)
			last = max(last, b.Step)
		}
		n[i] = n[i-1] * all * admitted
		if i >= from {
			// What is read depends on the images of the back edges' steps alone.
			work += n[last]*(1+least*float64(len(s.Back))) + n[i]
		}
	}
	return work, n[len(steps)-1]
}
