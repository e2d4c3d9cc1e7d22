package kafka

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"motifd/stream"
)

// txnTopic is a topic that a TxnSink writes to.
type txnTopic struct {
	name  string
	parts []txnPart
}

// txnPart is a partition of it.
type txnPart struct {
	topicPartition
	exclusive bool          // it has no other writer: what is appended must follow what was
	builder   *batchBuilder // nil when it holds nothing
	end       int64         // offset after the last record that was appended, as far as is known
	next      int64         // offset that the next append must have; -1 when it is not known
	touched   bool          // by the open transaction
}

func newTxnTopic(name string, exclusive bool, partitions int32) *txnTopic {
	t := &txnTopic{name: name, parts: make([]txnPart, partitions)}
	for p := range t.parts {
		t.parts[p] = txnPart{topicPartition: topicPartition{name, int32(p)}, exclusive: exclusive, next: -1}
	}
	return t
}

// add puts a record into its partition's current record batch, and seals that when it is full. Nothing of the
// arguments is kept.
func (s *TxnSink) add(p *txnPart, key, value []byte, hs []header) {
	size := len(key) + len(value) + recordOverhead
	for _, h := range hs {
		size += len(h.key) + len(h.value) + recordOverhead
	}
	if p.builder != nil && p.builder.size()+size > s.opt.BatchBytes {
		s.seal(p)
	}
	if p.builder == nil {
		p.builder = &batchBuilder{compression: s.compression, buf: s.spool.buffer()}
		p.builder.reset()
	}
	p.builder.add(key, value, hs)
}

// seal closes a partition's current record batch, so that the next round sends it.
func (s *TxnSink) seal(p *txnPart) {
	b := p.builder
	if b == nil {
		return
	}
	p.builder = nil
	s.pending = append(s.pending, parcel{to: p, count: b.count, builder: b, size: b.size()})
	s.waiting += b.size()
}

// round sends some parcels of the open transaction, in the background.
type round struct {
	done chan struct{}
	err  error // once done is closed
}

// start sends what is pending, with the offsets if there are some. No other round is under way.
func (s *TxnSink) start(at stream.Positions) {
	r := &round{done: make(chan struct{})}
	s.round = r
	parcels, parts := s.pending, s.expected(s.pending)
	s.pending, s.waiting = nil, 0
	s.wg.Go(func() {
		defer close(r.done)
		r.err = s.send(parcels, parts, at)
	})
}

// await returns when no round is under way, with the error of the one that was.
func (s *TxnSink) await(ctx context.Context) error {
	if s.round == nil {
		return nil
	}
	select {
	case <-s.round.done:
		err := s.round.err
		s.round = nil
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// requestBytes bounds a produce request, unless one record batch alone has more.
const requestBytes = 16 << 20

// finish makes record batches of the parcels that are new, and keeps them until the transaction's end is known.
func (s *TxnSink) finish(parcels []parcel) error {
	now := time.Now()
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range parcels {
		c := &parcels[i]
		if c.builder == nil {
			continue
		}
		g.Go(func() (err error) {
			if c.raw, err = c.builder.finish(now); err != nil {
				return err
			}
			c.size = len(c.raw)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for i := range parcels {
		if c := &parcels[i]; c.builder != nil {
			c.builder = nil
			if err := s.spool.add(*c); err != nil {
				return err
			}
		}
	}
	return nil
}

// send publishes parcels, those of one partition in order, then the offsets if there are some. parts are the partitions
// to add to the transaction.
//
// The group is added while the records are on their way, but its offsets follow them: a broker asks the coordinator
// whether a partition is in the transaction before it takes the first of it, and of two such questions at once for
// one producer it fails one (KIP-890).
func (s *TxnSink) send(parcels []parcel, parts []topicPartition, at stream.Positions) error {
	if err := s.finish(parcels); err != nil {
		return err
	}
	if err := s.tx.add(s.ctx, parts); err != nil {
		return err
	}
	if s.opt.Group == "" || len(at) == 0 {
		return s.sendParcels(parcels)
	}
	added := make(chan error, 1)
	go func() { added <- s.tx.addGroup(s.ctx, s.opt.Group) }()
	err := s.sendParcels(parcels)
	group := <-added
	if err == nil && group == nil {
		group = s.tx.offsets(s.ctx, s.opt.Group, s.opt.InputTopic, at)
	}
	if groupInUse(group) { // they are for show: the checkpoint's positions are what counts
		s.opt.Events.retry("group offsets", s.opt.InputTopic, -1, 1, group)
		group = nil
	}
	return worst(err, group)
}

// expected returns the partitions that the open transaction will touch, as far as is known, so that one request adds
// them all: those of the parcels, those that hold something, and those of the records that come last.
func (s *TxnSink) expected(parcels []parcel) []topicPartition {
	var parts []topicPartition
	for _, c := range parcels {
		parts = append(parts, c.to.topicPartition)
	}
	for _, t := range s.topics() {
		for p := range t.parts {
			if t.parts[p].builder != nil || len(t.parts) == 1 && t == s.control {
				parts = append(parts, t.parts[p].topicPartition)
			}
		}
	}
	return append(parts, s.progress.parts[0].topicPartition)
}

func (s *TxnSink) sendParcels(parcels []parcel) error {
	var order []*txnPart
	queues := map[*txnPart][]parcel{}
	for _, c := range parcels {
		if queues[c.to] == nil {
			order = append(order, c.to)
		}
		queues[c.to] = append(queues[c.to], c)
	}
	for left := len(parcels); left > 0; {
		var wave []*shipment
		var to []*txnPart
		size := 0
		for _, p := range order {
			q := queues[p]
			if len(q) == 0 || size > 0 && size+q[0].size > requestBytes {
				continue
			}
			raw, err := s.spool.load(&q[0])
			if err != nil {
				return err
			}
			size += len(raw)
			wave, to = append(wave, &shipment{at: p.topicPartition, raw: raw, count: q[0].count}), append(to, p)
		}
		if err := s.tx.produce(s.ctx, wave); err != nil {
			return err
		}
		for i, p := range to {
			if err := s.appended(p, wave[i].base, int64(wave[i].count)); err != nil {
				return err
			}
			queues[p] = queues[p][1:]
		}
		left -= len(wave)
	}
	return nil
}

// appended notes where a record batch was appended. What came between it and the one before must be markers: one as a
// rule, more when a coordinator has moved.
func (s *TxnSink) appended(p *txnPart, base, count int64) error {
	p.touched = true
	want := p.next
	p.next = base + count
	p.end = max(p.end, p.next)
	switch {
	case want < 0 || base == want || !p.exclusive:
		return nil
	case base < want:
		return fmt.Errorf("kafka: topic %q, partition %d: %w: a record was appended at offset %d, after offset %d: the log was cut",
			p.topic, p.partition, stream.ErrOutputDamaged, base, want)
	}
	return s.cl.scan(s.ctx, p.topic, p.partition, want, base, func(r *record) error {
		return fmt.Errorf("partition %d, offset %d: %w: the record is somebody else's", p.partition, r.offset, stream.ErrFenced)
	})
}

// gathered sends what is pending when it is worth a request and no round is under way. It waits for the one that is
// when there is too much.
func (s *TxnSink) gathered(ctx context.Context) error {
	switch {
	case s.waiting < s.opt.sendBytes:
		return nil
	case s.waiting < s.opt.roundBytes && s.round != nil:
		select {
		case <-s.round.done:
		default:
			return nil
		}
	}
	return s.dispatch(ctx)
}

// dispatch sends what is pending, and returns when it is under way.
func (s *TxnSink) dispatch(ctx context.Context) error {
	for attempt := 1; ; attempt++ {
		err := s.await(ctx)
		if err == nil {
			s.start(nil)
			return nil
		}
		if _, err := s.recover(ctx, attempt, err, s.at); err != nil {
			return err
		}
	}
}

// commit closes the open transaction with a progress record, and returns when it is committed.
func (s *TxnSink) commit(ctx context.Context, to place, at stream.Positions) error {
	if err := s.addProgress(to); err != nil {
		return err
	}
	for _, t := range s.topics() {
		for p := range t.parts {
			s.seal(&t.parts[p])
		}
	}
	for attempt := 1; ; attempt++ {
		err := s.await(ctx)
		if err == nil {
			s.start(at)
			err = s.await(ctx)
		}
		if err == nil {
			err = s.tx.commit(ctx)
		}
		if err == nil {
			break
		}
		committed, err := s.recover(ctx, attempt, err, to)
		if err != nil {
			return err
		}
		if committed {
			break
		}
	}
	s.at, s.count = to, 0
	s.offset = s.progress.parts[0].end - 1
	for _, t := range s.topics() {
		for p := range t.parts {
			if part := &t.parts[p]; part.touched {
				part.touched = false
				if part.next >= 0 {
					part.next++ // the marker that ends the transaction
				}
			}
		}
	}
	return s.spool.reset()
}

// addProgress adds the progress record.
func (s *TxnSink) addProgress(to place) error {
	value, err := json.Marshal(progressRecord{Version: progressVersion, Stream: s.streamID, Batch: to.batch, Next: to.index,
		Session: s.session})
	if err != nil {
		return err
	}
	s.add(&s.progress.parts[0], []byte(s.opt.TransactionalID), value, nil)
	return nil
}

// recover answers for a transaction that was lost; any other error it returns. It finds out whether the transaction
// was committed, and if not has all of it sent again. to is what the progress record says if it was.
func (s *TxnSink) recover(ctx context.Context, attempt int, cause error, to place) (committed bool, err error) {
	if !errors.Is(cause, errTxnLost) {
		return false, cause
	}
	s.opt.Events.retry("transaction", s.opt.TransactionalID, -1, attempt, cause)
	if attempt > 1 {
		if err := s.cl.pause(ctx, attempt-1); err != nil {
			return false, err
		}
	}
	err = s.tx.init(ctx, false)
	if errors.Is(err, stream.ErrFenced) {
		if err = s.stillOurs(ctx, attempt, err); err == nil {
			err = s.tx.init(ctx, true)
		}
	}
	if err != nil {
		return false, err
	}
	rec, err := s.cl.readProgress(ctx, s.opt.Progress, s.opt.TransactionalID, s.offset, true)
	if err != nil {
		return false, err
	}
	for _, t := range s.topics() {
		for p := range t.parts {
			t.parts[p].next = -1
		}
	}
	switch {
	case rec == nil:
		return false, fmt.Errorf("kafka: topic %q: %w: the progress record is gone", s.opt.Progress, stream.ErrOutputDamaged)
	case rec.Session != s.session:
		return false, fmt.Errorf("kafka: transactional id %q: %w: another one has opened the output (stream %s, batch %d)",
			s.opt.TransactionalID, stream.ErrFenced, rec.Stream, rec.Batch)
	case rec.at() == s.at:
		s.pending = append(s.spool.all(), s.pending...)
		return false, nil
	case rec.at() == to:
		return true, nil
	}
	return false, fmt.Errorf("kafka: topic %q: %w: the progress record is at batch %d, index %d; expected was %d, %d or %d, %d",
		s.opt.Progress, stream.ErrMismatch, rec.Batch, rec.Next, s.at.batch, s.at.index, to.batch, to.index)
}

// stillOurs returns nil if nobody else has claimed the output, and fenced otherwise. A coordinator raises the epoch also
// when it aborts a transaction that took too long, and once it has read its log anew, after a restart or a move, it
// does not know any more that the epoch before was the same producer's: it then answers as if there were another one.
// The progress record tells. Another sink that is about to claim the output has the time of a pause for it, and does not
// give up when it comes too late (see claim).
func (s *TxnSink) stillOurs(ctx context.Context, attempt int, fenced error) error {
	if err := s.cl.pause(ctx, attempt+1); err != nil {
		return err
	}
	rec, err := s.cl.readProgress(ctx, s.opt.Progress, s.opt.TransactionalID, s.offset, true)
	if err != nil {
		return err
	}
	if rec == nil || rec.Session != s.session {
		return fenced
	}
	s.opt.Events.retry("init producer", s.opt.TransactionalID, -1, attempt, fenced)
	return nil
}
