package reference

import (
	"encoding/binary"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/condition"
)

// representatives keeps one row per orbit under the pattern's automorphisms: the one with the smallest vertex ids in
// pattern order, then the smallest edge identities (DESIGN S4).
//
// Two matches are in one orbit if and only if they cover the same vertices and edges, and what leads from the pattern
// element that the one maps somewhere to the element that the other maps there preserves the pattern's labels and
// conditions: that is an automorphism, as ends and directions are preserved with the data's.
func representatives(view dyngraph.View, q *matcher.Query, rows []row) []row {
	covers := make(map[string][]row) // representatives so far, by what they cover
	for _, r := range rows {
		key := cover(q, r)
		orbits := covers[key]
		at := slices.IndexFunc(orbits, func(o row) bool { return sameOrbit(q, o, r) })
		switch {
		case at < 0:
			covers[key] = append(orbits, r)
		case compareRows(view, len(q.Vertices), r, orbits[at]) < 0:
			orbits[at] = r
		}
	}
	var kept []row
	for _, orbits := range covers {
		kept = append(kept, orbits...)
	}
	return kept
}

// cover names the sets of vertices and of edges that the row maps to.
func cover(q *matcher.Query, r row) string {
	sorted := slices.Clone(r)
	slices.Sort(sorted[:len(q.Vertices)])
	slices.Sort(sorted[len(q.Vertices):])
	return sorted.key()
}

// key returns the row as a map's key.
func (r row) key() string {
	key := make([]byte, 0, 4*len(r))
	for _, x := range r {
		key = binary.LittleEndian.AppendUint32(key, x)
	}
	return string(key)
}

// sameOrbit tells whether two rows of the same cover are images of each other under an automorphism.
func sameOrbit(q *matcher.Query, a, b row) bool {
	n := len(q.Vertices)
	vertices := make([]int, n)
	for i, v := range a[:n] {
		j := slices.Index(b[:n], v)
		vertices[i] = j
		if q.Vertices[i].Label != q.Vertices[j].Label || !slices.Equal(q.Vertices[i].AnyOf, q.Vertices[j].AnyOf) {
			return false
		}
	}
	edges := make([]int, len(q.Edges))
	for i, d := range a[n:] {
		j := slices.Index(b[n:], d)
		edges[i] = j
		x, y := q.Edges[i], q.Edges[j]
		if x.Label != y.Label || !slices.Equal(x.AnyOf, y.AnyOf) || x.Either != y.Either {
			return false
		}
	}
	image := func(r condition.Ref) condition.Ref {
		if r.Edge {
			r.Index = edges[r.Index]
		} else {
			r.Index = vertices[r.Index]
		}
		return r
	}
	return condition.Preserved(q.Conditions, image) && sameNegations(q, image)
}
