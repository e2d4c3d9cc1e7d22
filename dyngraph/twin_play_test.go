package dyngraph

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// source draws the choices of a history: from a seed, or from a fuzzer's bytes.
type source func(n int) int

func seeded(seed uint64) source {
	r := rand.New(rand.NewPCG(seed, 17))
	return r.IntN
}

func fromBytes(b []byte) source {
	return func(n int) int {
		if len(b) == 0 {
			return 0
		}
		x := int(b[0])
		b = b[1:]
		return x % n
	}
}

// makeUpdate draws an update over few keys and labels, so that everything happens to the same things again and again.
// Times are from now on.
func makeUpdate(pick source, keys, ids int, declared bool, now int64) Update {
	label := func(n int) string { return []string{"", "A", "B", "C"}[pick(n)] }
	key := func() string { return fmt.Sprintf("k%d", pick(keys)) }
	u := Update{Pos: Position{Element: int32(pick(100))}}
	switch x := pick(20); {
	case x < 10:
		u.Op, u.From, u.To, u.Label = InsertEdge, key(), key(), label(3)
		if pick(3) == 0 {
			u.FromLabel, u.ToLabel = label(3), label(3)
		}
		switch pick(4) {
		case 0:
			u.Attr.TS, u.Attr.HasTS = now+int64(pick(3)), true
		case 1:
			u.Attr.ID, u.Attr.Props = fmt.Sprint(pick(ids)), []byte(`{"a":1}`)
		}
		if declared {
			u.Attr.Values = makeValues(pick, u.Label)
		}
	case x < 16:
		u.Op, u.From, u.To, u.Label = DeleteEdge, key(), key(), label(4)
		if pick(2) == 0 {
			u.Attr.ID = fmt.Sprint(pick(ids))
		}
		if pick(8) == 0 {
			u.FromLabel, u.ToLabel = label(3), label(3)
		}
	case x < 18:
		u.Op, u.Key, u.Label = InsertVertex, key(), label(3)
		if declared {
			if pick(2) == 0 {
				u.Op, u.Label = ReviseVertex, ""
			}
			makeVertexValues(pick, &u)
		}
	default:
		u.Op, u.Key = DeleteVertex, key()
	}
	return u
}

type recordKey struct {
	from  VertexID
	label LabelID
	to    VertexID
	id    string // where it identifies edges
}

func (k recordKey) record() EdgeRecord {
	return EdgeRecord{From: k.from, Label: k.label, To: k.to, Attr: Attr{ID: k.id}}
}

// store applies effects as a checkpoint does.
type store struct {
	labels []string
	verts  map[VertexID]VertexRecord
	edges  map[recordKey]Attr
	byID   bool
}

func (s *store) key(r *EdgeRecord) recordKey {
	k := recordKey{from: r.From, label: r.Label, to: r.To}
	if s.byID {
		k.id = r.Attr.ID
	}
	return k
}

func (s *store) apply(e Effect) error {
	if len(s.labels)+1 != e.LabelsBefore {
		return fmt.Errorf("LabelsBefore %d, have %d", e.LabelsBefore, len(s.labels)+1)
	}
	s.labels = append(s.labels, e.NewLabels...)
	for _, r := range e.Deleted {
		k := s.key(&r)
		if a, ok := s.edges[k]; !ok || !a.equal(&r.Attr) {
			return fmt.Errorf("deleted %v: have %v %v", r, a, ok)
		}
		delete(s.edges, k)
	}
	for _, r := range e.Freed {
		if !reflect.DeepEqual(s.verts[r.ID], r) {
			return fmt.Errorf("freed %v: have %v", r, s.verts[r.ID])
		}
		delete(s.verts, r.ID)
	}
	for _, r := range e.Declared {
		if !reflect.DeepEqual(s.verts[r.ID], r) || !r.Implied {
			return fmt.Errorf("declared %v: have %v", r, s.verts[r.ID])
		}
		r.Implied = false
		s.verts[r.ID] = r
	}
	for _, r := range e.Created {
		if _, ok := s.verts[r.ID]; ok {
			return fmt.Errorf("created %v, which is there", r)
		}
		s.verts[r.ID] = r
	}
	for _, r := range e.Revised {
		was := s.verts[r.ID]
		if was.Key != r.Key || was.Label != r.Label || !slices.Equal(was.Values, r.Previous) {
			return fmt.Errorf("revised %v: have %v", r, was)
		}
		r.Previous = nil
		s.verts[r.ID] = r
	}
	for _, r := range e.Inserted {
		k := s.key(&r)
		if _, ok := s.edges[k]; ok {
			return fmt.Errorf("inserted %v, which is there", r)
		}
		s.edges[k] = r.Attr
	}
	for _, r := range e.Renewed {
		k := s.key(&r)
		if a, ok := s.edges[k]; !ok || !a.equal(&r.Previous) {
			return fmt.Errorf("renewed %v: have %v %v", r, a, ok)
		}
		s.edges[k] = r.Attr
	}
	return nil
}

// play runs a history on the Graph and on the twin and compares everything that can be seen.
func play(t *testing.T, pick source, batches, most, keys int) {
	opt := Options{Directed: pick(2) == 0, EdgeIDs: pick(2) == 0}
	declared := pick(2) == 0
	if declared {
		opt.Schema = twinSchema
	}
	several := pick(3) == 0
	if several {
		opt.Schema = severalSchema(declared)
	}
	g, w := NewGraph(opt), newTwin(opt.Directed)
	w.declares, w.byID, w.several = declared, opt.EdgeIDs, several
	ids := 3
	if opt.EdgeIDs && pick(4) == 0 {
		ids = 200 // between two ends
	}
	times := makeTimes(pick)
	st := &store{verts: map[VertexID]VertexRecord{}, edges: map[recordKey]Attr{}, byID: opt.EdgeIDs}
	for range batches {
		times.advance(t, pick, g, w)
		var msgs []Message
		for n := pick(most); len(msgs) < n; {
			var m Message
			for range 1 + pick(2)*pick(3) {
				u := makeUpdate(pick, keys, ids, declared, times.now)
				if several {
					makeSeveral(pick, &u)
				}
				m.Updates = append(m.Updates, u)
			}
			msgs = append(msgs, m)
		}
		accepted, rejects := g.Accept(msgs)
		want, refused := w.accept(msgs)
		compareAccept(t, accepted, rejects, want, refused)

		before := w.clone()
		checkView(t, g, w, Old)
		checkView(t, g, w, New)
		step := w.step(accepted)
		for tries := pick(8) / 6; ; tries-- {
			had := parallelLabels(g)
			d, err := g.Stage(accepted)
			if err != nil {
				t.Fatalf("Stage: %v", err)
			}
			checkDelta(t, g, before, w, had, d, &step)
			checkView(t, g, before, Old)
			checkView(t, g, w, New)
			checkArray(t, g)
			if tries <= 0 {
				break
			}
			g.Abort()
			if now := parallelLabels(g); !slices.Equal(now, had) || g.AnyParallel() != (len(had) > 0) {
				t.Fatalf("labels with parallel edges: %v, before the batch %v", now, had)
			}
			checkArray(t, g)
			checkView(t, g, before, Old)
			checkView(t, g, before, New)
			checkSettled(t, g, before)
		}
		e := g.Effect()
		if err := st.apply(e); err != nil {
			t.Fatalf("Effect: %v", err)
		}
		if !slices.Equal(e.Released, step.released) {
			t.Fatalf("released %v, want %v", e.Released, step.released)
		}
		g.Commit()
		checkArray(t, g)
		checkSettled(t, g, w)
		checkStore(t, g, st)
		checkCalendar(t, g, w)
		if pick(6) == 5 {
			g = reload(t, g, opt, pick(2) == 0)
			g.SetHorizons(w.horizons)
			g.ExpireIsolated(w.isolated)
			g.ListVertices(w.lists)
			checkArray(t, g)
			checkSettled(t, g, w)
		}
	}
	checkView(t, g, w, Old)
}

func compareAccept(t *testing.T, accepted []Update, rejects []Reject, want []Update, refused []int) {
	t.Helper()
	if len(accepted) != len(want) || len(rejects) != len(refused) {
		t.Fatalf("accepted %d and refused %v, want %d and %v", len(accepted), rejects, len(want), refused)
	}
	for i := range want {
		if accepted[i].Pos != want[i].Pos || accepted[i].Op != want[i].Op || accepted[i].From != want[i].From {
			t.Fatalf("accepted[%d] = %v, want %v", i, accepted[i], want[i])
		}
	}
	for i := range refused {
		if rejects[i].Message != refused[i] {
			t.Fatalf("refused %v, want %v", rejects, refused)
		}
	}
}

// parallelLabels lists the labels that the graph knows to have parallel edges.
func parallelLabels(g *Graph) (labels []LabelID) {
	for l := range LabelID(g.Labels()) {
		if g.HasParallel(l) {
			labels = append(labels, l)
		}
	}
	return labels
}

func checkDelta(t *testing.T, g *Graph, before, after *twin, had []LabelID, d *Delta, step *twinStep) {
	t.Helper()
	if len(d.Net) != len(step.net) {
		t.Fatalf("net %v, want %v", d.Net, step.net)
	}
	touched, listed := map[VertexID]bool{}, 0
	for i, n := range d.Net {
		x := step.net[i]
		if n.Sign != x.sign || n.From != x.from || n.To != x.to || n.Label != x.label ||
			placeOf(&n) != x.place || n.Replaced != x.replaced || n.Revised != x.revised ||
			n.Vertex != (x.revised || x.listed) {
			t.Fatalf("net[%d] = %+v, want %+v", i, n, x)
		}
		if x.listed {
			listed++
			continue
		}
		if n.Revised {
			r, ok := d.RevisionOf(n.From)
			if order := map[Sign]uint32{Deleted: r.Old, Inserted: r.New}[n.Sign]; !ok || int(order) != i ||
				n.Edge != NoEdge {
				t.Fatalf("net[%d] = %+v is revised; its revision is %+v", i, n, r)
			}
			continue
		}
		if v := g.View(New); n.Labels != [2]LabelID{v.Label(n.From), v.Label(n.To)} {
			t.Fatalf("net[%d] = %+v has not the labels of its ends", i, n)
		}
		sign, order, ok := g.Staged(n.Edge)
		if n.Replaced {
			at := i
			if n.Sign == Inserted {
				at = i - 1
			}
			if !ok || sign != Deleted || int(order) != at || g.OrderTable()[n.Edge] != uint32(at+1)|Replaced ||
				d.Net[at].Edge != n.Edge || d.Net[at].Sign != Deleted || !slices.Contains(d.Renewed, n.Edge) {
				t.Fatalf("net[%d] = %+v is replaced; Staged says %v %v %v", i, n, sign, order, ok)
			}
			continue
		}
		if !ok || sign != n.Sign || int(order) != i {
			t.Fatalf("Staged(net[%d]) = %v %v %v", i, sign, order, ok)
		}
		touched[n.From], touched[n.To] = true, true
	}
	if d.Expired != step.expired {
		t.Fatalf("%d edges have expired, want %d", d.Expired, step.expired)
	}
	if d.Replaced != step.replaced {
		t.Fatalf("%d edges are replaced, want %d", d.Replaced, step.replaced)
	}
	if len(d.Revised) != step.revised || d.Absent != step.absent ||
		!slices.IsSortedFunc(d.Revised, func(a, b Revision) int { return int(a.Vertex) - int(b.Vertex) }) {
		t.Fatalf("%d vertices are revised and %d absent, want %d and %d", len(d.Revised), d.Absent, step.revised,
			step.absent)
	}
	if _, ok := d.RevisionOf(VertexID(g.bound)); ok {
		t.Fatal("a vertex that is not there is revised")
	}
	if !slices.Equal(d.Created, step.created) || !slices.Equal(d.Freed, step.freed) {
		t.Fatalf("created %v freed %v, want %v %v", d.Created, d.Freed, step.created, step.freed)
	}
	for _, id := range append(slices.Clone(d.Created), d.Freed...) {
		touched[id] = true
	}
	if !slices.IsSorted(d.Touched) || len(d.Touched) != len(touched) {
		t.Fatalf("touched %v, want %v", d.Touched, touched)
	}
	if len(d.Renewed) != len(step.renewed) || !slices.IsSorted(d.Renewed) {
		t.Fatalf("renewed %v, want %v", d.Renewed, step.renewed)
	}
	if d.Listed != listed || d.Inserted()+d.Deleted()+2*len(d.Revised)+listed != len(d.Net) {
		t.Fatal("Inserted and Deleted do not add up")
	}
	is, news := parallels(both(before.identities(), after.identities())), false
	for id, l := range g.labels.names {
		has := g.HasParallel(LabelID(id))
		if has != (is[l] || slices.Contains(had, LabelID(id))) {
			t.Fatalf("HasParallel(%q) is %v; labels with parallel edges: %v, before: %v", l, has, is, had)
		}
		news = news || has && !slices.Contains(had, LabelID(id))
	}
	if news != d.NewParallel {
		t.Fatalf("NewParallel is %v, want %v", d.NewParallel, news)
	}
	if d.Unnamed != step.unnamed {
		t.Fatalf("%d deletions name no edge, want %d", d.Unnamed, step.unnamed)
	}
	news = len(after.labels) > len(before.labels)
	for _, n := range step.net {
		if n.sign == Inserted && !n.replaced && !n.revised && !n.listed && !before.has(n.identity) {
			news = true
		}
	}
	if news != d.NewTriples {
		t.Fatalf("NewTriples %v, want %v", d.NewTriples, news)
	}
}

// checkSettled compares what is defined between batches.
func checkSettled(t *testing.T, g *Graph, w *twin) {
	t.Helper()
	older, newer := g.PendingFree()
	if !slices.Equal(older, w.older) || !slices.Equal(newer, w.newer) {
		t.Fatalf("pending %v %v, want %v %v", older, newer, w.older, w.newer)
	}
	if !slices.Equal(g.labels.names, w.labels) {
		t.Fatalf("labels %v, want %v", g.labels.names, w.labels)
	}
	if g.Vertices() != len(w.verts) || g.Edges() != len(w.edges) {
		t.Fatalf("%d vertices and %d edges, want %d and %d", g.Vertices(), g.Edges(), len(w.verts), len(w.edges))
	}
	if g.keys.n != len(w.verts) {
		t.Fatalf("%d keys, want %d", g.keys.n, len(w.verts))
	}
	triples := map[Triple]int{}
	for e := range w.edges {
		a, b := g.labels.ids[w.verts[e.from].label], g.labels.ids[w.verts[e.to].label]
		if !w.directed && a > b {
			a, b = b, a
		}
		triples[Triple{Src: a, Edge: g.labels.ids[e.label], Dst: b}]++
	}
	got := g.Triples()
	if len(got) != len(triples) {
		t.Fatalf("triples %v, want %v", got, triples)
	}
	for _, x := range got {
		n := x.Count
		if g.TripleCount(x.Src, x.Edge, x.Dst) != n {
			t.Fatalf("TripleCount(%v)", x)
		}
		x.Count = 0
		if triples[x] != n {
			t.Fatalf("triples %v, want %v", got, triples)
		}
	}
	count := map[string]int{}
	for _, v := range w.verts {
		count[v.label]++
	}
	for id, name := range g.labels.names {
		if n := g.VertexLabelCount(LabelID(id)); n != count[name] {
			t.Fatalf("VertexLabelCount(%q) = %d, want %d", name, n, count[name])
		}
	}
	for e := range g.edgeBound {
		if g.order[e] != 0 {
			t.Fatalf("edge %d has order %d between batches", e, g.order[e])
		}
	}
}

func checkStore(t *testing.T, g *Graph, st *store) {
	t.Helper()
	v := g.View(New)
	n := 0
	for id := range v.VerticesSeq() {
		n++
		if !reflect.DeepEqual(st.verts[id], g.vertexRecord(id)) ||
			!slices.Equal(st.verts[id].Values, v.VertexValues(id)) {
			t.Fatalf("stored vertex %v", st.verts[id])
		}
	}
	if n != len(st.verts) {
		t.Fatalf("%d vertices, %d stored", n, len(st.verts))
	}
	n = 0
	for e := range v.EdgesSeq() {
		n++
		from, to, l := v.Edge(e)
		a := v.Attr(e)
		if b, ok := st.edges[st.key(&EdgeRecord{From: from, Label: l, To: to, Attr: a})]; !ok || !a.equal(&b) {
			t.Fatalf("stored edge %v %v, want %v", b, ok, a)
		}
	}
	if n != len(st.edges) {
		t.Fatalf("%d edges, %d stored", n, len(st.edges))
	}
}

// reload takes the graph through a Loader.
func reload(t *testing.T, g *Graph, opt Options, backwards bool) *Graph {
	t.Helper()
	opt.Background = func(work func()) { go work() } // several threads load it
	l := NewLoader(opt)
	for _, name := range g.labels.names[1:] {
		if err := l.Label(name); err != nil {
			t.Fatal(err)
		}
	}
	v := g.View(New)
	for id := range v.VerticesSeq() {
		if err := l.Vertex(g.vertexRecord(id)); err != nil {
			t.Fatal(err)
		}
	}
	edges := slices.Collect(v.EdgesSeq())
	if backwards {
		slices.Reverse(edges)
	}
	for _, e := range edges {
		from, to, label := v.Edge(e)
		if err := l.Edge(EdgeRecord{From: from, Label: label, To: to, Attr: v.Attr(e)}); err != nil {
			t.Fatal(err)
		}
	}
	l.Pending(g.PendingFree())
	n, err := l.Graph()
	if err != nil {
		t.Fatal(err)
	}
	return n
}
