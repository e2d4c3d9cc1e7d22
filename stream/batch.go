package stream

import (
	"context"
	"fmt"
	"maps"
	"time"

	"motifd/matcher"
)

// origin has the times of a batch in the pipeline, and whether it was recovered.
type origin struct {
	recovered bool          // the intent is in the store already
	first     time.Time     // when its first message was read
	last      time.Time     // when its last message was
	latest    time.Time     // latest record timestamp
	begin     time.Time     // of acceptance
	accept    time.Duration // time that it took
	logged    func()        // called once the intent is in the store
}

// newBatch numbers a batch, logs it and steps over it.
func (p *Pipeline) newBatch(abortCtx context.Context, b *Batch, from origin) error {
	b.Number = p.number + 1
	if b.Time == nil && b.Change == nil && b.Declaration == nil {
		plan := p.planExpiry()
		b.Time, b.Horizons, b.Isolated = plan.Time, plan.Horizons, plan.Isolated
	}
	p.idleAt = time.Time{}
	p.advance(p.positions)
	b.Positions = maps.Clone(p.positions)
	b.OutputPartitions = p.opt.Sink.Partitions()
	return p.runBatch(abortCtx, b, from)
}

// runBatch takes a numbered batch through the store's intent, the engine and the encoder to the publisher.
func (p *Pipeline) runBatch(abortCtx context.Context, b *Batch, from origin) error {
	stats := StepStats{
		Batch:     b,
		Recovered: from.recovered,
		Accept:    from.accept,
		FirstRead: from.first,
		LastRead:  from.last,
	}
	note := func(what string, begin, end time.Time) {
		p.opt.Observer.Span(Span{Lane: LaneEngine, What: what, Batch: b.Number, Begin: begin, End: end})
	}
	if !from.begin.IsZero() {
		note("accept", from.begin, from.begin.Add(from.accept))
	}
	at := time.Now()
	lap := func(what string) time.Duration {
		last := at
		at = time.Now()
		note(what, last, at)
		return at.Sub(last)
	}
	if err := p.slot(abortCtx); err != nil {
		return err
	}
	stats.Slot = lap("slot")
	var logged func() error
	if !from.recovered {
		var err error
		if logged, err = p.intent(abortCtx, b, from.logged != nil); err != nil {
			return err
		}
	}
	stats.Intent = lap("intent")
	p.number = b.Number
	p.positions = maps.Clone(b.Positions)
	if p.positions == nil {
		p.positions = Positions{}
	}
	p.time.state.Take(b.Time, b.Horizons, ofInput(b.Updates), p.time.partition)
	if b.Declaration != nil {
		p.declaration = b.Declaration
	}
	if from.logged != nil {
		from.logged()
	}
	var removed uint64
	if b.Change != nil && b.Change.Add == nil {
		removed = p.changeVersion(b.Change)
	}

	e := p.newEmitter(abortCtx, b.Number)
	defer e.batch.Close()
	if !e.alreadyPublished {
		if err := p.out.put(abortCtx, outItem{batch: b.Number, begin: true, logged: logged}, 0); err != nil {
			return err
		}
	}
	at = time.Now()
	ended := p.running.begin(b, from.recovered)
	sum, err := p.opt.Engine.Step(e.batch.Context(), &b.Batch, e.emit, e.batch.Finish)
	ended()
	if err != nil {
		return fmt.Errorf("batch %d: %w", b.Number, err)
	}
	stats.Step = lap("step")
	stats.Encode, stats.Publish = e.batch.Spent()
	stats.Summary, stats.Records = sum, e.counts()

	end, cost, err := p.endOf(b, sum, removed)
	if err != nil {
		return fmt.Errorf("batch %d: %w", b.Number, err)
	}
	end.stats.CommittedOnly = e.alreadyPublished
	end.stats.InputTime = from.latest
	end.first = from.first
	p.opt.Observer.Step(stats) // first: who sees a suspension in the status finds it in the metrics
	if end.commit.Queries != nil {
		p.noteQueries()
	} else {
		p.noteLabels()
	}
	p.noteStep(sum)
	p.noteTime(sum)
	p.noteGraph()
	return p.out.put(abortCtx, outItem{batch: b.Number, end: end}, cost)
}

// intent logs a batch. It returns when the batch is durable if the caller needs that (now), or if the store knows no
// other way; else at once, and the publisher asks logged before it publishes the first record: an error then ends the
// pipeline, with a graph that is ahead of the log, as it is after any crash.
func (p *Pipeline) intent(abortCtx context.Context, b *Batch, now bool) (logged func() error, err error) {
	failed := func(err error) error {
		if err != nil {
			return fmt.Errorf("store: intent of batch %d: %w", b.Number, err)
		}
		return nil
	}
	if s, ok := p.opt.Store.(IntentStarter); ok && !now {
		wait := s.StartIntent(abortCtx, b)
		return func() error { return failed(wait()) }, nil
	}
	return nil, failed(p.opt.Store.Intent(abortCtx, b))
}

// endOf prepares what ends a batch at the sink and in the store.
func (p *Pipeline) endOf(b *Batch, sum *matcher.Summary, removed uint64) (end *batchEnd, cost int64, err error) {
	report := NewReport(p.stream, b, sum, removed)
	end = &batchEnd{
		tail: Tail{Positions: b.Positions},
		commit: CommitInfo{
			Batch: b.Number, Effect: sum.Effect, Positions: b.Positions, Report: report,
			Declaration: b.Declaration, Once: sum.Once,
		},
		stats: CommitStats{
			Batch: b.Number, Records: sum.Records,
			Inserted: sum.NetInserted, Deleted: sum.NetDeleted, Positions: b.Positions,
		},
	}
	if p.time.state.Retention != nil {
		end.commit.Time = p.time.state.Clone()
	}
	if b.Change != nil || sum.QueriesChanged {
		end.commit.Queries = p.opt.Engine.Queries()
	}
	for _, d := range b.DeadLetters {
		rec, err := p.opt.Encoder.DeadLetter(d)
		if err != nil {
			return nil, 0, fmt.Errorf("dead letter of partition %d, offset %d: %w", d.Partition, d.Offset, err)
		}
		cost += recordCost(&rec)
		end.tail.DeadLetters = append(end.tail.DeadLetters, rec)
	}
	if p.opt.Control {
		rec, err := p.opt.Encoder.BatchRecord(report)
		if err != nil {
			return nil, 0, fmt.Errorf("batch record: %w", err)
		}
		cost += recordCost(&rec)
		end.tail.BatchRecord = &rec
	}
	return end, cost, nil
}
