package candidates

import "motifd/dyngraph"

// tally is one count that a net edge changes.
type tally struct {
	g      *table
	v      dyngraph.VertexID
	row    uint32
	column uint32
	step   uint32
}

// pending is a class that a vertex may have begun or ceased to fit.
type pending struct {
	g   *table
	w   *check
	v   dyngraph.VertexID
	row uint32
}

// ahead is the number of net edges whose counts are prefetched together: most of their cost is waiting for memory.
const ahead = 32

// count adds the net edges' counts times their sign times by; with by > 0 it notes which bits that may change.
func (f *Filter) count(d *dyngraph.Delta, by int32) {
	view := f.g.View(dyngraph.New)
	for from := 0; from < len(d.Net); from += ahead {
		todo := f.todo[:0]
		for i := from; i < min(from+ahead, len(d.Net)); i++ {
			n := &d.Net[i]
			step := uint32(int32(n.Sign) * by)
			for _, e := range f.countsOf(view.Label(n.From), n.Label, view.Label(n.To)) {
				v := n.From
				if e.to {
					v = n.To
				}
				todo = append(todo, tally{e.g, v, f.at(e.g, v), e.column, step})
			}
		}
		for i := range todo {
			t := &todo[i]
			f.prefetched += uint32(t.g.counts[int(t.row)*t.g.stride+int(t.column)]) +
				t.g.spans[t.column*t.g.width].from
		}
		for i := range todo {
			f.tally(&todo[i], by > 0)
		}
		f.todo = todo
	}
}

// prefetch reads the counts and the bits of vertices, so that they are in the cache.
func (f *Filter) prefetch(some []pending) {
	for i := range some {
		p := &some[i]
		f.prefetched += uint32(p.g.counts[int(p.row)*p.g.stride]) + p.w.word
	}
	for i := range some {
		p := &some[i]
		f.prefetched += uint32(f.candidates.bits[int(p.v)*f.candidates.words+int(p.w.word)])
	}
}

func (f *Filter) tally(t *tally, note bool) {
	g := t.g
	was, is := g.add(int(t.row)*g.stride+int(t.column), t.step)
	if !note {
		return
	}
	some := g.thresholds.of(t.column, max(was, is))
	for i := range some {
		f.pending = append(f.pending, pending{g, &some[i], t.v, t.row})
	}
}
