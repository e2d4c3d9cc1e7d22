package backtrack

import (
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/neighbors"
	"motifd/matcher/cpu/internal/program"
	"motifd/matcher/internal/candidates"
	"motifd/matcher/internal/rowsort"
	"motifd/matcher/internal/truths"
)

// CanonicalSearch finds the first rows, in canonical order, of one anchor or of a view, and looks at no others. It
// maps vertices along a program.CanonicalOrder with ascending candidates; when all are mapped, it maps edges in
// pattern order, ascending by identity.
//
// The order cannot be chosen so that dead ends show early. So where a step yields nothing, the search goes back to the
// last step that contributed to that, not to the one before (conflict-directed backjumping; Prosser, 1993):
// independent branches of the pattern do not multiply.
type CanonicalSearch struct {
	search *Search // holds the admission, the images and the step count
	out    *rowsort.Sorter
	o      *program.CanonicalOrder
	most   uint64 // steps after which the search is given up
	pause  uint64 // steps after which the search along the order at hand pauses
	left   uint64 // rows still wanted from the order at hand
	rows   uint64 // found along the order at hand
	skip   uint64 // the first rows that are left out
	watch  Pause  // where it pauses
	// done ends the search along an order, Over the whole search.
	done, Over bool

	frames  []canonFrame
	domains [][]dyngraph.VertexID // by vertex: what a path passes
	options [][]uint32            // by pattern edge: data edges, ascending by identity
	upper   []int
	// known caches adjacencies: the steps of one pattern often read the same ones.
	known map[adjacencyKey][]dyngraph.VertexID
	held  int // vertices in known
}

// canonFrame holds the candidates of a step, and the images that they depend on.
type canonFrame struct {
	valid bool
	key   [matcher.MaxVertices]dyngraph.VertexID
	found []dyngraph.VertexID
	room  []dyngraph.VertexID
}

// adjacencyKey determines a filtered adjacency.
type adjacencyKey struct {
	of     dyngraph.VertexID
	label  dyngraph.LabelID
	dir    dyngraph.Dir
	either bool
	test   candidates.Test
	alone  *truths.Test // of the edges
	shares bool         // see program.BackEdge
}

// mostKnown bounds the cached adjacencies, in vertices: 16 MiB.
const mostKnown = 4 << 20

// FromAnchor finds the first rows of one matching order: at most `most`. The anchor is net edge n, whose order in its
// batch is i; or the version of a revised vertex, with which the order begins.
func (c *CanonicalSearch) FromAnchor(o *program.CanonicalOrder, n *dyngraph.NetEdge, i uint32, most uint64) {
	se := c.search
	se.Sign, se.Anchor = n.Sign, i
	c.begin(o, most)
	if n.Vertex {
		if c.step() && se.Passes(o.Steps[0].Step, n.From) {
			c.extendRoot(n.From)
		}
		return
	}
	if !matcher.LabelFits(o.Plan.EdgeLabels[o.Anchor], n.Label) {
		return
	}
	first, second := &o.Steps[0], &o.Steps[1]
	if !se.Passes(first.Step, n.From) || !se.Passes(second.Step, n.To) || !se.MeetsNet(o.AnchorTest, i) {
		return
	}
	se.bind(0, n.From)
	se.edges[o.Anchor] = uint32(n.Edge)
	if c.step() && se.begins() && se.Admits(second.Step, n.To) && c.isJoined(second, n.To, -1) {
		if c.bind(1, n.To) && c.canDiffer(1) && c.possible(1) {
			c.extend(2)
		}
	}
}

// FromRoots finds the first rows of a view: at most `most`.
func (c *CanonicalSearch) FromRoots(o *program.CanonicalOrder, which dyngraph.Which, most uint64) {
	se := c.search
	se.Sign, se.Which = 0, which
	c.begin(o, most)
	view := se.graph.View(which)
	for v := dyngraph.VertexID(0); v < dyngraph.VertexID(se.graph.IDBound()) && c.step() && !c.done; v++ {
		if view.HasVertex(v) && se.Passes(o.Steps[0].Step, v) {
			c.extendRoot(v)
		}
	}
}

// Pause tells where a search along an order is to pause, and then where it has.
type Pause struct {
	Step int               // an open step: a search that pauses tells its image
	From dyngraph.VertexID // images before this one are left out
	// Steps is the number of steps after which the search pauses.
	Steps uint64
	// Skip is the number of rows that are known: the first ones that come are left out.
	Skip uint64
	// Paused tells that the search has paused, and Bound that Step had an image then: Image. Rows is the number of rows
	// that came, the first ones included, and Before how many of them came before that image.
	Paused, Bound bool
	Image         dyngraph.VertexID
	Rows, Before  uint64
}

// FromRootsIn is FromRoots in a candidate space, with which the order is compiled, from some roots, ascending, and for
// at most `most` rows in all searches of c. It may pause.
func (c *CanonicalSearch) FromRootsIn(f candidates.Source, o *program.CanonicalOrder, which dyngraph.Which,
	roots []dyngraph.VertexID, most uint64, at *Pause) {
	se := c.search
	se.Sign, se.Which = 0, which
	se.Admission.Attach(se.graph, se.shared.Delta, f)
	c.known, c.held = nil, 0
	c.begin(o, most-c.out.Count()+at.Skip)
	c.skip, c.watch = at.Skip, Pause{Step: at.Step, From: at.From}
	if c.pause = se.Steps + at.Steps; c.pause < se.Steps {
		c.pause = ^uint64(0)
	}
	view := se.graph.View(which)
	for _, v := range roots {
		if !c.step() {
			break
		}
		if view.HasVertex(v) && se.Passes(o.Steps[0].Step, v) && !c.isBefore(0, v) {
			c.extendRoot(v)
		}
	}
	*at, c.pause, c.skip = c.watch, ^uint64(0), 0
	at.Rows = c.rows
}

// IsOver reports whether all rows that are wanted are found, or none is wanted any more.
func (c *CanonicalSearch) IsOver() bool { return c.done && !c.watch.Paused }

// extendRoot maps the first step to v, and all after it.
func (c *CanonicalSearch) extendRoot(v dyngraph.VertexID) {
	c.search.bind(0, v)
	c.note(0, v)
	if c.search.begins() {
		c.extend(1)
	}
}

// isBefore reports whether the image of a step is before those that are looked at.
func (c *CanonicalSearch) isBefore(d int, w dyngraph.VertexID) bool {
	return d == c.watch.Step && w < c.watch.From
}

// Read counts entries of the graph that the caller has read as steps.
func (c *CanonicalSearch) Read(n int) { c.stepBy(n) }

// note takes note of the image of a step.
func (c *CanonicalSearch) note(d int, w dyngraph.VertexID) {
	if d == c.watch.Step {
		c.watch.Bound, c.watch.Image, c.watch.Before = true, w, c.rows
	}
}

func (c *CanonicalSearch) begin(o *program.CanonicalOrder, most uint64) {
	c.o, c.left, c.rows, c.done = o, most, 0, false
	c.search.order, c.search.edges = o.Order, c.search.row[len(o.Plan.Query.Vertices):]
	c.search.pairs = c.search.maybePairs()
	c.frames = grown(c.frames, len(o.Steps))
	for i := range c.frames {
		c.frames[i].valid = false
	}
	c.domains, c.options = grown(c.domains, len(o.Steps)), grown(c.options, len(o.Parallel))
}

func grown[T any](s []T, n int) []T { return slices.Grow(s, max(0, n-len(s)))[:max(n, len(s))] }

// step counts a step; false ends the search.
func (c *CanonicalSearch) step() bool { return c.stepBy(1) }

func (c *CanonicalSearch) stepBy(n int) bool {
	switch {
	case !c.search.StepBy(n) || c.search.Steps > c.most:
		c.done, c.Over = true, true
	case c.search.Steps > c.pause:
		c.done, c.watch.Paused = true, true
	}
	return !c.done
}

// extend maps step d and all after it. If no row comes of that, it returns the earlier steps that are the reason: as
// long as their images stay, none will.
func (c *CanonicalSearch) extend(d int) (reason uint32) {
	if d == len(c.o.Steps) {
		rows := c.rows
		if c.mapEdge(0); c.rows == rows { // conditions between edges: any of these may be the reason
			return 1<<d - 1
		}
		return 0
	}
	st, se := &c.o.Steps[d], c.search
	all, ok := c.candidates(d, st)
	if !ok {
		return 0
	}
	reason = st.DependsOn
	if len(all) < st.Alike {
		return reason
	}
	from, to, cut := c.bounds(d, st, all)
	reason |= cut
	for i := from; i < to; i++ {
		if !c.step() {
			return 0
		}
		w := all[i]
		if c.isBefore(d, w) {
			continue
		}
		if k := se.Conflict(st.Step, w); k >= 0 {
			reason |= 1 << k
			continue
		}
		c.note(d, w)
		if !c.bind(d, w) {
			return 0
		}
		if !c.canDiffer(d) || !c.possible(d) {
			reason |= 1<<d - 1
			continue
		}
		rows := c.rows
		why := c.extend(d + 1)
		switch {
		case c.done:
			return 0
		case c.rows > rows:
		case why>>d&1 == 0:
			return why
		default:
			reason |= why &^ (1 << d)
		}
	}
	return reason
}

// bounds returns which of a step's candidates symmetry leaves, by their places, and the earlier steps by whose images
// it takes others.
func (c *CanonicalSearch) bounds(d int, st *program.CanonicalStep, all []dyngraph.VertexID) (from, to int, cut uint32) {
	to = len(all)
	var low, high uint32
	for _, l := range st.Less {
		if l.Greater {
			if at := neighbors.Seek(all, 0, c.search.Images[l.Step]+1); at > from {
				from, low = at, 1<<l.Step
			}
		} else if at := neighbors.Seek(all, 0, c.search.Images[l.Step]); at < to {
			to, high = at, 1<<l.Step
		}
	}
	if len(st.Larger) == 0 {
		return from, to, low | high
	}
	// Those that must be larger come later: each takes a place behind this one's, and before what bounds it.
	c.upper = c.upper[:0]
	var by uint32
	for _, k := range st.Larger {
		most := len(all)
		for _, l := range c.o.Steps[k].Less {
			if l.Greater || l.Step >= d {
				continue
			}
			if at := neighbors.Seek(all, 0, c.search.Images[l.Step]); at < most {
				most = at
				by |= 1 << l.Step
			}
		}
		c.upper = append(c.upper, most)
	}
	slices.Sort(c.upper)
	last := len(all)
	for _, u := range slices.Backward(c.upper) {
		last = min(last, u) - 1
	}
	if last < to {
		to, high = max(last, 0), by
	}
	return from, to, low | high
}

// candidates returns the vertices that step d may be mapped to, as far as the edges to earlier steps go, ascending;
// false ends the search.
func (c *CanonicalSearch) candidates(d int, st *program.CanonicalStep) ([]dyngraph.VertexID, bool) {
	f, m := &c.frames[d], &c.search.Images
	same := f.valid
	for i, k := range st.Dependencies {
		same = same && f.key[i] == m[k]
		f.key[i] = m[k]
	}
	if same {
		return f.found, true
	}
	f.valid = false
	if st.Path != nil {
		f.room = c.followPath(st, f.room[:0])
		f.found = f.room
	} else {
		best, least := 0, 0
		for k := range st.Back {
			if n := c.search.degree(&st.Back[k]); k == 0 || n < least {
				best, least = k, n
			}
		}
		b := &st.Back[best]
		f.found = c.neighbors(m[b.Step], b, st.Test)
		if len(st.Back) > 1 || st.OnPath {
			kept := f.room[:0]
			for _, w := range f.found {
				if !c.step() {
					break
				}
				if !st.OnPath || contains(c.domains[st.Vertex], w) {
					if c.isJoined(st, w, best) {
						kept = append(kept, w)
					}
				}
			}
			f.found, f.room = kept, kept
		}
	}
	f.valid = !c.done
	return f.found, !c.done
}

func contains(s []dyngraph.VertexID, w dyngraph.VertexID) bool {
	_, found := slices.BinarySearch(s, w)
	return found
}

// followPath appends to ends where a step's route leads from the image of its base, ascending, and leaves in domains
// the vertices on the way.
func (c *CanonicalSearch) followPath(st *program.CanonicalStep, ends []dyngraph.VertexID) []dyngraph.VertexID {
	from := []dyngraph.VertexID{c.search.Images[st.PathFrom]}
	for i := range st.Path {
		h, to := &st.Path[i], ends
		last := i+1 == len(st.Path)
		if !last {
			to = c.domains[h.Vertex][:0]
		}
		for _, v := range from {
			if to = append(to, c.neighbors(v, &h.BackEdge, h.Test)...); c.done {
				return ends
			}
		}
		if len(from) > 1 {
			slices.Sort(to)
			to = slices.Compact(to)
		}
		if !last {
			c.domains[h.Vertex] = to
		}
		from = to
	}
	return from
}

// neighbors returns the vertices that v is visibly joined to as a back edge demands and that pass a test, ascending.
func (c *CanonicalSearch) neighbors(v dyngraph.VertexID, b *program.BackEdge,
	test candidates.Test) []dyngraph.VertexID {
	key := adjacencyKey{v, b.Label, b.Dir, b.Either, test, b.Test, b.Shares}
	if found, ok := c.known[key]; ok {
		return found
	}
	se := c.search
	var found []dyngraph.VertexID
	sorted := true
	for _, dir := range b.Dirs() {
		for k := range b.Runs() {
			r := b.Run(se.graph, v, dir, k)
			if !c.stepBy(r.AtMost()) {
				return nil
			}
			for nbrs, ents, ok := r.Next(); ok; nbrs, ents, ok = r.Next() {
				for i, w := range nbrs {
					if test.Of(se.BitsOf(w)) && se.AdmitsFound(b, ents[i]) {
						sorted = sorted && (len(found) == 0 || found[len(found)-1] < w)
						found = append(found, w)
					}
				}
			}
		}
	}
	if !sorted {
		slices.Sort(found)
		found = slices.Compact(found)
	}
	if c.held += len(found) + 1; c.held > mostKnown {
		c.known, c.held = nil, len(found)+1
	}
	if c.known == nil {
		c.known = map[adjacencyKey][]dyngraph.VertexID{}
	}
	c.known[key] = found
	return found
}

// isJoined reports whether data edges join w, as the image of a step, to the images of earlier ones as the pattern
// demands. Back edge known is known to have one.
func (c *CanonicalSearch) isJoined(st *program.CanonicalStep, w dyngraph.VertexID, known int) bool {
	for i := range st.Groups {
		p := &st.Groups[i]
		if len(p.Backs) == 1 && c.o.Parallel[st.Back[p.Backs[0]].Edge] == nil {
			if k := p.Backs[0]; k != known && !c.hasEdge(&st.Back[k], w) {
				return false
			}
			continue
		}
		for _, k := range p.Backs {
			c.optionsOf(&st.Back[k], w)
		}
		if !c.completable(c.o.Parallel[st.Back[p.Backs[0]].Edge]) {
			return false
		}
	}
	return true
}

// bind maps step d to w, and finds what its edges to earlier steps may be mapped to; false ends the search.
func (c *CanonicalSearch) bind(d int, w dyngraph.VertexID) bool {
	c.search.bind(d, w)
	st := &c.o.Steps[d]
	for k := range st.Back {
		c.optionsOf(&st.Back[k], w)
	}
	return !c.done
}

// row hands on what is mapped; false ends the search.
func (c *CanonicalSearch) row() bool {
	if !c.step() {
		return false
	}
	if !c.isWithin() || c.search.pairs && c.search.inBoth(c.search.row[:]) {
		return true
	}
	if c.skip > 0 {
		c.skip--
	} else if !c.out.Add(c.search.row[:c.o.Width()]) {
		c.done = true // the rows tell the error
		return false
	}
	c.rows++
	c.done = c.rows >= c.left
	return !c.done
}
