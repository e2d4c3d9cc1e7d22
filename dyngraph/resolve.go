package dyngraph

import "unsafe"

// resolved is an accepted update with the vertices that bore its keys when it was accepted, for Stage, which then need
// not look for them again: most of what a look-up costs is to wait for memory. It holds until the graph changes.
type resolved struct {
	from, to     string // the update's; From is Key's too
	fromID, toID VertexID
}

// resolve finds the vertices of an update's keys.
func (g *Graph) resolve(u *Update) resolved {
	r := resolved{from: u.From, to: u.To, fromID: NoVertex, toID: NoVertex}
	one := u.Op == InsertVertex || u.Op == DeleteVertex
	if one {
		r.from, r.to = u.Key, ""
	}
	if id, ok := g.keys[r.from]; ok {
		r.fromID = id
	}
	if one {
		return r
	}
	if id, ok := g.keys[r.to]; ok {
		r.toID = id
	}
	return r
}

// resolveAll resolves the updates [i, to): as Accept did, of whose resolutions there are known, where the strings are the very same,
// or anew.
func (g *Graph) resolveAll(updates []Update, i, to, known int) {
	for ; i < to; i++ {
		u, r := &updates[i], &g.resolved[i]
		from, to := u.From, u.To
		if u.Op == InsertVertex || u.Op == DeleteVertex {
			from, to = u.Key, ""
		}
		if i >= known || !same(from, r.from) || !same(to, r.to) {
			*r = g.resolve(u)
		}
	}
}

// selfLoop tells whether the ends of an edge are one vertex. Keys that the graph knows are not looked at: to wait for
// their bytes costs more than the rest of it.
func selfLoop(r *resolved) bool {
	if r.fromID != NoVertex && r.toID != NoVertex {
		return r.fromID == r.toID
	}
	return r.from == r.to
}

// same tells whether two strings are one in memory, so that they are equal without a look at them.
func same(a, b string) bool { return len(a) == len(b) && unsafe.StringData(a) == unsafe.StringData(b) }

// unresolve forgets resolutions, as the graph changes.
func (g *Graph) unresolve() {
	clear(g.resolved)
	g.resolved = emptied(g.resolved)
}
