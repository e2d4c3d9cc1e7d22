//go:build cuda || emu

package cuda

import (
	"fmt"
	"slices"

	"motifd/dyngraph"
	"motifd/kernels"
	"motifd/matcher/plan"
)

// mirror is the device's copy of the graph. It catches up when it is asked for (DESIGN A11): with the leaves of the packed
// memory array that were written since, and with the candidate bits of the vertices that were touched.
type mirror struct {
	dev    kernels.Device
	g      *dyngraph.Graph
	filter *plan.Filter

	row, nbr, ent, count, span, order, bits buffer
	net                                     buffer // of the staged batch
	at, data                                buffer // of patches

	loaded    bool // the array is there
	bitsStale bool // all of them
	netStale  bool // the batch is not there yet
	touched   []dyngraph.VertexID
	took      int64 // nanoseconds that catching up took last, when somebody measured
	scratch   scratch
}

// scratch is host memory that patches are packed in.
type scratch struct {
	at    []uint32
	words []uint32
	wide  []uint64
}

func newMirror(dev kernels.Device, g *dyngraph.Graph, f *plan.Filter) *mirror {
	m := &mirror{dev: dev, g: g, filter: f, bitsStale: true, netStale: true}
	for _, b := range m.buffers() {
		b.dev = dev
	}
	return m
}

func (m *mirror) buffers() []*buffer {
	return []*buffer{&m.row, &m.nbr, &m.ent, &m.count, &m.span, &m.order, &m.bits, &m.net, &m.at, &m.data}
}

func (m *mirror) free() error {
	var first error
	for _, b := range m.buffers() {
		if err := b.free(); first == nil {
			first = err
		}
	}
	return first
}

// touch notes that a batch begins or ends: edges of its vertices, and their candidate bits, are or will be others.
func (m *mirror) touch(d *dyngraph.Delta) {
	m.netStale = true
	if !m.bitsStale {
		m.touched = append(m.touched, d.Touched...)
	}
	if len(m.touched) > 1<<16 && len(m.touched) > int(m.g.IDBound())/4 {
		m.bitsStale, m.loaded = true, false // cheaper as a whole
	}
}

// behind estimates how many bytes there are to catch up with, and how many of them are of the staged batch.
func (m *mirror) behind(d *dyngraph.Delta) (all, own uint64) {
	const ofVertex = dyngraph.LeafSize * 16 // a leaf of slots
	bits := uint64(m.g.IDBound()) * 8 * uint64(m.filter.Words())
	whole := uint64(len(m.g.Columns().Nbr))*16 + uint64(m.g.IDBound())*uint64(m.dirs())*kernels.SpanSize + bits
	if !m.loaded {
		return whole, 0
	}
	all = uint64(len(m.touched)) * ofVertex
	if m.bitsStale {
		all += bits
	}
	if d != nil && m.netStale {
		own = uint64(len(d.Touched)) * ofVertex
	}
	all = min(all, whole)
	return all, min(own, all)
}

func (m *mirror) dirs() int {
	if m.g.Directed() {
		return 2
	}
	return 1
}

// catchUp brings the mirror to the graph's present state; d is the staged batch or nil. After an error, the next call copies everything.
func (m *mirror) catchUp(d *dyngraph.Delta) error {
	err := m.follow(d)
	if err != nil {
		m.loaded, m.bitsStale, m.netStale = false, true, true
	}
	return err
}

func (m *mirror) follow(d *dyngraph.Delta) error {
	slices.Sort(m.touched)
	m.touched = slices.Compact(m.touched)
	leaves, all := m.g.ChangedLeaves()
	if err := m.array(leaves, all); err != nil {
		return fmt.Errorf("copying the graph to the device: %w", err)
	}
	if err := m.candidates(); err != nil {
		return fmt.Errorf("copying candidates to the device: %w", err)
	}
	m.touched = m.touched[:0]
	if d != nil && m.netStale {
		if err := m.batch(d); err != nil {
			return fmt.Errorf("copying the batch to the device: %w", err)
		}
		m.netStale = false
	}
	return nil
}

// array copies slots: all, or those of some leaves; and has the device find where vertices begin.
func (m *mirror) array(leaves []uint32, all bool) error {
	c := m.g.Columns()
	spans := max(1, int(m.g.IDBound())*m.dirs()) * kernels.SpanSize
	fresh, err := m.span.reserve(spans)
	if err != nil {
		return err
	}
	if all || !m.loaded || fresh {
		m.loaded = false // until all of it is there
		if err := m.dev.Clear(m.span.ptr, m.span.size); err != nil {
			return err
		}
		counts := make([]uint32, len(c.Count))
		for i, n := range c.Count {
			counts[i] = uint32(n)
		}
		for _, t := range []struct {
			b    *buffer
			data []byte
		}{{&m.row, kernels.Bytes(c.Row)}, {&m.nbr, kernels.Bytes(c.Nbr)}, {&m.ent, kernels.Bytes(c.Ent)}, {&m.count, kernels.Bytes(counts)}} {
			if err := t.b.put(t.data); err != nil {
				return err
			}
		}
		if err := m.spans(0, len(c.Count), len(c.Count)); err != nil {
			return err
		}
		m.loaded = true
		return nil
	}
	if len(leaves) == 0 {
		return nil
	}
	s := &m.scratch
	if err := m.patchLeaves(leaves, c); err != nil {
		return err
	}
	// A vertex that has no entries any more begins nowhere.
	s.at = s.at[:0]
	for _, v := range m.touched {
		for d := range m.dirs() {
			// An aborted batch may have had ids beyond those that the device ever heard of.
			at := int(v)*m.dirs() + d
			if m.g.Degree(v, dyngraph.Dir(d)) == 0 && (at+1)*kernels.SpanSize <= m.span.size {
				s.at = append(s.at, uint32(at))
			}
		}
	}
	if err := m.patch(m.span.ptr, s.at, make([]uint32, 4*len(s.at))); err != nil {
		return err
	}
	s.at = s.at[:0]
	for _, l := range leaves {
		for _, near := range []uint32{l - 1, l, l + 1} {
			if near < uint32(len(c.Count)) && (len(s.at) == 0 || s.at[len(s.at)-1] < near) {
				s.at = append(s.at, near)
			}
		}
	}
	if err := m.at.put(kernels.Bytes(s.at)); err != nil {
		return err
	}
	return m.spans(m.at.ptr, len(s.at), len(c.Count))
}

func (m *mirror) spans(list kernels.Ptr, n, total int) error {
	return kernels.RunSpans(m.dev, kernels.Spans{Row: m.row.ptr, Count: m.count.ptr, Span: m.span.ptr, Leaf: list,
		Leaves: uint32(n), Total: uint32(total), Dirs: uint32(m.dirs())})
}

// patchLeaves copies the slots of some leaves.
func (m *mirror) patchLeaves(leaves []uint32, c dyngraph.Columns) error {
	const n = dyngraph.LeafSize
	s := &m.scratch
	s.wide = s.wide[:0]
	for _, l := range leaves {
		s.wide = append(s.wide, c.Row[l*n:(l+1)*n]...)
	}
	if err := m.patchWide(m.row.ptr, leaves, s.wide); err != nil {
		return err
	}
	s.words = s.words[:0]
	for _, l := range leaves {
		for _, v := range c.Nbr[l*n : (l+1)*n] {
			s.words = append(s.words, uint32(v))
		}
	}
	if err := m.patch(m.nbr.ptr, leaves, s.words); err != nil {
		return err
	}
	s.words = s.words[:0]
	for _, l := range leaves {
		for _, e := range c.Ent[l*n : (l+1)*n] {
			s.words = append(s.words, uint32(e))
		}
	}
	if err := m.patch(m.ent.ptr, leaves, s.words); err != nil {
		return err
	}
	s.words = s.words[:0]
	for _, l := range leaves {
		s.words = append(s.words, uint32(c.Count[l]))
	}
	return m.patch(m.count.ptr, leaves, s.words)
}

// candidates copies the filter's bits: all, or those of touched vertices.
func (m *mirror) candidates() error {
	bits, words := m.filter.Bits(), m.filter.Words()
	fresh, err := m.bits.reserve(8 * max(1, len(bits)))
	if err != nil {
		return err
	}
	if m.bitsStale || fresh {
		m.bitsStale = true // until they are there
		if err := m.bits.put(kernels.Bytes(bits)); err != nil {
			return err
		}
		m.bitsStale = false
		return nil
	}
	s := &m.scratch
	s.at, s.wide = s.at[:0], s.wide[:0]
	for _, v := range m.touched {
		if (int(v)+1)*words <= len(bits) {
			s.at = append(s.at, uint32(v))
			s.wide = append(s.wide, bits[int(v)*words:(int(v)+1)*words]...)
		}
	}
	return m.patchWide(m.bits.ptr, s.at, s.wide)
}

// batch copies the net edges and their orders.
func (m *mirror) batch(d *dyngraph.Delta) error {
	if _, err := m.order.reserve(4 * max(1, int(m.g.EdgeBound()))); err != nil {
		return err
	}
	s := &m.scratch
	s.at, s.words = s.at[:0], s.words[:0]
	net := make([]kernels.Net, len(d.Net))
	orders := m.g.OrderTable()
	for i := range d.Net {
		n := &d.Net[i]
		net[i] = kernels.Net{Edge: uint32(n.Edge), From: uint32(n.From), To: uint32(n.To)}
		s.at = append(s.at, uint32(n.Edge))
		s.words = append(s.words, orders[n.Edge])
	}
	if err := m.patch(m.order.ptr, s.at, s.words); err != nil {
		return err
	}
	return m.net.put(kernels.Bytes(net))
}

func (m *mirror) patchWide(dst kernels.Ptr, at []uint32, data []uint64) error {
	return m.patchBytes(dst, at, kernels.Bytes(data))
}

func (m *mirror) patch(dst kernels.Ptr, at []uint32, data []uint32) error {
	return m.patchBytes(dst, at, kernels.Bytes(data))
}

// patchBytes writes equally large records at the places in at.
func (m *mirror) patchBytes(dst kernels.Ptr, at []uint32, data []byte) error {
	if len(at) == 0 || len(data) == 0 {
		return nil
	}
	if err := m.at.put(kernels.Bytes(at)); err != nil {
		return err
	}
	if err := m.data.put(data); err != nil {
		return err
	}
	return kernels.RunPatch(m.dev, kernels.Patch{Dst: dst, Src: m.data.ptr, At: m.at.ptr, Records: uint32(len(at)),
		Words: uint32(len(data) / 4 / len(at))})
}

// graph returns what kernels are told of the mirror.
func (m *mirror) graph() kernels.Graph {
	return kernels.Graph{Row: m.row.ptr, Nbr: m.nbr.ptr, Ent: m.ent.ptr, Count: m.count.ptr, Span: m.span.ptr,
		Order: m.order.ptr, Bits: m.bits.ptr, Words: uint32(m.filter.Words()), Dirs: uint32(m.dirs())}
}
