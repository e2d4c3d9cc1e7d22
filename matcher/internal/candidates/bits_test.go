package candidates

import (
	"math/rand/v2"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
)

// TestCandidatesAgainstSets plays candidate bits against sets, with more labels than there are tags and classes that
// come by turns, while vertices get and lose bits and their ids are given to vertices of other labels.
func TestCandidatesAgainstSets(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	const vertices = 40
	labels := dyngraph.LabelID(2 + rng.IntN(600))
	skewed := func() dyngraph.LabelID {
		if rng.IntN(2) == 0 {
			return dyngraph.LabelID(rng.IntN(3))
		}
		return dyngraph.LabelID(rng.IntN(int(labels)))
	}
	type class struct {
		test  Test
		label dyngraph.LabelID
		has   [vertices]bool
	}
	var c candidates
	var classes []*class
	var label [vertices]dyngraph.LabelID
	for range 30 {
		for range rng.IntN(100) {
			x := &class{label: skewed()}
			switch rng.IntN(10) {
			case 0:
				x.label = matcher.UnknownLabel
				x.test = c.pass()
			case 1, 2:
				x.label = matcher.AnyLabel
				x.test = c.put(x.label)
			default:
				x.test = c.put(x.label)
			}
			classes = append(classes, x)
		}
		c.widen(vertices)
		for range 200 {
			v := rng.IntN(vertices)
			if rng.IntN(20) == 0 {
				for _, x := range classes {
					if x.has[v] {
						x.has[v] = false
						c.clear(dyngraph.VertexID(v), &x.test)
					}
				}
				label[v] = skewed()
			}
			for _, x := range classes {
				if !matcher.LabelFits(x.label, label[v]) || rng.IntN(4) > 0 {
					continue
				}
				if x.has[v] = !x.has[v]; x.has[v] {
					c.set(dyngraph.VertexID(v), &x.test)
				} else {
					c.clear(dyngraph.VertexID(v), &x.test)
				}
			}
		}
		row := make([]uint64, c.perVertex)
		for v := range vertices {
			c.byNumber(v, row)
			for i, x := range classes {
				got, numbered := c.has(dyngraph.VertexID(v), &x.test), row[i/64]>>(i%64)&1 == 1
				if got != x.has[v] || numbered != x.has[v] {
					t.Fatalf("class %d of label %d, vertex %d of label %d: %t, by number %t, want %t",
						i, x.label, v, label[v], got, numbered, x.has[v])
				}
			}
		}
	}
}
