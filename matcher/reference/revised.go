package reference

import (
	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/condition"
)

// revisions decides where revised vertices matter, from the words of DESIGN S16.
type revisions struct {
	before, after *where
	orders        map[uint32]uint32 // of the versions of a sign, by vertex
}

func newRevisions(g *dyngraph.Graph, d *dyngraph.Delta, sign dyngraph.Sign, q *matcher.Query) (*revisions, error) {
	r := &revisions{orders: make(map[uint32]uint32)}
	for order, n := range d.Net {
		if n.Revised && n.Sign == sign {
			r.orders[uint32(n.From)] = uint32(order)
		}
	}
	var err error
	if r.before, err = newWhere(g.View(dyngraph.Old), q); err != nil {
		return nil, err
	}
	r.after, err = newWhere(g.View(dyngraph.New), q)
	return r, err
}

// matters reports whether the vertex that a match maps pattern vertex u to is revised and matters there: the truth of
// the conditions on u alone differs, or a value that a condition on u and other elements reads.
func (s *revisions) matters(u int, r row) (order uint32, ok bool) {
	order, ok = s.orders[r[u]]
	if !ok {
		return 0, false
	}
	held, holds := true, true
	for _, n := range s.before.conditions {
		reads, others := n.reads(condition.Ref{Index: u})
		switch {
		case len(reads) == 0:
		case !others:
			held = held && s.before.truth(n, r) == condition.True
			holds = holds && s.after.truth(n, r) == condition.True
		default:
			for _, read := range reads {
				if s.before.read(read, r) != s.after.read(read, r) {
					return order, true
				}
			}
		}
	}
	return order, held != holds
}

// reads returns where a condition reads an element, and whether it reads others.
func (n *node) reads(element condition.Ref) (reads []*node, others bool) {
	if n.Op == "read" || n.Op == "labelled" {
		if n.Element == element {
			return []*node{n}, false
		}
		return nil, true
	}
	for _, a := range n.Args {
		more, other := a.reads(element)
		reads, others = append(reads, more...), others || other
	}
	return reads, others
}
