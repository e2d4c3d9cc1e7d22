package candidates

import "motifd/dyngraph"

// meetings says what edges count in by their labels and those of their ends, as far as was asked: open addressing, at most
// half full.
type meetings struct {
	table  []meeting
	n      int
	counts []counted // of all
}

// meeting is what the edges of some labels count in.
type meeting struct {
	from, edge, to dyngraph.LabelID
	known          bool
	at, end        uint32 // in counts
}

// counted is a count of an edge at one of its ends.
type counted struct {
	g      *group
	column uint32
	to     bool // at the target
}

// maxMeetings bounds those that are kept.
const maxMeetings = 1 << 16

// meeting returns what an edge of some labels counts in.
func (f *Filter) meeting(from, edge, to dyngraph.LabelID) []counted {
	m := &f.meetings
	if 2*m.n >= len(m.table) {
		m.widen()
	}
	x := &m.table[m.slot(from, edge, to)]
	if !x.known {
		at := uint32(len(m.counts))
		f.meet(from, edge, to)
		*x = meeting{from, edge, to, true, at, uint32(len(m.counts))}
		m.n++
	}
	return m.counts[x.at:x.end]
}

// slot returns where a meeting is, or belongs.
func (m *meetings) slot(from, edge, to dyngraph.LabelID) int {
	mask := len(m.table) - 1
	h := (uint64(from)<<32 | uint64(to)) ^ uint64(edge)*0xc2b2ae3d27d4eb4f
	for at := int(h * 0x9e3779b97f4a7c15 >> 40); ; at++ {
		if x := &m.table[at&mask]; !x.known || x.from == from && x.edge == edge && x.to == to {
			return at & mask
		}
	}
}

// widen makes room for more, or forgets them when they are very many.
func (m *meetings) widen() {
	old := m.table
	if m.n >= maxMeetings {
		old, m.n, m.counts = nil, 0, nil
	}
	m.table = make([]meeting, max(64, 2*len(old)))
	for i := range old {
		if x := &old[i]; x.known {
			m.table[m.slot(x.from, x.edge, x.to)] = *x
		}
	}
}

// meet appends to meetings.counts what edges of some labels count in.
func (f *Filter) meet(from, edge, to dyngraph.LabelID) {
	in := dyngraph.Out
	if f.g.Directed() {
		in = dyngraph.In
	}
	add := func(g *group, target bool, dir dyngraph.Dir, nbr dyngraph.LabelID) {
		if g == nil {
			return
		}
		for _, c := range g.fit(dir, edge, nbr) {
			f.meetings.counts = append(f.meetings.counts, counted{g, uint32(c), target})
		}
	}
	add(f.groups[from], false, dyngraph.Out, to)
	add(f.any, false, dyngraph.Out, to)
	add(f.groups[to], true, in, from)
	add(f.any, true, in, from)
}
