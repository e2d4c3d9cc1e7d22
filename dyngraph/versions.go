package dyngraph

import (
	"cmp"
	"slices"
)

// The vertices among the net elements of a batch (DESIGN S16): the two versions of each revised one and, where somebody
// asks for them, those that are inserted or deleted.

// ListVertices has Stage list the vertices that a batch inserts or deletes in Delta.Net, or not, from now on. The order
// of the other elements does not depend on it. It is for the owner of the graph, between batches.
func (g *Graph) ListVertices(on bool) { g.listVertices = on }

// vertexVersion is a vertex in one of the graphs.
type vertexVersion struct {
	vertex   VertexID
	place    uint32
	revision int // index of the revision whose version it is, or -1
}

// listVersions finds the vertices of Delta.Net, whose ids are known, and brings either sign in order: at one place
// deleted vertices come before old versions, and inserted ones are among the new versions by id.
func (s *staged) listVersions(g *Graph) {
	for i := range s.revised {
		r := &s.revised[i]
		v := vertexVersion{r.vertex, r.place, i}
		s.olds, s.news = append(s.olds, v), append(s.news, v)
	}
	if g.listVertices {
		for _, id := range s.delta.Freed {
			place := g.fold.deathOf(id)
			if place == AtIsolation {
				s.delta.Isolated++
			}
			s.olds = append(s.olds, vertexVersion{id, place, -1})
		}
		for i, id := range s.delta.Created {
			s.news = append(s.news, vertexVersion{id, uint32(s.births[i].at >> 1), -1})
		}
		s.delta.Listed = len(s.delta.Freed) + len(s.delta.Created)
	}
	slices.SortFunc(s.olds, func(a, b vertexVersion) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(min(a.revision, 0), min(b.revision, 0)),
			cmp.Compare(a.vertex, b.vertex))
	})
	slices.SortFunc(s.news, func(a, b vertexVersion) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.vertex, b.vertex))
	})
}

// deathOf returns the place of the deletion of a vertex that the batch deletes.
func (f *folder) deathOf(id VertexID) uint32 {
	if at := f.mark[id]; at != 0 {
		return f.incs[f.verts[at-1].oldInc].death
	}
	return AtIsolation // no update names it
}

// appendVersions appends the vertices that come before the edges of a place. At one place new versions come before all
// edges and old ones behind: among the deletions, edges come before vertices, and among the insertions behind them.
func (s *staged) appendVersions(place uint32) {
	for {
		toNew := s.newsIn < len(s.news) && s.news[s.newsIn].place <= place
		toOld := s.oldsIn < len(s.olds) && s.olds[s.oldsIn].place < place
		switch {
		case toNew && (!toOld || s.news[s.newsIn].place <= s.olds[s.oldsIn].place):
			s.appendVersion(Inserted, &s.news[s.newsIn])
			s.newsIn++
		case toOld:
			s.appendVersion(Deleted, &s.olds[s.oldsIn])
			s.oldsIn++
		default:
			return
		}
	}
}

func (s *staged) appendVersion(sign Sign, v *vertexVersion) {
	order := uint32(len(s.delta.Net))
	s.delta.Net = append(s.delta.Net, NetEdge{Sign: sign, Vertex: true, Revised: v.revision >= 0, Edge: NoEdge,
		From: v.vertex, To: v.vertex, UpdateIndex: v.place})
	switch {
	case v.revision < 0:
	case sign == Inserted:
		s.revised[v.revision].new = order
	default:
		s.revised[v.revision].old = order
	}
}
