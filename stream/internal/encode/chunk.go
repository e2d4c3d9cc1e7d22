package encode

import (
	"time"

	"motifd/matcher"
)

// chunkBytes is the approximate size of a chunk, in bytes of records.
const chunkBytes = 256 << 10

// Records may be large, so rows are encoded in pieces and their size is checked after each. A piece has at least
// pieceRows rows, and more while it is expected to stay below pieceBytes.
const (
	pieceRows     = 16
	pieceBytes    = 8 << 10
	mostPieceRows = 1 << 10 // when records are empty
)

// workTime adds up the times of repeated work.
type workTime struct {
	begin, end time.Time
	busy       time.Duration
}

// add adds the time from begin until now.
func (p *workTime) add(begin time.Time) {
	if p.begin.IsZero() {
		p.begin = begin
	}
	p.end = time.Now()
	p.busy += p.end.Sub(begin)
}

// inline encodes rows i to n of an event in the calling goroutine, and sends the chunks that become full.
func (b *Batch[R]) inline(ev *matcher.Event, i, n int) error {
	var begin time.Time // of the pieces since the last flush: reading the clock costs as much as a small piece
	noted := func() {
		if !begin.IsZero() {
			b.work.add(begin)
			begin = time.Time{}
		}
	}
	for i < n {
		if b.chunk == nil {
			b.chunk = b.s.newChunk()
		}
		j := min(n, i+b.pieceRows(), i+b.s.opt.ChunkRecords-len(*b.chunk))
		if begin.IsZero() {
			begin = time.Now()
		}
		cost, err := b.s.encode(b.chunk, ev, i, j)
		if err != nil {
			return err
		}
		b.cost += cost
		b.mean = cost / int64(j-i)
		i = j
		if len(*b.chunk) >= b.s.opt.ChunkRecords || b.cost >= chunkBytes {
			noted()
			if err := b.flush(); err != nil {
				return err
			}
		}
	}
	noted()
	return nil
}

// pieceRows returns the number of rows to encode before their size is checked.
func (b *Batch[R]) pieceRows() int {
	return max(pieceRows, min(mostPieceRows, int(pieceBytes/max(b.mean, 1))))
}

// flush sends the current chunk, if there is one.
func (b *Batch[R]) flush() error {
	if b.chunk == nil {
		return nil
	}
	c, cost := b.chunk, b.cost
	b.chunk, b.cost = nil, 0
	return b.send(c, cost)
}

// send sends a chunk. It blocks until the receiver has room (backpressure).
func (b *Batch[R]) send(c *[]R, cost int64) error {
	if did := b.work; !did.begin.IsZero() {
		b.encoding += did.busy
		b.s.opt.Span(Span{What: "encode", Batch: b.number, Begin: did.begin, End: did.end, Busy: did.busy})
		b.work = workTime{}
	}
	begin := time.Now()
	err := b.s.opt.Send(b.ctx, b.number, c, cost)
	end := time.Now()
	b.waiting += end.Sub(begin)
	b.s.opt.Span(Span{What: "room", Batch: b.number, Begin: begin, End: end})
	return err
}
