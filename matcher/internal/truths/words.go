package truths

import (
	"maps"
	"slices"
	"strings"

	"motifd/dyngraph"
	"motifd/matcher"
)

// arrange gives the stale fields their places, lists all fields by label, and evaluates the stale ones for all elements
// of a view.
func (s *store) arrange(view dyngraph.View) {
	if len(s.fields) == 0 {
		s.version++
		s.under, s.any, s.stride, s.words = nil, nil, 0, nil
		return
	}
	all := slices.SortedFunc(maps.Values(s.fields), func(f, g *field) int { return strings.Compare(f.key, g.key) })
	var stale []*field
	for _, f := range all {
		if f.stale {
			f.compact()
			f.placed = false
			stale = append(stale, f)
		}
	}
	stride := s.stride
	for _, f := range stale {
		f.put(all)
		stride = max(stride, f.word+1)
	}
	if stale != nil || s.under == nil {
		s.list(all)
		s.version++
	}
	for _, test := range s.tests {
		if stale != nil || test.spans == nil { // its fields have moved, or it is new
			test.locate()
		}
	}
	s.widen(stride)
	s.fill(view, stale)
}

// list fills in under and any.
func (s *store) list(all []*field) {
	s.under, s.any = map[dyngraph.LabelID][]*field{}, nil
	for _, f := range all {
		if f.label == matcher.AnyLabel {
			s.any = append(s.any, f)
		}
	}
	for _, f := range all {
		if f.label == matcher.AnyLabel {
			continue
		}
		for _, l := range matcher.EachLabel(f.label) {
			if s.under[l] == nil {
				s.under[l] = slices.Clone(s.any)
			}
			s.under[l] = append(s.under[l], f)
		}
	}
}

// fieldsOf returns the fields that the elements of a label have.
func (s *store) fieldsOf(label dyngraph.LabelID) []*field {
	if fields, ok := s.under[label]; ok {
		return fields
	}
	return s.any
}

// at returns the words of an element; of the old version, if the staged batch makes a new one.
func (s *store) at(element uint32) []uint64 { return s.words[int(element)*s.stride:][:s.stride] }

// newAt returns the words of the new version that has an order.
func (s *store) newAt(order uint32) []uint64 { return s.news[int(order)*s.stride:][:s.stride] }

// widen makes the words of each element as many as stride.
func (s *store) widen(stride int) {
	if stride == s.stride {
		return
	}
	elements := s.bound() // fewer than have words, when a batch was aborted
	words := make([]uint64, elements*stride)
	for e := range min(elements, len(s.words)/max(1, s.stride)) {
		copy(words[e*stride:], s.words[e*s.stride:][:s.stride])
	}
	s.stride, s.words = stride, words
}

// grow makes room for all elements.
func (s *store) grow() {
	if n := s.bound() * s.stride; n > len(s.words) {
		s.words = slices.Grow(s.words, n-len(s.words))[:n]
	}
}

// begin makes room for the elements of a staged batch. versions is the number of new versions.
func (s *store) begin(d *dyngraph.Delta, versions int) {
	s.news = s.news[:0]
	if s.stride == 0 {
		return
	}
	s.grow()
	if versions > 0 {
		s.news = slices.Grow(s.news, len(d.Net)*s.stride)[:len(d.Net)*s.stride]
	}
}

// fill evaluates fields for all elements in a view, in one pass.
func (s *store) fill(view dyngraph.View, stale []*field) {
	if len(stale) == 0 {
		return
	}
	s.grow()
	last, fields := matcher.AnyLabel, []*field(nil) // of the label of the element before
	for e := range uint32(s.bound()) {
		if label := s.label(view, e); label != last {
			last, fields = label, fields[:0]
			for _, f := range stale {
				if matcher.LabelFits(f.label, label) {
					fields = append(fields, f)
				}
			}
		}
		if len(fields) > 0 {
			s.evaluate(view, e, fields, s.at(e))
		}
	}
	for _, f := range stale {
		f.stale = false
	}
}

// evaluateAll sets the words of an element of a label, as of a view.
func (s *store) evaluateAll(view dyngraph.View, element uint32, label dyngraph.LabelID, words []uint64) {
	clear(words)
	s.evaluate(view, element, s.fieldsOf(label), words)
}

// evaluate sets fields of the words of an element as of a view.
func (s *store) evaluate(view dyngraph.View, element uint32, fields []*field, words []uint64) {
	for _, f := range fields {
		if f.holds != nil {
			s.values = slices.Grow(s.values[:0], len(f.holds.Reads))
		}
		w := &words[f.word]
		*w = *w&^(f.mask<<f.shift) | f.of(view, element, s.values[:cap(s.values)])<<f.shift
	}
}
