package candidates

import (
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/plan"
)

// table is the encoding table of the vertices of one label (GSI): a row for each vertex, a column for each kind of
// adjacency that classes of this label need. Classes of other labels cost these vertices nothing. Classes of any label,
// or of alternatives, have a table of all vertices.
type table struct {
	members []dyngraph.VertexID // by row; NoVertex where there is none
	free    []uint32            // rows without a member

	columns []plan.Column
	index   map[plan.Column]int
	// counts has stride counts for each row, with room for more columns. No class needs more than the edges of a
	// pattern, so a byte is enough: from manyCount on, a count is in many, by row and column.
	counts []uint8
	stride int
	many   map[uint64]uint32
	asking []int // classes with conditions on the vertex alone
	bare   []int // classes that need no edges: of patterns of one vertex
	thresholds
}

// forget drops the columns; the members stay.
func (g *table) forget() {
	g.columns, g.counts, g.many, g.stride = nil, nil, nil, 0
	g.index, g.asking, g.bare, g.thresholds = nil, nil, nil, thresholds{}
}

// enter gives a vertex the first free row, with counts of 0.
func (g *table) enter(v dyngraph.VertexID) uint32 {
	if n := len(g.free); n > 0 {
		at := g.free[n-1]
		g.free = g.free[:n-1]
		g.members[at] = v
		return at
	}
	g.members = append(g.members, v)
	g.room()
	return uint32(len(g.members) - 1)
}

// room extends the counts to the last member.
func (g *table) room() {
	if need := len(g.members) * g.stride; need > len(g.counts) {
		g.counts = append(g.counts, make([]uint8, need-len(g.counts))...)
	}
}

// put gives a vertex a given row.
func (g *table) put(v dyngraph.VertexID, at int) {
	for len(g.members) <= at {
		g.members = append(g.members, dyngraph.NoVertex)
	}
	g.room()
	g.members[at] = v
}

// leave frees the row of a vertex whose edges are gone: its counts are 0.
func (g *table) leave(at uint32) {
	g.members[at] = dyngraph.NoVertex
	g.free = append(g.free, at)
}

// column returns the number of a column, and whether it was there; a new one is not counted yet.
func (g *table) column(c plan.Column) (at int, known bool) {
	at, known = g.index[c]
	if !known {
		if g.index == nil {
			g.index = map[plan.Column]int{}
		}
		at = len(g.columns)
		g.columns = append(g.columns, c)
		g.index[c] = at
		g.widen(at + 1)
	}
	return at, known
}

// widen makes room for n columns in every row.
func (g *table) widen(n int) {
	if n <= g.stride {
		return
	}
	stride := max(n, 2*g.stride)
	counts := make([]uint8, len(g.members)*stride)
	for at := range g.members {
		copy(counts[at*stride:], g.counts[at*g.stride:(at+1)*g.stride])
	}
	g.counts, g.stride = counts, stride
}

// fit returns the columns that count an edge of a member, by its direction, its label and the neighbour's label.
func (g *table) fit(dir dyngraph.Dir, edge, nbr dyngraph.LabelID) (cols []int32) {
	for i, c := range g.columns {
		if (c.Both || c.Dir == dir) && matcher.LabelFits(c.Edge, edge) && matcher.LabelFits(c.Nbr, nbr) {
			cols = append(cols, int32(i))
		}
	}
	return cols
}

// manyCount is more than any class needs.
const manyCount = 255

// add adds step, 1 or -1, to the count at an index of counts. It returns the count before and after, at most manyCount.
func (g *table) add(at int, step uint32) (was, is uint8) {
	was = g.counts[at]
	if was >= manyCount-1 {
		return was, g.addMany(at, step)
	}
	is = was + uint8(step)
	g.counts[at] = is
	return was, is
}

// addMany is add for counts from manyCount on.
func (g *table) addMany(at int, step uint32) uint8 {
	key := uint64(at/g.stride)<<32 | uint64(at%g.stride)
	n := uint32(g.counts[at])
	if n == manyCount {
		n = g.many[key]
	}
	if n += step; n < manyCount {
		delete(g.many, key)
	} else {
		if g.many == nil {
			g.many = map[uint64]uint32{}
		}
		g.many[key] = n
	}
	g.counts[at] = uint8(min(n, manyCount))
	return g.counts[at]
}

// side is a kind of edges that countFrom reads.
type side struct {
	dir  dyngraph.Dir
	edge dyngraph.LabelID
}

// sideColumns are the columns that count edges of a side.
type sideColumns struct {
	side
	byNbr [][]int32 // by the neighbour's label
	any   []int32   // whatever it is
}

// sidesFrom returns the columns from first on, by the kind of edges that they count.
func (g *table) sidesFrom(first int) (sides []sideColumns) {
	for i := first; i < len(g.columns); i++ {
		c := &g.columns[i]
		dirs := []dyngraph.Dir{c.Dir}
		if c.Both {
			dirs = []dyngraph.Dir{dyngraph.Out, dyngraph.In}
		}
		for _, d := range dirs {
			for _, edge := range matcher.EachLabel(c.Edge) {
				at := slices.IndexFunc(sides, func(s sideColumns) bool { return s.side == side{d, edge} })
				if at < 0 {
					at = len(sides)
					sides = append(sides, sideColumns{side: side{d, edge}})
				}
				sides[at].add(int32(i), c.Nbr)
			}
		}
	}
	return sides
}

func (s *sideColumns) add(column int32, nbr dyngraph.LabelID) {
	if nbr == matcher.AnyLabel {
		s.any = append(s.any, column)
		return
	}
	for _, l := range matcher.EachLabel(nbr) {
		if l == matcher.UnknownLabel {
			continue
		}
		if need := int(l) + 1 - len(s.byNbr); need > 0 {
			s.byNbr = append(s.byNbr, make([][]int32, need)...)
		}
		s.byNbr[l] = append(s.byNbr[l], column)
	}
}

// countFrom counts the columns from first on in a view. It reads the members' edges of the labels that the columns ask
// for, and no others.
func (g *table) countFrom(first int, view dyngraph.View) {
	sides := g.sidesFrom(first)
	for i := range sides {
		s := &sides[i]
		for at, v := range g.members {
			if v == dyngraph.NoVertex {
				continue
			}
			row := at * g.stride
			var r dyngraph.Range
			if s.edge == matcher.AnyLabel {
				r = view.Graph().RangeAll(v, s.dir)
			} else {
				r = view.Graph().Range(v, s.dir, s.edge)
			}
			for nbrs, ents, ok := r.Next(); ok; nbrs, ents, ok = r.Next() {
				for i, w := range nbrs {
					var counting []int32
					if l := view.Label(w); int(l) < len(s.byNbr) {
						counting = s.byNbr[l]
					}
					if len(counting)+len(s.any) == 0 || ents[i].Staged() && !view.Visible(ents[i].Index()) {
						continue
					}
					for _, c := range counting {
						g.add(row+int(c), 1)
					}
					for _, c := range s.any {
						g.add(row+int(c), 1)
					}
				}
			}
		}
	}
}

// columnNeed is a plan.Need by the number of its column.
type columnNeed struct {
	column int32
	count  uint32
}

// satisfied reports whether the member in a row meets the needs.
func (g *table) satisfied(at uint32, asks []columnNeed) bool {
	row := g.counts[int(at)*g.stride:][:g.stride]
	for _, x := range asks {
		if uint32(row[x.column]) < x.count {
			return false
		}
	}
	return true
}
