package candidates

import (
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/internal/truths"
	"motifd/matcher/plan"
)

// Filter keeps, for every data vertex, exact counts of its adjacency in the columns that registered queries need of
// vertices of its label, and one candidate bit per class (GAMMA section IV-B; DESIGN A5). Counts are exact, not
// saturated, because a saturated count cannot be decremented. While a batch is staged a bit is the old one OR the new
// one, so that it holds for the searches of both phases.
//
// The cost of a batch depends on the counts that it changes and on the classes for which a changed count matters, not
// on the number of classes. The cost of a new class depends on the number of vertices of its label.
//
// A Filter has one owner; between Stage and Commit or Abort any number of goroutines may read Bits.
type Filter struct {
	// Whole has plans for whole graphs alone (Planner.Static) get classes and bits, too. Otherwise only the methods
	// from which a candidate space is made serve them (Each, MayFit, AtMost and the tests of vertices and edges), and
	// they are not dormant.
	Whole bool

	g       *dyngraph.Graph
	classes []class
	index   map[classKey]int
	plans   map[*matcher.Plan]*planned
	round   uint64 // of Prepare
	unused  int    // classes that no plan has
	dormant []*matcher.Plan
	woken   uint64

	generation int // changes when classes are numbered anew
	candidates candidates

	bare    bool     // some class needs no edges
	indexed bool     // whether tables holds the vertices
	tables  []*table // by label
	any     *table   // of all vertices, for classes of several labels; its row numbers are ids
	row     []uint32 // row of each vertex in its label's table

	truths truths.Table

	delta   *dyngraph.Delta
	pending []pending // bits that the staged batch may change
	flips   []flip    // bits that it changes
	changed []Change
	triples triples
}

// classKey is equal for pattern vertices of a class.
type classKey struct{ requirement, own string }

// class is a requirement with its columns.
type class struct {
	plan.Requirement
	own   *truths.Test // conditions on the vertex alone, which the class keeps; nil without
	test  Test
	kept  bool         // bits and counts are
	table *table       // nil when they are not
	asks  []columnNeed // the needs, by column of the table
	plans []*planned   // that have it, for each vertex that has
	fit   int          // data vertices that have the bit
}

// planned is the filter's state of a plan.
type planned struct {
	classes []int // by pattern vertex
	missing int32 // pattern vertices that no data vertex fits
	round   uint64
	dormant bool
}

// flip is a candidate bit that a batch changes.
type flip struct {
	v     dyngraph.VertexID
	class int32
	on    bool
}

// Load makes f a filter over g without classes. Nothing is read before Prepare.
func (f *Filter) Load(g *dyngraph.Graph) {
	*f = Filter{Whole: f.Whole, g: g}
	f.truths.Load(g)
	f.reset()
}

func (f *Filter) reset() {
	for i := range f.classes {
		f.truths.Release(f.classes[i].own)
	}
	f.classes, f.index, f.plans, f.unused, f.dormant = nil, map[classKey]int{}, map[*matcher.Plan]*planned{}, 0, nil
	f.candidates, f.any, f.triples, f.bare = candidates{}, nil, triples{}, false
	for _, g := range f.tables {
		if g != nil {
			g.forget()
		}
	}
}

// Prepare makes the filter serve the plans, and no others. It counts in the old view, so a staged batch must be handed
// to Stage afterwards. Plans that it served before cost nothing. Classes without a plan are kept for later queries,
// until they outnumber the others.
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
			of := &f.classes[c].plans
			at := slices.Index(*of, known)
			if *of = slices.Delete(*of, at, at+1); len(*of) == 0 {
				f.unused++
			}
		}
		delete(f.plans, p)
	}
	f.dormant = slices.DeleteFunc(f.dormant, func(p *matcher.Plan) bool { return f.plans[p] == nil })
	if used := len(f.classes) - f.unused; f.unused > used+64 {
		f.reset()
		f.generation++
		added = plans
	}
	f.truths.Prepare(plans)
	f.add(added)
}

// add brings in the classes of new plans.
func (f *Filter) add(plans []*matcher.Plan) {
	first := len(f.classes)
	var kept []*matcher.Plan
	for _, p := range plans {
		known := f.plans[p]
		if known == nil {
			known = &planned{round: f.round}
			f.plans[p] = known
		}
		if known.classes != nil {
			continue
		}
		if !p.ForBatches() && !f.Whole {
			f.locate()
			continue
		}
		if known.dormant = f.isDormant(p); known.dormant {
			f.dormant = append(f.dormant, p)
		} else {
			kept = append(kept, p)
		}
		known.classes = make([]int, len(p.Query.Vertices))
		for v := range p.Query.Vertices {
			c, own := plan.RequirementOf(p, v), f.truths.OfVertex(p, v)
			key := classKey{c.Key(), own.Key()}
			at, ok := f.index[key]
			if !ok {
				at = len(f.classes)
				f.index[key] = at
				x := class{Requirement: c, own: own}
				f.truths.Keep(own)
				if c.Impossible() {
					x.test = f.candidates.pass()
				} else {
					x.test = f.candidates.put(c.Label)
				}
				f.classes = append(f.classes, x)
				f.unused++
			}
			x := &f.classes[at]
			if x.plans = append(x.plans, known); len(x.plans) == 1 {
				f.unused--
			}
			if x.fit == 0 {
				known.missing++
			}
			known.classes[v] = at
		}
	}
	if first < len(f.classes) {
		f.candidates.widen(int(f.g.IDBound()))
		f.locate()
	}
	f.keep(kept)
}

// fits reports whether a vertex, in its row of the class's table, fits a class in the graph of the counts, which is
// that of view w.
func (f *Filter) fits(w dyngraph.Which, v dyngraph.VertexID, row uint32, c *class) bool {
	return c.table.satisfied(row, c.asks) && (c.own == nil || c.own.Passes(f.truths.OfVertexIn(w, v))) &&
		(c.table != f.any || matcher.LabelFits(c.Label, f.g.View(dyngraph.New).Label(v)))
}

// set sets the candidate bit of a vertex; the bit is not set yet.
func (f *Filter) set(v dyngraph.VertexID, c *class) {
	f.candidates.set(v, &c.test)
	if c.fit++; c.fit == 1 {
		for _, p := range c.plans {
			p.missing--
		}
	}
}

// clear clears the candidate bit of a vertex; the bit is set.
func (f *Filter) clear(v dyngraph.VertexID, c *class) {
	f.candidates.clear(v, &c.test)
	if c.fit--; c.fit == 0 {
		for _, p := range c.plans {
			p.missing++
		}
	}
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

// tableOf returns the table of a label; that of all vertices where several labels will do.
func (f *Filter) tableOf(l dyngraph.LabelID) *table {
	if matcher.SeveralLabels(l) {
		if f.any == nil {
			f.any = &table{}
			for _, g := range f.tables {
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
	if int(l) >= len(f.tables) {
		f.tables = append(f.tables, make([]*table, int(l)+1-len(f.tables))...)
	}
	if f.tables[l] == nil {
		f.tables[l] = &table{}
	}
	return f.tables[l]
}

// enter makes a vertex a member of its tables.
func (f *Filter) enter(v dyngraph.VertexID) {
	if int(v) >= len(f.row) {
		f.row = append(f.row, make([]uint32, int(f.g.IDBound())-len(f.row))...)
	}
	f.row[v] = f.tableOf(f.g.View(dyngraph.New).Label(v)).enter(v)
	if f.any != nil {
		f.any.put(v, int(v))
	}
}

// leave removes a vertex without edges from its tables.
func (f *Filter) leave(v dyngraph.VertexID) {
	f.tableOf(f.g.View(dyngraph.New).Label(v)).leave(f.row[v])
	if f.any != nil {
		f.any.members[v] = dyngraph.NoVertex
	}
}

// at returns the row of a vertex in one of its tables.
func (f *Filter) at(g *table, v dyngraph.VertexID) uint32 {
	if g == f.any {
		return uint32(v)
	}
	return f.row[v]
}

// Stage counts the net edges of a staged batch and sets the bits of vertices that fit in the new graph.
func (f *Filter) Stage(d *dyngraph.Delta) {
	f.delta = d
	f.truths.Stage(d)
	if d.NewTriples {
		f.Wake()
	}
	f.pending, f.flips, f.changed = f.pending[:0], f.flips[:0], f.changed[:0]
	if !f.indexed {
		return
	}
	f.candidates.grow(int(f.g.IDBound()))
	for _, v := range d.Created {
		f.enter(v)
		f.eachBare(v, func(i int, g *table) { f.pending = append(f.pending, pending{int32(i), v, f.at(g, v)}) })
	}
	for _, v := range d.Freed {
		f.eachBare(v, func(i int, _ *table) { f.flips = append(f.flips, flip{v, int32(i), false}) })
	}
	f.count(d, 1)
	for i := range d.Revised {
		f.revise(d.Revised[i].Vertex)
	}
	for _, p := range f.pending {
		c := &f.classes[p.class]
		on := f.fits(dyngraph.New, p.v, p.row, c)
		if on == f.candidates.has(p.v, &c.test) {
			continue
		}
		if on {
			f.set(p.v, c)
			f.changed = append(f.changed, Change{p.v, p.class})
		}
		f.flips = append(f.flips, flip{p.v, p.class, on})
	}
}

// tablesOf returns the tables that a vertex is a member of.
func (f *Filter) tablesOf(v dyngraph.VertexID) []*table {
	tables := []*table{f.tableOf(f.g.View(dyngraph.New).Label(v)), f.any}
	if f.any == nil {
		tables = tables[:1]
	}
	return tables
}

// eachBare calls note for the classes that need no edges of a vertex that comes or goes.
func (f *Filter) eachBare(v dyngraph.VertexID, note func(i int, g *table)) {
	if !f.bare {
		return
	}
	for _, g := range f.tablesOf(v) {
		for _, i := range g.bare {
			note(i, g)
		}
	}
}

// revise notes the bits of a revised vertex that may change.
func (f *Filter) revise(v dyngraph.VertexID) {
	for _, g := range f.tablesOf(v) {
		for _, i := range g.asking {
			if f.truths.Turns(f.classes[i].own, v) {
				f.pending = append(f.pending, pending{int32(i), v, f.at(g, v)})
			}
		}
	}
}

// Commit makes the new graph's bits the present ones. A freed vertex fits no class: it has no edges.
func (f *Filter) Commit() {
	if f.delta == nil {
		return
	}
	f.truths.Commit()
	f.changed = f.changed[:0]
	for _, p := range f.flips {
		if c := &f.classes[p.class]; !p.on && f.candidates.has(p.v, &c.test) { // it may be there twice
			f.clear(p.v, c)
			f.changed = append(f.changed, Change{p.v, p.class})
		}
	}
	f.end(f.delta.Freed)
}

// Abort restores the old graph's counts and bits. Changed stays what Stage made it: these bits change back.
func (f *Filter) Abort() {
	if f.delta == nil {
		return
	}
	f.truths.Abort()
	for _, p := range f.flips {
		if p.on {
			f.clear(p.v, &f.classes[p.class])
		}
	}
	if f.indexed {
		f.count(f.delta, -1)
	}
	f.end(f.delta.Created)
}

// end forgets the batch, and removes vertices that have left the graph.
func (f *Filter) end(gone []dyngraph.VertexID) {
	if f.indexed {
		for _, v := range gone {
			f.leave(v)
		}
	}
	f.delta, f.flips = nil, f.flips[:0]
}
