package publish

import (
	"context"
	"fmt"

	kafkago "github.com/segmentio/kafka-go"

	"motifd/stream"
	"motifd/stream/kafka"
	"motifd/stream/kafka/internal/recordbatch"
)

// Sink publishes to Kafka topics without transactions: at least once, with a stable (stream, batch, index) in the
// headers. A record's partition is the hash of its key, as Java clients compute it. After a crash, Open reads what
// follows the last committed mark, and the Sink leaves out what it finds there when the batch in hand is published
// again; duplicates remain possible when an acknowledgement is lost (Events.Duplicates) or a request of the former
// process arrives after Open.
type Sink struct {
	publisher
	tails map[*outTopic]*published
}

// NewSink checks the options and returns a sink; it connects with Open. It does not publish the offsets of a group:
// Output does.
func NewSink(opt SinkOptions) (*Sink, error) {
	if err := opt.setDefaults(); err != nil {
		return nil, err
	}
	s := &Sink{tails: map[*outTopic]*published{}}
	if err := s.init(opt); err != nil {
		return nil, err
	}
	s.publisher.produce, s.publisher.appended = s.produce, s.appended
	return s, nil
}

// Open implements stream.Sink. Besides stream.ErrOutputNotEmpty it answers ErrNoTopic, ErrPartitions when the output's
// partition count is not the expected or the committed one, stream.ErrMismatch when the output was written by another
// stream, and stream.ErrOutputDamaged when it ends before the committed mark (deleted and created anew, or cut), or the
// mark is of another topic. Progress is not known when retention has removed records behind the mark. It waits for the
// brokers until ctx is done.
func (s *Sink) Open(
	ctx context.Context,
	streamID string,
	batch uint64,
	committed stream.Mark,
	fresh bool,
) (stream.Progress, error) {
	pr := stream.Progress{Stream: streamID, Batch: batch + 1}
	ctx, done, m, err := s.begin(ctx, streamID, committed)
	if err != nil {
		return pr, err
	}
	defer done()
	pr.Known = true
	for _, t := range []struct {
		topic **outTopic
		name  string
		want  int32
	}{
		{&s.out, s.opt.Topic, s.opt.ExpectPartitions},
		{&s.dead, s.opt.DeadLetters, 0},
		{&s.control, s.opt.Control, 0},
	} {
		main := t.name == s.opt.Topic
		top, byPart, err := s.openTopic(ctx, t.name, t.want, m, main)
		if err != nil {
			return pr, err
		}
		if *t.topic = top; top == nil {
			continue
		}
		for i := range top.parts {
			top.parts[i].next, top.parts[i].end = byPart[int32(i)].End, byPart[int32(i)].End
		}
		switch {
		case main && fresh && !s.opt.AllowExisting:
			if err := s.requireEmpty(byPart); err != nil {
				return pr, err
			}
		case main && m.Next != nil && m.Next[t.name] == nil:
			return pr, fmt.Errorf(
				"kafka: output topic %q: %w: the checkpoint was written with another topic",
				t.name,
				stream.ErrOutputDamaged,
			)
		}
		if fresh {
			continue
		}
		tail, whole, err := s.readBack(ctx, top, main, batch, m.Next[t.name], byPart)
		if err != nil {
			return pr, err
		}
		s.tails[top] = tail
		pr.Known = pr.Known && (whole || !main)
	}
	if tail := s.tails[s.out]; tail != nil {
		if pr.Known {
			pr.Batch, pr.Index = tail.progress(batch)
		}
		if f := s.opt.Events.Recovered; f != nil && tail.count > 0 {
			f(tail.count)
		}
	}
	s.open = true
	return pr, nil
}

// readBack reads what a topic holds behind the committed mark: records of batches after the committed one, published
// before the process ended. whole is false when some of them may have been removed by retention.
func (s *Sink) readBack(
	ctx context.Context,
	t *outTopic,
	main bool,
	batch uint64,
	next []int64,
	byPart map[int32]kafka.Extent,
) (tail *published, whole bool, err error) {
	tail, whole = newPublished(), true
	for p := range t.parts {
		// Without a mark the process ended before its first commit, and everything may be of the batch in hand.
		e := byPart[int32(p)]
		from := e.Start
		switch {
		case p < len(next) && next[p] < e.Start:
			whole = false
		case p < len(next):
			from = min(next[p], e.End)
		case next != nil:
			from = 0 // a partition of a side topic that was added since
		}
		// What a sink with transactions left open or aborted is not published: its end is waited for.
		_, err := s.cl.Scan(
			ctx,
			t.name,
			int32(p),
			max(from, e.Start),
			e.End,
			kafkago.ReadCommitted,
			true,
			func(r *recordbatch.Record) error {
				name, err := nameOf(r)
				if err != nil {
					return err
				}
				if !name.ok || name.stream != s.streamID {
					if main {
						return s.foreign(int32(p), r)
					}
					return nil
				}
				if name.batch > batch {
					tail.add(int32(p), r.Offset, name.batch, name.index)
				}
				return nil
			},
		)
		if err != nil {
			return nil, false, err
		}
	}
	return tail, whole, nil
}

// Begin implements stream.Sink.
func (s *Sink) Begin(_ context.Context, batch uint64) error {
	s.batch = batch
	return s.usable()
}

// Write implements stream.Sink. Records are sent in the background; it waits only while there is too much on the way.
// An error of an earlier record may show here, or in End, and leaves the sink of no further use.
func (s *Sink) Write(ctx context.Context, recs []stream.OutRecord) error {
	return s.do(ctx, func(ctx context.Context) error {
		for i := range recs {
			if s.there(s.out, recs[i].Batch, recs[i].Index) {
				continue
			}
			s.addDelta(&recs[i])
			if s.worthSending() {
				if err := s.dispatch(ctx); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// there tells whether a record was published before a crash.
func (s *Sink) there(t *outTopic, batch, index uint64) bool {
	tail := s.tails[t]
	return tail != nil && tail.has(batch, index)
}

// End implements stream.Sink: it waits until the brokers have acknowledged every record of the batch, then publishes
// the dead letters, then the batch record.
func (s *Sink) End(ctx context.Context, t stream.Tail) (stream.Mark, error) {
	err := s.do(ctx, func(ctx context.Context) error {
		if err := s.flush(ctx); err != nil {
			return err
		}
		if s.dead != nil {
			for i := range t.DeadLetters {
				if s.there(s.dead, s.batch, uint64(i)) {
					continue
				}
				s.addTailRecord(s.dead, uint64(i), &t.DeadLetters[i])
				if s.worthSending() {
					if err := s.dispatch(ctx); err != nil {
						return err
					}
				}
			}
			if err := s.flush(ctx); err != nil {
				return err
			}
		}
		if s.control != nil && t.BatchRecord != nil && !s.there(s.control, s.batch, 0) {
			s.addTailRecord(s.control, 0, t.BatchRecord)
		}
		return s.flush(ctx)
	})
	if err != nil {
		return nil, err
	}
	m := s.outputOffsets()
	for t, tail := range s.tails {
		for p, end := range m.Next[t.name] {
			m.Next[t.name][p] = tail.limit(s.batch, int32(p), end)
		}
		if tail.drop(s.batch); len(tail.batches) == 0 {
			delete(s.tails, t)
		}
	}
	return m.encode()
}

// dispatch sends what has gathered, and returns when it is under way.
func (s *Sink) dispatch(ctx context.Context) error {
	s.closeBatches()
	if err := s.await(ctx); err != nil {
		return err
	}
	s.start(func(batches []pendingBatch) error {
		if err := s.finish(batches, func(*pendingBatch) error { return nil }); err != nil {
			return err
		}
		return s.deliver(batches)
	})
	return nil
}

// flush sends everything and waits until it is acknowledged.
func (s *Sink) flush(ctx context.Context) error {
	if s.waiting > 0 {
		if err := s.dispatch(ctx); err != nil {
			return err
		}
	}
	return s.await(ctx)
}

// produce appends record batches, each to another partition, again and again until the brokers have acknowledged them
// on all their replicas.
func (s *Sink) produce(ctx context.Context, batches []*produceBatch) error {
	return s.cl.Retry(ctx, "produce", s.opt.Topic, -1, func(ctx context.Context) error {
		err := produceBatches(ctx, s.cl, "", batches)
		if err != nil {
			s.cl.Transport.CloseIdleConnections() // a new pool asks for the leaders at once
		}
		return err
	})
}

// appended notes where a batch was appended. A gap is a duplicate of the batch when an earlier attempt went through
// without its acknowledgement.
func (s *Sink) appended(c *produceBatch) error {
	to, want := c.to, c.to.next
	to.next = c.base + int64(c.count)
	to.end, to.touched = to.next, true
	if gap := c.base - want; gap > 0 && c.attempts > 1 {
		if f := s.opt.Events.Duplicates; f != nil {
			f(to.topic, to.partition, gap)
		}
	} else if err := s.verifyContiguous(c, want); err != nil {
		return err
	}
	if c.attempts == 1 { // else an attempt that was given up may still read from it
		s.buffers.put(c.raw)
	}
	return nil
}

// Close ends the sink. What End has not acknowledged may or may not be published.
func (s *Sink) Close() error {
	s.once.Do(func() {
		s.cancel(errSinkClosed)
		s.wg.Wait()
		s.cl.Close()
	})
	return nil
}
