package candidates

import "motifd/dyngraph"

// tally is a count that a net edge changes, and where.
type tally struct {
	g      *group
	v      dyngraph.VertexID
	place  uint32
	column uint32
	step   uint32
}

// pending is a class that a vertex may have begun or ceased to fit.
type pending struct {
	g     *group
	w     *watcher
	v     dyngraph.VertexID
	place uint32
}

// ahead is the number of net edges whose counts are read ahead: most of what one costs is to wait for memory.
const ahead = 32

// count adds the net edges' counts times their sign times by; with by > 0 it notes which bits that may change.
func (f *Filter) count(d *dyngraph.Delta, by int32) {
	view := f.g.View(dyngraph.New)
	for from := 0; from < len(d.Net); from += ahead {
		todo := f.todo[:0]
		for i := from; i < min(from+ahead, len(d.Net)); i++ {
			n := &d.Net[i]
			step := uint32(int32(n.Sign) * by)
			for _, e := range f.meeting(view.Label(n.From), n.Label, view.Label(n.To)) {
				v := n.From
				if e.to {
					v = n.To
				}
				todo = append(todo, tally{e.g, v, f.at(e.g, v), e.column, step})
			}
		}
		for i := range todo {
			t := &todo[i]
			f.warmth += uint32(t.g.counts[int(t.place)*t.g.stride+int(t.column)]) + t.g.spans[t.column*t.g.width].from
		}
		for i := range todo {
			f.tally(&todo[i], by > 0)
		}
		f.todo = todo
	}
}

// warm reads ahead the counts and the bits of vertices.
func (f *Filter) warm(some []pending) {
	for i := range some {
		p := &some[i]
		f.warmth += uint32(p.g.counts[int(p.place)*p.g.stride]) + p.w.word
	}
	for i := range some {
		p := &some[i]
		f.warmth += uint32(f.candidates.bits[int(p.v)*f.candidates.words+int(p.w.word)])
	}
}

func (f *Filter) tally(t *tally, note bool) {
	g := t.g
	was, is := g.add(int(t.place)*g.stride+int(t.column), t.step)
	if !note {
		return
	}
	some := g.watches.of(t.column, max(was, is))
	for i := range some {
		f.pending = append(f.pending, pending{g, &some[i], t.v, t.place})
	}
}
