package candidates

import "motifd/dyngraph"

// triples caches the columns that count an edge, by the labels of its ends and its own.
type triples map[triple][]counted

type triple struct{ from, edge, to dyngraph.LabelID }

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
	t := triple{from, edge, to}
	counts, known := f.triples[t]
	if !known {
		if f.triples == nil || len(f.triples) >= maxTriples {
			f.triples = triples{}
		}
		counts = f.resolve(t)
		f.triples[t] = counts
	}
	return counts
}

// resolve finds the columns that count an edge of a label triple.
func (f *Filter) resolve(t triple) (counts []counted) {
	in := dyngraph.Out
	if f.g.Directed() {
		in = dyngraph.In
	}
	add := func(g *table, target bool, dir dyngraph.Dir, nbr dyngraph.LabelID) {
		if g == nil {
			return
		}
		for _, c := range g.fit(dir, t.edge, nbr) {
			counts = append(counts, counted{g, uint32(c), target})
		}
	}
	add(f.tables[t.from], false, dyngraph.Out, t.to)
	add(f.any, false, dyngraph.Out, t.to)
	add(f.tables[t.to], true, in, t.from)
	add(f.any, true, in, t.from)
	return counts
}
