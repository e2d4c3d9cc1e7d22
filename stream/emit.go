package stream

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/stream/internal/encode"
)

// recordCost estimates the memory of an encoded record.
func recordCost(r *OutRecord) int64 { return int64(len(r.Key) + len(r.Value) + 128) }

// newEncodeStage returns the stage that encodes for the publisher.
func (p *Pipeline) newEncodeStage() *encode.Stage[OutRecord] {
	lanes := []Lane{LaneEncoder}
	for n := range p.opt.EncodeThreads {
		lanes = append(lanes, Lane(fmt.Sprintf("%s %d", LaneEncoder, n+1)))
	}
	return encode.New(encode.Options[OutRecord]{
		Append: p.append, Cost: recordCost,
		Send: func(ctx context.Context, batch uint64, chunk *[]OutRecord, cost int64) error {
			return p.out.put(ctx, outItem{batch: batch, recs: chunk}, cost)
		},
		Span: func(s encode.Span) {
			p.opt.Observer.Span(
				Span{Lane: lanes[s.Worker], What: s.What, Batch: s.Batch, Begin: s.Begin, End: s.End, Busy: s.Busy},
			)
		},
		Threads: p.opt.EncodeThreads, ChunkRecords: p.opt.ChunkRecords,
	})
}

// append appends the records of rows i to j of an event, and tells the engine how large they are.
func (p *Pipeline) append(recs []OutRecord, ev *matcher.Event, i, j int) ([]OutRecord, error) {
	n := len(recs)
	recs, err := p.opt.Encoder.Append(recs, ev, i, j)
	if err != nil {
		return recs, err
	}
	size := int64(0)
	for k := n; k < len(recs); k++ {
		size += int64(len(recs[k].Key) + len(recs[k].Value))
	}
	ev.Wrote(len(recs)-n, size)
	return recs, nil
}

// emitter counts the records of one batch, and has those encoded that are not published yet.
type emitter struct {
	p                *Pipeline
	batch            *encode.Batch[OutRecord]
	from             uint64 // records before this index are published already
	alreadyPublished bool   // all are
	tally            map[tallyKey]uint64
}

type tallyKey struct {
	query    *matcher.Query
	sign     dyngraph.Sign
	snapshot bool
}

// newEmitter returns an emitter. Engine.Step is to be called with its batch's context and its methods; no goroutine is
// left then.
func (p *Pipeline) newEmitter(ctx context.Context, batch uint64) *emitter {
	e := &emitter{p: p, batch: p.encoding.Begin(ctx, batch), tally: make(map[tallyKey]uint64)}
	if p.skip.Known {
		e.alreadyPublished = batch < p.skip.Batch
		if batch == p.skip.Batch {
			e.from = p.skip.Index
		}
	}
	return e
}

// emit is a callback of Engine.Step.
func (e *emitter) emit(ev *matcher.Event) error {
	if ctx := e.batch.Context(); ctx.Err() != nil { // where the sink keeps up, nothing else would look
		return context.Cause(ctx)
	}
	e.p.running.emit(ev)
	n := ev.Records()
	e.tally[tallyKey{ev.Query, ev.Sign, ev.Snapshot}] += uint64(n)
	if e.alreadyPublished || ev.FirstIndex+uint64(n) <= e.from {
		return nil
	}
	first := 0
	if ev.FirstIndex < e.from {
		first = int(e.from - ev.FirstIndex)
	}
	return e.batch.Emit(ev, first)
}

// counts returns the records emitted, by query and sign, sorted.
func (e *emitter) counts() []RecordCount {
	out := make([]RecordCount, 0, len(e.tally))
	for k, n := range e.tally {
		out = append(out, RecordCount{Query: k.query.Name, Sign: k.sign, Snapshot: k.snapshot, Records: n})
	}
	slices.SortFunc(out, func(a, b RecordCount) int {
		return cmp.Or(cmp.Compare(a.Query, b.Query), cmp.Compare(a.Sign, b.Sign))
	})
	return out
}
