//go:build cuda || emu

package cuda

import (
	"slices"

	"motifd/dyngraph"
	"motifd/kernels"
)

// vertices makes room for the filter's bits, by the numbers of the classes, and the labels. It copies those of all vertices where they are not there; those
// of vertices that were touched since are patch's.
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
	if !m.bitsStale && !fresh && !freshLabels {
		return nil
	}
	m.bitsStale = true // until they are there
	if err := m.allVertices(vertices, words); err != nil {
		return err
	}
	m.bitsStale, m.touched = false, m.touched[:0]
	return nil
}

// patch has the bits and labels of the vertices that were touched copied, and tells whether there were any. They are on their way on the array's stream then.
func (m *mirror) patch() (asked bool, err error) {
	vertices, words := int(m.g.IDBound()), m.filter.NumberWords()
	// An aborted batch may have had ids that there are no more.
	m.touched = slices.DeleteFunc(m.touched, func(v dyngraph.VertexID) bool { return int(v) >= vertices })
	n := len(m.touched)
	if n == 0 {
		return false, nil
	}
	all := 8 * n * words
	if err := m.edges.open(0); err != nil {
		return false, err
	}
	host, err := m.page.reserve(all + 8*n)
	if err != nil {
		return false, err
	}
	if _, err := m.data.claim(all + 8*n); err != nil {
		return false, err
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
		return false, err
	}
	src, numbers := m.data.ptr, m.data.ptr+kernels.Ptr(all+4*n)
	for _, p := range []kernels.Patch{{Dst: m.bits.ptr, Src: src, At: numbers, Records: uint32(n), Words: uint32(2 * words)},
		{Dst: m.label.ptr, Src: src + kernels.Ptr(all), At: numbers, Records: uint32(n), Words: 1}} {
		if p.Words == 0 {
			continue
		}
		if err := kernels.RunPatch(m.edges.q, p); err != nil {
			return false, err
		}
	}
	m.edges.trace.end(m.edges.q, LaneArray, "bits", 0, n)
	m.touched = m.touched[:0]
	return true, nil
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
	if err := m.edges.open(0); err != nil {
		return err
	}
	part := max(1, (32<<20)/(8*words+4))
	for first := 0; first < vertices; first += part {
		n := min(part, vertices-first)
		all := 8 * n * words
		host, err := m.page.reserve(all + 4*n)
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
