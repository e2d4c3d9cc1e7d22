package cpu

// need is something without which a quotient has no homomorphisms from a net edge as the image of a pattern edge: it must be in a
// closed walk, as a link of a ring of a finer quotient. Since the ranks of the ring's edges ascend, the walks that the net edge closes see
// what the homomorphisms do.
type need struct {
	of    *quotient // the finer one
	edge  int
	first uint32 // the pattern vertices at the place where the link begins
	ring  *ring
	link  int
}

// needs returns what the quotients that are coarser than one with a ring need; nothing if the ranks of the ring's edges do not ascend.
func needs(s *shape, q *quotient, row []int, ring *ring) (ns []need) {
	if !q.ascends(row) {
		return nil
	}
	for i, v := range row[1:] {
		ns = append(ns, need{q, q.edge(row[i], v).edge, q.members[row[i]], ring, i})
	}
	return ns
}

// rulesOut reports whether a quotient has no homomorphisms from a beginning whose net edge has a place in its group.
func (f *forest) rulesOut(q int, b *beginning) bool {
	for i := range f.needs[q] {
		n := &f.needs[q][i]
		if n.edge != b.anchor || n.ring.phase != f.phase {
			continue
		}
		place, l := 2*int(b.place), &n.ring.links[n.link]
		if n.first&(1<<b.u) == 0 {
			place++
		}
		if place%2 == 0 && l.along || place%2 == 1 && l.against {
			if !l.closed[place] {
				return true
			}
		}
	}
	return false
}
