// Package cpu is the CPU backend: a depth-first search from every net edge over every oriented pattern edge that it
// fits, on a pool of workers, with the results in canonical order whatever the number of workers (DESIGN A1-A5, S7).
package cpu

import (
	"os"
	"runtime"
	"slices"
	"sync"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/plan"
)

// Options configure a Backend.
type Options struct {
	// Threads is the number of workers. 0 is GOMAXPROCS.
	Threads int
	// SpillDir is where groups of matches that are too large to sort in memory are sorted. "" is os.TempDir().
	SpillDir string
	// GroupMemory bounds, in bytes, the rows of one group that a worker holds in memory while it searches and sorts; beyond it
	// sorted runs go to SpillDir. 0 is 64 MiB.
	GroupMemory int
	// QueueMemory bounds, in bytes, the sorted rows that wait for their turn to be emitted; a worker that is ahead waits, and
	// parts of a group that is not the next go to SpillDir. 0 is 64 MiB. A search holds at most Threads times GroupMemory
	// and half of it for sorting, QueueMemory, and GroupMemory more for what was merged ahead.
	QueueMemory int
	// Clock returns nanoseconds from any origin. With it, Results carry the time spent searching, summed over
	// workers; nil measures nothing.
	Clock func() int64
}

// EnsureDefaults fills in defaults.
func (o *Options) EnsureDefaults() {
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.SpillDir == "" {
		o.SpillDir = os.TempDir()
	}
	if o.GroupMemory <= 0 {
		o.GroupMemory = 64 << 20
	}
	if o.QueueMemory <= 0 {
		o.QueueMemory = 64 << 20
	}
}

// Backend implements matcher.Backend.
type Backend struct {
	opt    Options
	g      *dyngraph.Graph
	filter *plan.Filter
	delta  *dyngraph.Delta
	plans  map[*matcher.Plan]*compiled
	// anchors finds the plans that a net edge fits.
	anchors matcher.Anchors[*compiled]
	rounds  uint64  // of looking for anchors
	starts  []start // room for what is found
	// columns numbers the neighbour lists of all plans; fresh tells which of them still hold.
	columns map[column]int
	fresh   freshness
	tasks   [][]task // by request, empty between searches
	apart   bool     // tests: every anchor is searched by itself
	// adj is there while some plan is counted, or since a whole graph was.
	adj    *adjacency
	counts bool // some plan is counted in every batch

	shareEvery uint64 // steps between two looks whether to give work away

	mu   sync.Mutex
	idle []*search // workers between searches, with their caches
}

// compiled are the orders of one plan. Counts ignore symmetry constraints, rows observe them.
type compiled struct {
	// rows and count are by anchored order; rows is nil where another order finds its matches.
	rows, count       []*order
	rowsAll, countAll *order // static
	shape             *shape // nil when counting must enumerate
	order             *rowOrder
	asked             asked
}

// New returns a backend without a graph.
func New(opt Options) *Backend {
	opt.EnsureDefaults()
	return &Backend{opt: opt, shareEvery: shareEvery}
}

// Name implements matcher.Backend.
func (b *Backend) Name() string { return "cpu" }

// Load implements matcher.Backend.
func (b *Backend) Load(g *dyngraph.Graph) error {
	b.g, b.filter, b.delta = g, plan.NewFilter(g), nil
	b.plans, b.columns, b.anchors = map[*matcher.Plan]*compiled{}, map[column]int{}, matcher.Anchors[*compiled]{}
	b.fresh, b.idle, b.adj = freshness{}, nil, nil
	b.fresh.grow(g)
	return nil
}

// Prepare implements matcher.Backend.
func (b *Backend) Prepare(plans []*matcher.Plan) error {
	before := b.filter.Generation()
	b.filter.Prepare(plans)
	old := b.plans
	if before != b.filter.Generation() {
		old, b.columns, b.anchors = nil, map[column]int{}, matcher.Anchors[*compiled]{}
	}
	b.plans = make(map[*matcher.Plan]*compiled, len(plans))
	b.counts = slices.ContainsFunc(plans, func(p *matcher.Plan) bool { return p.Query.Emit == matcher.EmitCounts })
	for _, p := range plans {
		if c := old[p]; c != nil {
			b.plans[p] = c
			continue
		}
		c := &compiled{order: newRowOrder(b.g.View(dyngraph.New), p)}
		for i := range p.Anchored {
			c.rows = append(c.rows, compile(p, &p.Anchored[i], b.filter, b.columns, true))
			c.count = append(c.count, compile(p, &p.Anchored[i], b.filter, b.columns, false))
		}
		if !b.apart {
			coalesce(p, c.rows)
		}
		c.rowsAll = compile(p, &p.Static, b.filter, b.columns, true)
		c.countAll = compile(p, &p.Static, b.filter, b.columns, false)
		c.shape = newShape(p, b.filter, b.columns)
		b.plans[p] = c
		b.idle = nil // the workers' caches refer to columns and shapes
	}
	b.anchors.Set(plans, func(i int) *compiled { return b.plans[plans[i]] })
	return nil
}

// Stage implements matcher.Backend.
func (b *Backend) Stage(d *dyngraph.Delta) error {
	b.delta = d
	if b.adj != nil && !b.counts && len(d.Touched) > 0 {
		b.adj = nil // of a graph that is no more
	}
	if b.adj != nil {
		b.adj.stage(d)
	} else if b.counts {
		b.adjacency()
	}
	b.filter.Stage(d)
	b.fresh.outdate(b.g, d.Touched, b.filter.Changed())
	return nil
}

// Commit implements matcher.Backend.
func (b *Backend) Commit() error {
	b.filter.Commit()
	b.end(true)
	return nil
}

// Abort implements matcher.Backend.
func (b *Backend) Abort() error {
	b.filter.Abort()
	b.end(false)
	return nil
}

// end outdates what was built while the batch was staged.
func (b *Backend) end(committed bool) {
	if b.delta != nil {
		if b.adj != nil {
			b.adj.end(b.delta, committed)
		}
		b.fresh.outdate(b.g, b.delta.Touched, b.filter.Changed())
		b.delta = nil
	}
}

// Close implements matcher.Backend.
func (b *Backend) Close() error { return nil }

// clock returns the time, or 0 without a clock.
func (b *Backend) clock() int64 {
	if b.opt.Clock == nil {
		return 0
	}
	return b.opt.Clock()
}

// adjacency returns the adjacency for counting, and makes it when it is not there.
func (b *Backend) adjacency() *adjacency {
	if b.adj == nil {
		b.adj = newAdjacency(b.g)
	}
	return b.adj
}
