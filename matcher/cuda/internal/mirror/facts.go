//go:build cuda || emu

package mirror

import (
	"slices"

	"motifd/dyngraph"
	"motifd/kernels"
	"motifd/matcher/cuda/device"
	"motifd/matcher/internal/truths"
)

// facts is the device's copy of what conditions read of edges (kernels.Where), a row for each edge index: its truth
// words; bits that tell in which columns it has values; and these values. It has what the programs on the device read,
// and is empty without conditions. An edge that a staged batch replaces has the version of the view that is searched.
type facts struct {
	tests   bool  // programs read truth words
	columns []int // of the graph, that they read

	truths int    // words
	stride int    // words of a row
	served uint64 // truths.Rows.Version of the rows on the device

	words   device.Buffer   // the rows
	shown   *dyngraph.Delta // the staged batch whose new versions of replaced edges the rows have; nil: old versions
	stale   bool            // all rows must be copied
	touched []dyngraph.EdgeIndex
	data    device.Buffer // changed rows, before they are written
	page    device.Page   // rows on the host
}

// Reads sets what programs read: of edges truth words, and columns of whole numbers; of vertices such columns.
func (m *Mirror) Reads(tests bool, columns, ofVertices []int) {
	m.BitsStale = m.BitsStale || !slices.Equal(ofVertices, m.ofVertices)
	m.ofVertices = slices.Clone(ofVertices)
	f := &m.facts
	f.stale = f.stale || tests != f.tests || !slices.Equal(columns, f.columns)
	f.tests, f.columns = tests, slices.Clone(columns)
	f.truths = 0
	if t := m.filter.Truths().Edges(); tests {
		f.truths = t.Stride()
		f.stale = f.stale || f.served != t.Version()
	}
	f.stride = f.truths + len(f.columns) + presence(f.columns)
}

// presence returns the number of words that tell in which of some columns an element has values.
func presence(columns []int) int { return (len(columns) + 63) / 64 }

// where returns the part of kernels.Where that the mirror knows.
func (m *Mirror) where() kernels.Where {
	f, bits := &m.facts, m.filter.NumberWords()
	return kernels.Where{Words: f.words.Ptr, Stride: uint32(f.stride), Presence: uint32(f.truths),
		Values: uint32(f.truths + presence(f.columns)), VertexPresence: uint32(bits),
		VertexValues: uint32(bits + presence(m.ofVertices))}
}

// stage records the edges that a batch inserts.
func (f *facts) stage(g *dyngraph.Graph, d *dyngraph.Delta) {
	f.touch(g, d, func(n *dyngraph.NetEdge) bool { return !n.Replaced && !n.Vertex })
}

// show has the rows of the edges that a staged batch replaces be those of a view. d may be nil.
func (f *facts) show(g *dyngraph.Graph, d *dyngraph.Delta, which dyngraph.Which) {
	if d == nil || d.Replaced == 0 || (which == dyngraph.New) == (f.shown != nil) {
		return
	}
	f.shown = nil
	if which == dyngraph.New {
		f.shown = d
	}
	f.replaced(g, d)
}

// ended records the edges that a batch has replaced, or that it has not replaced in the end.
func (f *facts) ended(g *dyngraph.Graph, d *dyngraph.Delta) {
	f.shown = nil
	f.replaced(g, d)
}

// replaced records the edges that a batch replaces.
func (f *facts) replaced(g *dyngraph.Graph, d *dyngraph.Delta) {
	if d.Replaced > 0 {
		f.touch(g, d, func(n *dyngraph.NetEdge) bool { return n.Replaced })
	}
}

// touch records the inserted net edges for which the predicate which is true: their values are copied to the device.
func (f *facts) touch(g *dyngraph.Graph, d *dyngraph.Delta, which func(n *dyngraph.NetEdge) bool) {
	if f.stale || f.stride == 0 {
		return
	}
	for i := range d.Net {
		if n := &d.Net[i]; n.Sign == dyngraph.Inserted && which(n) {
			f.touched = append(f.touched, n.Edge)
		}
	}
	if len(f.touched) > 1<<16 && len(f.touched) > g.Edges()/4 {
		f.stale, f.touched = true, f.touched[:0] // copying all is cheaper
	}
}

// behind returns how many bytes must be copied.
func (f *facts) behind(g *dyngraph.Graph) uint64 {
	n := uint64(len(f.touched))
	if f.stale {
		n = uint64(g.EdgeBound())
	}
	return n * 8 * uint64(f.stride)
}

// rowWriter writes the rows of edges; several goroutines may use it.
type rowWriter struct {
	*facts
	g      *dyngraph.Graph
	truth  truths.Rows
	wholes []dyngraph.Wholes
}

func (m *Mirror) rowWriter() *rowWriter {
	w := &rowWriter{facts: &m.facts, g: m.g, truth: m.filter.Truths().Edges()}
	for _, c := range w.columns {
		w.wholes = append(w.wholes, m.g.Wholes(c))
	}
	return w
}

// write writes the row of an edge.
func (w *rowWriter) write(e dyngraph.EdgeIndex, row []uint64) {
	order, replaced := w.newVersion(e)
	if w.truths > 0 {
		from := w.truth.Of(uint32(e))
		if replaced {
			from = w.truth.New(order)
		}
		copy(row, from)
	}
	presence := row[w.truths:][:presence(w.columns)]
	clear(presence)
	values := row[w.truths+len(presence):]
	for i, c := range w.columns {
		v, ok := w.wholes[i].Of(e)
		if replaced {
			now := w.g.View(dyngraph.New).Value(e, c)
			v, ok = now.Whole(), !now.IsNull()
		}
		values[i] = uint64(v)
		if ok {
			presence[i/64] |= 1 << (i % 64)
		}
	}
}

// newVersion returns the order of the new version of an edge, if it is shown.
func (w *rowWriter) newVersion(e dyngraph.EdgeIndex) (order uint32, ok bool) {
	if w.shown == nil {
		return 0, false
	}
	_, order, staged := w.g.Staged(e)
	return order + 1, staged && w.shown.Net[order].Replaced
}

// allFacts makes room for the rows and, if they are stale or lost, copies all of them, in parts of 32 MiB.
func (m *Mirror) allFacts() error {
	f := &m.facts
	if f.stride == 0 {
		f.stale, f.touched = false, f.touched[:0]
		return f.words.Free()
	}
	edges := int(m.g.EdgeBound())
	fresh, err := f.words.Claim(8 * f.stride * max(1, edges))
	if err != nil || !f.stale && !fresh {
		return err
	}
	f.stale = true // in case of an error
	if err := m.edges.open(0); err != nil {
		return err
	}
	w := m.rowWriter()
	part := max(1, (32<<20)/(8*f.stride))
	for first := 0; first < edges; first += part {
		n := min(part, edges-first)
		host, err := f.page.Reserve(8 * n * f.stride)
		if err != nil {
			return err
		}
		rows := view[uint64](host, n*f.stride)
		device.InParts(n, m.threads, func(from, to int) {
			for i := from; i < to; i++ {
				w.write(dyngraph.EdgeIndex(first+i), rows[i*f.stride:][:f.stride])
			}
		})
		m.edges.trace.Begin(m.edges.q, device.LaneArray, "values", 0)
		if err := m.edges.q.Write(f.words.Ptr+kernels.Ptr(8*first*f.stride), host[:8*n*f.stride]); err != nil {
			return err
		}
		m.edges.trace.End(m.edges.q, device.LaneArray, "values", 0, n)
		if err := m.edges.q.Sync(); err != nil {
			return err
		}
	}
	f.stale, f.served, f.touched = false, w.truth.Version(), f.touched[:0]
	return nil
}

// patchFacts queues copies of the rows of the touched edges on the array's stream. asked is true if there were any.
func (m *Mirror) patchFacts() (asked bool, err error) {
	f := &m.facts
	// An aborted batch may have touched edges that no longer exist.
	f.touched = slices.DeleteFunc(f.touched, func(e dyngraph.EdgeIndex) bool { return uint32(e) >= m.g.EdgeBound() })
	n := len(f.touched)
	if n == 0 || f.stride == 0 {
		return false, nil
	}
	all := 8 * n * f.stride
	if err := m.edges.open(0); err != nil {
		return false, err
	}
	host, err := f.page.Reserve(all + 4*n)
	if err != nil {
		return false, err
	}
	if _, err := f.data.Claim(all + 4*n); err != nil {
		return false, err
	}
	w, rows, at := m.rowWriter(), view[uint64](host, n*f.stride), view[uint32](host[all:], n)
	device.InParts(n, m.threads, func(from, to int) {
		for i := from; i < to; i++ {
			at[i] = uint32(f.touched[i])
			w.write(f.touched[i], rows[i*f.stride:][:f.stride])
		}
	})
	m.edges.trace.Begin(m.edges.q, device.LaneArray, "values", 0)
	if err := m.edges.q.Write(f.data.Ptr, host[:all+4*n]); err != nil {
		return false, err
	}
	if err := kernels.RunPatch(m.edges.q, kernels.Patch{Dst: f.words.Ptr, Src: f.data.Ptr,
		At: f.data.Ptr + kernels.Ptr(all), Records: uint32(n), Words: uint32(2 * f.stride)}); err != nil {
		return false, err
	}
	m.edges.trace.End(m.edges.q, device.LaneArray, "values", 0, n)
	f.touched = f.touched[:0]
	return true, nil
}
