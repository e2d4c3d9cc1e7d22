package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"motifd/stream"
)

// Sink publishes to Kafka topics without transactions: at least once, with a stable (stream, batch, index) in the
// headers. A record's partition is the hash of its key, as Java clients compute it. After a crash, Open reads what
// follows the last committed mark, and the Sink leaves out what it finds there when the batch in hand is published
// again; duplicates remain possible when an acknowledgement is lost (Events.Duplicates) or a request of the former
// process arrives after Open.
type Sink struct {
	opt      SinkOptions
	cl       *client
	streamID string
	out      *topicWriter
	dead     *topicWriter // nil when not configured
	control  *topicWriter // nil when not configured
	tails    map[*topicWriter]*published
	batch    uint64
	open     bool

	ctx    context.Context // done when the sink is closed or has failed
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup
	group  *groupOffsets
	once   sync.Once

	hs      []header // scratch
	scratch []byte
}

// NewSink checks the options and returns a sink; it connects with Open.
func NewSink(opt SinkOptions) (*Sink, error) {
	if err := opt.setDefaults(); err != nil {
		return nil, err
	}
	topics := []string{opt.Topic}
	for _, t := range []string{opt.DeadLetters, opt.Control} {
		if t != "" {
			topics = append(topics, t)
		}
	}
	cl, err := newClient(opt.Client, topics...)
	if err != nil {
		return nil, err
	}
	s := &Sink{opt: opt, cl: cl, tails: map[*topicWriter]*published{}}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	return s, nil
}

// Open implements stream.Sink. Besides stream.ErrOutputNotEmpty it answers ErrNoTopic, ErrPartitions when the output's
// partition count is not the expected or the committed one, stream.ErrMismatch when the output was written by another
// stream, and stream.ErrOutputDamaged when it ends before the committed mark (deleted and created anew, or cut).
// Progress is not known when retention has removed records behind the mark. It waits for the brokers until ctx is
// done.
func (s *Sink) Open(ctx context.Context, streamID string, batch uint64, committed stream.Mark, fresh bool) (stream.Progress, error) {
	pr := stream.Progress{Stream: streamID, Batch: batch + 1}
	if s.open {
		return pr, errors.New("kafka: sink is already open")
	}
	var m mark
	if len(committed) > 0 {
		var err error
		if m, err = parseMark(committed); err != nil {
			return pr, err
		}
	}
	s.streamID = streamID
	compression, err := codecOf(s.opt.Compression)
	if err != nil {
		return pr, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })()
	known := true
	openTopic := func(topic string, main bool) (*topicWriter, error) {
		if topic == "" {
			return nil, nil
		}
		ext, err := s.inspect(ctx, topic, main, m, fresh)
		if err != nil {
			return nil, err
		}
		next := make([]int64, len(ext))
		for p, e := range ext {
			next[p] = e.end
		}
		t := newTopicWriter(s.cl, topic, main && !s.opt.AllowExisting, s.opt.BatchBytes, compression, next)
		if fresh {
			return t, nil
		}
		tail, whole, err := s.readBack(ctx, topic, main, batch, m.Next[topic], ext)
		if err != nil {
			return nil, err
		}
		s.tails[t] = tail
		if main && !whole {
			known = false
		}
		return t, nil
	}
	if s.out, err = openTopic(s.opt.Topic, true); err != nil {
		return pr, err
	}
	if s.dead, err = openTopic(s.opt.DeadLetters, false); err != nil {
		return pr, err
	}
	if s.control, err = openTopic(s.opt.Control, false); err != nil {
		return pr, err
	}
	pr.Known = known
	if tail := s.tails[s.out]; tail != nil {
		if known {
			pr.Batch, pr.Index = tail.progress(batch)
		}
		if f := s.opt.Events.Recovered; f != nil && tail.count > 0 {
			f(tail.count)
		}
	}
	if s.opt.Group != "" {
		if s.group, err = newGroupOffsets(s.cl, &s.opt); err != nil {
			return pr, err
		}
	}
	s.run()
	return pr, nil
}

func (s *Sink) run() {
	s.open = true
	for _, t := range []*topicWriter{s.out, s.dead, s.control} {
		if t != nil {
			t.start(s.ctx, &s.wg, func(err error) { s.cancel(err) })
		}
	}
	if s.group != nil {
		s.wg.Go(func() { s.group.run(s.ctx) })
	}
}

// inspect asks for a topic's partitions and what they hold, and compares it with what was committed.
func (s *Sink) inspect(ctx context.Context, topic string, main bool, m mark, fresh bool) ([]extent, error) {
	n, err := s.cl.partitions(ctx, topic)
	if err != nil {
		return nil, err
	}
	if main && s.opt.ExpectPartitions != 0 && n != s.opt.ExpectPartitions {
		return nil, fmt.Errorf("kafka: output topic %q: %w: it has %d, expected are %d; a match and its cancellation would part", topic,
			ErrPartitions, n, s.opt.ExpectPartitions)
	}
	byPart, err := s.cl.extents(ctx, topic, allPartitions(n), kafkago.ReadUncommitted)
	if err != nil {
		return nil, err
	}
	ext := make([]extent, n)
	for p, e := range byPart {
		ext[p] = e
		if main && fresh && !s.opt.AllowExisting && e.end > e.start {
			return nil, fmt.Errorf("kafka: output topic %q, partition %d holds %d records, but the checkpoint is new: %w", topic, p,
				e.end-e.start, stream.ErrOutputNotEmpty)
		}
	}
	if !main || m.Next == nil {
		return ext, nil
	}
	next := m.Next[topic]
	if len(next) != len(ext) {
		return nil, fmt.Errorf("kafka: output topic %q: %w: it has %d, the checkpoint was written with %d", topic, ErrPartitions, len(ext), len(next))
	}
	for p, off := range next {
		if off > ext[p].end {
			return nil, fmt.Errorf("kafka: output topic %q, partition %d: %w: it ends at offset %d, published was up to %d: was the topic deleted and created anew?",
				topic, p, stream.ErrOutputDamaged, ext[p].end, off)
		}
	}
	return ext, nil
}

// readBack reads what a topic holds behind the committed mark: records of batches after the committed one, published
// before the process ended. whole is false when some of them may have been removed by retention.
func (s *Sink) readBack(ctx context.Context, topic string, main bool, batch uint64, next []int64, ext []extent) (tail *published, whole bool, err error) {
	tail, whole = newPublished(), true
	for p, e := range ext {
		// Without a mark the process ended before its first commit, and everything may be of the batch in hand.
		from := e.start
		switch {
		case p < len(next) && next[p] < e.start:
			whole = false
		case p < len(next):
			from = min(next[p], e.end)
		case next != nil:
			from = 0 // a partition of a side topic that was added since
		}
		// What a sink with transactions left open or aborted is not published: its end is waited for.
		err := s.cl.scanCommitted(ctx, topic, int32(p), max(from, e.start), e.end, true, func(r *record) error {
			name, err := nameOf(r)
			if err != nil {
				return err
			}
			if !name.ok || name.stream != s.streamID {
				if main && !s.opt.AllowExisting {
					return fmt.Errorf("partition %d, offset %d: %w: the record is of stream %q, this one is %q", p, r.offset,
						stream.ErrMismatch, name.stream, s.streamID)
				}
				return nil
			}
			if name.batch > batch {
				tail.add(int32(p), r.offset, name.batch, name.index)
			}
			return nil
		})
		if err != nil {
			return nil, false, err
		}
	}
	return tail, whole, nil
}

// Begin implements stream.Sink.
func (s *Sink) Begin(_ context.Context, batch uint64) error {
	if err := s.usable(); err != nil {
		return err
	}
	s.batch = batch
	return nil
}

func (s *Sink) usable() error {
	if s.ctx.Err() != nil {
		return context.Cause(s.ctx)
	}
	if !s.open {
		return errors.New("kafka: sink is not open")
	}
	return nil
}

// Write implements stream.Sink. Records are sent in the background; it waits only while the partitions' buffers are
// full. An error of an earlier record may show here, or in End, and leaves the sink of no further use.
func (s *Sink) Write(ctx context.Context, recs []stream.OutRecord) error {
	if err := s.usable(); err != nil {
		return err
	}
	g := gate{ctx, s.ctx}
	tail := s.tails[s.out]
	n := int32(len(s.out.parts))
	for i := range recs {
		r := &recs[i]
		if tail != nil && tail.has(r.Batch, r.Index) {
			continue
		}
		key := r.Key
		if key == nil {
			key = []byte(r.Query) // records without a match: those of a query stay in order
		}
		s.hs, s.scratch = headers(s.hs[:0], s.scratch[:0], s.streamID, r)
		if err := s.out.parts[partitionOf(key, n)].add(g, r.Key, r.Value, s.hs); err != nil {
			return err
		}
	}
	return nil
}

// End implements stream.Sink: it waits until the brokers have acknowledged every record of the batch, then publishes
// the dead letters, then the batch record.
func (s *Sink) End(ctx context.Context, t stream.Tail) (stream.Mark, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	g := gate{ctx, s.ctx}
	if err := s.out.flush(g); err != nil {
		return nil, err
	}
	for i := range t.DeadLetters {
		if err := s.aside(g, s.dead, uint64(i), &t.DeadLetters[i]); err != nil {
			return nil, err
		}
	}
	if err := s.dead.flush(g); err != nil {
		return nil, err
	}
	if t.BatchRecord != nil {
		if err := s.aside(g, s.control, 0, t.BatchRecord); err != nil {
			return nil, err
		}
	}
	if err := s.control.flush(g); err != nil {
		return nil, err
	}
	if s.group != nil {
		s.group.set(t.Positions)
	}
	m := mark{Next: map[string][]int64{}}
	for _, w := range []*topicWriter{s.out, s.dead, s.control} {
		if w == nil {
			continue
		}
		next := make([]int64, len(w.parts))
		for p, pw := range w.parts {
			next[p] = pw.next
			if tail := s.tails[w]; tail != nil {
				next[p] = tail.limit(s.batch, int32(p), pw.next)
			}
		}
		m.Next[w.topic] = next
		if tail := s.tails[w]; tail != nil {
			if tail.drop(s.batch); len(tail.batches) == 0 {
				delete(s.tails, w)
			}
		}
	}
	return m.encode()
}

// aside publishes a dead letter or a batch record, unless it was before a crash.
func (s *Sink) aside(g gate, w *topicWriter, index uint64, r *stream.OutRecord) error {
	if w == nil {
		return nil
	}
	if tail := s.tails[w]; tail != nil && tail.has(s.batch, index) {
		return nil
	}
	s.hs, s.scratch = nameHeaders(s.hs[:0], s.scratch[:0], s.streamID, s.batch, index)
	n := int32(len(w.parts))
	p := int32(index % uint64(n))
	if r.Key != nil {
		p = partitionOf(r.Key, n)
	}
	return w.parts[p].add(g, r.Key, r.Value, s.hs)
}

// Partitions implements stream.Sink: the partition count of the output topic, known from Open on.
func (s *Sink) Partitions() int32 {
	if s.out == nil {
		return 0
	}
	return int32(len(s.out.parts))
}

// Close ends the sink. What End has not acknowledged may or may not be published. The newest input positions are
// published to the consumer group, if the brokers take them within two seconds.
func (s *Sink) Close() error {
	s.once.Do(func() {
		s.cancel(errSinkClosed)
		s.wg.Wait()
		if s.group != nil {
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
			defer cancel()
			if err := s.group.publish(ctx); err != nil {
				s.opt.Events.retry("group offsets", s.opt.InputTopic, -1, 1, err)
			}
			s.group.cl.close()
		}
		s.cl.close()
	})
	return nil
}

var errSinkClosed = errors.New("kafka: sink is closed")
