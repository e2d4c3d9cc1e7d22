package dyngraph

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// twin is the dumb twin of Graph: maps of strings, and after every update a comparison of whole graphs.
type twin struct {
	directed bool
	declares bool // by twinSchema
	several  bool // a vertex may have several labels
	byID     bool // ids identify edges
	verts    map[string]twinVertex
	edges    map[twinEdge]Attr
	labels   []string
	ids      map[string]VertexID
	older    []VertexID
	newer    []VertexID
	horizons []Horizon
	isolated bool
	lists    bool // vertices that come and go
}

type twinVertex struct {
	label    string
	birth    int
	values   twinValues
	declared bool // a +v declared it
}

type twinEdge struct{ from, to, label, id string }

// end is a vertex as an edge sees it: under another label it is another vertex.
type end struct{ key, label string }

type identity struct {
	from, to end
	label    string
	id       string
}

type twinNet struct {
	sign     Sign
	replaced bool
	revised  bool
	listed   bool // a vertex that comes or goes
	identity identity
	place    int    // -1 of an edge that has expired
	age      uint64 // of that
	from, to VertexID
	label    LabelID
}

// twinStep is the effect of a batch.
type twinStep struct {
	net      []twinNet
	renewed  []identity
	replaced int
	expired  int
	revised  int
	absent   int
	created  []VertexID
	freed    []VertexID
	released []VertexID
	unnamed  int
}

func newTwin(directed bool) *twin {
	return &twin{directed: directed, verts: map[string]twinVertex{}, edges: map[twinEdge]Attr{},
		labels: []string{""}, ids: map[string]VertexID{}}
}

func (w *twin) clone() *twin {
	c := *w
	c.verts, c.edges, c.ids = maps.Clone(w.verts), maps.Clone(w.edges), maps.Clone(w.ids)
	c.labels, c.older, c.newer = slices.Clone(w.labels), slices.Clone(w.older), slices.Clone(w.newer)
	return &c
}

func (w *twin) edge(from, to, label, id string) twinEdge {
	if !w.directed && from > to {
		from, to = to, from
	}
	if !w.byID {
		id = ""
	}
	return twinEdge{from, to, label, id}
}

func (w *twin) identities() map[identity]bool {
	m := map[identity]bool{}
	for e := range w.edges {
		m[w.identity(e)] = true
	}
	return m
}

func (w *twin) identity(e twinEdge) identity {
	return identity{end{e.from, w.verts[e.from].label}, end{e.to, w.verts[e.to].label}, e.label, e.id}
}

func (w *twin) combination(x identity) [3]string {
	a, b := x.from.label, x.to.label
	if !w.directed && a > b {
		a, b = b, a
	}
	return [3]string{a, x.label, b}
}

// has tells whether an edge has the same combination of labels.
func (w *twin) has(x identity) bool {
	for y := range w.identities() {
		if w.combination(x) == w.combination(y) {
			return true
		}
	}
	return false
}

func (w *twin) intern(label string) {
	if !slices.Contains(w.labels, label) {
		w.labels = append(w.labels, label)
	}
}

func (w *twin) declare(key, label string, birth int) bool {
	if w.several {
		if v, ok := w.verts[key]; !ok {
			w.verts[key] = twinVertex{"", birth, v.values, v.declared}
		}
		return true
	}
	w.intern(label)
	v, ok := w.verts[key]
	switch {
	case !ok, v.label == "" && label != "":
		w.verts[key] = twinVertex{label, birth, v.values, v.declared}
	case label != "" && label != v.label:
		return false
	}
	return true
}

func (w *twin) agrees(key, label string) bool {
	v, ok := w.verts[key]
	return w.several || !ok || label == "" || v.label == "" || v.label == label
}

// apply does one update and tells whether it may be accepted; after false the twin is spoilt.
func (w *twin) apply(u Update, i int) bool {
	switch u.Op {
	case InsertEdge, DeleteEdge:
		if u.From == u.To || u.From == "" || u.To == "" {
			return false
		}
		e := w.edge(u.From, u.To, u.Label, u.Attr.ID)
		if u.Op == DeleteEdge {
			if !w.agrees(u.From, u.FromLabel) || !w.agrees(u.To, u.ToLabel) {
				return false
			}
			delete(w.edges, e)
			return true
		}
		if u.Attr.HasTS && u.Attr.TS < w.horizon(u.Label) {
			return true // late
		}
		if !w.several {
			w.intern(u.FromLabel)
			w.intern(u.ToLabel)
			w.intern(u.Label)
		}
		if !w.declare(u.From, u.FromLabel, 2*i) {
			return false
		}
		if !w.declare(u.To, u.ToLabel, 2*i+1) {
			return false
		}
		if w.several {
			w.relabel(u.From, u.FromLabel, u.Op)
			w.relabel(u.To, u.ToLabel, u.Op)
			w.intern(u.Label)
		}
		w.edges[e] = u.Attr
		return w.valuesFit(&u)
	case InsertVertex:
		if u.Key == "" || !w.vertexValuesFit(&u) || !w.declare(u.Key, u.Label, 2*i) {
			return false
		}
		w.setVertex(&u)
		v := w.verts[u.Key]
		v.declared = true
		w.verts[u.Key] = v
		return true
	case ReviseVertex:
		if u.Key == "" || !w.vertexValuesFit(&u) || !w.agrees(u.Key, u.Label) || !w.changeFits(&u) {
			return false
		}
		if w.several {
			w.internAdded(u.Label)
		}
		if _, ok := w.verts[u.Key]; ok {
			w.setVertex(&u)
		}
		return true
	case DeleteVertex:
		if u.Key == "" || !w.agrees(u.Key, u.Label) {
			return false
		}
		delete(w.verts, u.Key)
		for e := range w.edges {
			if e.from == u.Key || e.to == u.Key {
				delete(w.edges, e)
			}
		}
		return true
	}
	return false
}

// accept plays the messages on a copy and returns the accepted updates and the refused messages.
func (w *twin) accept(msgs []Message) (accepted []Update, refused []int) {
	c := w.clone()
messages:
	for i, m := range msgs {
		try := c.clone()
		for _, u := range m.Updates {
			if !try.apply(u, 0) {
				refused = append(refused, i)
				continue messages
			}
		}
		c = try
		accepted = append(accepted, m.Updates...)
	}
	return accepted, refused
}

// step does a batch.
func (w *twin) step(updates []Update) twinStep {
	var s twinStep
	start := w.clone()
	before := start.identities()
	place := map[identity]int{}
	var unnamed []identity // deletions without id that find no edge
	type valueOf struct {
		identity
		column int
	}
	changed := map[valueOf]int{} // where a value last changed under an edge that stayed
	age := map[identity]uint64{}
	for x, a := range w.attrs() {
		if before := w.horizon(x.label); a.HasTS && a.TS < before {
			delete(w.edges, twinEdge{x.from.key, x.to.key, x.label, x.id})
			place[x], age[x] = -1, uint64(before-a.TS)
		}
	}
	vertices := start.ends()
	type vertexValueOf struct {
		end
		column int
	}
	vertexPlace, vertexChanged := map[end]int{}, map[vertexValueOf]int{}
	for i, u := range updates {
		was := w.identities()
		ends := w.ends()
		if _, ok := w.verts[u.Key]; !ok && u.Op == ReviseVertex {
			s.absent++
		}
		had := w.attrs()
		if u.Op == DeleteEdge && w.byID && u.Attr.ID == "" && slices.Contains(w.labels, u.Label) {
			_, from := w.verts[u.From]
			_, to := w.verts[u.To]
			if x := w.identity(w.edge(u.From, u.To, u.Label, "")); from && to && !was[x] {
				unnamed = append(unnamed, x)
			}
		}
		if !w.apply(u, i) {
			panic("an update that was not accepted")
		}
		is := w.identities()
		for x, now := range w.attrs() {
			if then, ok := had[x]; ok {
				for _, column := range w.differ(x.label, &then, &now) {
					changed[valueOf{x, column}] = i
				}
			}
		}
		for x, then := range ends {
			now, ok := w.ends()[x]
			if !ok {
				vertexPlace[x] = i
			}
			for column := range then {
				if ok && now[column] != then[column] {
					vertexChanged[vertexValueOf{x, column}] = i
				}
			}
		}
		for x := range w.ends() {
			if _, ok := ends[x]; !ok {
				vertexPlace[x] = i
			}
		}
		for x := range was {
			if !is[x] {
				place[x] = i
			}
		}
		for x := range is {
			if !was[x] {
				place[x] = i
			}
		}
	}
	present := w.ends()
	w.removeIsolated(start)
	after := w.identities()
	for _, x := range unnamed {
		for y := range both(before, after) {
			if x.from == y.from && x.to == y.to && x.label == y.label && y.id != "" {
				s.unnamed++
				break
			}
		}
	}

	s.released = w.older
	w.older = w.newer
	same := func(key string) bool {
		a, ok := start.verts[key]
		b, ok2 := w.verts[key]
		return ok && ok2 && a.label == b.label
	}
	var births []string
	for key := range w.verts {
		if !same(key) {
			births = append(births, key)
		}
	}
	slices.SortFunc(births, func(a, b string) int { return cmp.Compare(w.verts[a].birth, w.verts[b].birth) })
	for key := range start.verts {
		if !same(key) {
			s.freed = append(s.freed, start.ids[key])
		}
	}
	slices.Sort(s.freed)
	w.newer = s.freed
	taken := map[VertexID]bool{}
	for _, id := range start.ids {
		taken[id] = true
	}
	for _, id := range start.newer {
		taken[id] = true
	}
	for key := range start.verts {
		if !same(key) {
			delete(w.ids, key)
		}
	}
	next := VertexID(0)
	for _, key := range births {
		for taken[next] {
			next++
		}
		taken[next] = true
		w.ids[key] = next
		s.created = append(s.created, next)
	}

	for x := range after {
		if !before[x] {
			s.net = append(s.net, w.net(Inserted, x, place[x]))
		} else {
			e := twinEdge{x.from.key, x.to.key, x.label, x.id}
			a, b := start.edges[e], w.edges[e]
			if !a.equal(&b) {
				s.renewed = append(s.renewed, x)
			}
			if columns := w.differ(x.label, &a, &b); len(columns) > 0 {
				at, ok := place[x]
				if !ok {
					at = -1
				}
				for _, column := range columns {
					if i, ok := changed[valueOf{x, column}]; ok {
						at = max(at, i)
					}
				}
				for _, sign := range [2]Sign{Deleted, Inserted} {
					n := w.net(sign, x, at)
					n.replaced = true
					s.net = append(s.net, n)
				}
				s.replaced++
			}
		}
	}
	for x, now := range w.ends() {
		then, ok := vertices[x]
		if !ok || then == now {
			continue
		}
		at, ok := vertexPlace[x]
		if !ok {
			at = -1
		}
		for column := range now {
			if i, ok := vertexChanged[vertexValueOf{x, column}]; ok && now[column] != then[column] {
				at = max(at, i)
			}
		}
		for _, sign := range [2]Sign{Deleted, Inserted} {
			s.net = append(s.net, twinNet{sign: sign, revised: true, place: at, from: w.ids[x.key], to: w.ids[x.key]})
		}
		s.revised++
	}
	if w.lists {
		for x := range vertices {
			if _, ok := w.ends()[x]; !ok {
				id := start.ids[x.key]
				n := twinNet{sign: Deleted, listed: true, place: vertexPlace[x], from: id, to: id}
				if _, ok := present[x]; ok {
					n.place = math.MaxInt
				}
				s.net = append(s.net, n)
			}
		}
		for x := range w.ends() {
			if _, ok := vertices[x]; !ok {
				s.net = append(s.net, twinNet{sign: Inserted, listed: true, place: vertexPlace[x], from: w.ids[x.key],
					to: w.ids[x.key]})
			}
		}
	}
	for x := range before {
		if !after[x] {
			n := start.net(Deleted, x, place[x])
			if n.place < 0 {
				n.age = age[x]
				s.expired++
			}
			n.label = LabelID(slices.Index(w.labels, x.label))
			s.net = append(s.net, n)
		}
	}
	slices.SortFunc(s.net, func(a, b twinNet) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(b.age, a.age), cmp.Compare(a.class(), b.class()),
			cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(a.label, b.label),
			cmp.Compare(a.identity.id, b.identity.id), cmp.Compare(a.sign, b.sign))
	})
	return s
}

// class puts inserted vertices and the new versions of revised ones before the edges of their place, and deleted ones,
// then old versions, behind.
func (n *twinNet) class() int {
	switch {
	case n.listed:
		return -int(n.sign)
	case n.revised && n.sign == Deleted:
		return 2
	case n.revised:
		return -1
	}
	return 0
}

// both returns the identities of two graphs.
func both(a, b map[identity]bool) map[identity]bool {
	m := maps.Clone(a)
	maps.Copy(m, b)
	return m
}

// parallels returns the labels with several edges between the same ends.
func parallels(edges map[identity]bool) map[string]bool {
	pairs, labels := map[identity]bool{}, map[string]bool{}
	for x := range edges {
		x.id = ""
		if pairs[x] {
			labels[x.label] = true
		}
		pairs[x] = true
	}
	return labels
}

func (w *twin) net(sign Sign, x identity, place int) twinNet {
	n := twinNet{sign: sign, identity: x, place: place, from: w.ids[x.from.key], to: w.ids[x.to.key],
		label: LabelID(slices.Index(w.labels, x.label))}
	if !w.directed && n.from > n.to {
		n.from, n.to = n.to, n.from
	}
	return n
}
