package stream

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/stream/internal/encode"
)

// Pipeline is the goroutines around the engine:
//
//	reader     Source, Decoder, bounded queue
//	engine     Batcher, Accept, Store.Intent, Step, encoding, bounded queue
//	publisher  Sink, Store.Commit
//
// so that decoding of batch n+1, search of n, and publishing and commit of n-1 overlap (DESIGN A12). A query change
// is a batch of its own between two others (DESIGN S8).
type Pipeline struct {
	opt    PipelineOptions
	stream string // id

	in      *queue[Decoded]
	out     *queue[outItem]
	slots   chan struct{} // a token for each batch that is begun and not committed
	changes chan changeRequest
	stopped chan struct{} // closed when no more changes are taken

	// Of the engine's goroutine.
	batcher   *Batcher
	number    uint64    // of the last batch begun
	positions Positions // after it
	skip      Progress  // already published
	idleAt    time.Time // when positions are stored without a batch; zero: not decided
	time      eventTime
	// declaration is the last step of a change of the declared properties, nil for none.
	declaration *dyngraph.Declaration

	mark Mark // of the publisher's goroutine: the sink's after the last batch ended there

	encoding *encode.Stage[OutRecord]
	running  running // the step of the engine's goroutine

	started atomic.Bool
	abort   context.CancelCauseFunc // set by Run before it is running
	mu      sync.Mutex
	status  Status // guarded by mu, less what Status adds
	// timeSeen is guarded by mu; nil where no edge expires.
	timeSeen *timeSeen
	// labels are dyngraph.Graph.LabelsVersion at the last looks at labels that queries miss: at some, and at all.
	labels struct{ now, all uint64 }
}

// NewPipeline checks the options and returns a pipeline that Run starts. opt.State must not be used by others any more.
func NewPipeline(opt PipelineOptions) (*Pipeline, error) {
	opt.EnsureDefaults()
	if err := opt.Validate(); err != nil {
		return nil, fmt.Errorf("pipeline: %w", err)
	}
	p := &Pipeline{
		opt:       opt,
		stream:    opt.State.StreamID,
		in:        newQueue[Decoded](opt.QueueRecords, opt.QueueBytes),
		out:       newQueue[outItem](1<<30, opt.PublishBytes),
		slots:     make(chan struct{}, opt.MaxInFlight),
		changes:   make(chan changeRequest),
		stopped:   make(chan struct{}),
		batcher:   NewBatcher(opt.Batch),
		number:    opt.State.Batch,
		positions: maps.Clone(opt.State.Positions),
	}
	if p.positions == nil {
		p.positions = Positions{}
	}
	if opt.State.Time != nil {
		p.time.state = *opt.State.Time.Clone()
	}
	p.declaration = opt.State.Declaration
	_, p.time.partitioned = opt.Source.(Positioner)
	p.time.arrivals.last = make(map[int32]time.Time)
	p.encoding = p.newEncodeStage()
	p.status = Status{
		Stream: opt.State.StreamID, Batch: opt.State.Batch, Positions: maps.Clone(p.positions), State: StateRecovering,
	}
	if g := opt.Engine.Graph(); g != nil {
		g.LimitVertexLabels(opt.MaxVertexLabels)
		if opt.RejectEdges {
			g.LimitEdges(uint64(opt.MaxEdges))
		}
	}
	p.noteQueries()
	p.noteGraph()
	return p, nil
}

// ErrStopTimeout is the cause when a graceful stop took longer than StopTimeout.
var ErrStopTimeout = errors.New("the batch in progress was abandoned: stopping took too long")

// Run recovers, reads and publishes until the input ends, a part fails, or ctx is done; it may be called once. When
// ctx is done it stops gracefully: the batch that the engine is at is finished, published and committed, what was
// read beyond it will be read again, and Run returns nil. An error names the part that failed. When Run returns, all
// its goroutines have ended and the source and the sink are closed; the store and the engine are the caller's.
func (p *Pipeline) Run(ctx context.Context) (err error) {
	if p.started.Swap(true) {
		return errors.New("pipeline: Run was called twice")
	}
	defer close(p.stopped)
	defer p.setState(StateStopped)
	defer func() {
		if cerr := p.opt.Sink.Close(); cerr != nil {
			err = errors.Join(err, fmt.Errorf("sink: close: %w", cerr))
		}
	}()

	// drainCtx ends the reading and the cutting of batches, abortCtx everything.
	abortCtx, abort := context.WithCancelCause(context.WithoutCancel(ctx))
	defer abort(nil)
	p.mu.Lock()
	p.abort = abort
	p.mu.Unlock()
	g, abortCtx := errgroup.WithContext(abortCtx)
	drainCtx, stop := context.WithCancelCause(abortCtx)
	defer stop(nil)
	unwatch := context.AfterFunc(ctx, func() {
		p.setState(StateStopping)
		stop(ErrStopped)
		if p.opt.StopTimeout >= 0 {
			t := time.AfterFunc(p.opt.StopTimeout, func() { abort(ErrStopTimeout) })
			context.AfterFunc(abortCtx, func() { t.Stop() })
		}
	})
	defer unwatch()

	closeSource := sync.OnceValue(func() error {
		if p.opt.Source == nil {
			return nil
		}
		return p.opt.Source.Close()
	})
	defer func() {
		if cerr := closeSource(); cerr != nil {
			err = errors.Join(err, fmt.Errorf("source: close: %w", cerr))
		}
	}()
	if err := p.openSink(drainCtx); err != nil {
		if ctx.Err() != nil && errors.Is(err, ErrStopped) {
			return nil
		}
		return err
	}

	g.Go(func() error { return p.publish(abortCtx) })
	g.Go(func() error {
		defer stop(nil) // the reader has nobody to read for
		defer p.out.close()
		return p.step(drainCtx, abortCtx, func() {
			unblock := context.AfterFunc(drainCtx, func() { closeSource() })
			g.Go(func() error {
				defer unblock()
				return p.read(drainCtx)
			})
		})
	})
	err = g.Wait()
	if errors.Is(err, context.Canceled) {
		err = context.Cause(abortCtx)
	}
	return err
}

// Abort ends Run at once: the batch in progress is abandoned and will be done again by the next start. cause is what
// Run then returns, wrapped.
func (p *Pipeline) Abort(cause error) {
	p.mu.Lock()
	abort := p.abort
	p.mu.Unlock()
	if abort != nil {
		abort(cause)
	}
}

type changeRequest struct {
	change *matcher.QueryChange
	load   []dyngraph.Update // of Load, in place of a change
	answer chan changeAnswer // of capacity 1
	// claimed is set once: by the engine's goroutine when it begins the change, or by its caller when that withdraws
	// it.
	claimed *atomic.Bool
}

type changeAnswer struct {
	batch, version uint64
	err            error
}

// Change registers or removes a query. It answers once the change is in the batch log and so will take effect in any
// case, with the number of its batch and the query's version (for a removal, the version removed); the matches of
// registration are still to come. ctx withdraws a change that was not begun, also while it waits behind a batch: its
// cause is then returned, and the change is never made. Errors of the change itself are the engine's: matcher.ErrQuery,
// ErrUnchanged, ErrNoQuery. ErrStopped tells that the pipeline is no longer running. Before recovery is done Change
// waits.
func (p *Pipeline) Change(ctx context.Context, ch *matcher.QueryChange) (batch, version uint64, err error) {
	return p.request(ctx, changeRequest{change: ch})
}

// request hands a change to the engine's goroutine and waits for its answer.
func (p *Pipeline) request(ctx context.Context, req changeRequest) (batch, version uint64, err error) {
	req.answer, req.claimed = make(chan changeAnswer, 1), new(atomic.Bool)
	select {
	case p.changes <- req:
	case <-p.stopped:
		return 0, 0, ErrStopped
	case <-ctx.Done():
		return 0, 0, context.Cause(ctx)
	}
	done := ctx.Done()
	for waiting := true; waiting; {
		select {
		case a := <-req.answer:
			return a.batch, a.version, a.err
		case <-p.stopped:
			waiting = false
		case <-done:
			if req.claimed.CompareAndSwap(false, true) {
				return 0, 0, context.Cause(ctx)
			}
			done = nil // it is begun: the answer comes
		}
	}
	select { // answered just before the end?
	case a := <-req.answer:
		return a.batch, a.version, a.err
	default:
		return 0, 0, ErrStopped
	}
}
