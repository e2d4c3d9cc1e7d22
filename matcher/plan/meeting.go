package plan

import "motifd/dyngraph"

// meetings says what edges count in by their labels and those of their ends, as far as was asked: open addressing, at most
// half full.
type meetings struct {
	table []*meeting
	n     int
}

// meeting is what the edges of some labels count in.
type meeting struct {
	from, edge, to dyngraph.LabelID
	ends           []end
}

// end is what an edge counts in at one end.
type end struct {
	g    *group
	to   bool // at the target
	cols []int32
}

// maxMeetings bounds those that are kept.
const maxMeetings = 1 << 16

// meeting returns what an edge of some labels counts in.
func (f *Filter) meeting(from, edge, to dyngraph.LabelID) []end {
	m := &f.meetings
	if 2*m.n >= len(m.table) {
		m.widen()
	}
	at := m.slot(from, edge, to)
	if m.table[at] == nil {
		m.table[at] = &meeting{from, edge, to, f.meet(from, edge, to)}
		m.n++
	}
	return m.table[at].ends
}

// slot returns where a meeting is, or belongs.
func (m *meetings) slot(from, edge, to dyngraph.LabelID) int {
	mask := len(m.table) - 1
	h := (uint64(from)<<32 | uint64(to)) ^ uint64(edge)*0xc2b2ae3d27d4eb4f
	for at := int(h * 0x9e3779b97f4a7c15 >> 40); ; at++ {
		if x := m.table[at&mask]; x == nil || x.from == from && x.edge == edge && x.to == to {
			return at & mask
		}
	}
}

// widen makes room for more, or forgets them when they are very many.
func (m *meetings) widen() {
	old := m.table
	if m.n >= maxMeetings {
		old, m.n = nil, 0
	}
	m.table = make([]*meeting, max(64, 2*len(old)))
	for _, x := range old {
		if x != nil {
			m.table[m.slot(x.from, x.edge, x.to)] = x
		}
	}
}

// meet finds what edges of some labels count in.
func (f *Filter) meet(from, edge, to dyngraph.LabelID) (ends []end) {
	in := dyngraph.Out
	if f.g.Directed() {
		in = dyngraph.In
	}
	add := func(g *group, target bool, dir dyngraph.Dir, nbr dyngraph.LabelID) {
		if g == nil {
			return
		}
		if cols := g.fit(dir, edge, nbr); len(cols) > 0 {
			ends = append(ends, end{g, target, cols})
		}
	}
	add(f.groups[from], false, dyngraph.Out, to)
	add(f.any, false, dyngraph.Out, to)
	add(f.groups[to], true, in, from)
	add(f.any, true, in, from)
	return ends
}
