//go:build cuda || emu

package mirror

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"

	"motifd/dyngraph"
	"motifd/kernels"
	"motifd/matcher/cuda/device"
)

// UseCache turns the mirror into a cache of a size in bytes, which holds the entries of some vertices. The memory of
// the graph that it held is freed.
func (m *Mirror) UseCache(bytes int) error {
	m.again()
	err := m.edges.Free()
	if m.cache != nil {
		if e := m.cache.Free(); err == nil {
			err = e
		}
	}
	old := m.cache
	m.cache = &cache{dev: m.dev, dirs: m.edges.dirs, size: bytes}
	if old != nil {
		m.cache.lists, m.cache.moved, m.cache.evicted = old.lists, old.moved, old.evicted
	}
	for _, b := range []*device.Buffer{&m.cache.memory, &m.cache.frame, &m.cache.net, &m.cache.entries,
		&m.cache.pieces, &m.cache.patches} {
		b.Dev = m.dev
	}
	m.cache.entriesPage.Dev, m.cache.piecesPage.Dev, m.cache.patchesPage.Dev = m.dev, m.dev, m.dev
	return err
}

// Cached reports whether the mirror holds the entries of some vertices alone.
func (m *Mirror) Cached() bool { return m.cache != nil }

// Holds reports whether the entries of a vertex are there.
func (m *Mirror) Holds(v uint32) bool { return m.cache.of[v] != 0 }

// Ends returns the vertices of a net edge of the staged batch.
func (m *Mirror) Ends(net uint32) [2]uint32 {
	n := &m.cache.staged[net]
	return [2]uint32{n.From, n.To}
}

// Passes reports whether the candidate bits of a vertex, as the device has them, let it be mapped by a step.
func (m *Mirror) Passes(v uint32, step *kernels.Step) bool {
	c := m.cache
	c.bits = slices.Grow(c.bits[:0], m.filter.NumberWords())[:m.filter.NumberWords()]
	if int(v) >= m.filter.Vertices() {
		return false
	}
	m.filter.ByNumber(dyngraph.VertexID(v), c.bits)
	return c.bits[step.Word]&step.Mask != 0
}

// Entries returns the number of entries of a vertex, those of the staged batch included.
func (m *Mirror) Entries(v uint32) (n int) {
	for d := range m.edges.dirs {
		n += m.g.Degree(dyngraph.VertexID(v), dyngraph.Dir(d))
	}
	return n
}

// Moved returns how many lists were copied to caches since there is one, how many entries they had, and how many lists
// made room for others.
func (m *Mirror) Moved() (lists, entries, evicted uint64) {
	return m.cache.lists, m.cache.moved, m.cache.evicted
}

// cacheUp brings the cache to the present state of the graph: it drops all, if labels have changed their encoding, and
// sends the net edges of the staged batch.
func (m *Mirror) cacheUp(d *dyngraph.Delta) error {
	c := m.cache
	if err := m.edges.open(0); err != nil {
		return err
	}
	if err := c.open(int(m.g.IDBound())); err != nil {
		return err
	}
	if !m.Loaded {
		if err := m.above.load(m.g); err != nil {
			return err
		}
		c.dropAll()
		m.edges.nbrBits = m.bounds().nbrBits()
		m.Loaded = true
	}
	if _, err := m.patch(); err != nil {
		return err
	}
	if d != nil && !m.staged {
		c.staged = make([]kernels.Net, len(d.Net))
		for i := range d.Net {
			n := &d.Net[i]
			c.staged[i] = kernels.Net{Edge: uint32(n.Edge), From: uint32(n.From), To: uint32(n.To)}
		}
		if err := c.net.Put(kernels.Bytes(c.staged)); err != nil {
			return err
		}
	}
	m.staged, m.end, m.missed = d != nil, Open, m.missed[:0]
	if err := m.frames(); err != nil {
		return err
	}
	return m.edges.q.Sync()
}

// BeginRound unpins all lists.
func (m *Mirror) BeginRound() { m.cache.round++ }

// Pin keeps a vertex that is held until the next round begins.
func (m *Mirror) Pin(v uint32) { m.cache.pin(v) }

// Reset drops all vertices.
func (m *Mirror) Reset() { m.cache.dropAll() }

// load is a list to copy: a vertex, its first slot, and its number of entries.
type load struct{ vertex, begin, n uint32 }

// Fetch copies the entries of vertices that are not held to the device, as long as there is room beside those that are
// pinned, and pins them. No search runs meanwhile. It gathers them with several threads. After an error nothing is
// held.
func (m *Mirror) Fetch(ctx context.Context, wanted []uint32) error {
	err := m.fetch(ctx, wanted)
	if err != nil {
		m.edges.rest() // queued copies may read memory that is written next
		m.cache.dropAll()
	}
	return err
}

func (m *Mirror) fetch(ctx context.Context, wanted []uint32) error {
	c := m.cache
	var loads []load
	for _, v := range wanted {
		n := uint32(m.Entries(v))
		begin, ok := c.place(v, n)
		if !ok {
			break
		}
		if n > 0 {
			loads = append(loads, load{v, begin, n})
		}
	}
	for at := 0; at < len(loads); {
		end, n := at, 0
		for end < len(loads) && (n == 0 || n+int(loads[end].n) <= fetchEntries) {
			n += int(loads[end].n)
			end++
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := m.copyLists(loads[at:end], n); err != nil {
			return err
		}
		at = end
	}
	if err := m.frames(); err != nil {
		return err
	}
	return m.edges.q.Sync()
}

// fetchEntries is the number of entries that are gathered and copied at a time: 12 MiB. A longer list is gathered as
// a whole. Tests make it small.
var fetchEntries = 1 << 20

// EntrySize is the number of bytes that are copied for an entry: the size of a kernels.CacheEntry.
const EntrySize = 12

// copyLists gathers lists of n entries in all, and has the device write them to the pool.
func (m *Mirror) copyLists(loads []load, n int) error {
	c := m.cache
	host, err := c.entriesPage.Reserve(EntrySize * n)
	if err != nil {
		return err
	}
	all := view[kernels.CacheEntry](host, n)
	spans := make([]span, len(loads)*c.dirs)
	m.gather(loads, all, spans)
	if err := m.spans(loads, spans); err != nil {
		return err
	}
	c.lists += uint64(len(loads))
	c.moved += uint64(n)
	pieces, first := []kernels.Piece(nil), 0 // the number of the first entry of the pieces
	at := 0
	for _, l := range loads {
		for k := 0; k < int(l.n); k += kernels.MaxPiece {
			size := min(kernels.MaxPiece, int(l.n)-k)
			if at+size-first > fetchEntries {
				if err := m.copyPieces(pieces, all[first:at]); err != nil {
					return err
				}
				pieces, first = pieces[:0], at
			}
			pieces = append(pieces, kernels.Piece{Vertex: l.vertex, From: uint32(at - first), To: l.begin + uint32(k),
				N: uint32(size)})
			at += size
		}
	}
	return m.copyPieces(pieces, all[first:at])
}

// copyPieces copies entries to the device, which writes them to the pool, and waits.
func (m *Mirror) copyPieces(pieces []kernels.Piece, entries []kernels.CacheEntry) error {
	c, q := m.cache, m.edges.q
	data := kernels.Bytes(pieces)
	host, err := c.piecesPage.Reserve(len(data))
	if err != nil {
		return err
	}
	copy(host, data)
	if _, err := c.pieces.Claim(len(data)); err != nil {
		return err
	}
	if _, err := c.entries.Claim(EntrySize * len(entries)); err != nil {
		return err
	}
	m.edges.trace.Begin(q, device.LaneArray, "fetch", 0)
	if err := q.Write(c.entries.Ptr, kernels.Bytes(entries)); err != nil {
		return err
	}
	if err := q.Write(c.pieces.Ptr, host); err != nil {
		return err
	}
	if err := kernels.RunCacheFill(q, kernels.CacheFill{Piece: c.pieces.Ptr, Entry: c.entries.Ptr, Row: c.row,
		Nbr: c.nbr, Ent: c.ent, FenceRow: c.fence, FenceNbr: c.fenceNbr, Pieces: uint32(len(pieces))}); err != nil {
		return err
	}
	m.edges.trace.End(q, device.LaneArray, "fetch", 0, len(entries))
	return q.Sync()
}

// span is Span of graph.cuh.
type span struct{ begin, end, first, last uint32 }

// gather writes the entries of lists, one list behind the other, and their spans by direction.
func (m *Mirror) gather(loads []load, all []kernels.CacheEntry, spans []span) {
	from := make([]int, len(loads)+1)
	for i, l := range loads {
		from[i+1] = from[i] + int(l.n)
	}
	const share = 64 // lists that a thread takes at a time
	var next atomic.Int64
	threads := max(1, min(m.threads, len(all)>>12, (len(loads)+share-1)/share))
	device.InParallel(threads, func(int) {
		g := gatherer{m: m}
		for {
			i := int(next.Add(share)) - share
			if i >= len(loads) {
				return
			}
			for end := min(i+share, len(loads)); i < end; i++ {
				g.list(loads[i], all[from[i]:from[i+1]], spans[i*m.edges.dirs:][:m.edges.dirs])
			}
		}
	})
}

// gatherer gathers lists.
type gatherer struct {
	m      *Mirror
	labels []dyngraph.LabelID
}

// list writes the entries of a vertex in the order of the device: by direction, kind and neighbour.
func (g *gatherer) list(l load, to []kernels.CacheEntry, spans []span) {
	n := 0
	for d := range spans {
		first := n
		n += g.side(dyngraph.VertexID(l.vertex), dyngraph.Dir(d), to[n:])
		if part := to[first:n]; len(part) > 0 {
			if !slices.IsSortedFunc(part, compareEntries) {
				slices.SortFunc(part, compareEntries)
			}
			spans[d] = span{l.begin + uint32(first), l.begin + uint32(n), part[0].Row &^ direction,
				part[len(part)-1].Row &^ direction}
		}
	}
}

// direction is the bit of a row that tells of its direction.
const direction = uint32(1) << 31

func compareEntries(a, b kernels.CacheEntry) int {
	return cmp.Compare(uint64(a.Row)<<32|uint64(a.Nbr), uint64(b.Row)<<32|uint64(b.Nbr))
}

// side writes the entries of a vertex in a direction in the order of the host, and returns their number.
func (g *gatherer) side(v dyngraph.VertexID, d dyngraph.Dir, to []kernels.CacheEntry) (n int) {
	m, view := g.m, g.m.g.View(dyngraph.New)
	g.labels = m.g.LabelsOf(v, d, g.labels[:0])
	for _, label := range g.labels {
		r := m.g.Range(v, d, label)
		for nbrs, ents, ok := r.Next(); ok; nbrs, ents, ok = r.Next() {
			for i, nbr := range nbrs {
				e := ents[i].Index()
				row := kernels.KindOf(m.above.label(label, e), uint32(view.Label(nbr)), m.edges.nbrBits)
				if d == dyngraph.In {
					row |= direction
				}
				to[n] = kernels.CacheEntry{Row: row, Nbr: uint32(nbr), Ent: m.entry(ents[i])}
				n++
			}
		}
	}
	return n
}

// entry returns an entry of the graph as a cache has it: a staged one has the place of its edge in the batch.
func (m *Mirror) entry(e dyngraph.Entry) uint32 {
	if !e.Staged() {
		return uint32(e.Index())
	}
	sign, order, _ := m.g.Staged(e.Index())
	ent := kernels.Staged | order
	if sign == dyngraph.Deleted {
		ent |= kernels.Deletes
	}
	return ent
}

// spans queues copies of the spans of lists.
func (m *Mirror) spans(loads []load, spans []span) error {
	frames := make([]uint32, len(loads))
	for i, l := range loads {
		frames[i] = m.cache.of[l.vertex]
	}
	return m.patchCache(m.cache.span, kernels.Bytes(spans), frames, m.cache.dirs*kernels.SpanSize/4)
}

// frames sends the frames of vertices that have changed.
func (m *Mirror) frames() error {
	c := m.cache
	if c.whole {
		if err := m.edges.q.Sync(); err != nil {
			return err
		}
		if err := m.dev.Write(c.frame.Ptr, kernels.Bytes(c.of)); err != nil {
			return err
		}
		c.whole, c.change = false, c.change[:0]
		return nil
	}
	frames := make([]uint32, len(c.change))
	for i, v := range c.change {
		frames[i] = c.of[v]
	}
	err := m.patchCache(c.frame.Ptr, kernels.Bytes(frames), c.change, 1)
	c.change = c.change[:0]
	return err
}

// patchCache writes records of some words to a table, and waits.
func (m *Mirror) patchCache(table kernels.Ptr, records []byte, at []uint32, words int) error {
	c, q := m.cache, m.edges.q
	if len(at) == 0 {
		return nil
	}
	numbers := kernels.Bytes(at)
	host, err := c.patchesPage.Reserve(len(records) + len(numbers))
	if err != nil {
		return err
	}
	copy(host[copy(host, records):], numbers)
	if _, err := c.patches.Claim(len(host)); err != nil {
		return err
	}
	if err := q.Write(c.patches.Ptr, host); err != nil {
		return err
	}
	if err := kernels.RunPatch(q, kernels.Patch{Dst: table, Src: c.patches.Ptr,
		At: c.patches.Ptr + kernels.Ptr(len(records)), Records: uint32(len(at)), Words: uint32(words)}); err != nil {
		return err
	}
	return q.Sync()
}

// Room returns the number of entries that the cache has room for.
func (m *Mirror) Room() int { return int(m.cache.slots) }
