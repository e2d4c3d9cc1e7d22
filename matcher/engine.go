package matcher

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"motifd/dyngraph"
)

// EngineOptions configure an Engine.
type EngineOptions struct {
	Graph   *dyngraph.Graph // owned by the Engine from now on
	Backend Backend         // likewise; closed by Close
	Planner Planner
	// Upsert refuses queries that the upsert mode of the output cannot hold (DESIGN S12), and retracts the matches
	// of removed ones.
	Upsert bool
	// Limits bound what searching may cost.
	Limits Limits
	// Suspend names queries that somebody wants out of the way, whatever they take: each is suspended by the first step
	// that comes to a record which is not published yet (Batch.MeasureFrom), there or behind the records of the batch.
	Suspend []string
	// Decide makes a decision durable before anything that it concerns is emitted; nil when there is no batch log.
	Decide func(batch uint64, x Decision) error
	// Sampled tells whether a match is in the sample of a query with Query.Sample; the view shows the match. Of a
	// query with paths q is the variant. It is needed for such queries alone.
	Sampled func(q *Query, v dyngraph.View, row []uint32) (bool, error)
	// OnceKey returns the key of a match of a query with Query.Once; q is the variant of a query with paths, and the
	// view shows the match. It is needed for such queries alone.
	OnceKey func(q *Query, v dyngraph.View, row []uint32) (OnceKey, error)
	// Phase is told when a step begins its next phase, and at its end with an empty one. It is for those who have a
	// clock; nil: nobody.
	Phase func(batch uint64, p Phase)
}

// Phase is a part of Step.
type Phase string

// The phases, in their order. A change of queries is one phase.
const (
	PhaseStage  Phase = "stage"  // the graph folds and stages the updates
	PhasePlan   Phase = "plan"   // orders are chosen anew where the statistics ask for it
	PhaseFilter Phase = "filter" // the backend stages the batch: candidates
	PhaseSearch Phase = "search" // searches, and hands on what they find
	PhaseApply  Phase = "apply"  // backend and graph commit
	PhaseChange Phase = "change"
)

// Engine is the deterministic core: one owner, no I/O, no clock. The same batches give the same events, whatever the
// backend (DESIGN S7, P2).
type Engine struct {
	opt     EngineOptions
	can     Capabilities // of the backend
	g       *dyngraph.Graph
	queries map[string]*registered
	active  []*registered // searched ones, by name
	once    []*registered // of these, those with Query.Once
	// anchors and revised are empty where the backend tells what a batch concerns.
	anchors Anchors[*registered]
	revised RevisedOrders[revisedAt]
	// witnesses are the exists queries whose witness has an edge or, where the query depends on vertices, a vertex.
	witnesses map[element][]*registered
	round     uint64 // of Step
	// Memory that steps use one after the other. concerned is 0 between them; it and found are indexes of active.
	concerned []concern
	found     []int
	work      []work
	which     []*work
	reqs      []Request
	kept      []uint32 // rows of a sample
	single    bool     // some searched query is of one vertex without edges
	// unprepared tells that the backend does not know of the last change of queries yet.
	unprepared bool
	// beside tells that this is a query which Static.Prepare has added, and no other change.
	beside bool
	// outdated tells that values have changed without a net event, of which the backend knows nothing.
	outdated bool
	running  running
	progress Progress
	asked    map[string]bool // EngineOptions.Suspend, less those that are suspended or gone
	// plannedAt is the number of edges when orders were last chosen for all queries.
	plannedAt int
}

// registered is a query and what the engine keeps for it.
type registered struct {
	state QueryState
	plan  *Plan
	// exists and witness are the state of an exists query (DESIGN S12): whether there is a match, and one that there
	// is.
	exists  bool
	witness []uint32
	// lost tells that neither is known: finding out at start was beyond a limit. The next step suspends the query.
	lost bool

	memory *onceMemory // of a query with Query.Once

	at          int     // in Engine.active
	recordBytes float64 // mean size of its records, as far as known; 0 if not
}

// element is a data edge or vertex.
type element struct {
	vertex bool
	id     uint32
}

// changedBy returns the element that a net edge is about.
func changedBy(n *dyngraph.NetEdge) element {
	if n.Vertex {
		return element{true, uint32(n.From)}
	}
	return element{false, uint32(n.Edge)}
}

// Errors of PrepareChange.
var (
	// ErrUnchanged: the query is registered just like that already.
	ErrUnchanged = errors.New("the query is registered already")
	// ErrNoQuery: no query of that name is registered.
	ErrNoQuery = errors.New("no such query")
)

// UnchangedError is the ErrUnchanged of PrepareChange: it tells which version is registered.
type UnchangedError struct {
	Name    string
	Version uint64
}

// Error returns ErrUnchanged with name and version.
func (u *UnchangedError) Error() string {
	return fmt.Sprintf("%v: %q version %d", ErrUnchanged, u.Name, u.Version)
}

// Unwrap returns ErrUnchanged.
func (u *UnchangedError) Unwrap() error { return ErrUnchanged }

// NewEngine returns an engine over the graph, which may hold content. The backend is loaded.
func NewEngine(opt EngineOptions) (*Engine, error) {
	if err := opt.Backend.Load(opt.Graph); err != nil {
		return nil, fmt.Errorf("loading the graph into backend %s: %w", opt.Backend.Name(), err)
	}
	if opt.Sampled == nil {
		opt.Sampled = func(q *Query, _ dyngraph.View, _ []uint32) (bool, error) {
			return false, errors.New("the engine was made without EngineOptions.Sampled")
		}
	}
	if opt.OnceKey == nil {
		opt.OnceKey = func(*Query, dyngraph.View, []uint32) (OnceKey, error) {
			return OnceKey{}, errors.New("the engine was made without EngineOptions.OnceKey")
		}
	}
	e := &Engine{
		opt:       opt,
		can:       opt.Backend.Capabilities(),
		g:         opt.Graph,
		queries:   map[string]*registered{},
		witnesses: map[element][]*registered{},
		asked:     map[string]bool{},
	}
	for _, name := range opt.Suspend {
		e.asked[name] = true
	}
	if e.can.TellProgress != nil {
		e.can.TellProgress(&e.progress)
	}
	if err := e.prepare(); err != nil {
		return nil, err
	}
	return e, nil
}

// Graph returns the graph. It may be read between steps.
func (e *Engine) Graph() *dyngraph.Graph { return e.g }

// Backend returns the backend's name.
func (e *Engine) Backend() string { return e.opt.Backend.Name() }

// Kept tells what the backend keeps for a query from batch to batch; nothing for one that is not searched. It is called
// between steps.
func (e *Engine) Kept(query string) Kept {
	r := e.queries[query]
	if r == nil || r.plan == nil || e.can.Kept == nil {
		return Kept{}
	}
	return e.can.Kept(r.plan)
}

// Close releases the backend.
func (e *Engine) Close() error { return e.opt.Backend.Close() }

// Accept decides message by message what is taken (DESIGN S3, S10). Nothing changes before Step.
func (e *Engine) Accept(msgs []dyngraph.Message) ([]dyngraph.Update, []dyngraph.Reject) {
	return e.g.Accept(msgs)
}

// Queries returns what is registered, suspended or was removed, by name.
func (e *Engine) Queries() []QueryState {
	states := make([]QueryState, 0, len(e.queries))
	for _, r := range e.queries {
		states = append(states, r.state)
	}
	slices.SortFunc(states, func(a, b QueryState) int { return compareNames(a.Query, b.Query) })
	return states
}

// ToSuspend returns the queries that the next step suspends, since EngineOptions.Suspend names them, by name. It is
// called when recovery is done: other names that are left there are of no query that is searched, and are forgotten.
func (e *Engine) ToSuspend() (names []string) {
	for _, r := range e.active {
		if e.asked[r.state.Query.Name] && !r.state.Suspended {
			names = append(names, r.state.Query.Name)
		}
	}
	clear(e.asked)
	for _, name := range names {
		e.asked[name] = true
	}
	return names
}

// suspend stops a query by a decision that has been made. The backend learns of it in the next step.
func (e *Engine) suspend(r *registered, x *Decision) {
	e.setWitness(r, false, nil)
	r.state.Suspended, r.state.SuspendedBy, r.state.Announced, r.plan = true, x.Cause.String(), nil, nil
	e.unprepared, e.beside = true, false
	delete(e.asked, r.state.Query.Name)
}

// Restore registers stored queries without emitting anything, replacing all there are. Of removed ones it keeps name
// and version. It searches a witness for each query that emits exists; ctx ends that, with its cause wrapped in the
// error. The engine is then only good to be closed.
func (e *Engine) Restore(ctx context.Context, states []QueryState) error {
	e.queries, e.witnesses = map[string]*registered{}, map[element][]*registered{}
	for _, s := range states {
		if s.Removed {
			s = removed(s.Query) // checkpoints of earlier versions keep all of it
		}
		r := &registered{state: s}
		if s.Query.Once != nil && !s.Removed && !s.Suspended {
			r.memory = newOnceMemory(s.Once)
		}
		r.state.Once = nil
		if !s.Removed && !s.Suspended {
			if err := e.plan(r); err != nil {
				return fmt.Errorf("restoring the stored queries: %w", err)
			}
		}
		e.queries[s.Query.Name] = r
	}
	if err := e.prepare(); err != nil {
		return err
	}
	for _, r := range e.active {
		if err := e.findWitness(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// Rehearse has a backend with that capability measure its ways of searching for what the queries emit; see the function
// of that name. It is for the time before the first Step that somebody waits for. Queries for existence are searched
// too seldom.
func (e *Engine) Rehearse(ctx context.Context) (batches int, err error) {
	if err := e.current(); err != nil {
		return 0, err
	}
	var reqs []Request
	for _, r := range e.active {
		q := r.state.Query
		if q.Emit == EmitExists {
			continue
		}
		req := Request{Plan: r.plan, Before: AllOrders, Limit: capOf(q)}
		if q.Emit == EmitCounts {
			req = Request{Plan: r.plan, Before: AllOrders, Want: WantCount}
		}
		reqs = append(reqs, req)
	}
	return Rehearse(ctx, e.g, e.opt.Backend, reqs)
}

func (e *Engine) plan(r *registered) error {
	if err := e.checkNegations(r.state.Query); err != nil {
		return err
	}
	p, err := e.opt.Planner.Plan(r.state.Query, e.g)
	if err != nil {
		return fmt.Errorf("planning query %q: %w", r.state.Query.Name, err)
	}
	r.plan = p
	return nil
}

// current makes the searched queries known to the backend where it does not know of a change yet. What was suspended
// stays in active, without a plan, until then.
func (e *Engine) current() error {
	if e.outdated {
		if err := e.opt.Backend.Load(e.g); err != nil {
			return fmt.Errorf("loading the graph into backend %s: %w", e.opt.Backend.Name(), err)
		}
		e.outdated, e.unprepared, e.beside = false, true, false
	}
	if !e.unprepared {
		return nil
	}
	return e.prepare()
}

// prepare makes the searched queries known to the backend.
func (e *Engine) prepare() error {
	e.unprepared, e.beside = true, false
	e.active, e.once = e.active[:0], e.once[:0]
	for _, r := range e.queries {
		if !r.state.Removed && !r.state.Suspended {
			e.active = append(e.active, r)
		}
	}
	slices.SortFunc(e.active, func(a, b *registered) int { return compareNames(a.state.Query, b.state.Query) })
	plans := make([]*Plan, len(e.active))
	e.single = false
	for i, r := range e.active {
		r.at, plans[i] = i, r.plan
		if r.memory != nil {
			e.once = append(e.once, r)
		}
		e.single = e.single || r.state.Query.IsVertex()
	}
	e.concerned = make([]concern, len(plans))
	if e.can.Concern == nil {
		var parts []*Plan
		var of []*registered
		for i, p := range plans {
			for _, part := range p.Parts() {
				parts, of = append(parts, part), append(of, e.active[i])
			}
		}
		e.anchors.Set(parts, func(i, _ int) *registered { return of[i] })
		e.revised.Set(parts, func(i, o int) revisedAt {
			return revisedAt{of[i], &parts[i].Asked[parts[i].Revised[o].Steps[0].Vertex]}
		})
	}
	if err := e.opt.Backend.Prepare(plans); err != nil {
		return fmt.Errorf("preparing backend %s: %w", e.opt.Backend.Name(), err)
	}
	e.unprepared = false
	return nil
}

// findWitness finds out whether an exists query has a match, at start. A query that was left undecided is not searched:
// what was announced last holds until the next batch decides, as it does without a restart (DESIGN P2). Beyond the
// limits the query is lost. The witness of a query that is to be suspended is not searched.
func (e *Engine) findWitness(ctx context.Context, r *registered) error {
	if r.state.Query.Emit != EmitExists {
		return nil
	}
	if r.unsure() {
		e.setWitness(r, *r.state.Announced, nil)
		return nil
	}
	batch := NewBatchBudget(e.opt.Limits)
	batch.Arm()
	budget := NewBudget(e.opt.Limits, r.state.Query.WorkBudget, batch)
	if e.asked[r.state.Query.Name] {
		budget.Stop()
	}
	res, err := e.opt.Backend.Enumerate(ctx, dyngraph.New, r.plan, WantAny, 0, budget, nil)
	if err != nil {
		return fmt.Errorf("searching a first match of query %q: %w", r.state.Query.Name, err)
	}
	if res.Over == NoCause {
		e.setWitness(r, !res.Count.IsZero(), res.Witness)
		return nil
	}
	r.lost = true
	e.setWitness(r, false, nil)
	return nil
}

// setWitness notes whether an exists query has a match, and one that it has.
func (e *Engine) setWitness(r *registered, exists bool, witness []uint32) {
	q := r.state.Query
	depends := q.dependsOnVertices()
	each := func(w []uint32, f func(at element)) {
		for i, x := range w {
			if vertex := i < q.verticesOf(w); !vertex || depends {
				f(element{vertex, x})
			}
		}
	}
	each(r.witness, func(at element) {
		left := slices.DeleteFunc(e.witnesses[at], func(y *registered) bool { return y == r })
		if e.witnesses[at] = left; len(left) == 0 {
			delete(e.witnesses, at)
		}
	})
	r.exists, r.witness = exists, witness
	each(witness, func(at element) { e.witnesses[at] = append(e.witnesses[at], r) })
}

// Step applies a batch and emits what it changes, in canonical order (DESIGN S5, S7). When it returns an error,
// an error of emit or settle included, graph, queries and backend are as they were before.
//
// settle, unless it is nil, is called once, when nothing more is emitted and nothing has changed yet: with nil, or with
// the error that the step fails with. Events may be used until it returns, but for their Rows (see Event). An error
// that it returns is the step's.
func (e *Engine) Step(ctx context.Context, b *Batch, emit func(*Event) error,
	settle func(error) error) (*Summary, error) {
	s := &stepper{e: e, ctx: ctx, b: b, emit: emit, settle: settle,
		sum:    &Summary{Number: b.Number, Updates: len(b.Updates)},
		budget: NewBatchBudget(e.opt.Limits)}
	if b.MeasureFrom == 0 {
		s.budget.Arm()
	}
	s.budget.later = b.MeasureFrom != 0 && b.MeasureFrom != NeverMeasure
	defer e.running.end()
	defer s.phase("")
	err := e.current()
	if err != nil {
		// nothing was done
	} else if b.Change != nil {
		s.phase(PhaseChange)
		err = s.change()
	} else if b.Declaration != nil {
		s.phase(PhaseChange)
		err = s.declare()
	} else {
		err = s.updates()
	}
	if err = s.settled(err); err != nil {
		return nil, err
	}
	return s.sum, nil
}
