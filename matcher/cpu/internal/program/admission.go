package program

import (
	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/internal/candidates"
	"motifd/matcher/internal/truths"
)

// Admission decides whether a data vertex or a data edge may extend the partial match at hand. Every search asks it,
// so that a further condition is added here once, whatever finds the candidates:
//
//   - Passes: conditions on a vertex alone (label, neighbourhood; a vertex predicate). Neighbor lists hold only
//     vertices that pass, as their ListKey names the condition, so searches ask this for anchors and roots and where
//     they read no list.
//   - Admits, Conflict, IsImage, Excluded: conditions between a vertex and the images of earlier steps (injectivity,
//     symmetry).
//   - AdmitsEdge, ChecksEdges: the order of net edges (DESIGN A2). Meets: conditions on an edge alone. Neighbor lists
//     hold only edges that meet them in some view, so that of a list only staged edges are asked: AdmitsListed.
//   - MeetsVertex: conditions on a revised vertex alone, for which candidate bits are not exact, and its order.
//   - Hold, Add: conditions between elements, and a time window; see Conditions.
//   - BackEdge.Admits: edges that must differ.
//
// A worker has one of its own. Lists, intersections and memos hold what depends on none of Sign, Which, Anchor and
// Images.
type Admission struct {
	// Sign and Anchor, the anchor's order in its batch, say what an incremental search sees; with Sign 0, Which names
	// the plain view that is searched.
	Sign   dyngraph.Sign
	Which  dyngraph.Which
	Anchor uint32
	Images [matcher.MaxVertices]dyngraph.VertexID // by step

	orders   []uint32 // batch order by edge index
	bits     []uint64 // candidate bits
	words    int      // of a vertex, in bits
	excluded [2][matcher.MaxVertices]uint32

	graph  *dyngraph.Graph
	delta  *dyngraph.Delta // of the staged batch; nil for none
	truths *truths.Table
	values []property.Value // scratch
}

// Attach makes the admission read the orders of the staged batch, which may be nil, and the candidate bits.
func (a *Admission) Attach(g *dyngraph.Graph, d *dyngraph.Delta, f candidates.Source) {
	a.graph, a.delta, a.orders, a.bits, a.words, a.truths = g, d, g.OrderTable(), f.Bits(), f.Words(), f.Truths()
}

// Passes reports whether data vertex w is a candidate of a step, by conditions on w alone.
func (a *Admission) Passes(st *Step, w dyngraph.VertexID) bool {
	return st.Passes(a.bits[int(w)*a.words:])
}

// BitsOf returns the candidate bits of a data vertex.
func (a *Admission) BitsOf(w dyngraph.VertexID) []uint64 { return a.bits[int(w)*a.words:] }

// Admits reports whether candidate w of a step may be its image beside the images of earlier steps.
func (a *Admission) Admits(st *Step, w dyngraph.VertexID) bool {
	for _, k := range st.MustDiffer {
		if a.Images[k] == w {
			return false
		}
	}
	for _, l := range st.Less {
		if (a.Images[l.Step] < w) != l.Greater {
			return false
		}
	}
	return true
}

// IsImage reports whether w is the image of one of some steps.
func (a *Admission) IsImage(steps []int, w dyngraph.VertexID) bool {
	for _, k := range steps {
		if a.Images[k] == w {
			return true
		}
	}
	return false
}

// Conflict returns an earlier step whose image w must differ from and does not, -1 if there is none.
func (a *Admission) Conflict(st *Step, w dyngraph.VertexID) int {
	for _, k := range st.MustDiffer {
		if a.Images[k] == w {
			return k
		}
	}
	return -1
}

// Excluded holds the images that a step's own must differ from: what Admits asks of a step without symmetry
// constraints, for many candidates in a row.
type Excluded []uint32

// Excluded returns the images of some steps. It is valid until the next call with the same number, 0 or 1.
func (a *Admission) Excluded(number int, steps []int) Excluded {
	of := &a.excluded[number&1]
	for i, k := range steps {
		of[i&(matcher.MaxVertices-1)] = uint32(a.Images[k])
	}
	return of[:len(steps)]
}

// Has reports whether a data vertex is excluded.
func (x Excluded) Has(w uint32) bool {
	for _, v := range x {
		if v == w {
			return true
		}
	}
	return false
}

// AdmitsEdge reports whether a data edge may be the image of a back edge, by its place in the batch.
func (a *Admission) AdmitsEdge(b *BackEdge, e dyngraph.Entry) bool {
	return !e.Staged() || a.visible(b, e)
}

// AdmitsListed reports whether a data edge of a list may be the image of a back edge. The list holds the edges that
// pass its test in some view.
func (a *Admission) AdmitsListed(b *BackEdge, e dyngraph.Entry) bool {
	return !e.Staged() || a.visible(b, e) && a.Meets(b.Test, e)
}

// MayAdmit reports whether a data edge belongs into a list of those that pass a test.
func (a *Admission) MayAdmit(test *truths.Test, e dyngraph.Entry) bool {
	return test == nil || a.truths.Either(test, e)
}

// AdmitsFound is AdmitsListed for a data edge that was found in the graph itself.
func (a *Admission) AdmitsFound(b *BackEdge, e dyngraph.Entry) bool {
	return a.AdmitsEdge(b, e) && a.Meets(b.Test, e)
}

// ChecksEdges reports whether AdmitsListed may not hold for some edges of a list. staged tells that some may be staged.
func (a *Admission) ChecksEdges(staged bool) bool { return staged }

// visible reports whether the search sees a staged edge. The view of an incremental search is that of the batch just
// before the anchor: positives see the edges inserted by a lower order, negatives those deleted by a higher one, so
// that every match is found from exactly one anchor. The anchor's own edge is the image of the anchor alone, or in a
// homomorphism of pattern edges behind it, too: the anchor is the first that has the image.
//
//go:noinline
func (a *Admission) visible(b *BackEdge, e dyngraph.Entry) bool {
	o := a.orders[e.Index()]
	deleted, order := o>>31 != 0, o&(dyngraph.Replaced-1)-1
	if o&dyngraph.Replaced != 0 { // deleted at this order, inserted at the next
		switch a.Sign {
		case dyngraph.Inserted:
			return order+1 < a.Anchor || order+1 == a.Anchor && b.Shares
		case dyngraph.Deleted:
			return order > a.Anchor || order == a.Anchor && b.Shares
		}
		return true
	}
	switch a.Sign {
	case dyngraph.Inserted:
		return !deleted && (order < a.Anchor || order == a.Anchor && b.Shares)
	case dyngraph.Deleted:
		return deleted && (order > a.Anchor || order == a.Anchor && b.Shares)
	}
	return deleted == (a.Which == dyngraph.Old)
}

// Admits reports whether a data edge may be the image of a back edge beside those of the pattern edges that earlier
// steps map; edges are the images, by pattern edge.
func (b *BackEdge) Admits(e uint32, edges []uint32) bool { return Differs(e, b.Earlier, edges) }

// AdmitsBeside reports whether a data edge may be the image of a back edge beside those of the pattern edges that its
// step maps before it.
func (b *BackEdge) AdmitsBeside(e uint32, edges []uint32) bool { return Differs(e, b.Beside, edges) }

// Differs reports whether a data edge is the image of none of some pattern edges.
func Differs(e uint32, some []int, edges []uint32) bool {
	for _, other := range some {
		if edges[other] == e {
			return false
		}
	}
	return true
}

// SetOrders replaces the batch orders, by edge index; for tests without a graph.
func (a *Admission) SetOrders(orders []uint32) { a.orders = orders }
