package truths

import "iter"

// Span is an interval of values of some bits of a word, those of Mask from bit Shift on: Lo to Lo+More. A device reads
// tests in this form.
type Span struct {
	Word           int
	Shift          uint
	Mask, Lo, More uint64
}

// Spans returns what the test demands: each of the spans. They change with Rows.Version.
func (t *Test) Spans() iter.Seq[Span] {
	return func(yield func(Span) bool) {
		for _, s := range t.spans {
			if !yield(Span{Word: s.word, Shift: s.shift, Mask: s.mask, Lo: s.lo, More: s.more}) {
				return
			}
		}
	}
}

// Rows are the words of all edges, or of all vertices, for a device that copies them.
type Rows struct{ s *store }

// Edges returns the rows of edges.
func (t *Table) Edges() Rows { return Rows{&t.edges} }

// Vertices returns the rows of vertices.
func (t *Table) Vertices() Rows { return Rows{&t.vertices} }

// Version changes when Prepare has evaluated fields for all elements, or has moved them.
func (r Rows) Version() uint64 { return r.s.version }

// Stride returns the number of words of an element.
func (r Rows) Stride() int { return r.s.stride }

// Of returns the words of an edge index or vertex id below the graph's bound: of the old version, if a staged batch
// makes a new one.
func (r Rows) Of(element uint32) []uint64 { return r.s.at(element) }

// New returns the words of the new version that has an order in the staged batch.
func (r Rows) New(order uint32) []uint64 { return r.s.newAt(order) }
