package dyngraph

import (
	"fmt"
	"slices"
	"testing"

	"motifd/dyngraph/property"
)

// row is one entry of a vertex's adjacency in one direction, as a view shows it.
type row struct {
	label LabelID
	nbr   VertexID
}

// checkView compares one view of the graph with the twin, through every accessor.
func checkView(t *testing.T, g *Graph, w *twin, which Which) {
	t.Helper()
	v := g.View(which)
	var ids []VertexID
	for key, id := range w.ids {
		ids = append(ids, id)
		if v.Key(id) != key || v.LabelName(v.Label(id)) != w.verts[key].label || !v.HasVertex(id) {
			t.Fatalf(
				"view %d: vertex %d is %q %q, want %q %q",
				which,
				id,
				v.Key(id),
				v.LabelName(v.Label(id)),
				key,
				w.verts[key].label,
			)
		}
		twin := w.verts[key]
		if got, want := v.Labels(id), property.LabelSet(twin.labelsOf()...); got != want {
			t.Fatalf("view %d: vertex %q has the labels %q, want %q", which, key, got, want)
		}
		if which == New {
			if got, ok := g.Lookup(key); !ok || got != id {
				t.Fatalf("Lookup(%q) = %d %v, want %d", key, got, ok, id)
			}
		}
	}
	slices.Sort(ids)
	if got := slices.Collect(v.VerticesSeq()); !slices.Equal(got, ids) {
		t.Fatalf("view %d: vertices %v, want %v", which, got, ids)
	}
	if len(ids) > 0 && uint32(ids[len(ids)-1]) >= g.IDBound() {
		t.Fatalf("id %d is not below the bound %d", ids[len(ids)-1], g.IDBound())
	}

	rows := map[VertexID][2][]row{}
	put := func(a VertexID, d Dir, l LabelID, b VertexID) {
		r := rows[a]
		r[d] = append(r[d], row{l, b})
		rows[a] = r
	}
	n := 0
	for e, attr := range w.edges {
		from, to, l := w.ids[e.from], w.ids[e.to], g.labels.ids[e.label]
		put(from, Out, l, to)
		if w.directed {
			put(to, In, l, from)
		} else {
			put(to, Out, l, from)
		}
		r := g.Range(from, Out, l)
		x, ok := NoEdge, false
		among := r.Among(to)
		for _, y := range among.edges() {
			if v.Visible(y) && (!w.byID || v.Attr(y).ID == e.id) {
				x, ok = y, true
			}
		}
		if !ok {
			t.Fatalf("view %d: edge %v is not found", which, e)
		}
		if a := v.Attr(x); !a.equal(&attr) {
			t.Fatalf("view %d: edge %v has attributes %v, want %v", which, e, a, attr)
		}
		if w.declares {
			for column := property.TS; column < twinColumns; column++ {
				if !twinDeclared(e.label, column) {
					continue
				}
				got := v.Value(x, column)
				if want, ok := twinValue(&attr, column); got.IsNull() == ok || ok && fmt.Sprint(want) != got.String() {
					t.Fatalf("view %d: edge %v has in column %d the value %v, want %v", which, e, column, got, want)
				}
			}
		}
		n++
	}
	for _, id := range ids {
		for d := Out; d <= In; d++ {
			checkRow(t, g, v, id, d, rows[id][d])
		}
	}
	var last recordKey
	for e := range v.EdgesSeq() {
		from, to, l := v.Edge(e)
		k := recordKey{from, l, to, g.edgeID(e)}
		if last != (recordKey{}) && compareRecords(last.record(), k.record()) >= 0 {
			t.Fatalf("EdgesSeq: %v after %v", k, last)
		}
		last = k
		n--
	}
	if n != 0 {
		t.Fatalf("view %d: EdgesSeq has %d edges too few", which, n)
	}
}

func checkRow(t *testing.T, g *Graph, v View, id VertexID, d Dir, want []row) {
	t.Helper()
	slices.SortFunc(want, func(a, b row) int {
		if a.label != b.label {
			return int(a.label) - int(b.label)
		}
		return int(a.nbr) - int(b.nbr)
	})
	var got []row
	all := g.RangeAll(id, d)
	entries := 0
	for nbr, ent, ok := all.Next(); ok; nbr, ent, ok = all.Next() {
		if len(nbr) == 0 || len(nbr) != len(ent) {
			t.Fatalf("a run of %d neighbours and %d entries", len(nbr), len(ent))
		}
		for i := range nbr {
			entries++
			e := ent[i].Index()
			if _, _, staged := g.Staged(e); staged != ent[i].Staged() {
				t.Fatalf("entry of edge %d: staged %v, want %v", e, ent[i].Staged(), staged)
			}
			if v.Visible(e) {
				_, _, l := v.Edge(e)
				got = append(got, row{l, nbr[i]})
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("view %d: N(%d, %d) = %v, want %v", v.Which(), id, d, got, want)
	}
	all.Rewind()
	if _, _, ok := all.Next(); ok != (entries > 0) || all.AtMost() < entries {
		t.Fatalf("N(%d, %d): Rewind or AtMost", id, d)
	}
	if entries != g.Degree(id, d) || entries != all.Len() {
		t.Fatalf("N(%d, %d) has %d entries; Degree says %d, Len %d", id, d, entries, g.Degree(id, d), all.Len())
	}
	labels := g.LabelsOf(id, d, []LabelID{7})[1:]
	sum := 0
	for l := range LabelID(g.Labels()) {
		r := g.Range(id, d, l)
		if (r.Len() > 0) != slices.Contains(labels, l) {
			t.Fatalf("LabelsOf(%d, %d) = %v, but label %d has %d", id, d, labels, l, r.Len())
		}
		sum += r.Len()
		last, together := int64(-1), map[VertexID]int{}
		for nbr, ent, ok := r.Next(); ok; nbr, ent, ok = r.Next() {
			for i := range nbr {
				if int64(nbr[i]) < last || int64(nbr[i]) == last && !g.HasParallel(l) {
					t.Fatalf("N(%d, %d, %d) does not ascend", id, d, l)
				}
				last = int64(nbr[i])
				among := r.Among(nbr[i])
				x, ok := r.Find(nbr[i])
				if edges := among.edges(); !ok || x != ent[i] && !g.HasParallel(l) ||
					!slices.Contains(edges, x.Index()) || !slices.Contains(edges, ent[i].Index()) {
					t.Fatalf("N(%d, %d, %d): Find(%d) = %v %v of %v", id, d, l, nbr[i], x, ok, edges)
				}
				together[nbr[i]]++
			}
		}
		for w, n := range together {
			if among := r.Among(w); among.Len() != n || len(among.edges()) != n {
				t.Fatalf("N(%d, %d, %d): Among(%d) has %d edges, not %d", id, d, l, w, among.Len(), n)
			}
		}
		for _, miss := range []VertexID{0, id, NoVertex} {
			if x, ok := r.Find(miss); ok {
				if from, to, xl := v.Edge(x.Index()); xl != l || from != miss && to != miss {
					t.Fatalf("N(%d, %d, %d): Find(%d) found edge %v", id, d, l, miss, x.Index())
				}
			}
		}
	}
	if sum != entries || !slices.IsSorted(labels) {
		t.Fatalf("the labels of N(%d, %d) have %d entries of %d", id, d, sum, entries)
	}
}
