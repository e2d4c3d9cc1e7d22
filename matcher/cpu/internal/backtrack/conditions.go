package backtrack

import (
	"math/bits"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher/cpu/internal/program"
)

// An order may have several Conditions (see program.Order.Variants): a match yields several rows, and some of these
// must meet other Conditions than the match itself. A search keeps the set of Conditions that the partial match can
// still meet, as bits, and leaves a branch where none is left.

// begins reports whether the image of the first step, which is mapped, meets the conditions on it.
func (s *Search) begins() bool {
	o := s.order
	if o.Variants == nil {
		return true
	}
	s.left[0] = ^uint64(0) >> (64 - len(o.Variants))
	if !o.Steps[0].Tested {
		return true
	}
	s.left[1] = s.meetVertex(0, &o.Steps[0], s.left[0])
	return s.left[1] != 0
}

// meetVertex returns those of some Conditions that the image of a step meets, by itself.
func (s *Search) meetVertex(d int, st *program.Step, of uint64) uint64 {
	for m := of; m != 0; m &= m - 1 {
		if k := bits.TrailingZeros64(m); !s.MeetsVertex(s.order.Variants[k], st.Vertex, s.Images[d]) {
			of &^= 1 << k
		}
	}
	return of
}

// maybePairs reports whether matches of the current anchor may hold in both views, so that at most one of their two
// records is wanted: the anchor is a revised vertex, or with a silence a replaced edge.
func (s *Search) maybePairs() bool {
	if s.Sign == 0 || s.Silence == nil && s.order.Anchor >= 0 {
		return false
	}
	n := s.NetEdge(s.Anchor)
	return n.Revised || s.Silence != nil && n.Replaced
}

// inBoth reports whether a row is left out because it is a match in the other view, too.
func (s *Search) inBoth(row []uint32) bool {
	p := s.order.Plan
	return s.InBoth(p, s.Silence, row, row[len(p.Query.Vertices):][:len(p.Query.Edges)])
}

// held has the values that the readings of a search's order read, by number of the reading: their columns, and the
// values of the edges that are mapped.
type held struct {
	columns []dyngraph.Wholes
	values  []int64
}

// startReading makes ready to read the values of an order.
func (s *Search) startReading(o *program.Order) {
	s.held.columns = s.held.columns[:0]
	for _, column := range o.Columns {
		s.held.columns = append(s.held.columns, s.graph.Wholes(column))
	}
	s.held.values = slices.Grow(s.held.values[:0], len(o.Columns))[:len(o.Columns)]
}

// holds reports whether the images of step d, edges included, meet some Conditions, of which it tests those parts that
// the step completes. The step's readings are confined.
func (s *Search) holds(d int, st *program.Step) bool {
	of := s.readMapped(st, &s.frames[st.Slot].readFrame)
	return of != 0 && s.meetsRest(d, st, of)
}

// meetsRest is holds for a step whose values are read and within the limits of some Conditions.
func (s *Search) meetsRest(d int, st *program.Step, of uint64) bool {
	if st.HasBeside {
		of = s.areConsistent(st, of)
	}
	if st.MapsFirst {
		of = s.meetVertex(d, st, of)
		for m := of; m != 0; m &= m - 1 {
			k := bits.TrailingZeros64(m)
			if rest := s.order.Variants[k].Rest[d]; rest != nil && !s.Hold(rest, s.row[:], s.edges) {
				of &^= 1 << k
			}
		}
	}
	s.left[d+1] = of
	return of != 0
}

// readMapped reads the values of the edges that a step has mapped, and returns the Conditions for which they are there
// and in the intervals of the step's frame.
func (s *Search) readMapped(st *program.Step, f *readFrame) uint64 {
	of := f.open
	for i := range st.Readings {
		r := &st.Readings[i]
		m := r.Of & of
		if m == 0 {
			continue
		}
		v, there := s.wholeOf(dyngraph.EdgeIndex(s.edges[r.Edge]), r)
		if !there {
			of &^= m
			continue
		}
		s.held.values[r.Value] = v
		for within := f.within[i]; m != 0; m &= m - 1 {
			if k := bits.TrailingZeros64(m); !within[k].Has(v) {
				of &^= 1 << k
			}
		}
	}
	return of
}

// wholeOf returns the value that a reading reads of a data edge, in the searched view.
func (s *Search) wholeOf(e dyngraph.EdgeIndex, r *program.Reading) (int64, bool) {
	if s.IsStaged(e) {
		return s.Whole(e, r.Column)
	}
	return s.held.columns[r.Value].Of(e)
}

// confined returns the interval of values that limits leave, given the edges that are mapped.
func (s *Search) confined(limits []program.Limit) program.Range {
	r := program.Everything
	for i := range limits {
		limits[i].Narrow(&r, s.held.values)
	}
	return r
}

// areConsistent returns those of some Conditions whose limits between the edges of one step are met.
func (s *Search) areConsistent(st *program.Step, of uint64) uint64 {
	for i := range st.Readings {
		r := &st.Readings[i]
		for k, limits := range r.Beside {
			if limits == nil || of>>k&1 == 0 {
				continue
			}
			if within := s.confined(limits); within.IsEmpty() || !within.Has(s.held.values[r.Value]) {
				of &^= 1 << k
			}
		}
	}
	return of
}

// readFrame is the part of a frame for the readings of its step: the Conditions that some candidate may meet, the
// interval by reading and Conditions, and the values of all candidates once the frame is used again.
type readFrame struct {
	open    uint64
	within  [][]program.Range
	again   bool // the candidates are those of the visit before
	read    bool // values are theirs, and no value is missing
	missing bool // some value is
	values  [][]int64
}

// change notes that the frame has other candidates.
func (f *readFrame) change() { f.again, f.read, f.missing = false, false, false }

// confine prepares the readings of a step for the edges that earlier steps have mapped; false if no candidate can meet
// any Conditions.
func (s *Search) confine(st *program.Step, f *readFrame) bool {
	f.open = s.left[st.Prior]
	for len(f.within) < len(st.Readings) {
		f.within = append(f.within, nil)
	}
	for i := range st.Readings {
		r := &st.Readings[i]
		if n := len(r.Limits); len(f.within[i]) < n {
			f.within[i] = make([]program.Range, n)
		}
		if r.Back < 0 { // the anchor is mapped, and confines the others
			v, there := s.wholeOf(dyngraph.EdgeIndex(s.edges[r.Edge]), r)
			if s.held.values[r.Value] = v; !there {
				f.open &^= r.Of
			}
		}
		for m := r.Of & f.open; m != 0; m &= m - 1 {
			k := bits.TrailingZeros64(m)
			within := s.confined(r.Limits[k])
			if within.IsEmpty() {
				f.open &^= 1 << k
			}
			f.within[i][k] = within
		}
	}
	return f.open != 0
}

// fits returns those of some Conditions that candidate i of a simple step meets by reading k of the step, and holds
// the value.
func (s *Search) fits(st *program.Step, f *frame, k, i int, of uint64) uint64 {
	r := &st.Readings[k]
	m := r.Of & of
	if m == 0 {
		return of
	}
	v, ok := s.valueOf(st, f, k, i)
	s.held.values[r.Value] = v
	if !ok {
		return of &^ m
	}
	for within := f.within[k]; m != 0; m &= m - 1 {
		if x := bits.TrailingZeros64(m); !within[x].Has(v) {
			of &^= 1 << x
		}
	}
	return of
}

// valueOf returns the value that reading k of a simple step reads of candidate i.
func (s *Search) valueOf(st *program.Step, f *frame, k, i int) (int64, bool) {
	r := &st.Readings[k]
	e := f.ent[r.Back][i]
	if e.Staged() {
		return s.Whole(e.Index(), r.Column)
	}
	return s.held.columns[r.Value].Of(e.Index())
}

// fitAll returns those of some Conditions that candidate i of a simple step meets by all of the step's readings.
func (s *Search) fitAll(st *program.Step, f *frame, i int, of uint64) uint64 {
	for k := range st.Readings {
		of = s.fits(st, f, k, i, of)
	}
	return of
}

// admitted makes a frame of the candidates of the last step, from one to before another, that meet one of the order's
// Conditions by its readings.
func (s *Search) admitted(st *program.Step, f *frame, from, to, number int) *frame {
	g, at := &s.fit, s.positions(st, f, from, to, number)
	g.ent = g.ent[:0]
	if len(at) == to-from && !st.HasBeside {
		g.nbr = f.nbr[from:to]
		for k := range st.Back {
			g.ent = append(g.ent, f.ent[k][from:to])
		}
		return g
	}
	for len(g.ents) < len(st.Back) {
		g.ents = append(g.ents, nil)
	}
	g.nbrs = slices.Grow(g.nbrs[:0], len(at))
	for k := range st.Back {
		g.ents[k] = slices.Grow(g.ents[k][:0], len(at))
	}
	for _, i := range at {
		if st.HasBeside && s.areConsistent(st, s.fitAll(st, f, int(i), 1<<number)) == 0 {
			continue
		}
		g.nbrs = append(g.nbrs, f.nbr[i])
		for k := range st.Back {
			g.ents[k] = append(g.ents[k], f.ent[k][i])
		}
	}
	g.nbr, g.ent = g.nbrs, append(g.ent, g.ents[:len(st.Back)]...)
	return g
}

// positions returns which of the candidates, from one to before another, meet the intervals of one of the order's
// Conditions: one reading after the other, so that loops are short.
func (s *Search) positions(st *program.Step, f *frame, from, to, number int) []uint32 {
	if f.again && !f.read && !f.missing {
		s.readAll(st, f)
	}
	at := slices.Grow(s.at[:0], to-from)[:to-from]
	s.at = at
	for i := range at {
		at[i] = uint32(from + i)
	}
	for k := range st.Readings {
		if st.Readings[k].Of>>number&1 == 0 {
			continue
		}
		n := 0
		if f.read {
			values, within := f.values[k], f.within[k][number]
			for _, i := range at {
				at[n] = i
				if within.Has(values[i]) {
					n++
				}
			}
		} else {
			for _, i := range at {
				at[n] = i
				if s.fits(st, f, k, int(i), 1<<number) != 0 {
					n++
				}
			}
		}
		at = at[:n]
	}
	return at
}

// readAll reads the values of all candidates of a frame at once. It pays where a search returns to the frame: each
// value is then read once, not once a visit.
func (s *Search) readAll(st *program.Step, f *frame) {
	for len(f.values) < len(st.Readings) {
		f.values = append(f.values, nil)
	}
	for k := range st.Readings {
		values := slices.Grow(f.values[k][:0], len(f.nbr))[:len(f.nbr)]
		for i := range values {
			v, ok := s.valueOf(st, f, k, i)
			values[i], f.missing = v, f.missing || !ok
		}
		f.values[k] = values
	}
	f.read = !f.missing
}

// possible reports whether the conditions that step d completes can hold, and the window: those that read no edge but
// the anchor's, and the others as far as the edges that are mapped by then have one option each.
func (c *CanonicalSearch) possible(d int) bool {
	st, se := c.o.Steps[d].Step, c.search
	if !st.Tested {
		return true
	}
	of := c.o.Variants[0]
	if !se.MeetsVertex(of, st.Vertex, se.Images[d]) || !se.Hold(c.o.Settled[d], se.row[:], se.edges) {
		return false
	}
	span, within := program.NoEdges, of.Within
	if c.o.Anchor >= 0 && within > 0 && !se.Add(&span, dyngraph.EdgeIndex(se.edges[c.o.Anchor])) {
		return false
	}
	single := true
	for i := range c.o.Steps[:d+1] {
		for k := range c.o.Steps[i].Back {
			e := c.o.Steps[i].Back[k].Edge
			if len(c.options[e]) != 1 {
				single = false
				continue
			}
			se.edges[e] = c.options[e][0]
			if within > 0 && !se.Add(&span, dyngraph.EdgeIndex(se.edges[e])) {
				return false
			}
		}
	}
	return (within == 0 || span.Within(within)) && (!single || se.Hold(of.Between[d], se.row[:], se.edges))
}

// isWithin reports whether the edges of a complete match are within the window.
func (c *CanonicalSearch) isWithin() bool {
	if c.o.Variants == nil || c.o.Variants[0].Within == 0 {
		return true
	}
	span := program.NoEdges
	for _, e := range c.search.edges[:len(c.o.Parallel)] {
		if !c.search.Add(&span, dyngraph.EdgeIndex(e)) {
			return false
		}
	}
	return span.Within(c.o.Variants[0].Within)
}
