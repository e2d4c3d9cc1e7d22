package cpu

import (
	"cmp"
	"slices"

	"motifd/dyngraph"
)

// shelf holds the numbers of up to four branches that hang from vertices with the same label: those of a vertex lie side by side, in
// one cache line or two, since what a batch changes of one of them is mostly multiplied by the others.
type shelf struct {
	root   dyngraph.LabelID
	cells  []cell    // by vertex, then by place
	places []*branch // nil is free
}

// shelfPlaces is how many cells a cache line has.
const shelfPlaces = 4

// grow makes room for the ids below n.
func (s *shelf) grow(n int) {
	width := len(s.places)
	was := len(s.cells) / width
	if n <= was {
		return
	}
	s.cells = append(s.cells, make([]cell, (n-was)*width)...)
	for i, br := range s.places {
		if br == nil {
			continue
		}
		br.cells = s.cells[i:]
		for v := was; v < n; v++ {
			br.cells[v*width].n = br.unasked()
		}
	}
}

// put gives a branch a place.
func (s *shelf) put(br *branch, place int) {
	s.places[place], br.shelf, br.width = br, s, len(s.places)
	if len(s.cells) > 0 {
		br.cells = s.cells[place:]
	}
}

// shelve gives new branches places: those that are free, and on new shelves.
func (b *branches) shelve(anew []*branch) {
	anew = slices.DeleteFunc(slices.Clone(anew), func(br *branch) bool {
		for _, s := range b.shelves {
			if place := slices.Index(s.places, nil); place >= 0 && s.root == br.root {
				s.put(br, place)
				return true
			}
		}
		return false
	})
	slices.SortStableFunc(anew, func(x, y *branch) int { return cmp.Compare(x.root, y.root) })
	for len(anew) > 0 {
		s := &shelf{root: anew[0].root}
		n := 1
		for n < min(len(anew), shelfPlaces) && anew[n].root == s.root {
			n++
		}
		s.places = make([]*branch, n)
		for place, br := range anew[:n] {
			s.put(br, place)
		}
		b.shelves, anew = append(b.shelves, s), anew[n:]
	}
}

// unshelve frees the places of branches that are no more.
func (b *branches) unshelve() {
	b.shelves = slices.DeleteFunc(b.shelves, func(s *shelf) bool {
		free := true
		for i, br := range s.places {
			if br != nil && b.all[br.key] != br {
				s.places[i] = nil
			}
			free = free && s.places[i] == nil
		}
		return free
	})
}

// numbers returns what the numbers of the branches take, in bytes.
func (b *branches) numbers(g *dyngraph.Graph) int {
	places := 0
	for _, s := range b.shelves {
		places += len(s.places)
	}
	return places * int(g.IDBound()) * cellBytes
}

// size returns what the branches would take at most with some more, in bytes: numbers for each vertex, and a change for each that can have one.
func (b *branches) size(g *dyngraph.Graph, anew []*branch) (bytes int) {
	numbers, free := 0, map[dyngraph.LabelID]int{}
	for _, s := range b.shelves {
		numbers += len(s.places)
		for _, br := range s.places {
			if br == nil {
				free[s.root]++
			}
		}
	}
	for _, br := range anew {
		if free[br.root]--; free[br.root] < 0 {
			numbers++
		}
		bytes += g.VertexLabelCount(br.root) * changeBytes
	}
	for _, br := range b.all {
		bytes += g.VertexLabelCount(br.root) * changeBytes
	}
	return bytes + numbers*int(g.IDBound())*cellBytes
}
