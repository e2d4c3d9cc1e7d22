package monitor

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/condition"
	"motifd/matcher/pattern"
)

// Options configure a Monitor. All of them may be left out.
type Options struct {
	// Undirected makes a graph whose edges have no direction. It does not go with Graph.
	Undirected bool
	// Properties declares the properties of edges and vertices that patterns ask about (docs/patterns.md#conditions).
	// It does not go with Graph, which has its own. nil declares none.
	Properties *property.Schema
	// EdgeIDs has edges identified by their ids, too: edges with different ids are parallel. It does not go with Graph,
	// which has its own.
	EdgeIDs bool
	// Graph is a graph to begin with, which the Monitor owns from now on. nil is an empty one.
	Graph *dyngraph.Graph
	// Backend searches; Close closes it. nil is the CPU backend.
	Backend matcher.Backend
	// Threads is the number of search threads of the CPU backend, 0 for one per processor. It does not go with Backend.
	Threads int
	// TempDir is the directory in which the CPU backend sorts groups of matches that are too large for memory, "" for
	// that of the system. It does not go with Backend.
	TempDir string
	// Limits bound what searches may cost. What they leave out is told by an event (matcher.EventNotice). QueryOutput
	// bounds nothing: results are not encoded.
	Limits matcher.Limits
}

// Errors of a Monitor. Others are *dyngraph.UpdateError (a refused update), matcher.ErrQuery (a bad query),
// *matcher.UnchangedError, matcher.ErrNoQuery, the context's, and the receiver's own; all can be told by errors.Is and
// errors.As.
var (
	// ErrBusy: the Monitor is in a call already, of another goroutine or of this one's receiver.
	ErrBusy = errors.New("motifd: the monitor is in another call")
	// ErrClosed: the Monitor was closed.
	ErrClosed = errors.New("motifd: the monitor is closed")
)

// Monitor is a graph, the queries that watch it, and the number of the last batch. It takes one call at a time: others
// return ErrBusy. A call that returns an error has changed nothing.
//
// A receiver gets the events of a batch in canonical order (DESIGN S7). An event is borrowed until the receiver
// returns; see matcher.Event. An error of the receiver ends the batch, which then has no effect, and is returned. The
// receiver may be nil.
type Monitor struct {
	engine *matcher.Engine
	last   uint64 // batch
	busy   atomic.Bool
	closed bool
}

// Open returns a Monitor without queries.
func Open(opt Options) (*Monitor, error) {
	switch {
	case opt.Graph != nil && opt.Undirected:
		return nil, errors.New("motifd: Options.Undirected does not go with Options.Graph, which has its own direction")
	case opt.Graph != nil && opt.Properties != nil:
		return nil, errors.New("motifd: Options.Properties does not go with Options.Graph, which declares its own")
	case opt.Graph != nil && opt.EdgeIDs:
		return nil, errors.New("motifd: Options.EdgeIDs does not go with Options.Graph, which has its own identity " +
			"of edges")
	case opt.Backend != nil && (opt.Threads != 0 || opt.TempDir != ""):
		return nil, errors.New("motifd: Options.Threads and Options.TempDir do not go with Options.Backend; they are " +
			"for the CPU backend")
	case opt.Threads < 0:
		return nil, fmt.Errorf("motifd: Options.Threads is %d; it is at least 0", opt.Threads)
	}
	if opt.Properties != nil {
		if err := opt.Properties.Validate(); err != nil {
			return nil, fmt.Errorf("motifd: Options.Properties: %w", err)
		}
	}
	if opt.Graph == nil {
		opt.Graph = newGraph(!opt.Undirected, opt.EdgeIDs, opt.Properties)
	}
	if opt.Backend == nil {
		opt.Backend = newCPU(opt.Threads, opt.TempDir)
	}
	opt.Limits.QueryOutput = 0
	e, err := NewEngine(matcher.EngineOptions{Graph: opt.Graph, Backend: opt.Backend, Limits: opt.Limits})
	if err != nil {
		return nil, errors.Join(err, opt.Backend.Close())
	}
	return &Monitor{engine: e}, nil
}

// enter begins a call; the caller defers leave unless there is an error.
func (m *Monitor) enter() error {
	if !m.busy.CompareAndSwap(false, true) {
		return ErrBusy
	}
	if m.closed {
		m.leave()
		return ErrClosed
	}
	return nil
}

func (m *Monitor) leave() { m.busy.Store(false) }

// step has the engine take the next batch.
func (m *Monitor) step(ctx context.Context, b *matcher.Batch, emit func(*matcher.Event) error) (*matcher.Summary,
	error) {
	if emit == nil {
		emit = func(*matcher.Event) error { return nil }
	}
	b.Number = m.last + 1
	sum, err := m.engine.Step(ctx, b, emit, nil)
	if err == nil {
		m.last = b.Number
	}
	return sum, err
}

// Parse reads a pattern in the Cypher subset (docs/patterns.md). Its conditions may ask about the properties that the
// graph declares. Emit, MatchMode, Unit, Backfill, Within and the caps of the query may be set before Add. A mistake is
// a *pattern.Error, with line and column.
func (m *Monitor) Parse(name, cypher string) (*matcher.Query, error) {
	return m.ParseWith(name, cypher, nil)
}

// ParseWith is Parse for a pattern with parameters: $name stands for a value, or for a list of values behind IN.
func (m *Monitor) ParseWith(name, cypher string, params map[string]condition.Parameter) (*matcher.Query, error) {
	g := m.engine.Graph().Options()
	return pattern.Parse(pattern.Cypher, []byte(cypher), pattern.Options{
		Name: name, Directed: g.Directed, Declared: pattern.Declared{Schema: g.Schema, Parameters: params},
		OnePerLabel: !g.EdgeIDs,
	})
}

// Add registers a query, or a new version in place of one of that name (DESIGN S8). It is a batch of its own. With
// Query.Backfill the receiver gets the matches that the graph has.
func (m *Monitor) Add(ctx context.Context, q *matcher.Query, emit func(*matcher.Event) error) (*matcher.Summary,
	error) {
	return m.change(ctx, &matcher.QueryChange{Add: q}, emit)
}

// Remove unregisters a query. It is a batch of its own, without events.
func (m *Monitor) Remove(ctx context.Context, name string) (*matcher.Summary, error) {
	return m.change(ctx, &matcher.QueryChange{Remove: name}, nil)
}

func (m *Monitor) change(ctx context.Context, ch *matcher.QueryChange, emit func(*matcher.Event) error) (
	*matcher.Summary, error) {
	if err := m.enter(); err != nil {
		return nil, err
	}
	defer m.leave()
	ch, err := m.engine.PrepareChange(ch)
	if err != nil {
		return nil, err
	}
	return m.step(ctx, &matcher.Batch{Change: ch}, emit)
}

// Apply applies updates as one batch: all of them or, if one is refused, none (DESIGN S2, S3). The receiver gets what
// the batch makes appear and disappear.
func (m *Monitor) Apply(ctx context.Context, updates []dyngraph.Update, emit func(*matcher.Event) error) (
	*matcher.Summary, error) {
	if err := m.enter(); err != nil {
		return nil, err
	}
	defer m.leave()
	accepted, rejects := m.engine.Accept([]dyngraph.Message{{Updates: updates}})
	if len(rejects) > 0 {
		return nil, fmt.Errorf("update %d of %d is refused: %w", rejects[0].Update, len(updates), rejects[0].Err)
	}
	return m.step(ctx, &matcher.Batch{Updates: accepted}, emit)
}

// Count counts the matches of a query in the graph as it is. The query need not be registered, and Options.Limits do
// not bound the count: the context does.
func (m *Monitor) Count(ctx context.Context, q *matcher.Query) (matcher.Count, error) {
	if err := m.enter(); err != nil {
		return matcher.Count{}, err
	}
	defer m.leave()
	if err := q.Validate(m.engine.Graph().Directed()); err != nil {
		return matcher.Count{}, err
	}
	n, _, err := m.engine.Total(ctx, q, 0)
	return n, err
}

// Close releases the backend, and with it the graph.
func (m *Monitor) Close() error {
	if err := m.enter(); err != nil {
		return err
	}
	defer m.leave()
	m.closed = true
	return m.engine.Close()
}
