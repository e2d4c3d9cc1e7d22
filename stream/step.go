package stream

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"motifd/matcher"
)

// step is the engine's goroutine: recovery, then batches. drainCtx ends it between two batches. read starts the reader.
func (p *Pipeline) step(drainCtx, abortCtx context.Context, read func()) error {
	if p.time.state.Active() {
		p.opt.Engine.Graph().SetHorizons(p.time.state.Horizons) // now, and not while somebody waits for a batch
	}
	for i := range p.opt.State.Open {
		if drainCtx.Err() != nil {
			return nil
		}
		b := &p.opt.State.Open[i]
		if b.Number != p.number+1 {
			return fmt.Errorf("recovery: the open intent after batch %d is numbered %d", p.number, b.Number)
		}
		b.MeasureFrom = p.published(b.Number)
		if err := p.runBatch(abortCtx, b, origin{recovered: true}); err != nil {
			return err
		}
	}
	p.opt.State = nil // the intents may be large
	if p.opt.Source != nil {
		// Open batches are finished before an error of the input can end this; and the batches of the query changes
		// store the positions at which a new source begins.
		if err := p.drain(abortCtx); err != nil {
			return err
		}
		if err := p.seek(drainCtx); err != nil || drainCtx.Err() != nil {
			return err
		}
		if len(p.opt.Engine.ToSuspend()) > 0 { // no batch in progress has done it
			if err := p.newBatch(abortCtx, &Batch{}, origin{}); err != nil {
				return err
			}
		}
	}
	changes, err := p.configured()
	if err != nil {
		return err
	}
	if err := p.checkDeclared(changes); err != nil {
		return err
	}
	if drainCtx.Err() == nil {
		if err := p.changeRetention(abortCtx); err != nil {
			return err
		}
	}
	if err := p.declareNew(drainCtx, abortCtx); err != nil {
		return err
	}
	if err := p.startup(drainCtx, abortCtx, changes); err != nil {
		return err
	}
	if err := p.declareAll(drainCtx, abortCtx); err != nil {
		return err
	}
	if p.opt.Ready != nil && drainCtx.Err() == nil {
		if err := p.opt.Ready(drainCtx); err != nil && drainCtx.Err() == nil {
			return err
		}
	}
	if p.opt.Log != nil {
		if err := p.stepLog(drainCtx, abortCtx); err != nil {
			return err
		}
	}
	if err := p.drain(abortCtx); err != nil {
		return err
	}
	if drainCtx.Err() != nil || p.opt.Source == nil {
		return nil
	}
	read()
	p.time.arrivals.began = time.Now()
	p.noteTime(new(matcher.Summary)) // no batch may come for long
	p.setState(StateRunning)
	return p.batches(drainCtx, abortCtx)
}

// published returns the number of records of an open batch that are published already: the groups that they are of are
// not measured again. Where the sink cannot tell, the batch is published anew as a whole.
func (p *Pipeline) published(batch uint64) uint64 {
	switch at := p.skip; {
	case !at.Known || at.Batch < batch:
		return 0
	case at.Batch == batch:
		return at.Index
	}
	return matcher.NeverMeasure
}

// seek makes the source go on where the last batch ended. It does nothing more when drainCtx is done.
func (p *Pipeline) seek(drainCtx context.Context) error {
	if err := p.opt.Source.Seek(drainCtx, maps.Clone(p.positions)); err != nil {
		if drainCtx.Err() != nil {
			return nil
		}
		return fmt.Errorf("source: %w", err)
	}
	if src, ok := p.opt.Source.(Positioner); ok {
		p.positions = src.Positions() // of all partitions that are read; one that is gone has no position any more
	}
	return nil
}

// configured returns the query changes of the configuration.
func (p *Pipeline) configured() ([]*matcher.QueryChange, error) {
	if p.opt.Startup == nil {
		return nil, nil
	}
	changes, err := p.opt.Startup(p.opt.Engine.Queries())
	if err != nil {
		return nil, fmt.Errorf("queries of the configuration: %w", err)
	}
	return changes, nil
}

// startup makes the query changes of the configuration.
func (p *Pipeline) startup(drainCtx, abortCtx context.Context, changes []*matcher.QueryChange) error {
	for _, ch := range changes {
		if drainCtx.Err() != nil {
			return nil
		}
		refused, err := p.change(abortCtx, ch, nil, nil)
		if err != nil {
			return err
		}
		if refused != nil && !errors.Is(refused, matcher.ErrUnchanged) {
			return fmt.Errorf("queries of the configuration: %w", refused)
		}
	}
	return nil
}

// stepLog steps the batches of a batch log.
func (p *Pipeline) stepLog(drainCtx, abortCtx context.Context) error {
	for b, err := range p.opt.Log {
		if err != nil {
			return fmt.Errorf("batch log: %w", err)
		}
		if drainCtx.Err() != nil {
			return nil
		}
		if b.Number != p.number+1 {
			return fmt.Errorf("batch log: batch %d is followed by batch %d", p.number, b.Number)
		}
		b.MeasureFrom = matcher.NeverMeasure
		if err := p.runBatch(abortCtx, b, origin{}); err != nil {
			return err
		}
	}
	return nil
}

// drain waits until every batch is committed.
func (p *Pipeline) drain(abortCtx context.Context) error {
	for range cap(p.slots) {
		if err := p.slot(abortCtx); err != nil {
			return err
		}
	}
	for range cap(p.slots) {
		<-p.slots
	}
	return nil
}

// slot waits until another batch may be begun.
func (p *Pipeline) slot(abortCtx context.Context) error {
	select {
	case p.slots <- struct{}{}:
		return nil
	case <-abortCtx.Done():
		return context.Cause(abortCtx)
	}
}

// batches cuts and steps batches until the input ends or drainCtx is done.
func (p *Pipeline) batches(drainCtx, abortCtx context.Context) error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for drainCtx.Err() == nil {
		select {
		case req := <-p.changes:
			if err := p.serve(abortCtx, req); err != nil {
				return err
			}
		default:
		}
		if p.batcher.Full() || p.nearMaxEdges() {
			if err := p.input(abortCtx, p.batcher.Cut()); err != nil {
				return err
			}
			continue
		}
		paused := p.pauseInput()
		if !paused {
			d, ok, over := p.in.take()
			if ok {
				p.time.saw(&d.Record, d.Read)
				if err := p.input(abortCtx, p.batcher.Add(d)); err != nil {
					return err
				}
				continue
			}
			if over {
				if err := p.input(abortCtx, p.batcher.Cut()); err != nil {
					return err
				}
				return p.ticks(drainCtx, abortCtx)
			}
		}
		if err := p.wait(drainCtx, abortCtx, paused, timer); err != nil {
			return err
		}
	}
	return nil
}

// wait waits for a message (unless the input is paused), a change, the deadline of the current batch, or until edges
// are to expire without a message.
func (p *Pipeline) wait(drainCtx, abortCtx context.Context, paused bool, timer *time.Timer) error {
	var deadline <-chan time.Time
	due := false
	if at, ok := p.batcher.Deadline(); ok {
		timer.Reset(time.Until(at))
		deadline = timer.C
	} else if p.opt.Batch.Linger >= 0 {
		if p.idleAt.IsZero() {
			p.idleAt = time.Now().Add(idlePositions)
		}
		until := time.Until(p.idleAt)
		if due = p.expiryDue(); due {
			until = min(until, p.opt.Batch.Linger)
		} else if p.time.state.Active() && p.time.partitioned {
			until = min(until, idleLook)
		}
		timer.Reset(until)
		deadline = timer.C
	}
	ready := p.in.ready
	if paused {
		ready = nil
	}
	select {
	case <-ready:
		return nil
	case <-deadline:
		switch {
		case due:
			if !p.expiryDue() { // a partition is no longer idle
				return nil
			}
			return p.newBatch(abortCtx, &Batch{}, origin{})
		case p.batcher.Empty():
			return p.idle(abortCtx)
		}
		return p.input(abortCtx, p.batcher.Cut())
	case req := <-p.changes:
		return p.serve(abortCtx, req)
	case <-drainCtx.Done():
		return nil
	}
}

// idlePositions is the time that positions which have moved over offsets without updates wait for a batch to be stored
// with, before they get one of their own. It is far below the retention of any topic.
const idlePositions = time.Minute

// idleLook is the interval at which a pipeline without input checks for partitions that have become idle.
const idleLook = 500 * time.Millisecond

// advance moves positions over offsets that hold no records.
func (p *Pipeline) advance(at Positions) {
	if src, ok := p.opt.Source.(Advancer); ok {
		src.Advance(at)
	}
}

// idle stores the positions with an empty batch if they have moved. Otherwise, once retention has removed the offsets
// that they moved over, a start would take these for lost input.
func (p *Pipeline) idle(abortCtx context.Context) error {
	if time.Now().Before(p.idleAt) {
		return nil
	}
	p.idleAt = time.Time{}
	at := maps.Clone(p.positions)
	maps.Copy(at, p.batcher.Blank())
	p.advance(at)
	if maps.Equal(at, p.positions) {
		return nil
	}
	p.positions = at
	return p.newBatch(abortCtx, &Batch{}, origin{})
}

// input steps a batch of messages; nil is none.
func (p *Pipeline) input(abortCtx context.Context, raw *RawBatch) error {
	if raw == nil {
		return nil
	}
	from := origin{first: raw.First, last: raw.Messages[len(raw.Messages)-1].Read}
	for i := range raw.Messages {
		if t := raw.Messages[i].Record.Time; t.After(from.latest) {
			from.latest = t
		}
	}
	from.begin = time.Now()
	plan := p.planExpiry()
	if plan.Time != nil {
		p.opt.Engine.Graph().SetHorizons(plan.Horizons)
	}
	b := p.accept(raw)
	b.Time, b.Horizons, b.Isolated = plan.Time, plan.Horizons, plan.Isolated
	from.accept = time.Since(from.begin)
	maps.Copy(p.positions, raw.Next)
	return p.newBatch(abortCtx, b, from)
}

// serve executes a change on request: the current batch is cut first.
func (p *Pipeline) serve(abortCtx context.Context, req changeRequest) error {
	refused := ErrStopped
	err := p.input(abortCtx, p.batcher.Cut())
	if !req.claimed.CompareAndSwap(false, true) {
		return err // withdrawn
	}
	answer := func(batch, version uint64) { req.answer <- changeAnswer{batch: batch, version: version} }
	switch {
	case err != nil:
	case req.load != nil:
		refused, err = p.load(abortCtx, req.load, answer)
	default:
		refused, err = p.change(abortCtx, req.change, p.opt.Admit, answer)
	}
	if refused != nil {
		req.answer <- changeAnswer{err: refused}
	}
	return err
}

// change makes a batch of a query change. refused is an error of the change itself, or the one of admit, which may be
// nil; answer, which may be nil, too, is called once it is in the batch log.
func (p *Pipeline) change(
	abortCtx context.Context,
	ch *matcher.QueryChange,
	admit func(context.Context, *matcher.QueryChange) (refused, err error),
	answer func(batch, version uint64),
) (refused, err error) {
	ch, refused = p.opt.Engine.PrepareChange(ch)
	if refused == nil && admit != nil {
		if refused, err = admit(abortCtx, ch); err != nil {
			return ErrStopped, err
		}
	}
	if refused != nil {
		return refused, nil
	}
	b := &Batch{}
	b.Change = ch
	answered := false
	err = p.newBatch(abortCtx, b, origin{logged: func() {
		answered = true
		if answer != nil {
			answer(b.Number, p.changeVersion(ch))
		}
	}})
	if err != nil && !answered {
		refused = ErrStopped
	}
	return refused, err
}

// changeVersion returns the version that a change registers or, before it is stepped, removes.
func (p *Pipeline) changeVersion(ch *matcher.QueryChange) uint64 {
	if ch.Add != nil {
		return ch.Add.Version
	}
	for _, q := range p.opt.Engine.Queries() {
		if q.Query.Name == ch.Remove {
			return q.Query.Version
		}
	}
	return 0
}
