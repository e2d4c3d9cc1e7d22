package truths

import (
	"fmt"
	"slices"
	"strings"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/condition"
)

// Test is a pattern edge's demand on a data edge alone, or a pattern vertex's on a data vertex. Pattern edges of equal
// labels and conditions share one, and so do pattern vertices.
type Test struct {
	key   string
	refs  int
	parts []part
	spans []span
}

// part is one condition of a test.
type part struct {
	field    *field
	relation condition.Relation // of ranks
	constant property.Value     // likewise
}

// span is an interval of values of a field: from lo to lo+more.
type span struct {
	place
	lo, more uint64
}

// Key names the test: equal for tests of equal labels and conditions, whatever is registered besides; empty for nil.
func (t *Test) Key() string {
	if t == nil {
		return ""
	}
	return t.key
}

// Passes reports whether an element with these words passes.
func (t *Test) Passes(words []uint64) bool {
	for i := range t.spans {
		s := &t.spans[i]
		if words[s.word]>>(s.shift&63)&s.mask-s.lo > s.more {
			return false
		}
	}
	return true
}

// All reports whether an element with these words passes several tests.
func All(tests []*Test, words []uint64) bool {
	for _, t := range tests {
		if !t.Passes(words) {
			return false
		}
	}
	return true
}

// locate finds the spans, one for each field that the test reads, once the fields have their places.
func (t *Test) locate() {
	t.spans = t.spans[:0]
	for i := range t.parts {
		p := &t.parts[i]
		lo, hi := uint64(1), uint64(1)
		if p.field.holds == nil {
			lo, hi = p.field.interval(p.relation, p.constant)
		}
		s := span{p.field.place, lo, hi - lo}
		at := slices.IndexFunc(t.spans, func(o span) bool { return o.place == s.place })
		if at < 0 {
			t.spans = append(t.spans, s)
		} else {
			t.spans[at].narrow(&s)
		}
	}
}

// narrow makes the span what it has in common with another one of its field. Nothing is beyond the mask.
func (s *span) narrow(o *span) {
	lo, hi := max(s.lo, o.lo), min(s.lo+s.more, o.lo+o.more)
	if lo > hi {
		lo, hi = s.mask+1, s.mask+1
	}
	s.lo, s.more = lo, hi-lo
}

// keyOf returns the key of the test of some conditions on the elements of a label.
func keyOf(p *matcher.Plan, label dyngraph.LabelID, own []int) string {
	keys := make([]string, len(own))
	for i, c := range own {
		keys[i] = p.Conditions[c].OwnKey()
	}
	slices.Sort(keys)
	return fmt.Sprintf("%d %s", label, strings.Join(slices.Compact(keys), " AND "))
}
