package negation

import (
	"fmt"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/internal/residual"
)

// Options configure a Backend.
type Options struct {
	// TempFiles opens files in which groups are sorted that are too large to sort in memory; nil: such a search fails.
	TempFiles matcher.TempFiles
	// GroupMemory bounds the bytes of a group's rows in memory; 0 is 64 MiB.
	GroupMemory int
	// Clock returns nanoseconds from any origin; nil measures no time.
	Clock func() int64
}

// Backend implements matcher.Backend.
type Backend struct {
	matcher.Backend // the inner one, which it owns
	opt             Options
	g               *dyngraph.Graph
	d               *dyngraph.Delta // of the staged batch, nil between batches
	queries         map[*matcher.Plan]*query
	list            []*query      // the same, in the order of Prepare
	work            residual.Work // of the search at hand
	room            rooms
}

var _ matcher.Backend = (*Backend)(nil)

// New wraps a backend, which has no graph yet.
func New(inner matcher.Backend, opt Options) *Backend {
	if opt.GroupMemory <= 0 {
		opt.GroupMemory = 64 << 20
	}
	return &Backend{Backend: inner, opt: opt, queries: make(map[*matcher.Plan]*query)}
}

// Capabilities implements matcher.Backend.
func (b *Backend) Capabilities() matcher.Capabilities {
	can := b.Backend.Capabilities()
	can.Negations, can.Unblocked = true, b.unblocked
	if concern := can.Concern; concern != nil {
		can.Concern = func(note func(plan int, sign dyngraph.Sign)) {
			concern(note)
			b.concern(note)
		}
	}
	if rehearse := can.Rehearse; rehearse != nil {
		can.Rehearse = b.rehearse(rehearse)
	}
	return can
}

// Load implements matcher.Backend.
func (b *Backend) Load(g *dyngraph.Graph) error {
	b.g, b.d, b.queries, b.list = g, nil, make(map[*matcher.Plan]*query), nil
	return b.Backend.Load(g)
}

// Prepare implements matcher.Backend. The inner backend gets the core of a plan in its place.
func (b *Backend) Prepare(plans []*matcher.Plan) error {
	cores, kept := plans, make(map[*matcher.Plan]*query)
	var list []*query
	for i, p := range plans {
		if len(p.Query.Negations) == 0 {
			continue
		}
		if len(p.Variants) > 0 {
			return fmt.Errorf("negation: query %q has paths of variable length, which paths.New takes apart around "+
				"this backend", p.Query.Name)
		}
		x := b.queries[p]
		if x == nil {
			var err error
			if x, err = compile(b.g, p); err != nil {
				return err
			}
		}
		if len(kept) == 0 {
			cores = append([]*matcher.Plan(nil), plans...)
		}
		x.at, kept[p], cores[i] = i, x, x.core
		list = append(list, x)
	}
	b.queries, b.list = kept, list
	return b.Backend.Prepare(cores)
}

// Stage implements matcher.Backend.
func (b *Backend) Stage(d *dyngraph.Delta) error {
	if d.NewTriples {
		for _, x := range b.list {
			x.resolve(b.g)
		}
	}
	b.d = d
	for _, x := range b.list {
		x.revised = x.isRevised(b.g, d)
	}
	return b.Backend.Stage(d)
}

// Commit implements matcher.Backend.
func (b *Backend) Commit() error {
	b.d = nil
	return b.Backend.Commit()
}

// Abort implements matcher.Backend.
func (b *Backend) Abort() error {
	b.d = nil
	return b.Backend.Abort()
}

// negated reports whether some request is for a query with negations.
func (b *Backend) negated(reqs []matcher.Request) bool {
	if len(b.queries) == 0 {
		return false
	}
	for i := range reqs {
		if b.queries[reqs[i].Plan] != nil {
			return true
		}
	}
	return false
}
