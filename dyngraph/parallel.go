package dyngraph

import (
	"cmp"
	"iter"
	"slices"
)

// Where ids identify edges (Options.EdgeIDs), edges with the same ends and label are parallel. Each has its two entries
// in the array, one behind the other, in the order of their indexes. From the batch that brings a label's first
// parallel edges on, until the graph is loaded anew, the label is known to have some. Searches of other labels need not
// consider parallel edges.

// longPair is the number of parallel edges beyond which ids are looked up in a map.
const longPair = 32

// edgePair is the key that parallel edges share: ends and label. In an undirected graph from < to.
type edgePair struct {
	from, to VertexID
	label    LabelID
}

// parallelEdges has the labels with parallel edges, and maps from ids to edges for pairs that have many.
type parallelEdges struct {
	has    []bool // by label
	labels int    // that have
	long   map[edgePair]map[string]EdgeIndex
}

// HasParallel tells whether the label has parallel edges, or had some since the graph was loaded. While a batch is
// staged it is of both graphs together.
func (g *Graph) HasParallel(l LabelID) bool { return int(l) < len(g.parallel.has) && g.parallel.has[l] }

// AnyParallel tells whether HasParallel holds for some label.
func (g *Graph) AnyParallel() bool { return g.parallel.labels > 0 }

// mark notes that a label has parallel edges, and tells whether that is new.
func (p *parallelEdges) mark(l LabelID) bool {
	p.has = grown(p.has, int(l)+1)
	if p.has[l] {
		return false
	}
	p.has[l] = true
	p.labels++
	return true
}

// forget undoes mark.
func (p *parallelEdges) forget(labels []LabelID) {
	for _, l := range labels {
		p.has[l] = false
		p.labels--
	}
}

// put enters the edges of a pair that has many.
func (p *parallelEdges) put(pair edgePair, edges []EdgeIndex, g *Graph) {
	if p.long == nil {
		p.long = make(map[edgePair]map[string]EdgeIndex)
	}
	m := p.long[pair]
	if m == nil {
		m = make(map[string]EdgeIndex, len(edges))
		p.long[pair] = m
	}
	for _, e := range edges {
		m[g.edgeID(e)] = e
	}
}

// drop takes an edge out of the map of its pair.
func (p *parallelEdges) drop(n *NetEdge, g *Graph) {
	if len(p.long) == 0 {
		return
	}
	pair := edgePair{n.From, n.To, n.Label}
	m := p.long[pair]
	if delete(m, g.edgeID(n.Edge)); m != nil && len(m) == 0 {
		delete(p.long, pair)
	}
}

// idOf returns the id by which an update names its edge, "" where ids do not identify edges.
func (g *Graph) idOf(a *Attr) string {
	if g.opt.EdgeIDs {
		return a.ID
	}
	return ""
}

// edgeID returns the id that identifies an edge, "" where ids do not.
func (g *Graph) edgeID(e EdgeIndex) string {
	if g.opt.EdgeIDs {
		return g.attr.id(e)
	}
	return ""
}

// findID returns the slot of the edge with an id among the edges to one neighbour, of which at is the first.
func (g *Graph) findID(at int, row uint64, nbr VertexID, pair edgePair, id string) (int, bool) {
	if g.edgeID(g.adj.ent[at].Index()) == id {
		return at, true
	}
	if !g.HasParallel(pair.label) {
		return 0, false
	}
	if !g.opt.Directed && pair.from > pair.to {
		pair.from, pair.to = pair.to, pair.from
	}
	if m := g.parallel.long[pair]; m != nil {
		e, ok := m[id]
		if ok {
			at, _ = g.adj.lookup(row, nbr, e)
		}
		return at, ok
	}
	r := g.adj.labelled(VertexID(row>>32), dirOf(row), pair.label)
	r = r.Among(nbr)
	for _, ent, ok := r.Next(); ok; _, ent, ok = r.Next() {
		for _, e := range ent {
			if g.edgeID(e.Index()) == id {
				return g.adj.lookup(row, nbr, e.Index())
			}
		}
	}
	return 0, false
}

// between returns the edges of a pair.
func (g *Graph) between(p edgePair) Range {
	r := g.adj.labelled(p.from, Out, p.label)
	return r.Among(p.to)
}

// hasPair tells whether the graph has an edge with an insertion's ends and label.
func (g *Graph) hasPair(n *NetEdge) bool {
	_, ok := g.adj.lookup(rowKey(n.From, Out, n.Label), n.To, 0)
	return ok
}

// stageParallel notes the labels and pairs with parallel edges, once the staged edges are in the array.
func (g *Graph) stageParallel() {
	if !g.opt.EdgeIDs {
		return
	}
	s := &g.staged
	mark := func(l LabelID) {
		if g.parallel.mark(l) {
			s.parallel = append(s.parallel, l)
			s.delta.NewParallel = true
		}
	}
	for i := 1; i < len(s.inserts); i++ {
		if s.inserts[i].samePair(&s.inserts[i-1]) {
			mark(labelOf(s.inserts[i].row))
		}
	}
	for i := range s.sorted {
		if s.sorted[i].beside {
			mark(s.sorted[i].Label)
		}
	}
	for i := range s.sorted {
		n := &s.sorted[i]
		if n.Sign != Inserted || n.Replaced || !g.HasParallel(n.Label) {
			continue
		}
		pair := edgePair{n.From, n.To, n.Label}
		if g.parallel.long[pair] != nil {
			g.parallel.put(pair, []EdgeIndex{n.Edge}, g)
		} else if r := g.between(pair); r.Len() > longPair {
			g.parallel.put(pair, r.edges(), g)
		}
	}
	g.countUnnamed()
}

// countUnnamed counts the deletions without id that found no edge, between ends that have edges with ids.
func (g *Graph) countUnnamed() {
	s, f := &g.staged, &g.fold
	end := func(inc int32) VertexID {
		switch a := &f.incs[inc]; {
		case a.old:
			return f.verts[a.vert].old
		case f.verts[a.vert].cur == inc:
			return f.verts[a.vert].id
		}
		return NoVertex
	}
	for _, i := range f.unnamed {
		e := &f.edges[i]
		s.unnamed = append(s.unnamed, edgePair{end(e.from), end(e.to), e.label})
	}
	for _, pair := range s.unnamed {
		if pair.from == NoVertex || pair.to == NoVertex {
			continue
		}
		r := g.between(pair)
		_, ent, ok := r.Next()
		if ok && (r.Len() > 1 || g.edgeID(ent[0].Index()) != "") { // one has no id, at most
			s.delta.Unnamed++
		}
	}
}

// edges returns the edges of a range.
func (r Range) edges() []EdgeIndex {
	var edges []EdgeIndex
	for _, ent, ok := r.Next(); ok; _, ent, ok = r.Next() {
		for _, e := range ent {
			edges = append(edges, e.Index())
		}
	}
	return edges
}

// itemID returns the id that identifies a net edge.
func (g *Graph) itemID(n *netItem, updates []Update) string {
	switch {
	case n.Edge != NoEdge:
		return g.edgeID(n.Edge)
	case n.attr != none:
		return g.idOf(&updates[n.attr].Attr)
	}
	return g.edgeID(n.source)
}

// parallelSeq is EdgesSeq for a graph with parallel edges.
func (v View) parallelSeq() iter.Seq[EdgeIndex] {
	return func(yield func(EdgeIndex) bool) {
		var pair []EdgeIndex
		flush := func() bool {
			slices.SortFunc(pair, v.CompareEdges)
			for _, e := range pair {
				if !yield(e) {
					return false
				}
			}
			pair = pair[:0]
			return true
		}
		for e := range v.slotsSeq() {
			if len(pair) > 0 && v.g.adj.edges[e] != v.g.adj.edges[pair[0]] && !flush() {
				return
			}
			pair = append(pair, e)
		}
		flush()
	}
}

// loadParallel notes the labels and pairs with parallel edges; edges ascend by identity.
func (g *Graph) loadParallel(edges []uint32) {
	if !g.opt.EdgeIDs {
		return
	}
	for i := 0; i < len(edges); {
		x := g.adj.edges[edges[i]]
		j := i + 1
		for j < len(edges) && g.adj.edges[edges[j]] == x {
			j++
		}
		if j-i > 1 {
			g.parallel.mark(x.label)
		}
		if j-i > longPair {
			pair := make([]EdgeIndex, 0, j-i)
			for _, e := range edges[i:j] {
				pair = append(pair, EdgeIndex(e))
			}
			g.parallel.put(edgePair(x), pair, g)
		}
		i = j
	}
}

// byPair compares edges by (from, label, to), then index: the order of the array.
func (g *Graph) byPair(a, b uint32) int { return cmp.Or(g.compareEnds(a, b), cmp.Compare(a, b)) }
