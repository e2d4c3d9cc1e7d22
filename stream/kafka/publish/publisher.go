package publish

import (
	"context"
	"errors"
	"fmt"
	"sync"

	kafkago "github.com/segmentio/kafka-go"

	"motifd/stream"
	"motifd/stream/kafka"
	"motifd/stream/kafka/internal/recordbatch"
)

// publisher is the common part of both sinks: their topics, and the records on their way to them. Records gather in one
// record batch for each partition, or more when it is full, until a round sends them in the background.
type publisher struct {
	opt         SinkOptions
	cl          *kafka.Client
	streamID    string
	compression kafkago.Compression
	out         *outTopic
	dead        *outTopic // nil when not configured
	control     *outTopic // nil when not configured
	topics      []*outTopic

	open   bool
	failed error // set by the first error of Write or End: the sink is of no further use
	batch  uint64

	pending []pendingBatch // not yet handed to a round
	waiting int            // bytes that gather or are pending, about, before compression
	round   *round         // under way, or nil
	buffers buffers
	// What a round does, set by the sink: produce appends record batches, each to another partition; appended is then
	// told of each.
	produce  func(ctx context.Context, batches []*produceBatch) error
	appended func(s *produceBatch) error

	ctx    context.Context // done when the sink is closed
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup
	once   sync.Once // Close

	hs      []recordbatch.Header // scratch
	scratch []byte
}

// outTopic is a topic that a sink writes to.
type outTopic struct {
	name  string
	parts []outPart
}

// outPart is a partition of it.
type outPart struct {
	topicPartition
	exclusive bool                 // it has no other writer: what is appended must follow what was
	builder   *recordbatch.Builder // nil when it holds nothing
	end       int64                // offset after the last record that was appended, as far as is known
	next      int64                // offset that the next append must have; -1 when it is not known
	touched   bool                 // by the open transaction
}

type topicPartition struct {
	topic     string
	partition int32
}

// init makes a publisher of options that are complete. topics are those that it writes to beside those of the options.
func (p *publisher) init(opt SinkOptions, topics ...string) (err error) {
	p.opt = opt
	if p.compression, err = codecOf(opt.Compression); err != nil {
		return err
	}
	for _, t := range []string{opt.Topic, opt.DeadLetters, opt.Control} {
		if t != "" {
			topics = append(topics, t)
		}
	}
	if p.cl, err = kafka.NewClient(opt.ClientOptions, topics...); err != nil {
		return err
	}
	p.ctx, p.cancel = context.WithCancelCause(context.Background())
	return nil
}

// begin is the first part of every Open. The context that it returns ends with the sink, too.
func (p *publisher) begin(
	ctx context.Context,
	streamID string,
	committed stream.Mark,
) (context.Context, func(), outputOffsets, error) {
	var m outputOffsets
	if p.open {
		return nil, nil, m, errors.New("kafka: sink is already open")
	}
	if len(committed) > 0 {
		var err error
		if m, err = parseMark(committed); err != nil {
			return nil, nil, m, err
		}
	}
	p.streamID, p.topics = streamID, nil
	ctx, done := p.join(ctx)
	return ctx, done, m, nil
}

// join returns a context that is done when either the caller's or the sink's is.
func (p *publisher) join(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(p.ctx, func() { cancel(context.Cause(p.ctx)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// openTopic finds a topic and compares what it holds with what was committed. want is the partition count that it
// must have, 0 for any; whole tells that it must reach to the mark, unless that is to be passed over. A name of "" is
// no topic.
func (p *publisher) openTopic(
	ctx context.Context,
	name string,
	want int32,
	m outputOffsets,
	whole bool,
) (*outTopic, map[int32]kafka.Extent, error) {
	if name == "" {
		return nil, nil, nil
	}
	main := name == p.opt.Topic
	next := m.Next[name]
	n, err := p.cl.Partitions(ctx, name, max(want, int32(len(next))))
	if err != nil {
		return nil, nil, err
	}
	if want != 0 && n != want {
		return nil, nil, fmt.Errorf("kafka: topic %q: %w: it has %d, expected are %d", name, kafka.ErrPartitions, n,
			want)
	}
	if main {
		if n, err = p.opt.spread(n, int32(len(next))); err != nil {
			return nil, nil, err
		}
	}
	byPart, err := p.cl.Extents(ctx, name, kafka.AllPartitions(n), kafkago.ReadUncommitted)
	if err != nil {
		return nil, nil, err
	}
	t := &outTopic{name: name, parts: make([]outPart, n)}
	for i := range t.parts {
		part := &t.parts[i]
		*part = outPart{topicPartition: topicPartition{name, int32(i)}, exclusive: main && !p.opt.AllowExisting,
			next: -1}
		end := byPart[int32(i)].End
		if part.end = end; i >= len(next) {
			continue
		}
		if next[i] > end && whole && !p.opt.ResetProgress {
			return nil, nil, fmt.Errorf(
				"kafka: topic %q, partition %d: %w: it ends at offset %d, published was up to %d: "+
					"was the topic deleted and created anew?",
				name,
				i,
				stream.ErrOutputDamaged,
				end,
				next[i],
			)
		}
		part.end = min(next[i], end)
	}
	p.topics = append(p.topics, t)
	return t, byPart, nil
}

// foreign is an error if a record behind the committed mark of the main output is not the stream's, unless others may
// write there.
func (p *publisher) foreign(partition int32, r *recordbatch.Record) error {
	if p.opt.AllowExisting || p.opt.ResetProgress {
		return nil
	}
	name, err := nameOf(r)
	switch {
	case err != nil:
		return err
	case !name.ok:
		return fmt.Errorf("partition %d, offset %d: %w: the record is not motifd's", partition, r.Offset,
			stream.ErrMismatch)
	case name.stream != p.streamID:
		return fmt.Errorf("partition %d, offset %d: %w: the record is of stream %q, this one is %q", partition,
			r.Offset,
			stream.ErrMismatch, name.stream, p.streamID)
	}
	return nil
}

// requireEmpty refuses an output that holds something.
func (p *publisher) requireEmpty(byPart map[int32]kafka.Extent) error {
	for i, e := range byPart {
		if e.End > e.Start {
			return fmt.Errorf(
				"kafka: output topic %q, partition %d holds %d records, but the checkpoint is new: %w",
				p.opt.Topic,
				i,
				e.End-e.Start,
				stream.ErrOutputNotEmpty,
			)
		}
	}
	return nil
}

func (p *publisher) usable() error {
	switch {
	case p.ctx.Err() != nil:
		return context.Cause(p.ctx)
	case p.failed != nil:
		return p.failed
	case !p.open:
		return errors.New("kafka: sink is not open")
	}
	return nil
}

// do makes a call of the sink's user that leaves it of no further use when it fails.
func (p *publisher) do(ctx context.Context, f func(ctx context.Context) error) error {
	if err := p.usable(); err != nil {
		return err
	}
	ctx, done := p.join(ctx)
	defer done()
	p.failed = f(ctx)
	return p.failed
}

// addDelta adds a record of the main output.
func (p *publisher) addDelta(r *stream.OutRecord) {
	key := r.Key
	if key == nil {
		key = []byte(r.Query) // records without a match: those of a query stay in order
	}
	p.hs, p.scratch = headers(p.hs[:0], p.scratch[:0], p.streamID, r)
	p.add(&p.out.parts[kafka.PartitionOf(key, int32(len(p.out.parts)))], r.Key, r.Value, p.hs)
}

// addTailRecord adds a dead letter or the batch record of the current batch.
func (p *publisher) addTailRecord(t *outTopic, index uint64, r *stream.OutRecord) {
	p.hs, p.scratch = nameHeaders(p.hs[:0], p.scratch[:0], p.streamID, p.batch, index)
	n := int32(len(t.parts))
	i := int32(index % uint64(n))
	if r.Key != nil {
		i = kafka.PartitionOf(r.Key, n)
	}
	p.add(&t.parts[i], r.Key, r.Value, p.hs)
}

// outputOffsets tells how far the topics reach, for Open to find out that they were cut or created anew.
func (p *publisher) outputOffsets() outputOffsets {
	m := outputOffsets{Next: map[string][]int64{}}
	for _, t := range p.topics {
		next := make([]int64, len(t.parts))
		for i := range t.parts {
			next[i] = t.parts[i].end
		}
		m.Next[t.name] = next
	}
	return m
}

// Partitions implements stream.Sink: the partition count of the output topic, known from Open on.
func (p *publisher) Partitions() int32 {
	if p.out == nil {
		return 0
	}
	return int32(len(p.out.parts))
}

var errSinkClosed = errors.New("kafka: sink is closed")
