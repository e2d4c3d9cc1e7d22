package publish

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"

	kafkago "github.com/segmentio/kafka-go"

	"motifd/stream"
	"motifd/stream/kafka"
	"motifd/stream/kafka/internal/recordbatch"
)

// Open implements stream.Sink. It checks first that output and checkpoint belong together, so that a daemon that was
// started by mistake harms nobody; then it initialises the producer, which fences any other, reads the progress record
// again, and claims the output by writing it anew under its own session.
//
// Besides stream.ErrOutputNotEmpty it answers ErrNoTopic; ErrPartitions when the partition count of the output is not
// the expected or the committed one (see SinkOptions.OnPartitions), or the progress topic has more than one partition;
// stream.ErrMismatch when the progress record is of another stream, or the output holds records of others behind the
// committed mark; stream.ErrOutputDamaged when the output ends before the mark, or the progress record is missing or
// older than the mark. It waits for the brokers until ctx is done.
func (s *TxnSink) Open(
	ctx context.Context,
	streamID string,
	batch uint64,
	committed stream.Mark,
	fresh bool,
) (stream.Progress, error) {
	none := stream.Progress{Stream: streamID, Batch: batch + 1}
	ctx, done, m, err := s.begin(ctx, streamID, committed)
	if err != nil {
		return none, err
	}
	defer done()
	s.session = newSession()
	for _, t := range []struct {
		topic **outTopic
		name  string
		want  int32 // partitions, 0 for any number
		whole bool
	}{
		{&s.out, s.opt.Topic, s.opt.ExpectPartitions, true},
		{&s.progress, s.opt.Progress, 1, true},
		{&s.dead, s.opt.DeadLetters, 0, false},
		{&s.control, s.opt.Control, 0, false},
	} {
		*t.topic, _, err = s.openTopic(ctx, t.name, t.want, m, t.whole)
		if t.topic == &s.progress && errors.Is(err, kafka.ErrPartitions) {
			return none, fmt.Errorf("%w: %w", ErrProgressTopic, err)
		}
		if err != nil {
			return none, err
		}
	}
	if at, err := s.whereToGoOn(ctx, batch, m, fresh, false); err != nil {
		return none, err
	} else if err := s.checkAt(at); err != nil {
		return none, err
	}
	if err := s.acquireOutput(ctx, batch, m, fresh); err != nil {
		return none, err
	}
	s.open = true
	return s.progressAt(s.at), nil
}

// progressAt returns a position as the pipeline takes it, with the digest that whereToGoOn has read.
func (s *TxnSink) progressAt(at publishPosition) stream.Progress {
	return stream.Progress{Stream: s.streamID, Batch: at.batch, Index: at.index, Known: true, Digest: s.digest}
}

// checkAt has the pipeline check where publishing is to go on.
func (s *TxnSink) checkAt(at publishPosition) error {
	if s.check == nil {
		return nil
	}
	return s.check(s.progressAt(at))
}

func newSession() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: see crypto/rand
	return hex.EncodeToString(b[:])
}

// whereToGoOn reads the progress record and what the output holds behind the committed mark, and decides where
// publishing goes on. With wait it waits until the transactions that are open in both have ended. Before the producer
// is initialised, a former process of this daemon may have left one open. Without wait, records may still follow: it
// then refuses only what no further record can repair.
func (s *TxnSink) whereToGoOn(
	ctx context.Context,
	batch uint64,
	m outputOffsets,
	fresh, wait bool,
) (publishPosition, error) {
	s.digest = ""
	if !fresh {
		if err := s.requireOurs(ctx, m, wait); err != nil {
			return publishPosition{}, err
		}
	}
	from := int64(-1)
	// the last progress record before the committed mark is that of the mark's batch
	if next := m.Next[s.opt.Progress]; len(next) == 1 {
		from = next[0] - 1
	}
	rec, whole, err := readProgress(ctx, s.cl, s.opt.Progress, s.opt.TransactionalID, from, wait)
	if errors.Is(err, stream.ErrMismatch) && s.opt.ResetProgress { // it is none of ours
		rec, err = nil, nil
	}
	if err != nil {
		return publishPosition{}, err
	}
	switch {
	case !fresh && !whole && (rec == nil || rec.Stream == s.streamID): // ours may be behind a transaction that is open
		return publishPosition{batch + 1, 0}, nil
	case rec != nil && rec.Stream == s.streamID && rec.Batch <= batch && rec.at() != (publishPosition{}):
		if s.opt.ResetProgress {
			return publishPosition{batch + 1, 0}, nil
		}
		return publishPosition{}, fmt.Errorf(
			"kafka: topic %q: %w: the progress record is at batch %d, but batch %d is committed: was the topic cut?",
			s.opt.Progress,
			stream.ErrOutputDamaged,
			rec.Batch,
			batch,
		)
	case rec != nil && rec.Stream == s.streamID:
		if fresh && rec.at() != (publishPosition{}) {
			return publishPosition{}, fmt.Errorf(
				"kafka: topic %q: %w: the output continues at batch %d, but the checkpoint is new",
				s.opt.Progress,
				stream.ErrMismatch,
				rec.Batch,
			)
		}
		s.digest = rec.Digest
		return rec.at(), nil
	case fresh && s.opt.AllowExisting:
		return publishPosition{}, nil
	case fresh && rec != nil:
		return publishPosition{}, fmt.Errorf(
			"kafka: topic %q: %w: transactional id %q has a progress record of stream %s at batch %d, but the "+
				"checkpoint is new",
			s.opt.Progress,
			stream.ErrOutputNotEmpty,
			s.opt.TransactionalID,
			rec.Stream,
			rec.Batch,
		)
	case fresh:
		byPart, err := s.cl.Extents(ctx, s.opt.Topic, kafka.AllPartitions(s.Partitions()), kafkago.ReadUncommitted)
		if err != nil {
			return publishPosition{}, err
		}
		return publishPosition{}, s.requireEmpty(byPart)
	case s.opt.ResetProgress:
		return publishPosition{batch + 1, 0}, nil
	case rec != nil:
		return publishPosition{}, fmt.Errorf(
			"kafka: topic %q: %w: the progress record of transactional id %q is of stream %s, the checkpoint of "+
				"stream %s; "+
				"restore the checkpoint that belongs to the output, or use a new output",
			s.opt.Progress,
			stream.ErrMismatch,
			s.opt.TransactionalID,
			rec.Stream,
			s.streamID,
		)
	}
	return publishPosition{}, fmt.Errorf(
		"kafka: topic %q: %w: there is no progress record of transactional id %q, "+
			"but batch %d is committed: was the topic deleted, or not compacted?",
		s.opt.Progress,
		stream.ErrOutputDamaged,
		s.opt.TransactionalID,
		batch,
	)
}

// requireOurs refuses an output in which somebody else has written behind the committed mark.
func (s *TxnSink) requireOurs(ctx context.Context, m outputOffsets, wait bool) error {
	parts := kafka.AllPartitions(s.Partitions())
	byPart, err := s.cl.Extents(ctx, s.opt.Topic, parts, kafkago.ReadUncommitted)
	if err != nil {
		return err
	}
	next := m.Next[s.opt.Topic]
	for _, p := range parts {
		from := byPart[p].Start
		if int(p) < len(next) {
			from = max(from, next[p])
		}
		check := func(r *recordbatch.Record) error { return s.foreign(p, r) }
		_, err := s.cl.Scan(ctx, s.opt.Topic, p, from, byPart[p].End, kafkago.ReadCommitted, wait, check)
		if err != nil {
			return err
		}
	}
	return nil
}

// acquireOutput takes the output over from any other sink: it initialises the producer, finds out where to go on, and
// writes that as a progress record of this session. It begins again when another sink does the same at the same time.
func (s *TxnSink) acquireOutput(ctx context.Context, batch uint64, m outputOffsets, fresh bool) error {
	for attempt := 1; ; attempt++ {
		err := s.acquireOnce(ctx, batch, m, fresh)
		if !errors.Is(err, errTxnLost) {
			return err
		}
		s.opt.Events.Retried("claim output", s.opt.TransactionalID, -1, attempt, err)
		if err := s.cl.Pause(ctx, attempt); err != nil {
			return err
		}
	}
}

func (s *TxnSink) acquireOnce(ctx context.Context, batch uint64, m outputOffsets, fresh bool) error {
	if err := s.tx.init(ctx, true); err != nil {
		return err
	}
	at, err := s.whereToGoOn(ctx, batch, m, fresh, true)
	if err != nil {
		return err
	}
	if err := s.checkAt(at); err != nil {
		return err
	}
	if err := s.addProgress(at, s.digest); err != nil {
		return err
	}
	s.closeBatch(&s.progress.parts[0])
	s.launch(nil)
	if err = s.await(ctx); err == nil {
		err = s.tx.commit(ctx)
	}
	if err := errors.Join(err, s.spool.reset()); err != nil {
		return err
	}
	s.at, s.offset = at, s.progress.parts[0].end-1
	s.progress.parts[0].next, s.progress.parts[0].touched = -1, false
	return nil
}

// ErrProgressTopic: the progress topic has more than one partition. ErrPartitions is wrapped beside it.
var ErrProgressTopic = errors.New("progress topic")
