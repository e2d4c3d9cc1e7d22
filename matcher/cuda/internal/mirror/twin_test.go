//go:build cuda || emu

package mirror_test

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"motifd/kernels"
	"motifd/matcher/cuda/internal/mirror"
)

// twin is the simple model that the array is compared with: a set of entries, and edges that can be inserted and
// deleted.
type twin struct {
	rng                     *rand.Rand
	dirs                    int
	vertices, labels, edges int
	hubs                    int // most edges are theirs
	bases                   int // leaves at which ranges of the array began
	spread, wide, rewritten int // updates that spread windows, some in scratch, and that wrote the array anew
	have                    map[[3]uint32]uint32
	free                    []uint32
	entries                 map[mirror.Entry]uint32 // by row and neighbour
	staged                  []kernels.Op
	label                   []uint32 // by vertex
	degree                  map[uint32]int
	fresh                   bool // the array was loaded and not updated
}

func newTwin(rng *rand.Rand, vertices, labels int) *twin {
	w := &twin{rng: rng, dirs: 1 + rng.IntN(2), vertices: vertices, labels: labels, have: map[[3]uint32]uint32{},
		entries: map[mirror.Entry]uint32{},
		degree:  map[uint32]int{}}
	w.relabel()
	return w
}

// draw draws a label: of few, whatever there are.
func (w *twin) draw() uint32 {
	few := min(w.labels, 4)
	return uint32(w.rng.IntN(few) * (w.labels / few))
}

// relabel gives vertices without edges other labels.
func (w *twin) relabel() {
	for v := range uint32(w.vertices) {
		if int(v) == len(w.label) {
			w.label = append(w.label, w.draw())
		} else if w.degree[v] == 0 {
			w.label[v] = w.draw()
		}
	}
}

// op returns the operation that stages an edge.
func (w *twin) op(from, to, label, edge uint32) kernels.Op {
	nbrBits := kernels.NbrBits(w.labels)
	return kernels.Op{Ent: edge | kernels.Staged, From: from, To: to, Kind: kernels.KindOf(label, w.label[to], nbrBits),
		Back: kernels.KindOf(label, w.label[from], nbrBits)}
}

// edge returns the edge that an operation is about.
func (w *twin) edge(o kernels.Op) [3]uint32 {
	return [3]uint32{o.From, o.To, o.Back &^ kernels.Stays >> kernels.NbrBits(w.labels)}
}

func (w *twin) put(o kernels.Op) {
	w.fresh = false
	if o.From == o.To {
		return
	}
	for end := range 2 {
		v, nbr, dir, kind := o.From, o.To, 0, o.Kind&^kernels.Out
		if end == 1 {
			v, nbr, dir, kind = o.To, o.From, w.dirs-1, o.Back&^kernels.Stays
		}
		k := mirror.Entry{Row: uint64(v)<<32 | uint64(dir)<<31 | uint64(kind), Nbr: nbr}
		if o.Kind&kernels.Out != 0 && o.Ent&kernels.Staged == 0 {
			delete(w.entries, k)
		} else {
			w.entries[k] = o.Ent
		}
	}
}

// settle ends the staged batch.
func (w *twin) settle(end bool) {
	for _, o := range w.staged {
		if o.From == o.To {
			continue
		}
		goes := o.Kind&kernels.Out != 0
		k := w.edge(o)
		if o.Back&kernels.Stays != 0 {
			o.Kind &^= kernels.Out
		} else if goes == end {
			if e, ok := w.have[k]; ok {
				w.free = append(w.free, e)
				delete(w.have, k)
				w.degree[o.From]--
				w.degree[o.To]--
			}
			o.Kind |= kernels.Out
		} else {
			o.Kind &^= kernels.Out
		}
		o.Ent &^= kernels.Staged
		w.put(o)
	}
	w.staged = nil
	w.relabel()
}

func (w *twin) vertex() uint32 {
	if w.hubs > 0 && w.rng.IntN(3) > 0 {
		return uint32(w.rng.IntN(w.hubs) * (w.vertices / w.hubs))
	}
	return uint32(w.rng.IntN(w.vertices))
}

// batch draws operations that insert n edges and delete m.
func (w *twin) batch(n, m int) (ops []kernels.Op) {
	deleted := slices.Collect(maps.Keys(w.have))
	slices.SortFunc(deleted, func(a, b [3]uint32) int { return slices.Compare(a[:], b[:]) })
	w.rng.Shuffle(len(deleted), func(i, j int) { deleted[i], deleted[j] = deleted[j], deleted[i] })
	for _, k := range deleted[:min(m, len(deleted))] {
		o := w.op(k[0], k[1], k[2], w.have[k])
		o.Kind |= kernels.Out
		ops = append(ops, o)
	}
	for range n {
		from, to := w.vertex(), uint32(w.rng.IntN(w.vertices))
		if w.dirs == 1 && from > to {
			from, to = to, from
		}
		k := [3]uint32{from, to, w.draw()}
		if _, ok := w.have[k]; ok || from == to {
			continue
		}
		e := uint32(w.edges)
		if len(w.free) > 0 {
			e, w.free = w.free[0], w.free[1:]
		} else {
			w.edges++
		}
		w.have[k] = e
		w.degree[from]++
		w.degree[to]++
		ops = append(ops, w.op(from, to, k[2], e))
	}
	w.rng.Shuffle(len(ops), func(i, j int) { ops[i], ops[j] = ops[j], ops[i] })
	for range w.rng.IntN(3) {
		v := w.vertex()
		ops = slices.Insert(ops, w.rng.IntN(len(ops)+1), kernels.NoEdge(uint32(v)), kernels.NoEdge(uint32(v)))
	}
	for _, k := range deleted[min(m, len(deleted)):][:min(w.rng.IntN(4), len(deleted)-min(m, len(deleted)))] {
		o := w.op(k[0], k[1], k[2], w.have[k])
		o.Back |= kernels.Stays
		ops = append(ops, o, o)
		ops[len(ops)-2].Kind |= kernels.Out
	}
	return ops
}

func (w *twin) sorted() []mirror.Entry {
	var all []mirror.Entry
	for k, ent := range w.entries {
		k.Ent = ent
		all = append(all, k)
	}
	slices.SortFunc(all, entryOrder)
	return all
}

func entryOrder(a, b mirror.Entry) int {
	return cmp.Or(cmp.Compare(a.Row, b.Row), cmp.Compare(a.Nbr, b.Nbr))
}

// rows returns the number of rows.
func (w *twin) rows() int {
	rows := map[uint64]bool{}
	for k := range w.entries {
		rows[k.Row] = true
	}
	return len(rows)
}

func (w *twin) load(t *testing.T, a mirror.Array) {
	t.Helper()
	w.fresh = true
	check(t, w.loadWith(a, w.rows()))
}

func (w *twin) loadWith(a mirror.Array, rows int) error {
	all, nbrBits := w.sorted(), kernels.NbrBits(w.labels)
	for i := range all {
		row := &all[i].Row
		*row = *row>>31<<31 | *row&(1<<31-1)>>nbrBits
	}
	slices.SortFunc(all, entryOrder)
	return a.Load(len(all), rows, w.vertices, w.labels, w.edges, w.label,
		func(row []uint64, nbr, ent []uint32) (int, error) {
			n := 1 + w.rng.IntN(len(row))
			for i, e := range all[:n] {
				row[i], nbr[i], ent[i] = e.Row, e.Nbr, e.Ent
			}
			all = all[n:]
			return n, nil
		})
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// compare compares all that the device holds.
func (w *twin) compare(t *testing.T, a mirror.Array) {
	t.Helper()
	c, err := a.Read(len(w.staged))
	check(t, err)
	if s := a.Status(); s.Rebuild != 0 {
		w.rewritten++
	} else if s.Scratch != 0 {
		w.wide++
	} else if s.Segments != 0 {
		w.spread++
	}
	want := w.sorted()
	if !slices.Equal(want, c.Entries) {
		t.Fatalf("%d entries, not %d, or others: %x, not %x; %+v", len(c.Entries), len(want),
			c.Entries[:min(5, len(c.Entries))], want[:min(5, len(want))], a.Status())
	}
	spans, degrees := make([]mirror.Span, w.vertices*w.dirs), make([]uint32, w.vertices*w.dirs)
	for i, e := range want {
		side := int(e.Row >> 32)
		if w.dirs > 1 {
			side = int(e.Row >> 31)
		}
		s, kind := &spans[side], uint32(e.Row)&(1<<31-1)
		if degrees[side] == 0 {
			s.Begin, s.First = c.Slots[i]-a.Base(int(e.Row>>32)), kind
		}
		s.End, s.Last = c.Slots[i]-a.Base(int(e.Row>>32))+1, kind
		w.bases = max(w.bases, a.Bases())
		degrees[side]++
	}
	if !slices.Equal(degrees, c.Degree[:len(degrees)]) {
		t.Fatalf("degrees %v, not %v", c.Degree, degrees)
	}
	for i := range spans {
		if c.Span[i] != spans[i] {
			t.Fatalf("side %d of degree %d: span %+v, not %+v", i, degrees[i], c.Span[i], spans[i])
		}
	}
	pairs := filterOf(want, len(c.Pairs))
	for i, x := range pairs {
		if x&^c.Pairs[i] != 0 || (w.fresh || a.Status().Rebuild != 0) && c.Pairs[i] != x {
			t.Fatalf("word %d of %d of the filter of pairs is %x, of these edges %x; rewritten: %d", i, len(pairs),
				c.Pairs[i], x, a.Status().Rebuild)
		}
	}
	for i, o := range w.staged {
		e := o.Ent &^ kernels.Staged
		order := uint32(i+1) | o.Kind&kernels.Out
		if o.Back&kernels.Stays != 0 && o.Kind&kernels.Out == 0 {
			order |= kernels.Replaced
		}
		if o.Back&kernels.Stays != 0 && o.Kind&kernels.Out != 0 { // the new version has the order, a vertex none
			continue
		}
		if c.Order[e] != order ||
			c.Net[i] != (kernels.Net{Edge: e, From: o.From, To: o.To}) {
			t.Fatalf("net edge %d: order %x, not %x, %+v", i, c.Order[e], order, c.Net[i])
		}
	}
}

// filterOf returns the filter of pairs of some entries, in a number of words.
func filterOf(all []mirror.Entry, words int) []uint32 {
	pairs := make([]uint32, words)
	for _, e := range all {
		u, v := uint32(e.Row>>32), e.Nbr
		h, k := min(u, v)*0x9e3779b1+max(u, v), max(u, v)*0x27d4eb2f+min(u, v)
		h, k = (h^h>>15)*0x85ebca77, (k^k>>15)*0x165667b1
		h, k = (h^h>>13)*0xc2b2ae3d, (k^k>>13)*0x9e3779b1
		h ^= h >> 16
		pairs[int(h)&(words-1)] |= 1<<(k>>27) | 1<<(k>>22&31)
	}
	return pairs
}

// play plays batches of some kind against the array.

func (w *twin) play(t *testing.T, a mirror.Array, batches int, size func(i int) (inserted, deleted int)) {
	t.Helper()
	end := mirror.Open
	var ops []kernels.Op // of batches that the array has not seen
	for i := range batches {
		n, m := size(i)
		batch := w.batch(n, m)
		for _, o := range batch {
			w.put(o)
		}
		w.staged = batch
		seen := w.rng.IntN(5) > 0
		if seen {
			check(t, a.Update(slices.Concat(ops, batch), len(batch), end, w.vertices, w.labels, w.edges))
			ops = nil
			w.compare(t, a)
			end = mirror.Committed
		}
		aborts := w.rng.IntN(6) == 0
		w.settle(!aborts)
		switch {
		case seen && aborts:
			end = mirror.Aborted
		case !seen && !aborts:
			for _, o := range batch {
				if o.Back&kernels.Stays != 0 {
					continue
				}
				o.Ent &^= kernels.Staged
				ops = append(ops, o)
			}
		}
		if w.rng.IntN(4) == 0 {
			check(t, a.Update(ops, 0, end, w.vertices, w.labels, w.edges))
			end, ops = mirror.Open, nil
			w.compare(t, a)
		}
	}
	check(t, a.Update(ops, 0, end, w.vertices, w.labels, w.edges))
	w.compare(t, a)
}
