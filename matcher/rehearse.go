package matcher

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"motifd/dyngraph"
)

// Batches of a rehearsal, in updates: from leastRehearsed on by fours, rehearsals of each size. None is more than a
// quarter of the graph.
const (
	leastRehearsed = 8
	mostRehearsed  = 1 << 15
	rehearsals     = 3
)

// Rehearse has a backend with that capability measure its ways of searching for the requests, of both signs alike: on
// batches that delete some of the graph's edges and insert others between vertices of the same labels. Each is staged
// and aborted: whatever is searched later, its results are the same. It returns the number of batches, 0 for a
// backend that has no use for them or a graph that is small. No batch may be staged.
func Rehearse(ctx context.Context, g *dyngraph.Graph, be Backend, reqs []Request) (batches int, err error) {
	if be.Capabilities().Rehearse == nil || len(reqs) == 0 || g.Edges() < 4*leastRehearsed {
		return 0, nil
	}
	s := newSampler(g)
	for size := leastRehearsed; size <= min(mostRehearsed, g.Edges()/4); size *= 4 {
		for range rehearsals {
			more, err := rehearse(ctx, g, be, s.batch(size), reqs)
			if err != nil {
				return batches, fmt.Errorf("rehearsing a batch of %d updates: %w", size, err)
			}
			if batches++; !more {
				return batches, nil
			}
		}
	}
	return batches, nil
}

// rehearse rehearses one batch.
func rehearse(ctx context.Context, g *dyngraph.Graph, be Backend, updates []dyngraph.Update,
	reqs []Request) (more bool, err error) {
	d, err := g.Stage(updates)
	if err != nil {
		return false, fmt.Errorf("staging: %w", err)
	}
	defer g.Abort()
	if err := be.Stage(d); err != nil {
		return false, fmt.Errorf("staging in backend %s: %w", be.Name(), err)
	}
	if r := be.Capabilities().Rehearse; r != nil {
		more, err = r(ctx, reqs)
	}
	return more, errors.Join(err, be.Abort())
}

// sampler makes batches of a graph's edges.
type sampler struct {
	view  dyngraph.View
	rng   *rand.Rand
	edges []dyngraph.EdgeIndex
	alike map[labelTriple][]dyngraph.VertexID // the targets of the sample's edges
}

// newSampler takes edges all over the graph.
func newSampler(g *dyngraph.Graph) *sampler {
	s := &sampler{view: g.View(dyngraph.New), rng: rand.New(rand.NewPCG(1, 2)),
		alike: map[labelTriple][]dyngraph.VertexID{}}
	step, at := max(1, g.Edges()/mostRehearsed), 0
	for e := range s.view.EdgesSeq() {
		if at++; at%step != 0 {
			continue
		}
		_, to, _ := s.view.Edge(e)
		s.edges = append(s.edges, e)
		k := s.triple(e)
		s.alike[k] = append(s.alike[k], to)
	}
	return s
}

func (s *sampler) triple(e dyngraph.EdgeIndex) labelTriple {
	from, to, label := s.view.Edge(e)
	return labelTriple{s.view.Label(from), label, s.view.Label(to)}
}

func has(r *dyngraph.Range, v dyngraph.VertexID) bool {
	_, ok := r.Find(v)
	return ok
}

// batch returns size updates: deletions, and as many insertions of edges that lead from where the deleted ones do
// to where others of the same labels do and where none leads yet. Some may cancel.
func (s *sampler) batch(size int) []dyngraph.Update {
	updates := make([]dyngraph.Update, 0, size)
	for len(updates) < size-1 {
		e := s.edges[s.rng.IntN(len(s.edges))]
		from, to, label := s.view.Edge(e)
		u := dyngraph.Update{Op: dyngraph.DeleteEdge, From: s.view.Key(from), To: s.view.Key(to),
			Label: s.view.LabelName(label), Attr: dyngraph.Attr{ID: s.view.ID(e)}}
		updates = append(updates, u)
		others := s.alike[s.triple(e)]
		other := others[s.rng.IntN(len(others))]
		if r := s.view.Graph().Range(from, dyngraph.Out, label); other != from && !has(&r, other) {
			u.Op, u.To = dyngraph.InsertEdge, s.view.Key(other)
			u.FromLabel, u.ToLabel = s.view.LabelName(s.view.Label(from)), s.view.LabelName(s.view.Label(to))
			updates = append(updates, u)
		}
	}
	return updates
}
