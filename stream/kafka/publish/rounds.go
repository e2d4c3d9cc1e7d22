package publish

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"golang.org/x/sync/errgroup"

	"motifd/stream"
	"motifd/stream/kafka/internal/recordbatch"
)

// pendingBatch is a record batch on its way to a partition.
type pendingBatch struct {
	to      *outPart
	count   int32
	builder *recordbatch.Builder // until it is finished
	raw     []byte               // finished, with its size prefix; nil when it lies in the spool's file
	spool   *spool
	off     int64 // in the spool's file
	size    int
	sent    bool // an attempt that was given up may still read raw
}

// load returns the bytes of a finished batch, which the caller may change.
func (c *pendingBatch) load() ([]byte, error) {
	switch {
	case c.raw == nil:
		return c.spool.read(c.off, c.size)
	case c.sent:
		return slices.Clone(c.raw), nil
	}
	return c.raw, nil
}

// round sends pending batches in the background.
type round struct {
	done chan struct{}
	err  error // once done is closed
}

// add puts a record into its partition's current record batch, and seals that when it is full. Nothing of the
// arguments is kept.
func (p *publisher) add(to *outPart, key, value []byte, hs []recordbatch.Header) {
	size := len(key) + len(value) + recordOverhead
	for _, h := range hs {
		size += len(h.Key) + len(h.Value) + recordOverhead
	}
	if to.builder != nil && to.builder.Size()+size > p.opt.BatchBytes {
		p.closeBatch(to)
	}
	if to.builder == nil {
		to.builder = &recordbatch.Builder{Compression: p.compression, Buf: p.buffers.get()}
		to.builder.Reset()
	}
	to.builder.Add(key, value, hs)
	p.waiting += size
}

// recordOverhead bounds the bytes that a record needs besides key, value and headers.
const recordOverhead = 32

// closeBatch closes a partition's current record batch, so that the next round sends it.
func (p *publisher) closeBatch(part *outPart) {
	b := part.builder
	if b == nil {
		return
	}
	part.builder = nil
	p.pending = append(p.pending, pendingBatch{to: part, count: b.Count, builder: b, size: b.Size()})
}

func (p *publisher) closeBatches() {
	for _, t := range p.topics {
		for i := range t.parts {
			p.closeBatch(&t.parts[i])
		}
	}
}

// worthSending tells whether what has gathered should be sent: there is enough for a request and no round is under way,
// or too much to wait for the one that is. Record batches are thus as large as brokers are slow.
func (p *publisher) worthSending() bool {
	if p.waiting < p.opt.sendBytes {
		return false
	}
	if p.waiting < p.opt.roundBytes && p.round != nil {
		select {
		case <-p.round.done:
		default:
			return false
		}
	}
	return true
}

// start has send run in the background with what is pending; all is sealed. No other round is under way.
func (p *publisher) start(send func(batches []pendingBatch) error) {
	r := &round{done: make(chan struct{})}
	p.round = r
	batches := p.pending
	p.pending, p.waiting = nil, 0
	p.wg.Go(func() {
		defer close(r.done)
		r.err = send(batches)
	})
}

// await returns when no round is under way, with the error of the one that was.
func (p *publisher) await(ctx context.Context) error {
	if p.round == nil {
		return nil
	}
	select {
	case <-p.round.done:
		err := p.round.err
		p.round = nil
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// finish encodes the pending batches that are new, and hands each of these to keep.
func (p *publisher) finish(batches []pendingBatch, keep func(c *pendingBatch) error) error {
	now := time.Now()
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range batches {
		c := &batches[i]
		if c.builder == nil {
			continue
		}
		g.Go(func() (err error) {
			if c.raw, err = c.builder.Finish(now); err != nil {
				return err
			}
			c.size = len(c.raw)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for i := range batches {
		if c := &batches[i]; c.builder != nil {
			c.builder = nil
			if err := keep(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// requestBytes bounds a produce request, unless one record batch alone has more.
const requestBytes = 16 << 20

// deliver sends finished batches, those of one partition in order. Each pass of the loop sends at most one batch for
// each partition, as one produce request per broker. A large pass is one request per partition instead, since brokers
// append to partitions in parallel; partitions that the open transaction has not touched yet still share a request
// (see transactions.produce).
func (p *publisher) deliver(batches []pendingBatch) error {
	var order []*outPart
	queues := map[*outPart][]pendingBatch{}
	for _, c := range batches {
		if queues[c.to] == nil {
			order = append(order, c.to)
		}
		queues[c.to] = append(queues[c.to], c)
	}
	for left := len(batches); left > 0; {
		var pass []*produceBatch
		size := 0
		for _, to := range order {
			q := queues[to]
			if len(q) == 0 || size > 0 && size+q[0].size > requestBytes {
				continue
			}
			raw, err := q[0].load()
			if err != nil {
				return err
			}
			size += len(raw)
			pass = append(pass, &produceBatch{to: to, raw: raw, count: q[0].count})
		}
		for _, s := range pass {
			s.alone = size > p.opt.sendBytes && s.to.touched
		}
		if err := p.produce(p.ctx, pass); err != nil {
			return err
		}
		for _, s := range pass {
			if err := p.appended(s); err != nil {
				return err
			}
			queues[s.to] = queues[s.to][1:]
		}
		left -= len(pass)
	}
	return nil
}

// verifyContiguous checks that a record batch was appended at the expected offset. Only markers that end transactions
// may lie between it and the batch before: one as a rule, more when a coordinator has moved. For a sink without
// transactions they end a transaction that its predecessor left open.
func (p *publisher) verifyContiguous(c *produceBatch, want int64) error {
	to := c.to
	switch {
	case want < 0 || c.base == want || !to.exclusive:
		return nil
	case c.base < want:
		return fmt.Errorf(
			"kafka: topic %q, partition %d: %w: a record was appended at offset %d, after offset %d: the log was cut",
			to.topic,
			to.partition,
			stream.ErrOutputDamaged,
			c.base,
			want,
		)
	}
	_, err := p.cl.Scan(
		p.ctx,
		to.topic,
		to.partition,
		want,
		c.base,
		kafkago.ReadUncommitted,
		false,
		func(r *recordbatch.Record) error {
			return fmt.Errorf(
				"partition %d, offset %d: %w: the record is of another producer",
				to.partition,
				r.Offset,
				stream.ErrFenced,
			)
		},
	)
	return err
}

// buffers keeps some buffers of former record batches for later ones. It may be used by several goroutines.
type buffers struct {
	mu   sync.Mutex
	free [][]byte
	lent bool // the bytes that come back may still be read
}

// abandon lets go of all buffers that are in use until settled.
func (b *buffers) abandon() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lent = true
}

// settled tells that all buffers that were in use when abandon was called have come back.
func (b *buffers) settled() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lent = false
}

// maxFree bounds the buffers that are kept.
const maxFree = 16

// get returns an empty buffer.
func (b *buffers) get() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(b.free)
	if n == 0 {
		return nil
	}
	buf := b.free[n-1]
	b.free = b.free[:n-1]
	return buf
}

func (b *buffers) put(buf []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if buf != nil && !b.lent && len(b.free) < maxFree {
		b.free = append(b.free, buf[:0])
	}
}
