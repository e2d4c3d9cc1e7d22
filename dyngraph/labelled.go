package dyngraph

import (
	"maps"
	"slices"
	"strings"

	"motifd/dyngraph/property"
)

// Where a vertex may have several labels (property.Schema.SeveralLabels), its labels are one of its values, in a column
// behind those of the declared properties, and its Label is NoLabel: a vertex is its key alone. An update has the
// labels of a vertex in one text (property.JoinLabels). They change as values do: the vertex is revised (DESIGN S16).

// labelSets numbers the sets of labels that vertices have, so that a set which many of them share is stored once.
type labelSets struct {
	ids  map[property.Value]uint64
	all  []sharedSet
	free []uint64

	version uint64 // changes with the sets that there are
}

type sharedSet struct {
	value property.Value
	refs  int
}

func (s *labelSets) add(v property.Value) uint64 {
	id, ok := s.ids[v]
	if !ok {
		text := v.String()
		v = property.LabelsOf(strings.Clone(text)) // do not keep the record that it came in alive
		if n := len(s.free); n > 0 {
			id, s.free = s.free[n-1], s.free[:n-1]
		} else {
			id, s.all = uint64(len(s.all)), append(s.all, sharedSet{})
		}
		s.version++
		if s.ids == nil {
			s.ids = make(map[property.Value]uint64)
		}
		s.ids[v], s.all[id] = id, sharedSet{value: v}
	}
	s.all[id].refs++
	return id
}

func (s *labelSets) drop(id uint64) {
	x := &s.all[id]
	if x.refs--; x.refs == 0 {
		s.version++
		delete(s.ids, x.value)
		*x = sharedSet{}
		s.free = append(s.free, id)
	}
}

// several reports whether a vertex may have several labels.
func (g *Graph) several() bool { return g.opt.Schema.Several() }

// labelsOf returns the labels of a vertex before the staged batch.
func (g *Graph) labelsOf(id VertexID) property.Value {
	column, _ := g.vertexColumns.Labels()
	return g.vertexValues[column].get(uint32(id))
}

// Labels returns the labels of a vertex as of the view's graph: a set as property.LabelSet makes it, where vertices may
// have several labels; otherwise null.
func (v View) Labels(id VertexID) property.Value {
	column, ok := v.g.vertexColumns.Labels()
	if !ok {
		return property.Value{}
	}
	return v.VertexValue(id, column)
}

// VertexLabels returns the labels that vertices have, ascending; "" stands for vertices without one. Where vertices may
// have several labels, these are the labels before the staged batch, and those of recently freed vertices are among
// them.
func (g *Graph) VertexLabels() []string {
	names := make(map[string]bool)
	for l := range LabelID(g.Labels()) {
		if g.VertexLabelCount(l) > 0 {
			names[g.LabelName(l)] = true
		}
	}
	if column, ok := g.vertexColumns.Labels(); ok {
		for _, s := range g.vertexValues[column].sets.all {
			for l := range s.value.EachLabel() {
				names[l] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// internAll interns the labels of a vertex in a text.
func (t *labelTable) internAll(text string) {
	for l := range property.EachLabel(text) {
		t.intern(l)
	}
}

// internEnds interns the labels that an insertion declares of its ends. It returns them where a vertex has one at most.
func (g *Graph) internEnds(u *Update) (from, to LabelID) {
	if g.several() {
		g.labels.internAll(u.FromLabel)
		g.labels.internAll(u.ToLabel)
		return NoLabel, NoLabel
	}
	return g.labels.intern(u.FromLabel), g.labels.intern(u.ToLabel)
}

// internVertex interns the labels of +v. It returns the label where a vertex has one at most.
func (g *Graph) internVertex(u *Update) LabelID {
	if g.several() {
		g.labels.internAll(u.Label)
		return NoLabel
	}
	return g.labels.intern(u.Label)
}

// internAdded interns the labels that =v adds, whether or not the vertex is there.
func (g *Graph) internAdded(u *Update) {
	for l := range property.EachLabel(u.Label) {
		if l[0] == property.AddLabel {
			g.labels.intern(l[1:])
		}
	}
}

// relabels takes a vertex into the fold because an update changes its labels; other updates of its edges stay plain.
func (f *folder) relabels(id VertexID, op Op, text string) {
	if id == NoVertex || text == "" && op != InsertVertex {
		return
	}
	if has := f.g.labelsOf(id); relabelled(has, op, text) != has {
		f.byID(id)
	}
}

// relabelled returns the labels of a vertex after an update: +v sets all labels, =v adds and removes some, and an edge
// adds those that it declares.
func relabelled(has property.Value, op Op, text string) property.Value {
	switch op {
	case InsertVertex:
		if has.HasLabels(text) && has.String() == text {
			return has
		}
		return property.LabelsOf(text)
	case ReviseVertex:
		return has.Relabelled(text)
	}
	return has.WithLabels(text)
}

// labelOfVertex is a label of a vertex of the fold.
type labelOfVertex struct {
	vert int32
	name string
}

// relabel changes the labels of a present vertex by an update. Each label is a value of its own: relabel notes the last
// update that added or removed it. If the vertex was deleted meanwhile, its new birth counts as later.
func (f *folder) relabel(v int32, op Op, text string, updateIndex uint32) {
	column, ok := f.g.vertexColumns.Labels()
	if !ok || text == "" && op != InsertVertex {
		return
	}
	now, _ := f.valuesOf(v)
	from, to := now[column], relabelled(now[column], op, text)
	if from == to {
		return
	}
	now[column] = to
	eachDifference(from, to, func(name string) { f.relabelled[labelOfVertex{v, name}] = updateIndex })
}

// eachDifference calls call for each label that is in one of two sets, ascending.
func eachDifference(a, b property.Value, call func(name string)) {
	left, right := slices.Collect(a.EachLabel()), slices.Collect(b.EachLabel())
	for len(left) > 0 && len(right) > 0 {
		switch c := strings.Compare(left[0], right[0]); {
		case c < 0:
			call(left[0])
			left = left[1:]
		case c > 0:
			call(right[0])
			right = right[1:]
		default:
			left, right = left[1:], right[1:]
		}
	}
	for _, name := range slices.Concat(left, right) {
		call(name)
	}
}

// relabelledAt returns the place of the last update that changed a label which differs in the end.
func (f *folder) relabelledAt(v int32, before, after property.Value) (at int64) {
	at = -1
	eachDifference(before, after, func(name string) {
		at = max(at, int64(f.relabelled[labelOfVertex{v, name}]))
	})
	return at
}

// checkLabels judges the labels of a vertex in an update: those of a text, each behind a sign for =v.
func (a *acceptor) checkLabels(field, text string, signed bool) error {
	if !a.g.several() {
		return a.checkLabel(field, text)
	}
	for l := range property.EachLabel(text) {
		if signed {
			if l[0] != property.AddLabel && l[0] != property.RemoveLabel || len(l) == 1 {
				return refuse(ReasonBadLabel, "%s %s of =v is no change; write +LABEL to add one, -LABEL to remove one",
					field, quote(l))
			}
			l = l[1:]
		}
		if err := a.checkLabel(field, l); err != nil {
			return err
		}
	}
	return nil
}

// labelOfKey is a label of the vertex that bears a key.
type labelOfKey struct {
	key, label string
}

// LimitVertexLabels bounds the number of labels that a vertex may have after an update, where it may have several; 0 is
// no limit. The cost of each change of a vertex's labels grows with their number.
func (g *Graph) LimitVertexLabels(most int) { g.maxVertexLabels = most }

// newLabelsOf checks the labels that an update gives to a vertex against the limits of labels.
func (a *acceptor) newLabelsOf(key string, id VertexID, text string, signed bool) error {
	for l := range property.EachLabel(text) {
		if signed {
			if l[0] == property.RemoveLabel {
				continue
			}
			l = l[1:]
		}
		if err := a.label(l); err != nil {
			return err
		}
		if err := a.give(labelOfKey{key, l}, id); err != nil {
			return err
		}
	}
	return nil
}

// give checks one more label of a vertex against the limit of labels per vertex, and counts it.
func (a *acceptor) give(l labelOfKey, id VertexID) error {
	if a.g.maxVertexLabels == 0 {
		return nil
	}
	var has property.Value
	if id != NoVertex {
		has = a.g.labelsOf(id)
	}
	if _, ok := a.given[l]; ok || has.HasLabel(l.label) {
		return nil
	}
	n := a.givenTo[l.key]
	for range has.EachLabel() {
		n++
	}
	if n >= a.g.maxVertexLabels {
		return refuse(ReasonLabelLimit, "vertex %s has %d labels, with those of this batch; it may have %d "+
			"(graph.max_vertex_labels)", quote(l.key), n, a.g.maxVertexLabels)
	}
	a.given[l] = struct{}{}
	a.givenTo[l.key]++
	a.givenUndo = append(a.givenUndo, l)
	return nil
}

// declareLabels makes a vertex present, with the labels of a text.
func (a *acceptor) declareLabels(key, text string, id VertexID) error {
	if !a.g.several() {
		return a.declare(key, text, id)
	}
	if err := a.declare(key, "", id); err != nil {
		return err
	}
	return a.newLabelsOf(key, id, text, false)
}
