package truths

import (
	"fmt"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/condition"
)

// store holds the words of all elements of a kind, edges or vertices, with the fields and tests that they are for.
type store struct {
	elements
	tests  map[string]*Test
	fields map[string]*field
	// under are the fields that the elements of a label have, for labels with fields of their own; any are those of all
	// others.
	under map[dyngraph.LabelID][]*field
	any   []*field

	version uint64 // see Rows.Version

	stride int      // words of an element
	words  []uint64 // by element
	news   []uint64 // by order in the staged batch: the words of the new versions of elements that are in both graphs
	values []property.Value
}

// elements are the edges or the vertices of a graph.
type elements struct {
	bound func() int // all are below it
	label func(view dyngraph.View, element uint32) dyngraph.LabelID
}

func edgesOf(g *dyngraph.Graph) elements {
	return elements{
		bound: func() int { return int(g.EdgeBound()) },
		label: func(view dyngraph.View, e uint32) dyngraph.LabelID {
			_, _, label := view.Edge(dyngraph.EdgeIndex(e))
			return label
		},
	}
}

func verticesOf(g *dyngraph.Graph) elements {
	return elements{
		bound: func() int { return int(g.IDBound()) },
		label: func(view dyngraph.View, v uint32) dyngraph.LabelID { return view.Label(dyngraph.VertexID(v)) },
	}
}

func newStore(of elements) store {
	return store{elements: of, tests: map[string]*Test{}, fields: map[string]*field{}}
}

// testsOf returns the tests of a plan by pattern element, given the conditions on each alone and the labels.
func (s *store) testsOf(p *matcher.Plan, own [][]int, labels []dyngraph.LabelID) []*Test {
	if own == nil {
		return nil
	}
	tests := make([]*Test, len(own))
	for e, own := range own {
		if len(own) > 0 {
			tests[e] = s.test(p, labels[e], own)
		}
	}
	return tests
}

func (s *store) test(p *matcher.Plan, label dyngraph.LabelID, own []int) *Test {
	key := keyOf(p, label, own)
	test := s.tests[key]
	if test == nil {
		test = &Test{key: key}
		for _, c := range own {
			test.parts = append(test.parts, s.part(label, &p.Conditions[c]))
		}
		s.tests[key] = test
	}
	test.refs++
	return test
}

// part returns the part of a test that is a condition on the elements of a label.
func (s *store) part(label dyngraph.LabelID, c *matcher.Condition) part {
	relation, value, ok := c.WithConstant()
	if !ok || relation == condition.Ne { // that would be two intervals
		f := s.field(label, "holds "+c.OwnKey())
		f.holds = c
		f.refs++
		return part{field: f}
	}
	f := s.field(label, fmt.Sprint("rank ", c.Reads[0].Column))
	f.read = c.Reads[0]
	f.refs++
	f.add(value)
	return part{f, relation, value}
}

// field returns a field of a label; a new one has no place yet.
func (s *store) field(label dyngraph.LabelID, name string) *field {
	key := fmt.Sprint(label, " ", name)
	f := s.fields[key]
	if f == nil {
		f = &field{key: key, label: label, stale: true}
		s.fields[key] = f
	}
	return f
}

// drop takes one use of a test back, and with the last one those of its fields. test may be nil.
func (s *store) drop(test *Test) {
	if test == nil {
		return
	}
	if test.refs--; test.refs > 0 {
		return
	}
	delete(s.tests, test.key)
	for i := range test.parts {
		p := &test.parts[i]
		if p.field.holds == nil {
			p.field.remove(p.constant)
		}
		if p.field.refs--; p.field.refs == 0 {
			delete(s.fields, p.field.key)
			s.under = nil // the lists have it
		}
	}
}
