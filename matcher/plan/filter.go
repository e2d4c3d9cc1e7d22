package plan

import (
	"motifd/dyngraph"
	"motifd/matcher"
)

// Filter keeps, for every data vertex, exact counts of its adjacency in the columns that registered queries need of
// vertices of its label, and one candidate bit per class (GAMMA section IV-B; DESIGN A5). Counts are exact, not saturated,
// because a saturated count cannot be decremented. While a batch is staged a bit is the old one OR the new one, so that
// it holds for the searches of both phases.
//
// A batch costs work for the counts that it changes and the classes for which a changed count matters, whatever
// the number of classes; a class costs work for the vertices of its label.
//
// A Filter has one owner; between Stage and Commit or Abort any number of goroutines may read Bits.
type Filter struct {
	g       *dyngraph.Graph
	classes []class
	index   map[string]int
	plans   map[*matcher.Plan]*planned
	round   uint64 // of Prepare
	unused  int    // classes that no plan has

	generation int // changes when classes are numbered anew
	words      int // of candidate bits per vertex, with room for more classes
	bits       []uint64

	indexed bool     // whether groups holds the vertices
	groups  []*group // by label
	any     *group   // of all vertices, for classes of any label; its places are ids
	place   []uint32 // of each vertex in its label's group

	delta   *dyngraph.Delta
	pending []flip // bits that the staged batch may change
	flips   []flip // bits that it changes
	changed []dyngraph.VertexID
}

// class is a Class with its columns.
type class struct {
	Class
	group *group // nil when nothing can fit
	cols  []int  // column of each need in the group
	plans int    // that have it
}

// planned is what the filter knows of a plan.
type planned struct {
	classes []int // by pattern vertex
	round   uint64
}

// flip is a candidate bit that a batch changes.
type flip struct {
	v     dyngraph.VertexID
	class int32
	on    bool
}

// NewFilter returns a filter over g without classes. Nothing is read before Prepare.
func NewFilter(g *dyngraph.Graph) *Filter {
	f := &Filter{g: g}
	f.reset()
	return f
}

func (f *Filter) reset() {
	f.classes, f.index, f.plans, f.unused = nil, map[string]int{}, map[*matcher.Plan]*planned{}, 0
	f.words, f.bits, f.any = 0, nil, nil
	for _, g := range f.groups {
		if g != nil {
			g.forget()
		}
	}
}

// Prepare makes the filter serve the plans, and no others. It counts in the old view, so a staged batch must be handed to
// Stage afterwards. Plans that it served before cost nothing. Classes that no plan has any more are kept, since the next
// query may have them, until they are the most.
func (f *Filter) Prepare(plans []*matcher.Plan) {
	f.round++
	var added []*matcher.Plan
	for _, p := range plans {
		if known := f.plans[p]; known != nil {
			known.round = f.round
			continue
		}
		f.plans[p] = &planned{round: f.round}
		added = append(added, p)
	}
	for p, known := range f.plans {
		if known.round == f.round {
			continue
		}
		for _, c := range known.classes {
			if f.classes[c].plans--; f.classes[c].plans == 0 {
				f.unused++
			}
		}
		delete(f.plans, p)
	}
	if used := len(f.classes) - f.unused; f.unused > used+64 {
		f.reset()
		f.generation++
		added = plans
	}
	f.add(added)
}

// add brings in the classes of new plans.
func (f *Filter) add(plans []*matcher.Plan) {
	first := len(f.classes)
	for _, p := range plans {
		known := f.plans[p]
		if known == nil {
			known = &planned{round: f.round}
			f.plans[p] = known
		}
		if known.classes != nil {
			continue
		}
		known.classes = make([]int, len(p.Query.Vertices))
		for v := range p.Query.Vertices {
			c := Requirement(p, v)
			key := c.key()
			at, ok := f.index[key]
			if !ok {
				at = len(f.classes)
				f.index[key] = at
				f.classes = append(f.classes, class{Class: c})
				f.unused++
			}
			if f.classes[at].plans++; f.classes[at].plans == 1 {
				f.unused--
			}
			known.classes[v] = at
		}
	}
	if first == len(f.classes) {
		return
	}
	f.widen()
	f.locate()
	counted := map[*group]int{} // columns that were there before
	var order []*group
	for i := first; i < len(f.classes); i++ {
		c := &f.classes[i]
		if c.impossible() {
			continue
		}
		c.group = f.groupOf(c.Label)
		if _, ok := counted[c.group]; !ok {
			counted[c.group] = len(c.group.columns)
			order = append(order, c.group)
		}
		for _, n := range c.Needs {
			col := c.group.column(n.Column)
			c.cols = append(c.cols, col)
			c.group.watched(col, n.Count, i)
		}
	}
	for _, g := range order {
		if n := counted[g]; n < len(g.columns) {
			g.countFrom(n, f.g.View(dyngraph.Old))
		}
	}
	for i := first; i < len(f.classes); i++ {
		c := &f.classes[i]
		if c.group == nil {
			continue
		}
		for at, v := range c.group.members {
			if v != dyngraph.NoVertex && c.group.satisfied(uint32(at), c.cols, c.Needs) {
				f.set(v, int32(i))
			}
		}
	}
}

// widen makes room for the bits of all classes, and some more.
func (f *Filter) widen() {
	need, n := (len(f.classes)+63)/64, int(f.g.IDBound())
	if need > f.words {
		words := max(need, f.words+f.words/2)
		bits := make([]uint64, n*words)
		for v := 0; f.words > 0 && v < min(n, len(f.bits)/f.words); v++ {
			copy(bits[v*words:], f.bits[v*f.words:(v+1)*f.words])
		}
		f.bits, f.words = bits, words
	}
	f.grow()
}

// locate sorts the vertices of the old graph by label, once.
func (f *Filter) locate() {
	if f.indexed {
		return
	}
	f.indexed = true
	for v := range f.g.View(dyngraph.Old).VerticesSeq() {
		f.enter(v)
	}
}

// groupOf returns the group of a label.
func (f *Filter) groupOf(l dyngraph.LabelID) *group {
	if l == matcher.AnyLabel {
		if f.any == nil {
			f.any = &group{}
			for _, g := range f.groups {
				if g == nil {
					continue
				}
				for _, v := range g.members {
					if v != dyngraph.NoVertex {
						f.any.put(v, int(v))
					}
				}
			}
		}
		return f.any
	}
	if int(l) >= len(f.groups) {
		f.groups = append(f.groups, make([]*group, int(l)+1-len(f.groups))...)
	}
	if f.groups[l] == nil {
		f.groups[l] = &group{}
	}
	return f.groups[l]
}

// enter makes a vertex a member of its groups.
func (f *Filter) enter(v dyngraph.VertexID) {
	if int(v) >= len(f.place) {
		f.place = append(f.place, make([]uint32, int(f.g.IDBound())-len(f.place))...)
	}
	f.place[v] = f.groupOf(f.g.View(dyngraph.New).Label(v)).enter(v)
	if f.any != nil {
		f.any.put(v, int(v))
	}
}

// leave makes a vertex without edges a member no more.
func (f *Filter) leave(v dyngraph.VertexID) {
	f.groupOf(f.g.View(dyngraph.New).Label(v)).leave(f.place[v])
	if f.any != nil {
		f.any.members[v] = dyngraph.NoVertex
	}
}

// at returns the place of a vertex in one of its groups.
func (f *Filter) at(g *group, v dyngraph.VertexID) uint32 {
	if g == f.any {
		return uint32(v)
	}
	return f.place[v]
}

func (f *Filter) has(v dyngraph.VertexID, class int32) bool {
	return f.bits[int(v)*f.words+int(class>>6)]>>(class&63)&1 != 0
}

func (f *Filter) set(v dyngraph.VertexID, class int32) {
	f.bits[int(v)*f.words+int(class>>6)] |= 1 << (class & 63)
}

func (f *Filter) clear(v dyngraph.VertexID, class int32) {
	f.bits[int(v)*f.words+int(class>>6)] &^= 1 << (class & 63)
}

// Stage counts the net edges of a staged batch and sets the bits of vertices that fit in the new graph.
func (f *Filter) Stage(d *dyngraph.Delta) {
	f.delta = d
	f.pending, f.flips, f.changed = f.pending[:0], f.flips[:0], f.changed[:0]
	if !f.indexed {
		return
	}
	f.grow()
	for _, v := range d.Created {
		f.enter(v)
	}
	f.count(d, 1)
	for _, p := range f.pending {
		c := &f.classes[p.class]
		p.on = c.group.satisfied(f.at(c.group, p.v), c.cols, c.Needs)
		if p.on == f.has(p.v, p.class) {
			continue
		}
		if p.on {
			f.set(p.v, p.class)
			f.changed = append(f.changed, p.v)
		}
		f.flips = append(f.flips, p)
	}
}

func (f *Filter) grow() {
	if need := int(f.g.IDBound()) * f.words; need > len(f.bits) {
		f.bits = append(f.bits, make([]uint64, need-len(f.bits))...)
	}
}

// count adds the net edges' counts times their sign times by; with by > 0 it notes which bits that may change.
func (f *Filter) count(d *dyngraph.Delta, by int32) {
	in := dyngraph.Out
	if f.g.Directed() {
		in = dyngraph.In
	}
	view := f.g.View(dyngraph.New)
	for i := range d.Net {
		n := &d.Net[i]
		step := uint32(int32(n.Sign) * by)
		from, to := view.Label(n.From), view.Label(n.To)
		f.countOne(n.From, from, Column{Dir: dyngraph.Out, Edge: n.Label, Nbr: to}, step, by > 0)
		f.countOne(n.To, to, Column{Dir: in, Edge: n.Label, Nbr: from}, step, by > 0)
	}
}

// countOne counts an edge for one end.
func (f *Filter) countOne(v dyngraph.VertexID, label dyngraph.LabelID, kind Column, step uint32, note bool) {
	if g := f.groups[label]; len(g.columns) > 0 {
		f.countIn(g, v, f.place[v], kind, step, note)
	}
	if f.any != nil {
		f.countIn(f.any, v, uint32(v), kind, step, note)
	}
}

func (f *Filter) countIn(g *group, v dyngraph.VertexID, at uint32, kind Column, step uint32, note bool) {
	for _, c := range g.fit(kind) {
		n := &g.counts[c][at]
		was := *n
		*n += step
		if top := max(was, *n); note && top < uint32(len(g.watch[c])) {
			for _, class := range g.watch[c][top] {
				f.pending = append(f.pending, flip{v: v, class: class})
			}
		}
	}
}

// Commit makes the new graph's bits the present ones. A freed vertex has no edges and fits no class; every class has a
// need, as patterns are connected.
func (f *Filter) Commit() {
	if f.delta == nil {
		return
	}
	f.changed = f.changed[:0]
	for _, p := range f.flips {
		if !p.on {
			f.clear(p.v, p.class)
			f.changed = append(f.changed, p.v)
		}
	}
	f.end(f.delta.Freed)
}

// Abort restores the old graph's counts and bits. Changed stays what Stage made it: these bits change back.
func (f *Filter) Abort() {
	if f.delta == nil {
		return
	}
	for _, p := range f.flips {
		if p.on {
			f.clear(p.v, p.class)
		}
	}
	if f.indexed {
		f.count(f.delta, -1)
	}
	f.end(f.delta.Created)
}

// end forgets the batch, and vertices that are in the graph no more.
func (f *Filter) end(gone []dyngraph.VertexID) {
	if f.indexed {
		for _, v := range gone {
			f.leave(v)
		}
	}
	f.delta, f.flips = nil, f.flips[:0]
}

// Class returns the number of the class of pattern vertex v. The plan must have been given to Prepare.
func (f *Filter) Class(p *matcher.Plan, v int) int { return f.plans[p].classes[v] }

// Changed returns the vertices whose bits the last Stage, Commit or Abort changed, until the next; some perhaps several times.
func (f *Filter) Changed() []dyngraph.VertexID { return f.changed }

// Generation changes when Prepare numbers the classes anew; until then a class keeps its number.
func (f *Filter) Generation() int { return f.generation }

// Bits returns the candidate bits, Words words per vertex, valid until the next Prepare or Stage.
func (f *Filter) Bits() []uint64 { return f.bits }

// Words returns the number of words of candidate bits per vertex.
func (f *Filter) Words() int { return f.words }
