package dyngraph

import "unsafe"

// resolved is an accepted update with the vertices that bore its keys when it was accepted, for Stage, which then need
// not look them up again: most of the cost of a look-up is waiting for memory. It is valid until the graph changes.
type resolved struct {
	from, to     string // the update's; From is Key's too
	fromID, toID VertexID
}

// unresolved returns an update's keys, not yet looked up.
func unresolved(u *Update) resolved {
	if u.Op.OfVertex() {
		return resolved{from: u.Key, fromID: NoVertex, toID: NoVertex}
	}
	return resolved{from: u.From, to: u.To, fromID: NoVertex, toID: NoVertex}
}

// resolve finds the vertices of at most ahead updates. Each step is taken for all keys before the next, by reads that
// do not wait for each other (see pma_warm.go): the slot, the key that it leads to, the bytes of that key.
func (g *Graph) resolve(rs []resolved) {
	var keys [2 * ahead]string
	var hashes [2 * ahead]uint32
	var ids [2 * ahead]VertexID
	n := 2 * len(rs)
	for i := range rs {
		keys[2*i], keys[2*i+1] = rs[i].from, rs[i].to
	}
	d := &g.keys
	sum := uint64(0)
	for i, key := range keys[:n] {
		hashes[i] = d.hash(key)
	}
	for _, h := range hashes[:n] {
		t := d.table(h)
		sum += t.slots[t.home(h)]
	}
	for i, h := range hashes[:n] {
		ids[i] = d.likely(h)
	}
	for _, id := range ids[:n] {
		if id != NoVertex {
			sum += uint64(len(g.vkey[id])) + uint64(g.vlabel[id]) // Accept asks for the label
		}
	}
	for _, id := range ids[:n] {
		if id != NoVertex && len(g.vkey[id]) > 0 {
			sum += uint64(g.vkey[id][0])
		}
	}
	d.warmth += sum
	for i, id := range ids[:n] {
		if id != NoVertex && g.vkey[id] != keys[i] {
			ids[i] = d.find(hashes[i], keys[i], g.vkey)
		}
	}
	for i := range rs {
		rs[i].fromID, rs[i].toID = ids[2*i], ids[2*i+1]
	}
}

// find returns the vertex that bears the key, or NoVertex.
func (g *Graph) find(key string) VertexID { return g.keys.find(g.keys.hash(key), key, g.vkey) }

// putKey and dropKey make the dictionary lead to a vertex, and no longer to it. Its key is in the column.
func (g *Graph) putKey(id VertexID)  { g.keys.insert(g.keys.hash(g.vkey[id]), id) }
func (g *Graph) dropKey(id VertexID) { g.keys.remove(g.keys.hash(g.vkey[id]), id) }

// resolveAll resolves the updates [i, to), of which there are at most ahead. The first known resolutions are those that
// Accept made; one is kept where the update's keys are the same strings in memory. The others are made anew.
func (g *Graph) resolveAll(updates []Update, i, to, known int) {
	anew := false
	for j := i; j < to; j++ {
		u := unresolved(&updates[j])
		if r := &g.resolved[j]; j >= known || !same(u.from, r.from) || !same(u.to, r.to) {
			*r, anew = u, true
		}
	}
	if anew {
		g.resolve(g.resolved[i:to])
	}
}

// selfLoop tells whether the ends of an edge are one vertex. For keys that the graph knows it compares the vertices:
// waiting for the bytes of keys would cost more than the rest.
func selfLoop(r *resolved) bool {
	if r.fromID != NoVertex && r.toID != NoVertex {
		return r.fromID == r.toID
	}
	return r.from == r.to
}

// same tells whether two strings are one in memory, and therefore equal; their bytes are not read.
func same(a, b string) bool { return len(a) == len(b) && unsafe.StringData(a) == unsafe.StringData(b) }

// unresolve forgets resolutions, as the graph changes.
func (g *Graph) unresolve() {
	clear(g.resolved)
	g.resolved = emptied(g.resolved)
}
