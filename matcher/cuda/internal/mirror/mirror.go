//go:build cuda || emu

package mirror

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"sync/atomic"

	"motifd/dyngraph"
	"motifd/kernels"
	"motifd/matcher/cuda/device"
	"motifd/matcher/internal/candidates"
)

// Mirror is the device's copy of the graph. CatchUp applies the changes of edges by the batches since the last call,
// and copies the candidate bits of touched vertices (DESIGN A11). The whole graph is copied at first, and again when
// the changes are many. If the last batch was searched on the device, the next batch's changes are sent when it is
// staged, so that the device updates its array while the host finds candidates (GAMMA section IV-B).
type Mirror struct {
	dev    *nearFirst
	g      *dyngraph.Graph
	filter *candidates.Filter
	// threads is the number of threads that pack data to copy.
	threads int

	edges *array
	bits  device.Buffer // by vertex: its words
	label device.Buffer // by vertex
	data  device.Buffer // changed bits and labels, before they are written to these two
	page  device.Page   // the same on the host
	facts facts         // of edges
	above layers        // of parallel edges

	ofVertices []int // columns of vertices that programs read

	Loaded       bool         // the device has the edges
	staged       bool         // the device has the staged batch
	searched     bool         // the staged batch was searched on the device
	searchedLast bool         // the last batch that changed edges was searched on the device
	end          Outcome      // how the last batch on the device ended
	missed       []kernels.Op // changes by later batches

	BitsStale bool                // bits and labels of all vertices must be copied
	touched   []dyngraph.VertexID // vertices whose bits and labels must be copied
}

// New returns an empty mirror of a graph.
func New(dev kernels.Device, g *dyngraph.Graph, f *candidates.Filter, threads int, t *device.Trace) *Mirror {
	near := newNearFirst(dev)
	columns := forColumns{near}
	m := &Mirror{dev: near, g: g, filter: f, threads: threads, edges: newArray(near, g.Directed()), BitsStale: true}
	for _, b := range m.buffers() {
		b.Dev = near
	}
	m.edges.placeIn(columns)
	for _, b := range []*device.Buffer{&m.bits, &m.label, &m.facts.words} {
		b.Dev = columns
	}
	m.page.Dev, m.facts.page.Dev, m.edges.trace = dev, dev, t
	return m
}

func (m *Mirror) buffers() []*device.Buffer {
	return []*device.Buffer{&m.bits, &m.label, &m.data, &m.facts.words, &m.facts.data}
}

// Free gives all memory back.
func (m *Mirror) Free() error {
	err := m.edges.Free()
	if e := device.FreeAll(m.buffers()); err == nil {
		err = e
	}
	for _, p := range []*device.Page{&m.page, &m.facts.page} {
		if e := p.Free(); err == nil {
			err = e
		}
	}
	return err
}

// Shows tells whether the device can search a staged batch. It cannot where the batch lists vertices, for which the
// device has no places.
func Shows(d *dyngraph.Delta) bool { return d.Listed == 0 }

// Stage begins a batch, whose changes of candidate bits and labels must be copied. Its edges are sent to the device now
// if the last batch was searched there, and otherwise by the first search. A batch that the device does not show must
// not be searched there.
func (m *Mirror) Stage(d *dyngraph.Delta) {
	m.staged, m.searched = false, false
	m.touch(d)
	m.facts.stage(m.g, d)
	if m.Loaded && !m.above.stage(m.g, d) {
		m.forget() // the labels of the device change
	}
	if !m.searchedLast || !m.Loaded || len(d.Net) == 0 || !Shows(d) || m.kindsDiffer() {
		return
	}
	if err := m.begin(d); err != nil {
		m.again() // if copying everything also fails, CatchUp returns the error
	}
}

// Ended ends the staged batch.
func (m *Mirror) Ended(d *dyngraph.Delta, end Outcome) {
	m.touch(d)
	m.facts.ended(m.g, d)
	if len(d.Net) > 0 {
		m.searchedLast = m.searched
	}
	switch {
	case !m.Loaded:
	case m.staged:
		m.end, m.staged = end, false
	case end == Committed:
		for i := range d.Net {
			if n := &d.Net[i]; n.Replaced || n.Vertex { // its entries stay, if any
				continue
			}
			o := m.opOf(&d.Net[i])
			o.Ent &^= kernels.Staged
			m.missed = append(m.missed, o)
		}
		if len(m.missed) > 1<<16 && len(m.missed) > m.g.Edges()/4 {
			m.forget() // copying the graph is cheaper
		}
	}
	if d.NewParallel && end == Aborted {
		m.forget() // an edge that stays may have another layer than 0
	}
}

// forget makes the next CatchUp copy all edges.
func (m *Mirror) forget() {
	m.Loaded, m.staged, m.end, m.missed = false, false, Open, nil
}

// opOf returns the operation that stages a net edge, or a version of a vertex.
func (m *Mirror) opOf(n *dyngraph.NetEdge) kernels.Op {
	if n.Vertex {
		return kernels.NoEdge(uint32(n.From))
	}
	view, nbrBits, label := m.g.View(dyngraph.New), m.edges.nbrBits, m.above.label(n.Label, n.Edge)
	o := kernels.Op{Ent: uint32(n.Edge) | kernels.Staged, From: uint32(n.From), To: uint32(n.To),
		Kind: kernels.KindOf(label, uint32(view.Label(n.To)), nbrBits),
		Back: kernels.KindOf(label, uint32(view.Label(n.From)), nbrBits)}
	if n.Sign == dyngraph.Deleted {
		o.Kind |= kernels.Out
	}
	if n.Replaced {
		o.Back |= kernels.Stays
	}
	return o
}

// touch records that the candidate bits and labels of the vertices of a batch may change.
func (m *Mirror) touch(d *dyngraph.Delta) {
	if m.BitsStale {
		return
	}
	m.touched = append(m.touched, d.Touched...)
	for i := range d.Revised {
		m.touched = append(m.touched, d.Revised[i].Vertex)
	}
	if len(m.touched) > 1<<16 && len(m.touched) > int(m.g.IDBound())/4 {
		m.BitsStale, m.touched = true, m.touched[:0] // copying all is cheaper
	}
}

// CatchUp updates the mirror to the present state of the graph. d is the staged batch, or nil; of the edges that it
// replaces, the mirror gets the versions of a view. After an error, the next call copies everything. ctx cancels a copy
// of the whole graph.
func (m *Mirror) CatchUp(ctx context.Context, d *dyngraph.Delta, which dyngraph.Which) error {
	m.searched = true
	m.facts.show(m.g, d, which)
	err := m.follow(ctx, d)
	if err != nil {
		m.again()
	}
	return err
}

// again makes the next CatchUp copy everything, after a failure.
func (m *Mirror) again() {
	m.edges.rest() // queued copies may read memory that is written next
	m.forget()
	m.BitsStale, m.facts.stale = true, true
}

func (m *Mirror) follow(ctx context.Context, d *dyngraph.Delta) error {
	if err := m.vertices(); err != nil {
		return fmt.Errorf("copying candidates to the device: %w", err)
	}
	if err := m.allFacts(); err != nil {
		return fmt.Errorf("copying values of edges to the device: %w", err)
	}
	if m.kindsDiffer() {
		m.forget()
	}
	err := m.loadAndUpdate(ctx, d)
	if short := (*kernels.MemoryError)(nil); errors.As(err, &short) {
		// Rewriting the array on the device needs room for two arrays. Loading it from the host needs room for one.
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
	if err := m.moveHot(); err != nil {
		return fmt.Errorf("moving a part of the graph to the device: %w", err)
	}
	return nil
}

// kindsDiffer reports whether the number of labels has changed the encoding of kinds.
func (m *Mirror) kindsDiffer() bool {
	return m.Loaded && m.edges.nbrBits != m.bounds().nbrBits()
}

func (m *Mirror) bounds() bounds {
	return bounds{vertices: int(m.g.IDBound()), labels: m.g.Labels(), layers: m.above.bits, edges: int(m.g.EdgeBound())}
}

// Layers returns the number of bits of a label on the device that tell parallel edges apart: the label of an edge is
// that of the graph, times 2^Layers, plus its layer. CatchUp may change it.
func (m *Mirror) Layers() int { return m.above.bits }

// load copies all entries, including those of the staged batch. update then sends the staged batch itself.
func (m *Mirror) load(ctx context.Context) error {
	m.forget()
	asked, err := m.patch() // entries are sorted by labels
	if err == nil && asked {
		err = m.edges.q.Sync()
	}
	if err != nil {
		return err
	}
	if err := m.above.load(m.g); err != nil {
		return err
	}
	const enough = 1 << 16 // leaves of the host, for an estimate
	each := max(1, m.g.Leaves()/enough)
	err = m.loadWith(ctx, m.rows(each))
	if errors.Is(err, errRows) && each > 1 {
		err = m.loadWith(ctx, m.rows(1))
	}
	m.Loaded = err == nil
	return err
}

// rows estimates the number of rows of the array from one in each blocks of the host's leaves. From all of them the
// estimate is not too low.
func (m *Mirror) rows(each int) int {
	const block, alone = 64, 512 // leaves; fewer than alone are not worth another thread
	leaves, blocks := m.g.Leaves(), (m.g.Leaves()+block-1)/block
	some := (blocks + each - 1) / each
	threads := max(1, min(m.threads, some*block/alone))
	var all, read atomic.Int64
	device.InParallel(threads, func(t int) {
		c := rowCounter{m: m, view: m.g.View(dyngraph.New), nbrBits: m.bounds().nbrBits()}
		for i := t * some / threads; i < (t+1)*some/threads; i++ {
			end := min((i*each+1)*block, leaves)
			for leaf := i * each * block; leaf < end; leaf++ {
				c.add(leaf)
				read.Add(1)
			}
			if each > 1 {
				c.end()
			}
		}
		c.end()
		all.Add(int64(c.n))
	})
	if each == 1 {
		return int(all.Load())
	}
	return int(float64(all.Load()) * float64(leaves) / float64(read.Load()) * 1.02)
}

// rowCounter counts the rows of leaves of the host, in order. A row of the host is one for each label of a neighbour,
// and each layer, on the device.
type rowCounter struct {
	m       *Mirror
	view    dyngraph.View
	nbrBits int
	n       int

	row   uint64   // the row of the host that is read
	kinds []uint32 // its kinds, some more than once
	most  int      // number of these from which they are looked through

	rows []uint64
}

func (c *rowCounter) add(leaf int) {
	rows, nbrs, ents := c.m.g.Leaf(leaf, c.rows)
	c.rows = rows
	for i, row := range rows {
		if row != c.row {
			c.end()
			c.row = row
		}
		label := uint32(c.m.above.row(row, ents[i].Index())) &^ (1 << 31)
		c.kinds = append(c.kinds, kernels.KindOf(label, uint32(c.view.Label(nbrs[i])), c.nbrBits))
		if len(c.kinds) > c.most {
			c.distinct()
			c.most = 256 + 2*len(c.kinds)
		}
	}
}

// end ends the row that is read.
func (c *rowCounter) end() {
	c.distinct()
	c.n += len(c.kinds)
	c.kinds, c.most = c.kinds[:0], 256
}

func (c *rowCounter) distinct() {
	slices.Sort(c.kinds)
	c.kinds = slices.Compact(c.kinds)
}

// loadWith copies all entries, of as many rows as there are at most.
func (m *Mirror) loadWith(ctx context.Context, rows int) error {
	leaf, at := 0, 0 // the next entry is number at of leaf-1
	var of []uint64
	var nbrs []dyngraph.VertexID
	var ents []dyngraph.Entry
	return m.edges.load(m.g.Entries(), rows, m.bounds(), m.label.Ptr,
		func(row []uint64, nbr, ent []uint32) (n int, err error) {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			for n < len(row) {
				if at == len(nbrs) {
					of, nbrs, ents = m.g.Leaf(leaf, of)
					leaf, at = leaf+1, 0
				}
				for ; at < len(nbrs) && n < len(row); at++ {
					row[n], nbr[n], ent[n] = m.above.row(of[at], ents[at].Index()), uint32(nbrs[at]), uint32(ents[at])
					n++
				}
			}
			return n, nil
		})
}

// update sends all changes to the device and waits.
func (m *Mirror) update(d *dyngraph.Delta) error {
	if err := m.begin(d); err != nil {
		return err
	}
	asked, err := m.patch() // while the device updates the array
	if err != nil {
		return err
	}
	also, err := m.patchFacts()
	switch {
	case err != nil:
	case m.edges.asked != nil:
		err = m.edges.finish()
	case asked || also:
		err = m.edges.q.Sync()
	}
	return err
}

// begin sends the device how its last batch ended, the changes by later batches, and the staged batch.
func (m *Mirror) begin(d *dyngraph.Delta) error {
	var net []dyngraph.NetEdge
	if d != nil && !m.staged {
		net = d.Net
	}
	if len(net)+len(m.missed) > 0 || m.end != Open {
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
	m.staged, m.end, m.missed = d != nil, Open, m.missed[:0]
	return nil
}

// Net returns the address of the net edges of the staged batch.
func (m *Mirror) Net() kernels.Ptr { return m.edges.net.Ptr }

// Graph returns the view of the mirror that kernels take as a parameter.
func (m *Mirror) Graph() kernels.Graph {
	a := &m.edges.now
	base, shift := m.edges.ranges.params()
	return kernels.Graph{Nbr: a.nbr.Ptr, Ent: a.ent.Ptr, Count: a.count.Ptr, Runs: a.runs.Ptr, FenceRow: a.fenceRow.Ptr,
		FenceNbr: a.fenceNbr.Ptr, Span: m.edges.span.Ptr,
		Order: m.edges.order.Ptr, Bits: m.bits.Ptr, Label: m.label.Ptr, Words: uint32(m.vertexWords()),
		Dirs:    uint32(m.edges.dirs),
		NbrBits: uint32(m.edges.nbrBits), Base: base, Shift: shift,
		Pairs: m.edges.pairs.on.Ptr, PairMask: m.edges.pairs.mask, Where: m.where()}
}

// Slots returns the number of slots in the array.
func (m *Mirror) Slots() int { return m.edges.now.leaves * kernels.LeafSlots }

var layoutSeed = maphash.MakeSeed()

// Layout returns a checksum of the number of entries of each leaf. The entries are sorted, so mirrors of the same graph
// with equal checksums have each entry in the same slot. Any goroutine may call it while the array does not change.
func (m *Mirror) Layout() (uint64, error) {
	a := m.edges
	counts := make([]uint32, a.now.leaves)
	if err := m.dev.Read(kernels.Bytes(counts), a.now.count.Ptr); err != nil {
		return 0, err
	}
	var h maphash.Hash
	h.SetSeed(layoutSeed)
	for _, part := range [][]uint32{counts, a.ranges.base, {uint32(a.nbrBits), uint32(m.above.bits)}} {
		h.Write(kernels.Bytes(part)) // it never fails
	}
	return h.Sum64(), nil
}

// MostNeighbors returns an upper bound of the number of neighbours of a vertex.
func (m *Mirror) MostNeighbors() int { return m.edges.widest() * kernels.LeafSlots }

// Divide has the array have ranges of vertices however few slots it has, and no window of more than 1<<top leaves be
// spread. Tests call it, before the first CatchUp.
func (m *Mirror) Divide(top int) { m.edges.top, m.edges.ranges.one = top, 0 }

// Behind estimates the bytes that the mirror lacks of the graph, and those of them (own) that are of the staged batch.
// An update that Stage has queued is included, because the search that follows is charged for it. Behind is called for
// every batch, even if the device is never used, so it must be cheap.
func (m *Mirror) Behind(d *dyngraph.Delta) (all, own uint64) {
	const ofEdge = 2 * 16 // bytes of two entries: applying an operation costs more than copying it
	words := uint64(m.vertexWords())
	bits := uint64(m.g.IDBound()) * 8 * words
	facts := m.facts.behind(m.g)
	whole := uint64(m.g.Edges())*ofEdge + bits + facts
	if !m.Loaded {
		return whole, 0
	}
	begun := m.staged && m.edges.asked != nil
	all = uint64(len(m.missed))*ofEdge + uint64(len(m.touched))*8*words + facts
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
