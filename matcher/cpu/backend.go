// Package cpu is the CPU backend: a depth-first search from every net edge over every oriented pattern edge that it
// fits, on a pool of workers, with the results in canonical order whatever the number of workers (DESIGN A1-A5, S7).
package cpu

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/backtrack"
	"motifd/matcher/cpu/internal/count"
	"motifd/matcher/cpu/internal/ivm"
	"motifd/matcher/cpu/internal/labeladj"
	"motifd/matcher/cpu/internal/neighbors"
	"motifd/matcher/cpu/internal/program"
	"motifd/matcher/cpu/internal/space"
	"motifd/matcher/cpu/internal/work"
	"motifd/matcher/internal/candidates"
	"motifd/matcher/internal/rowsort"
)

// Options configure a Backend.
type Options struct {
	// Threads is the number of workers. 0 is GOMAXPROCS.
	Threads int
	// TempFiles opens files in which groups of matches are sorted that are too large to sort in memory. nil: a search
	// that has such a group fails.
	TempFiles matcher.TempFiles
	// GroupMemory bounds, in bytes, the rows of one group that a worker holds in memory while it searches and sorts;
	// beyond it sorted runs go to TempFiles. 0 is 64 MiB.
	GroupMemory int
	// QueueMemory bounds, in bytes, the sorted rows that wait for their turn to be emitted; a worker that is ahead
	// waits, and parts of a group that is not the next go to TempFiles. 0 is 64 MiB. A search holds at most Threads
	// times GroupMemory and half of it for sorting, QueueMemory, and GroupMemory more for what was merged ahead.
	QueueMemory int
	// Lazy delays the structures that counting needs of the whole graph, an index and maintained views, until Ready or
	// the first search that counts: another backend may answer all counts. Otherwise they are made, and brought to the
	// staged batch, when the first batch is staged that may concern a query and some query is counted by them.
	Lazy bool
	// Filter holds the candidate bits. This backend alone changes it, in Load, Prepare, Stage, Commit and Abort;
	// another backend over the same graph may read it in between. nil is one of its own.
	Filter *candidates.Filter
	// Clock returns nanoseconds from any origin. With it, Results carry the time spent searching, summed over
	// workers; nil measures nothing.
	Clock func() int64
	// Profile takes note of what searches do; nil takes note of nothing.
	Profile *Profile
}

// EnsureDefaults fills in defaults.
func (o *Options) EnsureDefaults() {
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
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
	opt       Options
	g         *dyngraph.Graph
	filter    *candidates.Filter
	work      work.Options
	neighbors neighbors.Cache
	shared    backtrack.Shared
	delta     *dyngraph.Delta
	plans     map[*matcher.Plan]*compiled
	listed    []*matcher.Plan // as Prepare was given them
	// anchors finds the plans that a net edge fits.
	anchors  matcher.Anchors[anchorOrder]
	prepared uint64 // how often the anchors were set
	revised  matcher.RevisedOrders[revisedAt]
	progress *matcher.Progress
	summed   int      // how many plans are
	indexed  int      // how many plans read the index by label; see compiled.readsIndex
	concerns bool     // whether the staged batch may concern some plan, by its labels
	rounds   uint64   // of looking for anchors
	seeks    anchors  // of the last round
	starts   []start  // room for what is found
	passed   []uint64 // room for the tests that a net edge may pass
	// columns numbers the neighbour lists of all plans; fresh tells which of them still hold.
	columns *program.ListKeys
	tasks   [][]task // by request, empty between searches
	asks    []asks   // by request of the search at hand, until rows are searched
	totals  *totals  // kept between searches
	nets    program.NetEdges
	// phase numbers the phases of batches: a batch's deletions are an even one, its insertions the next.
	phase, read uint64
	counted     uint64 // the last batch in which something was counted
	views       ivm.Views
	apart       bool           // tests: every anchor is searched by itself
	byLength    bool           // tests: so is every variant of a query with paths
	strategy    count.Strategy // tests: how patterns are counted
	oneByOnes   bool           // tests: no pattern is made ready for counting
	spaces      bool           // tests: each plan that may have a kept space has one from the start
	sumsFirst   bool           // tests: no count of a whole graph begins by enumeration
	neverBegins bool           // tests: no search of a whole graph begins without a space
	firstTurn   uint64         // tests: the constant; 0 as it is
	limits      space.Limits   // of spaces; changed in tests
	keepsAll    bool           // tests: no kept space is refused
	focused     uint64         // tests: steps after which a canonical search pauses; 0 for an estimate
	focuses     atomic.Int64   // tests: images that were searched by themselves, with rows that were known
	trials      uint64         // tests: what trial returns; 0 for an estimate
	eachs       bool           // tests: whatever may be counted match by match is
	guards      uint64         // tests: what guard returns; 0 for an estimate
	// adj is there since something was counted, as long as some plan is.
	index     *labeladj.Index
	counts    bool                // some plan is counted in every batch
	wildcards []labeladj.Wildcard // of plans that are counted, or were once; index has them

	signatures space.Signatures // of the graph as it is
	outlook    outlook          // of searches of whole graphs

	changes space.Changes // for kept spaces
	kept    int           // plans that have one
	// excluded are plans whose spaces have excluded anchors of the staged batch.
	excluded []*compiled

	perNet [2]uint64 // by side: steps that the last search for rows made for a net edge

	alone    uint64 // aloneSteps, or fewer in tests
	together bool   // some plans are searched together; see lengths

	mu   sync.Mutex
	idle []*searcher // workers between searches, with their caches
	// spares has *searchers between searches of whole graphs, and spareLists *neighbors.Caches. What they have found is
	// of no use.
	spares, spareLists sync.Pool
	// counting is the searcher of the Search at hand that counts; nil without.
	counting *searcher
}

// Capabilities implements matcher.Backend.
func (b *Backend) Capabilities() matcher.Capabilities {
	return matcher.Capabilities{Concern: b.Concern, TellProgress: b.TellProgress}
}

// TellProgress sets the Progress to which searches report.
func (b *Backend) TellProgress(p *matcher.Progress) { b.progress = p }

// forget drops all caches but those of counting plans.
func (b *Backend) forget() {
	for _, s := range b.idle {
		s.Search = backtrack.Search{}
	}
	b.shared.Forget()
	b.neighbors.Drop()
}

// outdate outdates the parts of workers' caches that the staged batch changes.
func (b *Backend) outdate() {
	b.neighbors.Outdate(b.g, b.delta, b.filter.Changed(), b.columns)
}

// compiled are the orders of one plan. Rows observe symmetry constraints where the unit is subgraphs. Counts by
// enumeration always do: the matches of an orbit are as many as there are automorphisms.
type compiled struct {
	plan *matcher.Plan
	at   int // among the plans of Prepare
	// rows and count are by anchored order; rows is nil where another order finds its matches.
	rows, count []*program.Order
	revised     []revisedOrder // as matcher.Plan.Revised
	// each are the orders, by anchored order, of a plan that is counted match by match though it could be counted
	// without; nil for other plans. A match counts for all of its automorphic images.
	each       []*program.Order
	reprieves  uint        // how often an enumeration took long, but counting would have taken longer
	countPlan  *count.Plan // nil when counting must enumerate, as with conditions between elements
	layout     *rowsort.Layout
	asked      asked
	missing    *int32       // vertices that nothing fits; see candidates.Filter.Missing
	noted      [2]uint64    // by side: the batch that was last said to concern it
	views      *ivm.ViewSet // nil when counts are better taken from the net edges alone
	viewsPhase uint64       // the last phase that views has
	revisedIn  uint64       // the last batch that revised vertices which matter
	canons     canons
	keep       keeping
	lengths    *lengths // nil where it is searched by itself
	length     int      // index in lengths.parts
}

// New returns a backend without a graph.
func New(opt Options) *Backend {
	opt.EnsureDefaults()
	if opt.Filter == nil {
		opt.Filter = new(candidates.Filter)
	}
	b := &Backend{opt: opt, limits: space.Limits{Round: cheapRound}, filter: opt.Filter, alone: aloneSteps(opt.Threads),
		work: work.Options{Threads: opt.Threads, Clock: opt.Clock, ShareEvery: work.ShareEvery}}
	b.shared.Filter, b.shared.Neighbors, b.shared.Work, b.shared.SortMemory = b.filter, &b.neighbors, &b.work,
		opt.GroupMemory
	if opt.Profile != nil {
		b.shared.Profile = &opt.Profile.shared
	}
	return b
}

// Name implements matcher.Backend.
func (b *Backend) Name() string { return "cpu" }

// Load implements matcher.Backend.
func (b *Backend) Load(g *dyngraph.Graph) error {
	b.g, b.shared.Graph, b.delta, b.shared.Delta = g, g, nil, nil
	b.filter.Load(g)
	b.plans, b.columns, b.anchors = map[*matcher.Plan]*compiled{}, new(program.ListKeys), matcher.Anchors[anchorOrder]{}
	b.listed = nil
	b.index, b.wildcards = nil, nil
	b.signatures, b.outlook = space.Signatures{}, good
	b.changes, b.kept = space.Changes{}, 0
	b.neighbors.Load(int(g.IDBound()))
	b.neighbors.Keys, b.neighbors.Workers = b.columns, b.opt.Threads
	b.idle = nil
	b.forget()
	b.nets, b.counted = program.NetEdges{MayFit: b.anchors.MayFit, Joins: b.anchors.Joins()}, 0
	b.views.Reset(g, &b.nets)
	return nil
}

// Prepare implements matcher.Backend. While a batch is staged nothing is rehearsed: the graph has the batch, and the
// filter may not.
func (b *Backend) Prepare(plans []*matcher.Plan) error {
	made := b.compile(plans)
	if !b.g.InBatch() {
		b.rehearse(made)
	}
	return nil
}

// compile compiles the plans that there are from now on. It returns those that are new.
func (b *Backend) compile(plans []*matcher.Plan) (made []*compiled) {
	before := b.filter.Generation()
	b.filter.Prepare(plans)
	old, was := b.plans, b.plans
	if before != b.filter.Generation() {
		old, b.columns, b.anchors = nil, new(program.ListKeys), matcher.Anchors[anchorOrder]{}
		b.neighbors.Keys = b.columns
	}
	b.plans = make(map[*matcher.Plan]*compiled, len(plans))
	b.counts = slices.ContainsFunc(plans, func(p *matcher.Plan) bool { return p.Query.Emit == matcher.EmitCounts })
	for at, p := range plans {
		if c := old[p]; c != nil {
			c.at, b.plans[p] = at, c
			continue
		}
		c := &compiled{plan: p, at: at, missing: b.filter.Missing(p)}
		if p.ForBatches() {
			c.layout = rowsort.NewLayout(b.g.View(dyngraph.New), p)
		}
		cols, dormant := b.columns, b.filter.Dormant(p)
		if dormant {
			cols = new(program.ListKeys) // nothing is searched for it: none of its lists is to be outdated
		}
		if p.ForBatches() && !b.oneByOnes && p.Query.OwnOnly() {
			c.countPlan = count.NewPlan(p, b.filter, false)
		}
		for i := range p.Anchored {
			c.count = append(c.count, program.Compile(p, &p.Anchored[i], b.filter, cols, c.countPlan == nil))
		}
		b.compileRevised(c, cols)
		c.rows = program.CompileRows(p, b.filter, cols, b.apart)
		counted := p.Query.Emit == matcher.EmitCounts && p.ForBatches() && !dormant
		if counted && !p.Query.ReadsVertices() { // views know labels alone
			c.views = b.views.Compile(c.countPlan)
		}
		b.plans[p] = c
		made = append(made, c)
	}
	known := b.listed != nil && before == b.filter.Generation()
	b.listed = append(b.listed[:0:0], plans...)
	ofBatches := func(c *compiled) bool { return c.plan.ForBatches() }
	gone := false
	for p, c := range was {
		gone = gone || b.plans[p] != c && ofBatches(c)
	}
	if known && !gone && !slices.ContainsFunc(made, ofBatches) {
		return made // plans for whole graphs came and went: batches are searched as before
	}
	if len(made) > 0 {
		b.forget() // the caches refer to list keys
	}
	if gone {
		b.idle = nil // they hold components of its counting plan
	}
	b.findLengths(plans)
	b.retainViews()
	b.prepareWildcards()
	live := slices.DeleteFunc(slices.Clone(plans), b.filter.Dormant)
	b.prepared++
	b.anchors.Set(live, func(i, order int) anchorOrder { return newAnchorOrder(b.plans[live[i]], order) })
	b.revised.Set(live, func(i, order int) revisedAt { return revisedAt{b.plans[live[i]], order} })
	b.nets.Prepared()
	b.concerns = b.delta != nil && b.mayConcern()
	b.summed, b.indexed, b.nets.KeepOrders, b.kept = 0, 0, false, 0
	for _, c := range b.plans {
		if c.keep.way != nil {
			b.kept++
		}
		if c.summed() {
			b.summed++
		}
		if c.readsIndex() && !b.filter.Dormant(c.plan) {
			b.indexed++
		}
		b.nets.KeepOrders = b.nets.KeepOrders || c.countPlan != nil && c.plan.Own != nil || c.each != nil
	}
	return made
}

// summed tells whether the plan is counted without enumeration.
func (c *compiled) summed() bool {
	return c.countPlan != nil && c.plan.Query.Emit == matcher.EmitCounts
}

// readsIndex tells whether batches of the plan are counted with the index by label. Where they are enumerated, it is
// brought up only when that takes too long.
func (c *compiled) readsIndex() bool { return c.summed() && c.each == nil }

// mostPending is the number of changes, of batches that concern no plan, from which the index is brought to the graph
// all the same, so that no later batch has to wait for long.
const mostPending = 1 << 10

// Stage implements matcher.Backend.
func (b *Backend) Stage(d *dyngraph.Delta) error {
	var woken []*compiled
	if d.NewTriples {
		woken = b.wake()
	}
	b.delta, b.shared.Delta, b.signatures = d, d, space.Signatures{}
	b.phase += 2
	if b.index != nil && !b.counts && len(d.Touched) > 0 {
		b.index = nil // of a graph that is no more
	}
	b.concerns = b.mayConcern()
	late := b.index != nil && b.index.Pending() >= mostPending
	if b.indexed > 0 && !b.opt.Lazy && len(d.Net) > 0 && (b.concerns || late) {
		b.ready(nil)
	}
	b.filter.Stage(d)
	b.noteChanges(func(d *dyngraph.Delta) { b.changes.Stage(d, b.filter.Changed()) })
	b.noteRevised()
	b.outdate()
	b.rehearse(woken)
	return nil
}

// wake compiles the plans that the staged batch wakes, and returns them; see candidates.Filter.Wake.
func (b *Backend) wake() []*compiled {
	woken := b.filter.Wake()
	if len(woken) == 0 {
		return nil
	}
	for _, p := range woken {
		delete(b.plans, p)
	}
	return b.compile(b.listed)
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

// end outdates the lists that were built while the batch was staged.
func (b *Backend) end(committed bool) {
	if b.delta != nil {
		if b.index != nil && !b.index.End(b.delta, committed) {
			b.index = nil
		}
		b.endViews(committed)
		b.noteChanges(func(d *dyngraph.Delta) { b.changes.EndBatch(d, b.filter.Changed(), committed) })
		b.outdate()
		b.delta, b.shared.Delta, b.signatures = nil, nil, space.Signatures{}
	}
}

// Close implements matcher.Backend.
func (b *Backend) Close() error { return nil }

// Ready makes the structures that counts of the staged batch need, if some request is for a count and they are not
// there: an index of the graph, which is updated when it is used, and the maintained views. Search does so itself; a
// caller that measures searches calls Ready before.
func (b *Backend) Ready(reqs []matcher.Request) {
	if b.sums(reqs) {
		b.ready(reqs)
	}
}

func (b *Backend) ready(reqs []matcher.Request) {
	b.labelIndex()
	b.buildViews(reqs)
}

// sums reports whether some request is known to need the structures that Ready makes.
func (b *Backend) sums(reqs []matcher.Request) bool {
	return slices.ContainsFunc(reqs, func(r matcher.Request) bool {
		c := b.plans[r.Plan]
		return r.Want == matcher.WantCount && c != nil && b.how(c, &r) == bySums && c.readsIndex() && r.Before > 0
	})
}

// Behind returns the work of Ready for requests, in entries of the index (all), and the part of it for the staged
// batch's net edges (own).
func (b *Backend) Behind(reqs []matcher.Request) (all, own uint64) {
	if !b.sums(reqs) {
		return 0, 0
	}
	if b.delta != nil && (b.index == nil || !b.index.HasStaged()) {
		own = 2 * uint64(len(b.delta.Net))
	}
	if b.index == nil {
		all = own + 2*uint64(b.g.Edges())/perChange
	} else {
		all = own + uint64(b.index.Pending())
	}
	if b.counted != b.phase {
		all += uint64(b.staleViews(reqs)) * uint64(b.g.IDBound()) / perChange
	}
	return all, own
}

// perChange is the number of entries of the graph that are read in the time of one change.
const perChange = 8
