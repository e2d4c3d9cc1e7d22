package dyngraph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestA9ArrayAgainstSortedSlice plays the packed memory array against a sorted slice, through growth and shrinkage,
// with batches of all sizes, spread or crowded into a few rows.
func TestA9ArrayAgainstSortedSlice(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 9))
			vertices := []int{3, 40, 1000}[seed%3]
			p := pma{directed: true}
			p.grow(vertices)
			have := map[slot]Entry{}
			for round := range 60 {
				size := 1 + rnd.IntN([]int{1, 8, 100, 2000}[rnd.IntN(4)])
				grow := round%30 < 18
				var ins, del []slot
				crowd := rnd.IntN(3) == 0
				center := rnd.Uint64()
				for range size {
					v := rnd.IntN(vertices)
					if crowd {
						v = int(center % uint64(vertices))
					}
					k := slot{row: rowKey(VertexID(v), Dir(rnd.IntN(2)), LabelID(rnd.IntN(2))),
						nbr: VertexID(rnd.IntN(5000))}
					if _, ok := have[k]; !ok && k.nbr != k.vertex() {
						have[k] = p.newEdge(k)
						ins = append(ins, slot{k.row, k.nbr, have[k]})
					}
				}
				slices.SortFunc(ins, compareSlots)
				checkSlots(t, &p, ins, p.insert(ins, nil))
				checkPMA(t, &p)
				keys := make([]slot, 0, len(have))
				for k := range have {
					keys = append(keys, k)
				}
				slices.SortFunc(keys, compareSlots)
				from, n := 0, min(len(keys), size/2)
				if !grow {
					n = min(len(keys), size*3)
				}
				if crowd && len(keys) > n {
					from = rnd.IntN(len(keys) - n) // a stretch
				} else {
					rnd.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
				}
				if round == 59 {
					from, n = 0, len(keys)
				}
				for _, k := range keys[from : from+n] {
					del = append(del, slot{k.row, k.nbr, have[k]})
				}
				slices.SortFunc(del, compareSlots)
				var at []int
				if rnd.IntN(2) == 0 {
					for _, k := range del {
						s, _ := p.lookup(k.row, k.nbr, k.ent.Index())
						at = append(at, s)
					}
				}
				p.remove(del, at)
				for _, k := range del {
					delete(have, slot{row: k.row, nbr: k.nbr})
				}
				checkPMA(t, &p)
				if p.n != len(have) {
					t.Fatalf("%d entries, want %d", p.n, len(have))
				}
				for k, e := range have {
					if got, ok := p.find(k.row, k.nbr); !ok || got != e {
						t.Fatalf("find(%v) = %v %v, want %v", k, got, ok, e)
					}
				}
				for _, k := range del {
					if _, ok := p.find(k.row, k.nbr); ok {
						t.Fatalf("find(%v) found what was removed", k)
					}
				}
			}
		})
	}
}

// checkSlots holds that what insert says of slots leads unmark to all entries.
func checkSlots(t *testing.T, p *pma, ops []slot, at []int) {
	t.Helper()
	if len(at) != len(ops) {
		t.Fatalf("%d slots of %d insertions", len(at), len(ops))
	}
	before := slices.Clone(p.ent)
	for i := range ops {
		ops[i].ent |= entryStaged
	}
	p.mark(ops, nil, nil)
	p.unmark(ops, at)
	if !slices.Equal(p.ent, before) {
		t.Fatal("mark and unmark do not restore the payloads")
	}
}

// newEdge enters an edge that the slot's entry is of.
func (p *pma) newEdge(s slot) Entry {
	e := edge{s.vertex(), s.nbr, labelOf(s.row)}
	if dirOf(s.row) == In {
		e.from, e.to = e.to, e.from
	}
	p.edges = append(p.edges, e)
	return Entry(len(p.edges) - 1)
}

func TestFreeSetTakesTheLowest(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, span := range []uint32{1, 60, 64, 65, 4096, 5000, 300000} {
		var s freeSet
		have := map[uint32]bool{}
		for range 3000 {
			id := rnd.Uint32N(span)
			switch rnd.IntN(4) {
			case 0, 1:
				s.add(id)
				have[id] = true
			case 2:
				s.remove(id)
				delete(have, id)
			case 3:
				got, ok := s.takeLowest()
				if ok != (len(have) > 0) {
					t.Fatalf("takeLowest: %v with %d members", ok, len(have))
				}
				for id := range have {
					if id < got {
						t.Fatalf("takeLowest gave %d while it had %d", got, id)
					}
				}
				delete(have, got)
			}
			if s.len() != len(have) || s.has(id) != have[id] {
				t.Fatalf("len %d, want %d", s.len(), len(have))
			}
		}
	}
}
