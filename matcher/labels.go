package matcher

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"motifd/dyngraph"
	"motifd/matcher/condition"
)

// Labels returns what the vertex demands of its image's label; nil admits any label, and none.
func (v QueryVertex) Labels() condition.Labels { return demand(v.Label, v.AnyOf) }

// Labels returns what the edge demands of its image's label; nil admits any label, and none.
func (e QueryEdge) Labels() condition.Labels { return demand(e.Label, e.AnyOf) }

// SameEnds reports whether two pattern edges lie between the same vertices.
func (e *QueryEdge) SameEnds(f *QueryEdge) bool {
	return e.From == f.From && e.To == f.To || e.From == f.To && e.To == f.From
}

func demand(label string, anyOf []string) condition.Labels {
	switch {
	case label != "":
		return condition.Labels{{All: []string{label}}}
	case len(anyOf) == 0:
		return nil
	}
	var all []condition.Alternative
	for _, l := range anyOf {
		all = append(all, condition.Alternative{All: []string{l}})
	}
	return condition.NewLabels(all...)
}

// A pattern element may have alternatives of labels, as in (a:Account|Wallet). In plans, the set of their ids has an id
// of its own, beyond those of the graphs' labels, so that equal ids mean equal demands. A set has the same id in the
// whole process, whatever graph its members are labels of. No graph has firstLabelSet labels.
const firstLabelSet = dyngraph.LabelID(1 << 28)

// labelSets are the sets by their ids less firstLabelSet; sets are added and never changed. They are the alternatives
// of the queries that were ever registered, and what two of these have in common.
var labelSets struct {
	add sync.Mutex
	ids map[string]dyngraph.LabelID // by the members as text
	all atomic.Pointer[[][]dyngraph.LabelID]
}

// LabelSet returns the id that stands for one of some labels: UnknownLabel for none, the label itself for one.
func LabelSet(labels ...dyngraph.LabelID) dyngraph.LabelID {
	labels = slices.Clone(labels)
	slices.Sort(labels)
	labels = slices.Compact(labels)
	switch len(labels) {
	case 0:
		return UnknownLabel
	case 1:
		return labels[0]
	}
	key := make([]byte, 0, 4*len(labels))
	for _, l := range labels {
		key = append(key, byte(l), byte(l>>8), byte(l>>16), byte(l>>24))
	}
	s := &labelSets
	s.add.Lock()
	defer s.add.Unlock()
	if id, ok := s.ids[string(key)]; ok {
		return id
	}
	var all [][]dyngraph.LabelID
	if old := s.all.Load(); old != nil {
		all = *old
	} else {
		s.ids = map[string]dyngraph.LabelID{}
	}
	id := firstLabelSet + dyngraph.LabelID(len(all))
	all = append(all, labels) // readers of the old slice do not see beyond its length
	s.all.Store(&all)
	s.ids[string(key)] = id
	return id
}

// Alternatives returns the members of a label set, ascending, and nil for any other resolved label. The slice must not
// be written.
func Alternatives(l dyngraph.LabelID) []dyngraph.LabelID {
	if l < firstLabelSet || l >= UnknownLabel {
		return nil
	}
	return (*labelSets.all.Load())[l-firstLabelSet]
}

// EachLabel returns the members of a label set, and of any other resolved label itself.
func EachLabel(l dyngraph.LabelID) []dyngraph.LabelID {
	if set := Alternatives(l); set != nil {
		return set
	}
	return []dyngraph.LabelID{l}
}

// SeveralLabels reports whether different data labels may satisfy a resolved label: it is AnyLabel or a label set.
func SeveralLabels(l dyngraph.LabelID) bool { return l >= firstLabelSet && l != UnknownLabel }

// LabelFits reports whether a data label satisfies a resolved label of a plan.
func LabelFits(want, have dyngraph.LabelID) bool {
	return want == have || want >= firstLabelSet && (want == AnyLabel || slices.Contains(Alternatives(want), have))
}

// HasParallel reports whether the graph has parallel edges of a label that satisfies a resolved one.
func HasParallel(g *dyngraph.Graph, l dyngraph.LabelID) bool {
	if l != AnyLabel {
		return slices.ContainsFunc(EachLabel(l), g.HasParallel)
	}
	return g.AnyParallel()
}

// LabelsMeet reports whether some data label satisfies both of two resolved labels.
func LabelsMeet(a, b dyngraph.LabelID) bool {
	if !SeveralLabels(a) && !SeveralLabels(b) {
		return a == b
	}
	return a == AnyLabel || b == AnyLabel ||
		slices.ContainsFunc(EachLabel(a), func(l dyngraph.LabelID) bool { return LabelFits(b, l) })
}

// CommonLabels returns the resolved label that data labels satisfy that satisfy both of two resolved labels.
func CommonLabels(a, b dyngraph.LabelID) dyngraph.LabelID {
	switch {
	case a == b || b == AnyLabel:
		return a
	case a == AnyLabel:
		return b
	}
	var both []dyngraph.LabelID
	for _, l := range EachLabel(a) {
		if LabelFits(b, l) {
			both = append(both, l)
		}
	}
	return LabelSet(both...)
}

// CompareLabels orders resolved labels: label sets behind labels, by their members.
func CompareLabels(a, b dyngraph.LabelID) int {
	if x, y := Alternatives(a), Alternatives(b); x != nil && y != nil {
		return slices.Compare(x, y)
	}
	return cmp.Compare(a, b)
}

// VertexCount returns how many vertices of a graph satisfy a resolved label.
func VertexCount(g *dyngraph.Graph, l dyngraph.LabelID) (n int) {
	switch set := Alternatives(l); {
	case l == AnyLabel:
		return g.Vertices()
	case set != nil:
		for _, l := range set {
			n += g.VertexLabelCount(l)
		}
		return n
	}
	return g.VertexLabelCount(l)
}

// ResolveLabel returns the resolved label of a pattern element's Label and AnyOf: what of them the graph has seen,
// staged batch included.
func ResolveLabel(g *dyngraph.Graph, label string, anyOf []string) dyngraph.LabelID {
	if anyOf != nil {
		var known []dyngraph.LabelID
		for _, name := range anyOf {
			if id, ok := g.LabelID(name); ok {
				known = append(known, id)
			}
		}
		return LabelSet(known...)
	}
	if label == "" {
		return AnyLabel
	}
	if id, ok := g.LabelID(label); ok {
		return id
	}
	return UnknownLabel
}
