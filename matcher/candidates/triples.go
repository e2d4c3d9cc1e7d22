package candidates

import "motifd/dyngraph"

// triples caches the counts that an edge changes, by the labels of its ends and its own: a hash table with open
// addressing, at most half full.
type triples struct {
	table  []triple
	n      int
	counts []counted // of all
}

// triple is the entry of one label triple.
type triple struct {
	from, edge, to dyngraph.LabelID
	known          bool
	at, end        uint32 // in counts
}

// counted is a column that counts an edge at one of its ends.
type counted struct {
	g      *table
	column uint32
	to     bool // at the target
}

// maxTriples bounds the entries of the cache.
const maxTriples = 1 << 16

// countsOf returns the columns that count an edge of a label triple.
func (f *Filter) countsOf(from, edge, to dyngraph.LabelID) []counted {
	m := &f.triples
	if 2*m.n >= len(m.table) {
		m.widen()
	}
	x := &m.table[m.slot(from, edge, to)]
	if !x.known {
		at := uint32(len(m.counts))
		f.resolve(from, edge, to)
		*x = triple{from, edge, to, true, at, uint32(len(m.counts))}
		m.n++
	}
	return m.counts[x.at:x.end]
}

// slot returns the slot of a label triple, free or not.
func (m *triples) slot(from, edge, to dyngraph.LabelID) int {
	mask := len(m.table) - 1
	h := (uint64(from)<<32 | uint64(to)) ^ uint64(edge)*0xc2b2ae3d27d4eb4f
	for at := int(h * 0x9e3779b97f4a7c15 >> 40); ; at++ {
		if x := &m.table[at&mask]; !x.known || x.from == from && x.edge == edge && x.to == to {
			return at & mask
		}
	}
}

// widen doubles the table, or empties it beyond maxTriples.
func (m *triples) widen() {
	old := m.table
	if m.n >= maxTriples {
		old, m.n, m.counts = nil, 0, nil
	}
	m.table = make([]triple, max(64, 2*len(old)))
	for i := range old {
		if x := &old[i]; x.known {
			m.table[m.slot(x.from, x.edge, x.to)] = *x
		}
	}
}

// resolve appends to triples.counts the columns that count an edge of a label triple.
func (f *Filter) resolve(from, edge, to dyngraph.LabelID) {
	in := dyngraph.Out
	if f.g.Directed() {
		in = dyngraph.In
	}
	add := func(g *table, target bool, dir dyngraph.Dir, nbr dyngraph.LabelID) {
		if g == nil {
			return
		}
		for _, c := range g.fit(dir, edge, nbr) {
			f.triples.counts = append(f.triples.counts, counted{g, uint32(c), target})
		}
	}
	add(f.tables[from], false, dyngraph.Out, to)
	add(f.any, false, dyngraph.Out, to)
	add(f.tables[to], true, in, from)
	add(f.any, true, in, from)
}
