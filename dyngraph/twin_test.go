package dyngraph

import (
	"cmp"
	"maps"
	"slices"
)

// twin is the dumb twin of Graph: maps of strings, and after every update a comparison of whole graphs.
type twin struct {
	directed bool
	declares bool // by twinSchema
	verts    map[string]twinVertex
	edges    map[twinEdge]Attr
	labels   []string
	ids      map[string]VertexID
	older    []VertexID
	newer    []VertexID
}

type twinVertex struct {
	label string
	birth int
}

type twinEdge struct{ from, to, label string }

// end is a vertex as an edge sees it: under another label it is another vertex.
type end struct{ key, label string }

type identity struct {
	from, to end
	label    string
}

type twinNet struct {
	sign     Sign
	replaced bool
	identity identity
	place    int
	from, to VertexID
	label    LabelID
}

// twinStep is what a batch does.
type twinStep struct {
	net      []twinNet
	renewed  []identity
	replaced int
	created  []VertexID
	freed    []VertexID
	released []VertexID
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

func (w *twin) edge(from, to, label string) twinEdge {
	if !w.directed && from > to {
		from, to = to, from
	}
	return twinEdge{from, to, label}
}

func (w *twin) identities() map[identity]bool {
	m := map[identity]bool{}
	for e := range w.edges {
		m[identity{end{e.from, w.verts[e.from].label}, end{e.to, w.verts[e.to].label}, e.label}] = true
	}
	return m
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
	w.intern(label)
	v, ok := w.verts[key]
	switch {
	case !ok, v.label == "" && label != "":
		w.verts[key] = twinVertex{label, birth}
	case label != "" && label != v.label:
		return false
	}
	return true
}

func (w *twin) agrees(key, label string) bool {
	v, ok := w.verts[key]
	return !ok || label == "" || v.label == "" || v.label == label
}

// apply does one update and tells whether it may be accepted; after false the twin is spoilt.
func (w *twin) apply(u Update, i int) bool {
	switch u.Op {
	case InsertEdge, DeleteEdge:
		if u.From == u.To || u.From == "" || u.To == "" {
			return false
		}
		e := w.edge(u.From, u.To, u.Label)
		if u.Op == DeleteEdge {
			if !w.agrees(u.From, u.FromLabel) || !w.agrees(u.To, u.ToLabel) {
				return false
			}
			delete(w.edges, e)
			return true
		}
		w.intern(u.FromLabel)
		w.intern(u.ToLabel)
		w.intern(u.Label)
		if !w.declare(u.From, u.FromLabel, 2*i) {
			return false
		}
		if !w.declare(u.To, u.ToLabel, 2*i+1) {
			return false
		}
		w.edges[e] = u.Attr
		return w.valuesFit(&u)
	case InsertVertex:
		return u.Key != "" && w.declare(u.Key, u.Label, 2*i)
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
	type valueOf struct {
		identity
		column int
	}
	changed := map[valueOf]int{} // where a value last changed under an edge that stayed
	for i, u := range updates {
		was := w.identities()
		had := w.attrs()
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
	after := w.identities()

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
			e := twinEdge{x.from.key, x.to.key, x.label}
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
	for x := range before {
		if !after[x] {
			n := start.net(Deleted, x, place[x])
			n.label = LabelID(slices.Index(w.labels, x.label))
			s.net = append(s.net, n)
		}
	}
	slices.SortFunc(s.net, func(a, b twinNet) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to),
			cmp.Compare(a.label, b.label), cmp.Compare(a.sign, b.sign))
	})
	return s
}

func (w *twin) net(sign Sign, x identity, place int) twinNet {
	n := twinNet{sign: sign, identity: x, place: place, from: w.ids[x.from.key], to: w.ids[x.to.key],
		label: LabelID(slices.Index(w.labels, x.label))}
	if !w.directed && n.from > n.to {
		n.from, n.to = n.to, n.from
	}
	return n
}
