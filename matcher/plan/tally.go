package plan

import "motifd/dyngraph"

// tally is a count that a net edge changes, and where.
type tally struct {
	g    *group
	v    dyngraph.VertexID
	at   int // in g.counts
	cols []int32
	step uint32
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
				todo = append(todo, tally{e.g, v, int(f.at(e.g, v)) * e.g.stride, e.cols, step})
			}
		}
		for i := range todo {
			f.warmth += uint32(todo[i].g.counts[todo[i].at+int(todo[i].cols[0])])
		}
		for i := range todo {
			f.tally(&todo[i], by > 0)
		}
		f.todo = todo
	}
}

// warm reads ahead the counts and the bits of vertices.
func (f *Filter) warm(pending []flip) {
	for _, p := range pending {
		c := &f.classes[p.class]
		f.warmth += uint32(c.group.counts[int(f.at(c.group, p.v))*c.group.stride])
		f.warmth += uint32(f.candidates.bits[int(p.v)*f.candidates.words+c.test.Word])
	}
}

func (f *Filter) tally(t *tally, note bool) {
	g := t.g
	for _, c := range t.cols {
		was, is := g.add(t.at+int(c), t.step)
		if top := max(was, is); note && int(top) < len(g.watch[c]) {
			for _, class := range g.watch[c][top] {
				f.pending = append(f.pending, flip{v: t.v, class: class})
			}
		}
	}
}
