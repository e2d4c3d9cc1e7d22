package stream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"motifd/dyngraph"
	"motifd/matcher"
)

// chunkBytes is how many bytes of records go to the sink in one Write, about.
const chunkBytes = 256 << 10

// Records may be large: after so many rows, or as many as have fewer bytes going by those before, it is looked how
// large they are.
const (
	pieceRows     = 16
	pieceBytes    = 8 << 10
	mostPieceRows = 1 << 10 // of an encoder that writes nothing
)

// recordCost estimates the memory of an encoded record.
func recordCost(r *OutRecord) int64 { return int64(len(r.Key) + len(r.Value) + 128) }

// emitter has the events of one batch encoded and hands chunks of records to the publisher, in order. With one thread
// it encodes where it is called. With more, events are gathered in units, which encoders work on side by side while
// the search goes on; all are encoded before the graph changes (DESIGN A12).
type emitter struct {
	p                *Pipeline
	ctx              context.Context // done when an encoder failed, too
	cancel           context.CancelCauseFunc
	batch            uint64
	from             uint64 // records before this index are published already
	alreadyPublished bool   // all are

	chunk *[]OutRecord
	cost  int64
	mean  int64 // cost of a record, in what was encoded last; pieceBytes before the first

	encoders *encoders   // nil with one thread
	task     *encodeTask // that is being filled; nil or not empty
	rows     int         // it is to have, if records are not large
	growth   int         // from unit to unit

	tally        map[tallyKey]uint64
	encode, wait time.Duration
	piece        pieces // since the last chunk was sent
}

// pieces are times at which something was done again and again.
type pieces struct {
	begin, end time.Time
	busy       time.Duration
}

// add adds a time from begin until now.
func (p *pieces) add(begin time.Time) {
	if p.begin.IsZero() {
		p.begin = begin
	}
	p.end = time.Now()
	p.busy += p.end.Sub(begin)
}

type tallyKey struct {
	query    *matcher.Query
	sign     dyngraph.Sign
	snapshot bool
}

// newEmitter returns an emitter. Engine.Step is to be called with its context and its methods; no goroutine is left
// then.
func (p *Pipeline) newEmitter(ctx context.Context, batch uint64) *emitter {
	e := &emitter{p: p, batch: batch, mean: p.mean, rows: firstUnit, growth: 2, tally: make(map[tallyKey]uint64)}
	e.ctx, e.cancel = context.WithCancelCause(ctx)
	if p.skip.Known {
		e.alreadyPublished = batch < p.skip.Batch
		if batch == p.skip.Batch {
			e.from = p.skip.Index
		}
	}
	if p.opt.EncodeThreads > 1 {
		e.encoders = newEncoders(e)
	}
	return e
}

// emit is a callback of Engine.Step.
func (e *emitter) emit(ev *matcher.Event) error {
	if e.ctx.Err() != nil { // where the sink keeps up, nothing else would look
		return context.Cause(e.ctx)
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
	if e.encoders == nil {
		return e.inline(ev, first, n)
	}
	return e.gather(ev, first, n)
}

// settle is the other callback of Engine.Step: all that was emitted is encoded and sent, or given up, when it returns.
func (e *emitter) settle(err error) error {
	if err == nil && e.encoders != nil {
		err = e.finish()
	}
	if err == nil {
		err = e.flush()
	}
	if err != nil {
		e.cancel(err)
	}
	if e.encoders != nil {
		e.encoders.stop()
	}
	e.p.mean = e.mean
	if errors.Is(err, context.Canceled) {
		return context.Cause(e.ctx) // of an encoder's, it may be
	}
	return err
}

// inline encodes rows i to n of an event here, and sends what makes a chunk.
func (e *emitter) inline(ev *matcher.Event, i, n int) error {
	var begin time.Time // of the pieces since the last flush: the clock costs as much as a small piece
	noted := func() {
		if !begin.IsZero() {
			e.piece.add(begin)
			begin = time.Time{}
		}
	}
	for i < n {
		if e.chunk == nil {
			e.chunk = e.p.newChunk()
		}
		j := min(n, i+e.pieceRows(), i+e.p.opt.ChunkRecords-len(*e.chunk))
		if begin.IsZero() {
			begin = time.Now()
		}
		cost, err := e.p.encode(e.chunk, e.batch, ev, i, j)
		if err != nil {
			return err
		}
		e.cost += cost
		e.mean = cost / int64(j-i)
		i = j
		if len(*e.chunk) >= e.p.opt.ChunkRecords || e.cost >= chunkBytes {
			noted()
			if err := e.flush(); err != nil {
				return err
			}
		}
	}
	noted()
	return nil
}

// pieceRows is how many rows are encoded before their size is looked at.
func (e *emitter) pieceRows() int {
	return max(pieceRows, min(mostPieceRows, int(pieceBytes/max(e.mean, 1))))
}

// flush sends the chunk at hand.
func (e *emitter) flush() error {
	if e.chunk == nil {
		return nil
	}
	c, cost := e.chunk, e.cost
	e.chunk, e.cost = nil, 0
	return e.send(c, cost)
}

// send hands a chunk to the publisher, waiting for room.
func (e *emitter) send(c *[]OutRecord, cost int64) error {
	if did := e.piece; !did.begin.IsZero() {
		e.encode += did.busy
		e.p.opt.Observer.Span(
			Span{Lane: LaneEncoder, What: "encode", Batch: e.batch, Begin: did.begin, End: did.end, Busy: did.busy},
		)
		e.piece = pieces{}
	}
	begin := time.Now()
	err := e.p.out.put(e.ctx, outItem{batch: e.batch, recs: c}, cost)
	end := time.Now()
	e.wait += end.Sub(begin)
	e.p.opt.Observer.Span(Span{Lane: LaneEncoder, What: "room", Batch: e.batch, Begin: begin, End: end})
	return err
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

// encode appends rows i to j of an event to a chunk and returns what they cost.
func (p *Pipeline) encode(c *[]OutRecord, batch uint64, ev *matcher.Event, i, j int) (int64, error) {
	n := len(*c)
	recs, err := p.opt.Encoder.Append(*c, batch, ev, i, j)
	if err != nil {
		return 0, fmt.Errorf("encode results of query %q: %w", ev.Query.Name, err)
	}
	*c = recs
	var cost int64
	for k := n; k < len(recs); k++ {
		cost += recordCost(&recs[k])
	}
	return cost, nil
}

func (p *Pipeline) newChunk() *[]OutRecord {
	if c, ok := p.chunks.Get().(*[]OutRecord); ok {
		return c
	}
	c := make([]OutRecord, 0, p.opt.ChunkRecords)
	return &c
}

func (p *Pipeline) freeChunk(c *[]OutRecord) {
	clear(*c)
	*c = (*c)[:0]
	p.chunks.Put(c)
}
