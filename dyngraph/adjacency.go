package dyngraph

import "slices"

// Entry is what an adjacency slot holds beside the neighbour: the edge index in the low 31 bits, and the top bit set
// while the edge is staged.
type Entry uint32

const entryStaged Entry = 1 << 31

// Index returns the edge.
func (e Entry) Index() EdgeIndex { return EdgeIndex(e &^ entryStaged) }

// Staged tells whether the staged batch inserts or deletes the edge: whether its order must be looked at.
func (e Entry) Staged() bool { return e&entryStaged != 0 }

// slot is an adjacency entry with its sort key.
type slot struct {
	row uint64 // vertex, direction, label: see rowKey
	nbr VertexID
	ent Entry
}

func rowKey(v VertexID, d Dir, l LabelID) uint64 { return uint64(v)<<32 | uint64(d)<<31 | uint64(l) }

func (s *slot) vertex() VertexID { return VertexID(s.row >> 32) }

func compareSlots(a, b slot) int {
	switch {
	case a.row < b.row:
		return -1
	case a.row > b.row:
		return 1
	case a.nbr < b.nbr:
		return -1
	case a.nbr > b.nbr:
		return 1
	}
	return 0
}

type adjacency struct {
	rows [][]uint64
	nbrs [][]VertexID
	ents [][]Entry
}

func (a *adjacency) grow(n int) {
	a.rows, a.nbrs, a.ents = grown(a.rows, n), grown(a.nbrs, n), grown(a.ents, n)
}

func (a *adjacency) at(row uint64, nbr VertexID) (int, bool) {
	v := row >> 32
	i, j := 0, len(a.rows[v])
	for i < j {
		m := (i + j) / 2
		if r := a.rows[v][m]; r < row || r == row && a.nbrs[v][m] < nbr {
			i = m + 1
		} else {
			j = m
		}
	}
	return i, i < len(a.rows[v]) && a.rows[v][i] == row && a.nbrs[v][i] == nbr
}

func (a *adjacency) find(row uint64, nbr VertexID) (Entry, bool) {
	if i, ok := a.at(row, nbr); ok {
		return a.ents[row>>32][i], true
	}
	return 0, false
}

func (a *adjacency) insert(ops []slot) {
	for _, s := range ops {
		v := s.vertex()
		i, _ := a.at(s.row, s.nbr)
		a.rows[v] = slices.Insert(a.rows[v], i, s.row)
		a.nbrs[v] = slices.Insert(a.nbrs[v], i, s.nbr)
		a.ents[v] = slices.Insert(a.ents[v], i, s.ent)
	}
}

func (a *adjacency) remove(ops []slot) {
	for _, s := range ops {
		v := s.vertex()
		if i, ok := a.at(s.row, s.nbr); ok {
			a.rows[v] = slices.Delete(a.rows[v], i, i+1)
			a.nbrs[v] = slices.Delete(a.nbrs[v], i, i+1)
			a.ents[v] = slices.Delete(a.ents[v], i, i+1)
		}
	}
}

func (a *adjacency) mark(ops []slot) {
	for _, s := range ops {
		if i, ok := a.at(s.row, s.nbr); ok {
			a.ents[s.vertex()][i] = s.ent
		}
	}
}

// Range is N(v, direction, label): the entries of one vertex, direction and label, ascending by neighbour, or of all
// labels of a direction, ascending by (label, neighbour).
type Range struct {
	nbrs []VertexID
	ents []Entry
	done bool
}

// Range returns N(v, d, l). In an undirected graph d is Out.
func (g *Graph) Range(v VertexID, d Dir, l LabelID) Range {
	row := rowKey(v, d, l)
	i, _ := g.adj.at(row, 0)
	j, _ := g.adj.at(row+1, 0)
	return Range{nbrs: g.adj.nbrs[v][i:j], ents: g.adj.ents[v][i:j]}
}

// RangeAll returns the entries of all labels of one direction.
func (g *Graph) RangeAll(v VertexID, d Dir) Range {
	i, _ := g.adj.at(rowKey(v, d, 0), 0)
	j, hit := g.adj.at(rowKey(v, d, 1<<31-1), NoVertex)
	if hit {
		j++
	}
	return Range{nbrs: g.adj.nbrs[v][i:j], ents: g.adj.ents[v][i:j]}
}

// Len returns the number of entries, staged ones included.
func (r *Range) Len() int { return len(r.nbrs) }

// Next returns the next run of entries without gaps. The slices belong to the graph.
func (r *Range) Next() (nbr []VertexID, ent []Entry, ok bool) {
	if r.done || len(r.nbrs) == 0 {
		return nil, nil, false
	}
	r.done = true
	return r.nbrs, r.ents, true
}

// Find searches a range of one label for a neighbour.
func (r *Range) Find(nbr VertexID) (Entry, bool) {
	if i, ok := slices.BinarySearch(r.nbrs, nbr); ok {
		return r.ents[i], true
	}
	return 0, false
}

// Degree returns the number of entries that the vertex has in a direction, staged ones included.
func (g *Graph) Degree(v VertexID, d Dir) int {
	r := g.RangeAll(v, d)
	return r.Len()
}

// LabelsOf appends to dst the distinct edge labels that the vertex has in a direction, ascending.
func (g *Graph) LabelsOf(v VertexID, d Dir, dst []LabelID) []LabelID {
	i, _ := g.adj.at(rowKey(v, d, 0), 0)
	for row := g.adj.rows[v]; i < len(row) && Dir(row[i]>>31&1) == d; i++ {
		if l := LabelID(row[i] & (1<<31 - 1)); len(dst) == 0 || dst[len(dst)-1] != l {
			dst = append(dst, l)
		}
	}
	return dst
}
