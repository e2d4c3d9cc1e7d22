package publish

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"motifd/stream"
)

// launch sends what is pending in the background, with the offsets if there are some.
func (s *TxnSink) launch(at stream.Positions) {
	parts, again := s.expected(), s.again
	s.again = false
	s.start(func(batches []pendingBatch) error {
		err := s.send(batches, parts, at)
		if again {
			err = s.timed(err)
		}
		return err
	})
}

// expected returns the partitions that the open transaction will touch, as far as is known, so that one request adds
// them all: those of what is pending, and those of the records that come last.
func (s *TxnSink) expected() []topicPartition {
	parts := []topicPartition{s.progress.parts[0].topicPartition}
	if s.control != nil && len(s.control.parts) == 1 {
		parts = append(parts, s.control.parts[0].topicPartition)
	}
	for _, c := range s.pending {
		parts = append(parts, c.to.topicPartition)
	}
	return parts
}

// send publishes batches, those of one partition in order, then the offsets if there are some. parts are the partitions
// to add to the transaction.
//
// The group is added while the records are on their way, but its offsets follow them: a broker asks the coordinator
// whether a partition is in the transaction before it takes the first of it, and of two such questions at once for
// one producer it fails one (KIP-890).
func (s *TxnSink) send(batches []pendingBatch, parts []topicPartition, at stream.Positions) error {
	if err := s.finish(batches, func(c *pendingBatch) error { return s.spool.add(*c) }); err != nil {
		return err
	}
	if err := s.tx.add(s.ctx, parts); err != nil {
		return err
	}
	if s.opt.Group == "" || len(at) == 0 {
		return s.deliver(batches)
	}
	added := make(chan error, 1)
	go func() { added <- s.tx.addGroup(s.ctx, s.opt.Group) }()
	err := s.deliver(batches)
	group := <-added
	if err == nil && group == nil {
		group = s.tx.offsets(s.ctx, s.opt.Group, s.opt.InputTopic, at)
	}
	if groupInUse(group) { // they are for show: the checkpoint's positions count
		s.opt.Events.Retried("group offsets", s.opt.InputTopic, -1, 1, group)
		group = nil
	}
	return worst(err, group)
}

// produce appends record batches. After an attempt that failed their buffers may still be read, and are not used again.
func (s *TxnSink) produce(ctx context.Context, batches []*produceBatch) error {
	err := s.tx.produce(ctx, batches)
	for _, c := range batches {
		if err != nil || c.attempts > 1 {
			s.buffers.abandon()
		}
	}
	return err
}

// appended notes where a record batch was appended.
func (s *TxnSink) appended(c *produceBatch) error {
	to, want := c.to, c.to.next
	to.touched = true
	to.next = c.base + int64(c.count)
	to.end = max(to.end, to.next)
	return s.verifyContiguous(c, want)
}

// dispatch sends what has gathered, and returns when it is under way.
func (s *TxnSink) dispatch(ctx context.Context) error {
	s.closeBatches()
	for attempt := 1; ; attempt++ {
		err := s.arrived(ctx)
		if err == nil {
			s.launch(nil)
			return nil
		}
		if _, err := s.recover(ctx, attempt, err, s.at); err != nil {
			return err
		}
	}
}

// commit closes the open transaction with a progress record, and returns when it is committed.
func (s *TxnSink) commit(ctx context.Context, to publishPosition, at stream.Positions) error {
	if err := s.addProgress(to, s.next); err != nil {
		return err
	}
	s.closeBatches()
	for attempt := 1; ; attempt++ {
		err := s.arrived(ctx)
		if err == nil {
			s.launch(at)
			err = s.await(ctx)
		}
		if err == nil {
			if err = s.tx.commit(ctx); attempt > 1 { // all of it was sent again, without a search to wait for
				err = s.timed(err)
			}
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
	s.at, s.digest, s.count = to, s.next, 0
	s.slow = 0
	s.offset = s.progress.parts[0].end - 1
	for _, t := range s.topics {
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
func (s *TxnSink) addProgress(to publishPosition, digest string) error {
	value, err := json.Marshal(
		progressRecord{Version: progressVersion, Stream: s.streamID, Batch: to.batch, Next: to.index,
			Session: s.session, Digest: digest},
	)
	if err != nil {
		return err
	}
	s.add(&s.progress.parts[0], []byte(s.opt.TransactionalID), value, nil)
	return nil
}

// maxSlow is the number of times in succession that a transaction which is sent again may exceed its time-out.
const maxSlow = 10

// ErrTooSlow: a transaction takes longer to send than the brokers let it stay open.
var ErrTooSlow = errors.New("the transaction takes longer to send than its time-out")

// slowError tells that a transaction was lost while all of it was sent again, which had taken its time-out or longer.
type slowError struct {
	error
	took time.Duration
}

func (e slowError) Unwrap() error { return e.error }

// timed makes a slowError of an error of sending the whole transaction again, if it is one.
func (s *TxnSink) timed(err error) error {
	if took := time.Since(s.tx.began); errors.Is(err, errTxnLost) && took >= s.opt.TransactionTimeout {
		return slowError{err, took}
	}
	return err
}

// arrived is await, for a round that the transaction goes on after: if all of it was sent again, that was in time.
func (s *TxnSink) arrived(ctx context.Context) error {
	under := s.round != nil
	err := s.await(ctx)
	if under && err == nil {
		s.slow = 0
	}
	return err
}

// recover answers for a transaction that was lost; any other error it returns. It finds out whether the transaction was
// committed, and if not has all of it sent again. to is the progress record's position if it was.
func (s *TxnSink) recover(
	ctx context.Context,
	attempt int,
	cause error,
	to publishPosition,
) (committed bool, err error) {
	if !errors.Is(cause, errTxnLost) {
		return false, cause
	}
	s.opt.Events.Retried("transaction", s.opt.TransactionalID, -1, attempt, cause)
	if attempt > 1 {
		if err := s.cl.Pause(ctx, attempt-1); err != nil {
			return false, err
		}
	}
	var slow slowError
	if errors.As(cause, &slow) {
		if s.slow++; s.slow >= maxSlow {
			return false, fmt.Errorf(
				"kafka: transactional id %q, batch %d: %w: %v at the last of %d attempts, "+
					"and output.kafka.transaction_timeout is %v",
				s.opt.TransactionalID,
				s.batch,
				ErrTooSlow,
				slow.took.Round(time.Millisecond),
				s.slow,
				s.opt.TransactionTimeout,
			)
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
	rec, _, err := readProgress(ctx, s.cl, s.opt.Progress, s.opt.TransactionalID, s.offset, true)
	if err != nil {
		return false, err
	}
	for _, t := range s.topics {
		for p := range t.parts {
			t.parts[p].next, t.parts[p].touched = -1, false
		}
	}
	switch {
	case rec == nil:
		return false, fmt.Errorf("kafka: topic %q: %w: the progress record is gone", s.opt.Progress,
			stream.ErrOutputDamaged)
	case rec.Session != s.session:
		return false, fmt.Errorf("kafka: transactional id %q: %w: another one has opened the output (stream %s, "+
			"batch %d)",
			s.opt.TransactionalID, stream.ErrFenced, rec.Stream, rec.Batch)
	case rec.at() == s.at:
		s.pending, s.again = append(s.spool.all(), s.pending...), true
		return false, nil
	case rec.at() == to:
		return true, nil
	}
	return false, fmt.Errorf(
		"kafka: topic %q: %w: the progress record is at batch %d, index %d; expected was %d, %d or %d, %d",
		s.opt.Progress,
		stream.ErrMismatch,
		rec.Batch,
		rec.Next,
		s.at.batch,
		s.at.index,
		to.batch,
		to.index,
	)
}

// stillOurs returns nil if nobody else has claimed the output, and fenced otherwise. A coordinator raises the epoch
// also when it aborts a transaction that took too long, and once it has read its log anew, after a restart or a move,
// it does not know any more that the epoch before was the same producer's: it then answers as if there were another
// one. The progress record tells. Another sink that is about to claim the output has the time of a pause for it, and
// does not give up when it comes too late (see acquireOutput).
func (s *TxnSink) stillOurs(ctx context.Context, attempt int, fenced error) error {
	if err := s.cl.Pause(ctx, attempt+1); err != nil {
		return err
	}
	rec, _, err := readProgress(ctx, s.cl, s.opt.Progress, s.opt.TransactionalID, s.offset, true)
	if err != nil {
		return err
	}
	if rec == nil || rec.Session != s.session {
		return fenced
	}
	s.opt.Events.Retried("init producer", s.opt.TransactionalID, -1, attempt, fenced)
	return nil
}
