package plan

import (
	"motifd/dyngraph"
	"motifd/matcher"
)

// group is what a Filter keeps for the vertices of one label: those that the classes of other labels ask about never cost
// them anything. Classes of any label have a group of all vertices.
type group struct {
	members []dyngraph.VertexID // by place; NoVertex where there is none
	free    []uint32            // places without a member

	columns []Column
	index   map[Column]int
	counts  [][]uint32 // by column, then place
	// watch holds, by column and count, the classes that ask for so many: those that a vertex may begin or cease to fit
	// when its count rises to that number or falls from it.
	watch [][][]int32
	kinds map[Column][]int32 // adjacency kind -> columns that it counts in
}

// maxKinds bounds the adjacency kinds whose columns a group keeps.
const maxKinds = 1 << 14

// forget drops the columns; the members stay.
func (g *group) forget() {
	g.columns, g.counts, g.watch = nil, nil, nil
	g.index, g.kinds = nil, nil
}

// enter gives a vertex the first free place, with counts of 0.
func (g *group) enter(v dyngraph.VertexID) uint32 {
	if n := len(g.free); n > 0 {
		at := g.free[n-1]
		g.free = g.free[:n-1]
		g.members[at] = v
		return at
	}
	g.members = append(g.members, v)
	for c := range g.counts {
		g.counts[c] = append(g.counts[c], 0)
	}
	return uint32(len(g.members) - 1)
}

// put gives a vertex a place of its choice.
func (g *group) put(v dyngraph.VertexID, at int) {
	for len(g.members) <= at {
		g.members = append(g.members, dyngraph.NoVertex)
		for c := range g.counts {
			g.counts[c] = append(g.counts[c], 0)
		}
	}
	g.members[at] = v
}

// leave frees the place of a vertex whose edges are gone: its counts are 0.
func (g *group) leave(at uint32) {
	g.members[at] = dyngraph.NoVertex
	g.free = append(g.free, at)
}

// column returns the number of a column; a new one is not counted yet.
func (g *group) column(c Column) int {
	at, ok := g.index[c]
	if !ok {
		if g.index == nil {
			g.index = map[Column]int{}
		}
		at = len(g.columns)
		g.columns = append(g.columns, c)
		g.index[c] = at
		g.counts = append(g.counts, make([]uint32, len(g.members)))
		g.watch = append(g.watch, nil)
		g.kinds = nil
	}
	return at
}

// watched notes that a class asks for a count of n in column c.
func (g *group) watched(c int, n uint32, class int) {
	for uint32(len(g.watch[c])) <= n {
		g.watch[c] = append(g.watch[c], nil)
	}
	g.watch[c][n] = append(g.watch[c][n], int32(class))
}

// fit returns the columns in which an edge counts that a member sees as kind.
func (g *group) fit(kind Column) []int32 {
	cols, ok := g.kinds[kind]
	if !ok {
		for i, c := range g.columns {
			if (c.Both || c.Dir == kind.Dir) && Fits(c.Edge, kind.Edge) && Fits(c.Nbr, kind.Nbr) {
				cols = append(cols, int32(i))
			}
		}
		if g.kinds == nil || len(g.kinds) >= maxKinds {
			g.kinds = map[Column][]int32{}
		}
		g.kinds[kind] = cols
	}
	return cols
}

// countFrom counts the columns from first on in a view. It reads the members' edges of the labels that the columns ask
// for, and no others.
func (g *group) countFrom(first int, view dyngraph.View) {
	type side struct {
		dir  dyngraph.Dir
		edge dyngraph.LabelID
	}
	byNbr := map[side]map[dyngraph.LabelID][]int32{}
	var sides []side
	for i, c := range g.columns[first:] {
		dirs := []dyngraph.Dir{c.Dir}
		if c.Both {
			dirs = []dyngraph.Dir{dyngraph.Out, dyngraph.In}
		}
		for _, d := range dirs {
			s := side{d, c.Edge}
			if byNbr[s] == nil {
				byNbr[s] = map[dyngraph.LabelID][]int32{}
				sides = append(sides, s)
			}
			byNbr[s][c.Nbr] = append(byNbr[s][c.Nbr], int32(first+i))
		}
	}
	for _, s := range sides {
		cols := byNbr[s]
		for at, v := range g.members {
			if v == dyngraph.NoVertex {
				continue
			}
			r := view.Graph().RangeAll(v, s.dir)
			if s.edge != matcher.AnyLabel {
				r = view.Graph().Range(v, s.dir, s.edge)
			}
			for nbrs, ents, ok := r.Next(); ok; nbrs, ents, ok = r.Next() {
				for i, w := range nbrs {
					if ents[i].Staged() && !view.Visible(ents[i].Index()) {
						continue
					}
					for _, c := range cols[view.Label(w)] {
						g.counts[c][at]++
					}
					for _, c := range cols[matcher.AnyLabel] {
						g.counts[c][at]++
					}
				}
			}
		}
	}
}

// satisfied reports whether the member at a place has the counts that are needed in some columns.
func (g *group) satisfied(at uint32, cols []int, needs []Need) bool {
	for j, c := range cols {
		if g.counts[c][at] < needs[j].Count {
			return false
		}
	}
	return true
}
