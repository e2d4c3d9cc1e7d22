//go:build cuda || emu

package mirror

import (
	"slices"

	"motifd/dyngraph"
	"motifd/kernels"
	"motifd/matcher/cuda/device"
)

// vertices makes room for the words of vertices and for the labels. If they are stale or lost, it copies those of all
// vertices. patch copies those of touched vertices. The words of a vertex are the bits of the filter, ordered by class
// number; then, if programs read values of vertices, bits that tell in which columns it has values, and these values.
func (m *Mirror) vertices() error {
	vertices, words := int(m.g.IDBound()), m.vertexWords()
	fresh, err := m.bits.Reserve(8 * max(1, vertices*words))
	if err != nil {
		return err
	}
	freshLabels, err := m.label.Reserve(4 * max(1, vertices))
	if err != nil {
		return err
	}
	if !m.BitsStale && !fresh && !freshLabels {
		return nil
	}
	m.BitsStale = true // in case of an error
	if err := m.allVertices(vertices, words); err != nil {
		return err
	}
	m.BitsStale, m.touched = false, m.touched[:0]
	return nil
}

// patch queues copies of the bits and labels of the touched vertices on the array's stream. asked is true if there were
// any.
func (m *Mirror) patch() (asked bool, err error) {
	vertices, words := int(m.g.IDBound()), m.vertexWords()
	// An aborted batch may have touched vertices that no longer exist.
	m.touched = slices.DeleteFunc(m.touched, func(v dyngraph.VertexID) bool { return int(v) >= vertices })
	n := len(m.touched)
	if n == 0 {
		return false, nil
	}
	all := 8 * n * words
	if err := m.edges.open(0); err != nil {
		return false, err
	}
	host, err := m.page.Reserve(all + 8*n)
	if err != nil {
		return false, err
	}
	if _, err := m.data.Claim(all + 8*n); err != nil {
		return false, err
	}
	data, label, at := view[uint64](host, n*words), view[uint32](host[all:], n), view[uint32](host[all+4*n:], n)
	device.InParts(n, m.threads, func(from, to int) {
		for i := from; i < to; i++ {
			at[i] = uint32(m.touched[i])
			label[i] = m.vertex(m.touched[i], data[i*words:(i+1)*words])
		}
	})
	m.edges.trace.Begin(m.edges.q, device.LaneArray, "bits", 0)
	if err := m.edges.q.Write(m.data.Ptr, host[:all+8*n]); err != nil {
		return false, err
	}
	src, numbers := m.data.Ptr, m.data.Ptr+kernels.Ptr(all+4*n)
	for _, p := range []kernels.Patch{{Dst: m.bits.Ptr, Src: src, At: numbers, Records: uint32(n),
		Words: uint32(2 * words)},
		{Dst: m.label.Ptr, Src: src + kernels.Ptr(all), At: numbers, Records: uint32(n), Words: 1}} {
		if p.Words == 0 {
			continue
		}
		if err := kernels.RunPatch(m.edges.q, p); err != nil {
			return false, err
		}
	}
	m.edges.trace.End(m.edges.q, device.LaneArray, "bits", 0, n)
	m.touched = m.touched[:0]
	return true, nil
}

// vertexWords returns the number of words of a vertex.
func (m *Mirror) vertexWords() int {
	return m.filter.NumberWords() + presence(m.ofVertices) + len(m.ofVertices)
}

// vertex writes the words of a vertex to row and returns its label. A vertex that the filter does not know is no
// candidate. Of a revised vertex it writes the new values: if they matter for a plan, the device does not search it.
func (m *Mirror) vertex(v dyngraph.VertexID, row []uint64) uint32 {
	view, bits := m.g.View(dyngraph.New), row[:m.filter.NumberWords()]
	if int(v) < m.filter.Vertices() {
		m.filter.ByNumber(v, bits)
	} else {
		clear(bits)
	}
	has := row[len(bits):][:presence(m.ofVertices)]
	clear(has)
	values := row[len(bits)+len(has):]
	for i, c := range m.ofVertices {
		x := view.VertexValue(v, c)
		if values[i] = uint64(x.Whole()); !x.IsNull() {
			has[i/64] |= 1 << (i % 64)
		}
	}
	return uint32(view.Label(v))
}

// allVertices copies the bits and labels of all vertices, in parts of 32 MiB.
func (m *Mirror) allVertices(vertices, words int) error {
	if err := m.edges.open(0); err != nil {
		return err
	}
	part := max(1, (32<<20)/(8*words+4))
	for first := 0; first < vertices; first += part {
		n := min(part, vertices-first)
		all := 8 * n * words
		host, err := m.page.Reserve(all + 4*n)
		if err != nil {
			return err
		}
		rows, label := view[uint64](host, n*words), view[uint32](host[all:], n)
		device.InParts(n, m.threads, func(from, to int) {
			for i := from; i < to; i++ {
				label[i] = m.vertex(dyngraph.VertexID(first+i), rows[i*words:(i+1)*words])
			}
		})
		m.edges.trace.Begin(m.edges.q, device.LaneArray, "bits", 0)
		if err := m.edges.q.Write(m.bits.Ptr+kernels.Ptr(8*first*words), host[:all]); err != nil {
			return err
		}
		if err := m.edges.q.Write(m.label.Ptr+kernels.Ptr(4*first), host[all:all+4*n]); err != nil {
			return err
		}
		m.edges.trace.End(m.edges.q, device.LaneArray, "bits", 0, n)
		if err := m.edges.q.Sync(); err != nil {
			return err
		}
	}
	return nil
}
