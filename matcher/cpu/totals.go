package cpu

import (
	"context"
	"sync"
	"sync/atomic"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu/internal/count"
	"motifd/matcher/cpu/internal/ivm"
	"motifd/matcher/cpu/internal/labeladj"
	"motifd/matcher/cpu/internal/work"
	"motifd/matcher/internal/candidates"
)

// totals answers the requests of one Search that want a count or a witness, one after the other. What is found for one
// may be asked for by the next: the caller's search goes on from request to request.
type totals struct {
	b     *Backend
	ctx   context.Context
	sign  dyngraph.Sign
	phase uint64
	own   *searcher
	taken atomic.Bool // own is at work
	stop  atomic.Bool // of the tasks at hand
	// leader tells of each request with whose it is counted one by one; see Backend.leaders.
	leader []int
	run    tasksRun // of the request at hand
}

// newTotals returns what answers the requests of one Search. It ends with end.
func (b *Backend) newTotals(ctx context.Context, sign dyngraph.Sign, phase uint64) *totals {
	t := b.totals
	if b.totals = nil; t == nil {
		t = &totals{b: b}
		t.run.work = t.run.worker
	}
	t.ctx, t.sign, t.phase = ctx, sign, phase
	return t
}

// end keeps what there is for another Search.
func (t *totals) end() {
	if t.own != nil {
		t.b.release(t.own)
		t.b.counting, t.own = nil, nil
	}
	t.run.tasksOf, t.run.pool = tasksOf{}, work.Pool{}
	t.ctx, t.leader = nil, nil
	t.b.totals = t
}

// isOver reports whether the whole Search is to end.
func (t *totals) isOver() bool { return t.ctx.Err() != nil }

// search returns a search for a worker: the caller's own one, unless another worker has it.
func (t *totals) search(mode matcher.Want) (s *searcher, own bool) {
	switch {
	case t.taken.Swap(true):
		return t.b.newSearcher(&t.stop, mode), false
	case t.own == nil:
		t.own = t.b.newSearcher(&t.stop, mode)
		t.b.counting = t.own
	default:
		t.own.NextRequest(mode)
	}
	return t.own, true
}

// done takes back what search returned.
func (t *totals) done(s *searcher, own bool) {
	if own {
		t.taken.Store(false)
	} else {
		t.b.release(s)
	}
}

// total answers one request: what its views have counted, and its tasks.
func (t *totals) total(request int, c *compiled, req *matcher.Request, tasks []task, result *matcher.Result) error {
	var less matcher.Count
	views := t.b.viewsAt(c, req, t.phase)
	if views != nil {
		result.Count, less = views.Sum(t.phase)
	}
	if len(tasks) > 0 {
		less = less.Add(t.runTasks(c, req, views, tasks, result, t.leader != nil && t.leader[request] >= 0))
	}
	if err := t.ctx.Err(); err != nil {
		return err
	}
	result.Count = result.Count.Sub(less)
	if result.Witness != nil {
		result.Over = matcher.NoCause // others were still at work
	}
	if result.Over != matcher.NoCause {
		result.Count, result.Witness = matcher.Count{}, nil
		return nil
	}
	if req.Want == matcher.WantCount && (t.leader == nil || t.leader[request] < 0) { // trees have all embeddings
		result.Count = c.inUnits(result.Count, c.countPlan != nil)
	}
	return nil
}

// runTasks runs the tasks of one request on the workers, which share the search of a task, too. It adds to the result,
// and returns what is to be taken away. joined tells that the tasks are those of other requests, too.
func (t *totals) runTasks(
	c *compiled,
	req *matcher.Request,
	views *ivm.ViewSet,
	tasks []task,
	result *matcher.Result,
	joined bool,
) (less matcher.Count) {
	t.stop.Store(false)
	r := &t.run
	r.tasksOf = tasksOf{t: t, tasks: tasks, want: req.Want, silence: req.Silence, views: views, result: result,
		bits: t.b.filter}
	if result.Over = r.meter.Begin(req.Budget, true); result.Over != matcher.NoCause {
		return less
	}
	switch how := t.b.how(c, req); {
	case how == byWitness || joined:
		r.runAll()
		return less
	case how == byCounting:
		t.runOnes(c, req, result)
		return less
	case c.each == nil || views != nil:
		return t.runCounts(c, req, result)
	}
	before := result.Steps
	if t.runEach(c, req, result) {
		return less
	}
	tried := result.Steps - before
	less = t.runCounts(c, req, result)
	t.b.judgeEach(c, tried, result.Steps-before-tried)
	return less
}

// runCounts runs the tasks of a request by the counting plan, and with a kept space if the plan has one or gets one.
func (t *totals) runCounts(c *compiled, req *matcher.Request, result *matcher.Result) (less matcher.Count) {
	r := &t.run
	r.countPlan = c.countPlan
	if !t.b.keeps(c, req) {
		r.runAll()
		return r.less
	}
	way := t.keptWay(c, result)
	if way == nil {
		steps := result.Steps
		r.allow(t.b.allowance(c))
		r.runAll()
		c.keep.before.add(result.Steps-steps, r.done)
		if !r.allowed.Over() || result.Over != matcher.NoCause || t.ctx.Err() != nil {
			return r.less
		}
		began := t.b.work.Now()
		way = t.b.keep(c, t.isOver)
		result.SearchNS += t.b.work.Now() - began
		r.tasks = append(r.left, r.tasks[r.pool.Taken():]...)
		r.allowed = nil
		t.stop.Store(false)
	}
	if way != nil {
		t.b.noteKept(c, len(r.tasks))
		r.tasks = way.admitted(r.tasks)
		r.countPlan, r.bits = way.countPlan, way.space
	}
	r.runAll()
	return r.less
}

// keptWay returns the way with the plan's kept space, brought to the staged batch; nil without one.
func (t *totals) keptWay(c *compiled, result *matcher.Result) *keptWay {
	began := t.b.work.Now()
	defer func() { result.SearchNS += t.b.work.Now() - began }()
	return t.b.keptWay(c, t.isOver)
}

// runOnes runs the tasks of a request that is counted match by match, with a kept space if the plan has one. Where it
// is to get one, they begin again.
func (t *totals) runOnes(c *compiled, req *matcher.Request, result *matcher.Result) {
	r := &t.run
	if !t.b.keeps(c, req) {
		r.runAll()
		return
	}
	if t.onWay(c, result) {
		r.runAll()
		return
	}
	steps := result.Steps
	r.allow(t.b.allowance(c))
	r.runAll()
	c.keep.before.add(result.Steps-steps, r.done)
	if !r.allowed.Over() || result.Over != matcher.NoCause || t.ctx.Err() != nil {
		return
	}
	r.again(result)
	t.onWay(c, result)
	r.runAll()
}

// again drops what was counted, before all tasks run anew.
func (r *tasksRun) again(result *matcher.Result) {
	result.Count = matcher.Count{}
	r.meter.Restart()
	r.each, r.way, r.allowed, r.left, r.done = matcher.Count{}, nil, nil, nil, 0
	r.t.stop.Store(false)
}

// allow bounds the steps of the tasks.
func (r *tasksRun) allow(steps uint64) {
	r.allowance.Begin(steps)
	r.allowed = &r.allowance
}

// onWay prepares the tasks of a count match by match for a search with the plan's kept space. It reports whether the
// plan has one.
func (t *totals) onWay(c *compiled, result *matcher.Result) bool {
	way := t.keptWay(c, result)
	if way == nil {
		return false
	}
	r := &t.run
	t.b.noteKept(c, len(r.tasks))
	r.way, r.tasks = way, way.admitted(r.tasks)
	way.onWay(c, r.tasks)
	if len(r.tasks) > 0 {
		t.b.readyOrders(way)
	}
	return true
}

// runAll runs the tasks.
func (r *tasksRun) runAll() {
	b := r.t.b
	if len(r.tasks) == 0 {
		return
	}
	if r.countPlan != nil {
		b.addWildcards(r.countPlan)
		r.index = b.labelIndex()
	}
	r.pool = work.Pool{Options: &b.work, Stop: &r.t.stop}
	b.progress.Begin(&r.come, len(r.tasks))
	defer b.progress.End(&r.come)
	r.pool.Run(len(r.tasks), taskChunk, r.work)
}

// tasksRun is the state of running the tasks of a request. Its memory is kept: most requests have few tasks.
type tasksRun struct {
	tasksOf
	work  func() // worker
	pool  work.Pool
	meter matcher.Meter
	come  matcher.SearchProgress
	mu    sync.Mutex // held to add to the result, and to less

	allowance work.Allowance
}

// tasksOf are the tasks of a request.
type tasksOf struct {
	t         *totals
	tasks     []task
	want      matcher.Want
	silence   *matcher.Silence
	countPlan *count.Plan   // nil for an enumeration
	each      matcher.Count // by how much a match counts that is enumerated in the place of counting; 0 otherwise
	index     *labeladj.Index
	views     *ivm.ViewSet
	bits      candidates.Source
	way       *keptWay        // of an enumeration; nil without
	allowed   *work.Allowance // of steps, or nil
	done      uint64          // tasks
	left      []task          // that were begun, or taken, and are not done: there was no allowance left
	result    *matcher.Result
	less      matcher.Count
}

// worker is one worker at the tasks.
func (r *tasksRun) worker() {
	t, b := r.t, r.t.b
	s, own := r.searcher()
	defer r.release(s, own)
	s.Silence, s.Ctx = r.silence, t.ctx
	r.pool.Join(&s.Worker)
	s.Allowance = r.allowed
	s.Measure(&r.meter)
	began := s.Told.At
	steps, looked := s.Steps, s.counter.LookedUp()
	var more, fewer matcher.Count
	done, left := uint64(0), []task(nil)
	if r.countPlan != nil {
		s.counter.Read(r.bits)
		s.counter.Start(r.countPlan, r.index, r.views.Counted())
	}
	for from, to, given, ok := r.pool.Take(&s.Worker); ok; from, to, given, ok = r.pool.Take(&s.Worker) {
		if given != nil {
			s.resumePart(given)
		}
		chunk := r.tasks[from:to]
		for i, x := range chunk {
			if r.countPlan != nil {
				edge := dyngraph.NoEdge
				if b.g.HasParallel(x.label) {
					edge = b.delta.Net[x.net].Edge
				}
				m, l := s.counter.FromAnchor(x.anchor(), t.sign, x.NetPair, x.label, x.net, edge)
				if !s.Stopped {
					more, fewer = more.Add(m), fewer.Add(l)
				}
			} else {
				s.FromAnchor(x.o, x.edge(b.delta), x.net)
			}
			if s.Stopped {
				left = append(left, chunk[i:]...)
				break
			}
			done++
		}
		if r.allowed != nil && r.allowed.Over() {
			t.stop.Store(true)
		}
		r.come.Done(len(chunk))
		if s.Tripped {
			t.stop.Store(true)
		}
	}
	s.Spend()
	took := s.Told.At - began
	if r.countPlan != nil {
		b.opt.Profile.counted(r.countPlan, r.bits != b.filter, s.Steps-steps, looked, s.counter.LookedUp())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	result, found := r.result, s.Counted()
	if !r.each.IsZero() {
		found = found.Mul(r.each)
	}
	result.Count, r.less = result.Count.Add(more).Add(found), r.less.Add(fewer)
	result.Steps += s.Steps
	r.done, r.left = r.done+done, append(r.left, left...)
	result.SearchNS += took
	result.Over = r.meter.Over()
	if s.Witness != nil && result.Witness == nil {
		result.Witness, result.Count = s.Witness, matcher.CountOf(1)
	}
}

// searcher returns a searcher for a worker, and whether it is the caller's own one. It ends with release.
func (r *tasksRun) searcher() (s *searcher, own bool) {
	if r.way != nil {
		return r.way.searcher(r.t.b, &r.t.stop), false
	}
	return r.t.search(r.want)
}

// release takes back what searcher returned.
func (r *tasksRun) release(s *searcher, own bool) {
	if r.way != nil {
		r.way.release(r.t.b, s)
		return
	}
	r.t.done(s, own)
}

// inUnits returns a count, of embeddings or of subgraphs, as the query wants it. Automorphisms act freely on
// embeddings, and a whole orbit appears or disappears at once: there are as many embeddings as subgraphs times
// automorphisms.
func (c *compiled) inUnits(n matcher.Count, embeddings bool) matcher.Count {
	switch subgraphs := c.plan.Query.Unit == matcher.Subgraphs; {
	case embeddings && subgraphs:
		return n.Quo(c.plan.Automorphisms)
	case !embeddings && !subgraphs:
		return n.Mul(c.plan.Automorphisms)
	}
	return n
}
