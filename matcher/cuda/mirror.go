//go:build cuda || emu

package cuda

import (
	"errors"
	"fmt"
	"slices"

	"motifd/dyngraph"
	"motifd/kernels"
	"motifd/matcher/plan"
)

// mirror is the device's copy of the graph. It catches up when it is asked for (DESIGN A11): with what the batches since then did to
// edges, and with the candidate bits of the vertices that were touched. The device keeps its packed memory array itself; it is loaded
// from the host's at first, and again when it is far behind.
type mirror struct {
	dev    kernels.Device
	g      *dyngraph.Graph
	filter *plan.Filter
	// threads pack what is copied.
	threads int

	edges *array
	bits  buffer
	label buffer // by vertex
	data  buffer // on its way into these two

	loaded bool         // edges are there
	staged bool         // the device knows of the staged batch
	end    ending       // what became of the last batch that it knew of
	missed []kernels.Op // of the batches since

	bitsStale bool // all of them, and labels
	touched   []dyngraph.VertexID
	took      int64 // nanoseconds that catching up took last, when somebody measured
}

func newMirror(dev kernels.Device, g *dyngraph.Graph, f *plan.Filter, threads int) *mirror {
	m := &mirror{dev: dev, g: g, filter: f, threads: threads, edges: newArray(dev, g.Directed()), bitsStale: true}
	for _, b := range m.buffers() {
		b.dev = dev
	}
	return m
}

func (m *mirror) buffers() []*buffer { return []*buffer{&m.bits, &m.label, &m.data} }

func (m *mirror) free() error {
	err := m.edges.free()
	if e := freeAll(m.buffers()); err == nil {
		err = e
	}
	return err
}

// stage notes that a batch begins: candidate bits and labels are others. Its edges are asked for when somebody searches.
func (m *mirror) stage(d *dyngraph.Delta) {
	m.staged = false
	m.touch(d)
}

// ended notes that the staged batch ends; the delta is still there.
func (m *mirror) ended(d *dyngraph.Delta, end ending) {
	m.touch(d)
	switch {
	case !m.loaded:
	case m.staged:
		m.end, m.staged = end, false
	case end == committed:
		for i := range d.Net {
			o := m.opOf(&d.Net[i])
			o.Ent &^= kernels.Staged
			m.missed = append(m.missed, o)
		}
		if len(m.missed) > 1<<16 && len(m.missed) > m.g.Edges()/4 {
			m.forget() // cheaper as a whole
		}
	}
}

// forget has the edges copied anew when the mirror is asked for.
func (m *mirror) forget() {
	m.loaded, m.staged, m.end, m.missed = false, false, goesOn, nil
}

// opOf returns what a net edge does when its batch is staged.
func (m *mirror) opOf(n *dyngraph.NetEdge) kernels.Op {
	view, near := m.g.View(dyngraph.New), m.edges.nearBits
	o := kernels.Op{Ent: uint32(n.Edge) | kernels.Staged, From: uint32(n.From), To: uint32(n.To),
		Kind: kernels.KindOf(uint32(n.Label), uint32(view.Label(n.To)), near), Back: kernels.KindOf(uint32(n.Label), uint32(view.Label(n.From)), near)}
	if n.Sign == dyngraph.Deleted {
		o.Kind |= kernels.Out
	}
	return o
}

// touch notes that the candidate bits and labels of a batch's vertices are or will be others.
func (m *mirror) touch(d *dyngraph.Delta) {
	if m.bitsStale {
		return
	}
	m.touched = append(m.touched, d.Touched...)
	if len(m.touched) > 1<<16 && len(m.touched) > int(m.g.IDBound())/4 {
		m.bitsStale, m.touched = true, m.touched[:0] // cheaper as a whole
	}
}

// catchUp brings the mirror to the graph's present state; d is the staged batch or nil. After an error, the next call copies everything.
func (m *mirror) catchUp(d *dyngraph.Delta) error {
	err := m.follow(d)
	if err != nil {
		m.edges.rest() // the next call writes what copies may still read
		m.forget()
		m.bitsStale = true
	}
	return err
}

func (m *mirror) follow(d *dyngraph.Delta) error {
	if err := m.vertices(); err != nil {
		return fmt.Errorf("copying candidates to the device: %w", err)
	}
	if m.loaded && m.edges.nearBits != kernels.NearBits(m.g.Labels()) {
		m.forget() // kinds are others
	}
	if !m.loaded {
		if err := m.load(); err != nil {
			return fmt.Errorf("copying the graph to the device: %w", err)
		}
	}
	err := m.update(d)
	if short := (*kernels.MemoryError)(nil); errors.As(err, &short) {
		// An array that is written anew needs room for two. From the host, one will do.
		if err = m.edges.free(); err == nil {
			err = m.load()
		}
		if err == nil {
			err = m.update(d)
		}
	}
	if err != nil {
		return fmt.Errorf("updating the graph on the device: %w", err)
	}
	return nil
}

func (m *mirror) bounds() bounds {
	return bounds{int(m.g.IDBound()), m.g.Labels(), int(m.g.EdgeBound())}
}

// load copies all entries. Those of the staged batch are among them; update tells the device the rest about it.
func (m *mirror) load() error {
	m.forget()
	leaf, at := 0, 0 // next: entry at of the leaf before that one
	var rows []uint64
	var nbrs []dyngraph.VertexID
	var ents []dyngraph.Entry
	err := m.edges.load(m.g.Entries(), m.bounds(), m.label.ptr, func(row []uint64, nbr, ent []uint32) (n int, err error) {
		for n < len(row) {
			if at == len(nbrs) {
				rows, nbrs, ents = m.g.Leaf(leaf, rows)
				leaf, at = leaf+1, 0
			}
			for ; at < len(nbrs) && n < len(row); at, n = at+1, n+1 {
				row[n], nbr[n], ent[n] = rows[at], uint32(nbrs[at]), uint32(ents[at])
			}
		}
		return n, nil
	})
	m.loaded = err == nil
	return err
}

// update tells the device how the batch before ended, what batches did that it was not told of, and the staged one.
func (m *mirror) update(d *dyngraph.Delta) error {
	var net []dyngraph.NetEdge
	if d != nil && !m.staged {
		net = d.Net
	}
	if len(net)+len(m.missed) > 0 || m.end != goesOn {
		ops, err := m.edges.room(len(m.missed) + len(net))
		if err != nil {
			return err
		}
		copy(ops, m.missed)
		inParts(len(net), m.threads, func(from, to int) {
			for i := from; i < to; i++ {
				ops[len(m.missed)+i] = m.opOf(&net[i])
			}
		})
		if err := m.edges.update(len(ops), len(net), m.end, m.bounds()); err != nil {
			return err
		}
	}
	m.staged, m.end, m.missed = d != nil, goesOn, m.missed[:0]
	return nil
}

// vertices copies the filter's bits, by the numbers of the classes, and the labels: of all vertices, or of those touched.
func (m *mirror) vertices() error {
	vertices, words := int(m.g.IDBound()), m.filter.NumberWords()
	fresh, err := m.bits.reserve(8 * max(1, vertices*words))
	if err != nil {
		return err
	}
	freshLabels, err := m.label.reserve(4 * max(1, vertices))
	if err != nil {
		return err
	}
	if m.bitsStale || fresh || freshLabels {
		m.bitsStale = true // until they are there
		if err := m.allVertices(vertices, words); err != nil {
			return err
		}
		m.bitsStale, m.touched = false, m.touched[:0]
		return nil
	}
	// An aborted batch may have had ids that there are no more.
	m.touched = slices.DeleteFunc(m.touched, func(v dyngraph.VertexID) bool { return int(v) >= vertices })
	n := len(m.touched)
	if n == 0 {
		return nil
	}
	all := 8 * n * words
	host, err := m.edges.page(all + 8*n)
	if err != nil {
		return err
	}
	if _, err := m.data.reserve(all + 8*n); err != nil {
		return err
	}
	data, label, at := view[uint64](host, n*words), view[uint32](host[all:], n), view[uint32](host[all+4*n:], n)
	inParts(n, m.threads, func(from, to int) {
		for i := from; i < to; i++ {
			at[i] = uint32(m.touched[i])
			label[i] = m.vertex(m.touched[i], data[i*words:(i+1)*words])
		}
	})
	m.edges.trace.begin(m.edges.q, LaneArray, "bits", 0)
	if err := m.edges.q.Write(m.data.ptr, host[:all+8*n]); err != nil {
		return err
	}
	src, numbers := m.data.ptr, m.data.ptr+kernels.Ptr(all+4*n)
	for _, p := range []kernels.Patch{{Dst: m.bits.ptr, Src: src, At: numbers, Records: uint32(n), Words: uint32(2 * words)},
		{Dst: m.label.ptr, Src: src + kernels.Ptr(all), At: numbers, Records: uint32(n), Words: 1}} {
		if p.Words == 0 {
			continue
		}
		if err := kernels.RunPatch(m.edges.q, p); err != nil {
			return err
		}
	}
	m.edges.trace.end(m.edges.q, LaneArray, "bits", 0, n)
	m.touched = m.touched[:0]
	return m.edges.q.Sync()
}

// vertex writes a vertex's bits to row and returns its label. What the filter does not know is no candidate.
func (m *mirror) vertex(v dyngraph.VertexID, row []uint64) uint32 {
	if int(v) < m.filter.Vertices() {
		m.filter.ByNumber(v, row)
	} else {
		clear(row)
	}
	return uint32(m.g.View(dyngraph.New).Label(v))
}

// allVertices copies the bits and labels of all vertices, a part at a time.
func (m *mirror) allVertices(vertices, words int) error {
	part := max(1, (32<<20)/(8*words+4))
	for first := 0; first < vertices; first += part {
		n := min(part, vertices-first)
		all := 8 * n * words
		host, err := m.edges.page(all + 4*n)
		if err != nil {
			return err
		}
		rows, label := view[uint64](host, n*words), view[uint32](host[all:], n)
		inParts(n, m.threads, func(from, to int) {
			for i := from; i < to; i++ {
				label[i] = m.vertex(dyngraph.VertexID(first+i), rows[i*words:(i+1)*words])
			}
		})
		m.edges.trace.begin(m.edges.q, LaneArray, "bits", 0)
		if err := m.edges.q.Write(m.bits.ptr+kernels.Ptr(8*first*words), host[:all]); err != nil {
			return err
		}
		if err := m.edges.q.Write(m.label.ptr+kernels.Ptr(4*first), host[all:all+4*n]); err != nil {
			return err
		}
		m.edges.trace.end(m.edges.q, LaneArray, "bits", 0, n)
		if err := m.edges.q.Sync(); err != nil {
			return err
		}
	}
	return nil
}

// inParts has up to so many threads do parts of the numbers below n.
func inParts(n, threads int, f func(from, to int)) {
	threads = max(1, min(threads, n/kindChunk))
	inParallel(threads, func(t int) { f(t*n/threads, (t+1)*n/threads) })
}

// net returns where the net edges of the staged batch are.
func (m *mirror) net() kernels.Ptr { return m.edges.net.ptr }

// graph returns what kernels are told of the mirror.
func (m *mirror) graph() kernels.Graph {
	a := &m.edges.now
	return kernels.Graph{Row: a.row.ptr, Nbr: a.nbr.ptr, Ent: a.ent.ptr, Count: a.count.ptr, FenceRow: a.fenceRow.ptr, FenceNbr: a.fenceNbr.ptr, Span: m.edges.span.ptr,
		Order: m.edges.order.ptr, Bits: m.bits.ptr, Label: m.label.ptr, Words: uint32(m.filter.NumberWords()), Dirs: uint32(m.edges.dirs),
		NearBits: uint32(m.edges.nearBits)}
}
