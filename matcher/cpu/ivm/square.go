package ivm

import (
	"slices"

	"motifd/dyngraph"
	"motifd/matcher/cpu/labeladj"
)

// crossing is what is left of a round of a ring of four links: the last of what is wanted are the neighbours of the end that has fewer
// of them, many those of the other one.
type crossing struct {
	few  int
	many labeladj.Slots
	sees visibility
}

// What is found together at most, but for what one vertex has: ranges, and neighbours in one list.
const (
	mostWanted   = 1 << 16
	mostTogether = 1 << 20
)

// square counts the closed walks of some rounds of a ring of four links: the ways along one edge from the neighbours of the end that
// has fewer of them to those of the other end. The neighbours of the former are found for many rounds together.
func (k *Maintainer) square(c *traversal, rounds []closure) {
	for len(rounds) > 0 && !k.stopped() {
		rounds = rounds[k.squares(c, rounds):]
	}
	if cap(k.wanted) > 2*mostWanted {
		k.wanted, k.ranges = nil, nil
	}
	if len(k.flat) > 4*mostTogether {
		k.flat = nil
	}
}

// squares is square for the first of some rounds, and returns how many.
func (k *Maintainer) squares(c *traversal, rounds []closure) int {
	across, s := c.at(2)
	_, forth := c.at(1)
	_, back := c.at(3)
	k.wanted, k.crossings = k.wanted[:0], k.crossings[:0]
	for i := 0; i < len(rounds) && len(k.wanted) < mostWanted; i++ {
		r, kind := &rounds[i], across.kindAhead
		few, many, fewSee, manySee := r.ahead, r.back, forth, back
		if many.To-many.From < few.To-few.From {
			few, many, fewSee, manySee, kind = many, few, manySee, fewSee, across.kindBack
		}
		if many.From == many.To {
			few.To = few.From
		}
		from := len(k.wanted)
		for at := few.From; at < few.To; at++ {
			if !few.Staged || k.sees(k.index.Ent[at], fewSee) {
				k.wanted = append(k.wanted, labeladj.Lookup{Vertex: k.index.Nbr[at], Kind: kind})
			}
		}
		k.crossings = append(k.crossings, crossing{len(k.wanted) - from, many, manySee})
	}
	k.ranges = k.findAll(k.ranges, k.wanted)
	ends := k.ranges
	for i := range k.crossings {
		x := &k.crossings[i]
		few := ends[:x.few]
		ends = ends[x.few:]
		if len(few) == 0 {
			continue
		}
		rounds[i].n = k.cross(few, s, x)
	}
	return len(k.crossings)
}

// cross returns the number of ways along one edge from vertices, whose neighbours are given, to the many of a crossing. Lists are
// short, and the processor cannot guess how long: they are put together first, by whole blocks. Few of their vertices are among the many: a
// few bits of their ids, within some cache lines, rule most others out.
func (k *Maintainer) cross(few []labeladj.Slots, s visibility, x *crossing) (total uint64) {
	many := k.index.Nbr[x.many.From:x.many.To]
	if x.many.Staged {
		k.seen = k.seen[:0]
		for i, w := range many {
			if k.sees(k.index.Ent[x.many.From+i], x.sees) {
				k.seen = append(k.seen, w)
			}
		}
		many = k.seen
	}
	var sieve [64]uint64
	words := dyngraph.VertexID(8)
	if len(many) > 64 {
		words = 64
	}
	for _, w := range many {
		sieve[w/64&(words-1)&63] |= 1 << (w % 64)
	}
	for len(few) > 0 {
		n, size := 0, 0
		for n < len(few) && (n == 0 || size < mostTogether) {
			size += few[n].To - few[n].From
			n++
		}
		ends, left := k.together(few[:n], size, s), 0
		few = few[n:]
		for _, w := range ends {
			ends[left] = w
			left += int(sieve[w/64&(words-1)&63] >> (w % 64) & 1)
		}
		for _, w := range ends[:left] {
			at, _ := slices.BinarySearch(many, w)
			for ; at < len(many) && many[at] == w; at++ { // there may be several edges
				total++
			}
		}
	}
	return total
}

// together returns what is seen of several ranges of neighbours, of some size in all, one after the other.
func (k *Maintainer) together(of []labeladj.Slots, size int, s visibility) []dyngraph.VertexID {
	const block = 8
	nbr := k.index.Nbr
	if size+block > len(k.flat) {
		k.flat = make([]dyngraph.VertexID, 2*size+block)
	}
	flat, n := k.flat, 0
	for i := range of {
		r := &of[i]
		switch {
		case r.Staged:
			for at := r.From; at < r.To; at++ {
				if k.sees(k.index.Ent[at], s) {
					flat[n] = nbr[at]
					n++
				}
			}
		case r.To+block > len(nbr):
			n += copy(flat[n:], nbr[r.From:r.To])
		default:
			for at := r.From; at < r.To; at += block {
				*(*[block]dyngraph.VertexID)(flat[n+at-r.From:]) = *(*[block]dyngraph.VertexID)(nbr[at:])
			}
			n += r.To - r.From
		}
	}
	return flat[:n]
}
