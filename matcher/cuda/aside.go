//go:build cuda || emu

package cuda

import "slices"

// aside keeps the parts of a wave that gives more rows than the memory for them holds, until there are all of them.
type aside struct {
	spill spill
	parts []*part
	most  []int // by group: rows that are wanted, negative for all
	lost  []int // by group: rows that were left out
}

// begin begins a part of a wave of these groups.
func (a *aside) begin(groups []rowGroup, most func(g rowGroup) int) error {
	p, err := a.spill.begin()
	if err != nil {
		return err
	}
	if len(a.parts) == 0 {
		a.most, a.lost = make([]int, len(groups)), make([]int, len(groups))
		for i, g := range groups {
			a.most[i] = most(g)
		}
	}
	a.parts = append(a.parts, p)
	return nil
}

// add adds rows of a run to the part that was begun last.
func (a *aside) add(r run, rows []uint32) error {
	p := a.parts[len(a.parts)-1]
	if most := a.most[r.group]; most >= 0 {
		if last := len(p.runs) - 1; last >= 0 && p.runs[last].group == r.group {
			most -= p.runs[last].rows
		}
		n := min(len(rows)/r.width, most)
		a.lost[r.group] += len(rows)/r.width - n
		rows = rows[:n*r.width]
	}
	return a.spill.write(p, r.group, r.width, rows)
}

// merge hands out the rows of all parts, in order, and drops them.
func (a *aside) merge(groups []rowGroup, take func(g rowGroup, rows []uint32) error, left func(g rowGroup, rows int) error) error {
	err := a.spill.merge(a.parts, func(group int, x, y []uint32) int {
		n := groups[group].vertices
		return slices.Compare(x[:n], y[:n])
	}, func(group int, rows []uint32) error { return take(groups[group], rows) })
	for i := 0; err == nil && i < len(groups); i++ {
		if a.lost[i] > 0 {
			err = left(groups[i], a.lost[i])
		}
	}
	a.close()
	return err
}

// close drops everything.
func (a *aside) close() {
	a.spill.close()
	a.parts = nil
}
