package candidates

import (
	"motifd/matcher"
	"motifd/matcher/internal/truths"
)

// Source gives a search its candidate bits. It is a Filter, whose bits hold for all searches of a graph, or a space
// that is made for one search. All of it is of one graph and its staged batch.
type Source interface {
	// Bits are Words words per data vertex, which a Test reads.
	Bits() []uint64
	Words() int
	// Class is equal for pattern vertices with the same Test.
	Class(p *matcher.Plan, v int) int
	Test(p *matcher.Plan, v int) Test
	// VertexTest and EdgeTest return the tests of a pattern vertex and of a pattern edge alone, nil if there is none.
	VertexTest(p *matcher.Plan, v int) *truths.Test
	EdgeTest(p *matcher.Plan, e int) *truths.Test
	// Truths are the words that these read.
	Truths() *truths.Table
}

var _ Source = (*Filter)(nil)
