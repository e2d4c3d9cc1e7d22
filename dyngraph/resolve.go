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

// resolutions returns the updates' resolutions, by index: Accept's, where the strings are the very same, or new ones. They are
// in a buffer of the graph's.
func (g *Graph) resolutions(updates []Update) []resolved {
	known := len(g.resolved)
	g.resolved = grown(g.resolved, len(updates))[:len(updates)]
	for i := range updates {
		u, r := &updates[i], &g.resolved[i]
		from, to := u.From, u.To
		if u.Op == InsertVertex || u.Op == DeleteVertex {
			from, to = u.Key, ""
		}
		if i >= known || !same(from, r.from) || !same(to, r.to) {
			*r = g.resolve(u)
		}
	}
	return g.resolved
}

// same tells whether two strings are one in memory, so that they are equal without a look at them.
func same(a, b string) bool { return len(a) == len(b) && unsafe.StringData(a) == unsafe.StringData(b) }

// unresolve forgets resolutions, as the graph changes.
func (g *Graph) unresolve() {
	clear(g.resolved)
	g.resolved = emptied(g.resolved)
}
