//go:build cuda || emu

package mirror

import (
	"context"
	"errors"
	"fmt"

	"motifd/dyngraph"
	"motifd/kernels"
	"motifd/matcher/candidates"
	"motifd/matcher/cuda/device"
)

// Mirror is the device's copy of the graph. It catches up when it is asked for (DESIGN A11): with what the batches
// since then did to edges, and with the candidate bits of the vertices that were touched. The device keeps its packed
// memory array itself; it is loaded from the host's at first, and again when it is far behind. While batch after batch
// is searched on the device, the array is brought up to date when a batch is staged, and the host finds the candidates
// meanwhile (GAMMA section IV-B).
type Mirror struct {
	dev    kernels.Device
	g      *dyngraph.Graph
	filter *candidates.Filter
	// threads pack what is copied.
	threads int

	edges *array
	bits  device.Buffer
	label device.Buffer // by vertex
	data  device.Buffer // on its way into these two
	page  device.Page   // likewise

	Loaded   bool         // edges are there
	staged   bool         // the device knows of the staged batch
	searched bool         // the staged batch was searched on the device
	follows  bool         // the last batch that changed edges was
	end      Ending       // what became of the last batch that the device knew of
	missed   []kernels.Op // of the batches since

	BitsStale bool // all of them, and labels
	touched   []dyngraph.VertexID
	Took      int64 // nanoseconds that catching up took last, when somebody measured
	// nanoseconds that the staged batch took when it was staged, until a search has been charged with them
	Early int64
}

// New returns a mirror of a graph without content; threads pack what is copied, and t notes what the device does.
func New(dev kernels.Device, g *dyngraph.Graph, f *candidates.Filter, threads int, t *device.Trace) *Mirror {
	m := &Mirror{dev: dev, g: g, filter: f, threads: threads, edges: newArray(dev, g.Directed()), BitsStale: true}
	for _, b := range m.buffers() {
		b.Dev = dev
	}
	m.page.Dev, m.edges.trace = dev, t
	return m
}

func (m *Mirror) buffers() []*device.Buffer { return []*device.Buffer{&m.bits, &m.label, &m.data} }

// Free gives all memory back.
func (m *Mirror) Free() error {
	err := m.edges.Free()
	if e := device.FreeAll(m.buffers()); err == nil {
		err = e
	}
	if e := m.page.Free(); err == nil {
		err = e
	}
	return err
}

// Stage notes that a batch begins: candidate bits and labels will be others. The device is told of its edges at once if
// the batch before was searched there, and otherwise by the first search.
func (m *Mirror) Stage(d *dyngraph.Delta) {
	m.staged, m.searched = false, false
	m.touch(d)
	if !m.follows || !m.Loaded || len(d.Net) == 0 || m.kindsDiffer() {
		return
	}
	if err := m.begin(d); err != nil {
		m.again() // what fails then, too, the search tells
	}
}

// Ended notes that the staged batch ends; the delta is still there.
func (m *Mirror) Ended(d *dyngraph.Delta, end Ending) {
	m.touch(d)
	if len(d.Net) > 0 {
		m.follows = m.searched
	}
	switch {
	case !m.Loaded:
	case m.staged:
		m.end, m.staged = end, false
	case end == Committed:
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
func (m *Mirror) forget() {
	m.Loaded, m.staged, m.end, m.missed = false, false, GoesOn, nil
}

// opOf returns what a net edge does when its batch is staged.
func (m *Mirror) opOf(n *dyngraph.NetEdge) kernels.Op {
	view, near := m.g.View(dyngraph.New), m.edges.nearBits
	o := kernels.Op{Ent: uint32(n.Edge) | kernels.Staged, From: uint32(n.From), To: uint32(n.To),
		Kind: kernels.KindOf(uint32(n.Label), uint32(view.Label(n.To)), near),
		Back: kernels.KindOf(uint32(n.Label), uint32(view.Label(n.From)), near)}
	if n.Sign == dyngraph.Deleted {
		o.Kind |= kernels.Out
	}
	return o
}

// touch notes that the candidate bits and labels of a batch's vertices are or will be others.
func (m *Mirror) touch(d *dyngraph.Delta) {
	if m.BitsStale {
		return
	}
	m.touched = append(m.touched, d.Touched...)
	if len(m.touched) > 1<<16 && len(m.touched) > int(m.g.IDBound())/4 {
		m.BitsStale, m.touched = true, m.touched[:0] // cheaper as a whole
	}
}

// CatchUp brings the mirror to the graph's present state; d is the staged batch or nil. After an error, the next call
// copies everything. ctx ends the copying of a whole graph.
func (m *Mirror) CatchUp(ctx context.Context, d *dyngraph.Delta) error {
	m.searched = true
	err := m.follow(ctx, d)
	if err != nil {
		m.again()
	}
	return err
}

// again has everything copied anew when the mirror is asked for, after a failure.
func (m *Mirror) again() {
	m.edges.rest() // copies under way may still read what is written next
	m.forget()
	m.BitsStale = true
}

func (m *Mirror) follow(ctx context.Context, d *dyngraph.Delta) error {
	if err := m.vertices(); err != nil {
		return fmt.Errorf("copying candidates to the device: %w", err)
	}
	if m.kindsDiffer() {
		m.forget()
	}
	err := m.loadAndUpdate(ctx, d)
	if short := (*kernels.MemoryError)(nil); errors.As(err, &short) {
		// An array that is written anew needs room for two, and the old one's work space may be in the way. From the
		// host, into nothing, one will do.
		if err = m.edges.Free(); err == nil {
			m.forget()
			err = m.loadAndUpdate(ctx, d)
		}
	}
	return err
}

func (m *Mirror) loadAndUpdate(ctx context.Context, d *dyngraph.Delta) error {
	if !m.Loaded {
		if err := m.load(ctx); err != nil {
			return fmt.Errorf("copying the graph to the device: %w", err)
		}
	}
	if err := m.update(d); err != nil {
		return fmt.Errorf("updating the graph on the device: %w", err)
	}
	return nil
}

// kindsDiffer tells whether there are so many labels now that kinds are written otherwise.
func (m *Mirror) kindsDiffer() bool {
	return m.Loaded && m.edges.nearBits != kernels.NearBits(m.g.Labels())
}

func (m *Mirror) bounds() bounds {
	return bounds{int(m.g.IDBound()), m.g.Labels(), int(m.g.EdgeBound())}
}

// load copies all entries. Those of the staged batch are among them; update tells the device the rest about it.
func (m *Mirror) load(ctx context.Context) error {
	m.forget()
	asked, err := m.patch() // the order of entries goes by labels
	if err == nil && asked {
		err = m.edges.q.Sync()
	}
	if err != nil {
		return err
	}
	leaf, at := 0, 0 // next: entry at of the leaf before that one
	var rows []uint64
	var nbrs []dyngraph.VertexID
	var ents []dyngraph.Entry
	err = m.edges.load(m.g.Entries(), m.bounds(), m.label.Ptr,
		func(row []uint64, nbr, ent []uint32) (n int, err error) {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
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
	m.Loaded = err == nil
	return err
}

// update tells the device what it does not know yet, and waits.
func (m *Mirror) update(d *dyngraph.Delta) error {
	if err := m.begin(d); err != nil {
		return err
	}
	asked, err := m.patch() // while the device is at it
	switch {
	case err != nil:
	case m.edges.asked != nil:
		err = m.edges.finish()
	case asked:
		err = m.edges.q.Sync()
	}
	return err
}

// begin tells the device how the batch before ended, what batches did that it was not told of, and the staged one.
func (m *Mirror) begin(d *dyngraph.Delta) error {
	var net []dyngraph.NetEdge
	if d != nil && !m.staged {
		net = d.Net
	}
	if len(net)+len(m.missed) > 0 || m.end != GoesOn {
		ops, err := m.edges.room(len(m.missed) + len(net))
		if err != nil {
			return err
		}
		copy(ops, m.missed)
		device.InParts(len(net), m.threads, func(from, to int) {
			for i := from; i < to; i++ {
				ops[len(m.missed)+i] = m.opOf(&net[i])
			}
		})
		if err := m.edges.begin(len(ops), len(net), m.end, m.bounds()); err != nil {
			return err
		}
	}
	m.staged, m.end, m.missed = d != nil, GoesOn, m.missed[:0]
	return nil
}

// Net returns where the net edges of the staged batch are.
func (m *Mirror) Net() kernels.Ptr { return m.edges.net.Ptr }

// Graph returns what kernels are told of the mirror.
func (m *Mirror) Graph() kernels.Graph {
	a := &m.edges.now
	return kernels.Graph{Row: a.row.Ptr, Nbr: a.nbr.Ptr, Ent: a.ent.Ptr, Count: a.count.Ptr, FenceRow: a.fenceRow.Ptr,
		FenceNbr: a.fenceNbr.Ptr, Span: m.edges.span.Ptr,
		Order: m.edges.order.Ptr, Bits: m.bits.Ptr, Label: m.label.Ptr, Words: uint32(m.filter.NumberWords()),
		Dirs:     uint32(m.edges.dirs),
		NearBits: uint32(m.edges.nearBits)}
}

// Slots returns how many entries there are room for in the array: a vertex has no more neighbours, however they are
// counted.
func (m *Mirror) Slots() int { return m.edges.now.leaves * kernels.LeafSlots }

// Behind estimates how many bytes the mirror has to catch up with, and how many of them are of the staged batch; what
// the array was asked for when that was staged counts, as what that took does (runner). It is asked for every batch,
// also where nothing ever runs on the device, and so has nobody count or copy anything.
func (m *Mirror) Behind(d *dyngraph.Delta) (all, own uint64) {
	const ofEdge = 2 * 16 // two entries; what an operation costs is more than its kernels.OpSize bytes
	words := uint64(m.filter.NumberWords())
	bits := uint64(m.g.IDBound()) * 8 * words
	whole := uint64(m.g.Edges())*ofEdge + bits
	if !m.Loaded {
		return whole, 0
	}
	begun := m.staged && m.edges.asked != nil
	all = uint64(len(m.missed))*ofEdge + uint64(len(m.touched))*8*words
	if m.BitsStale {
		all += bits
	}
	if begun {
		all += uint64(m.edges.asked.ops) * ofEdge
	} else if d != nil && !m.staged {
		all += uint64(len(d.Net)) * ofEdge
	}
	if d != nil && (!m.staged || begun) {
		own = uint64(len(d.Net))*ofEdge + uint64(len(d.Touched))*8*words
	}
	return all, min(own, all)
}
