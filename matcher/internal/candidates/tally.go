package candidates

import "motifd/dyngraph"

// pending is a class that a vertex may have begun or ceased to fit.
type pending struct {
	class int32
	v     dyngraph.VertexID
	row   uint32 // of its table
}

// count adds the net edges' counts times their sign times by; with by > 0 it notes which bits that may change.
func (f *Filter) count(d *dyngraph.Delta, by int32) {
	for i := range d.Net {
		n := &d.Net[i]
		if n.Replaced || n.Vertex { // it stays
			continue
		}
		step := uint32(int32(n.Sign) * by)
		for _, e := range f.countsOf(n.Labels[0], n.Label, n.Labels[1]) {
			v := n.From
			if e.to {
				v = n.To
			}
			row := f.at(e.g, v)
			was, is := e.g.add(int(row)*e.g.stride+int(e.column), step)
			if by < 0 {
				continue
			}
			for _, class := range e.g.thresholds.of(e.column, max(was, is)) {
				f.pending = append(f.pending, pending{class, v, row})
			}
		}
	}
}
