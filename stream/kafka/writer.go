package kafka

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"motifd/stream"
)

// builders is how many record batches a partition has: one that is filled, one in flight, one between.
const builders = 3

// topicWriter publishes to the partitions of one topic, each in order: a partition has one request in flight.
type topicWriter struct {
	topic string
	// exclusive topics have no other writer: what is appended must follow what was.
	exclusive bool
	parts     []*partWriter
}

// partWriter publishes to one partition. add, seal and wait belong to the sink's user, run is the goroutine that
// sends. A batchBuilder is passed between them: cur, then queue, then free again.
type partWriter struct {
	topic     *topicWriter
	partition int32
	limit     int
	cl        *client
	cur       *batchBuilder
	queue     chan *batchBuilder
	free      chan *batchBuilder
	next      int64 // offset of the next record; run's while a batch is under way
}

func newTopicWriter(cl *client, topic string, exclusive bool, limit int, compression kafkago.Compression, next []int64) *topicWriter {
	t := &topicWriter{topic: topic, exclusive: exclusive}
	for p, off := range next {
		w := &partWriter{topic: t, partition: int32(p), limit: limit, cl: cl, next: off,
			queue: make(chan *batchBuilder, builders), free: make(chan *batchBuilder, builders)}
		for range builders {
			w.free <- &batchBuilder{compression: compression}
		}
		t.parts = append(t.parts, w)
	}
	return t
}

// start runs the senders until ctx is done. The first error of one ends them all, with the error as ctx's cause.
func (t *topicWriter) start(ctx context.Context, wg *sync.WaitGroup, fail func(error)) {
	for _, w := range t.parts {
		wg.Go(func() {
			if err := w.run(ctx); err != nil {
				fail(err)
			}
		})
	}
}

// gate is what a user of a writer waits under: its own context and the sink's.
type gate struct{ user, sink context.Context }

func (g gate) err() error {
	if g.sink.Err() != nil {
		return context.Cause(g.sink)
	}
	return context.Cause(g.user)
}

func (w *partWriter) take(g gate) (*batchBuilder, error) {
	select {
	case b := <-w.free:
		return b, nil
	case <-g.user.Done():
	case <-g.sink.Done():
	}
	return nil, g.err()
}

// add puts a record into the current batch, and sends the batch when it is full. It waits while two batches are under
// way. Nothing of the arguments is kept.
func (w *partWriter) add(g gate, key, value []byte, hs []header) error {
	size := len(key) + len(value) + recordOverhead
	for _, h := range hs {
		size += len(h.key) + len(h.value) + recordOverhead
	}
	if w.cur != nil && w.cur.count > 0 && w.cur.size()+size > w.limit {
		w.seal()
	}
	if w.cur == nil {
		b, err := w.take(g)
		if err != nil {
			return err
		}
		b.reset()
		w.cur = b
	}
	w.cur.add(key, value, hs)
	return nil
}

// recordOverhead bounds the bytes that a record needs besides key, value and headers.
const recordOverhead = 32

// seal sends the current batch on its way. It does not wait: there are as many places as builders.
func (w *partWriter) seal() {
	if w.cur != nil && w.cur.count > 0 {
		w.queue <- w.cur
		w.cur = nil
	}
}

// wait returns when everything is acknowledged.
func (w *partWriter) wait(g gate) error {
	have := make([]*batchBuilder, 0, builders)
	if w.cur != nil {
		have = append(have, w.cur)
		w.cur = nil
	}
	for len(have) < builders {
		b, err := w.take(g)
		if err != nil {
			return err
		}
		have = append(have, b)
	}
	for _, b := range have {
		w.free <- b
	}
	return nil
}

// flush sends everything and waits until it is acknowledged.
func (t *topicWriter) flush(g gate) error {
	if t == nil {
		return nil
	}
	for _, w := range t.parts {
		w.seal()
	}
	for _, w := range t.parts {
		if err := w.wait(g); err != nil {
			return err
		}
	}
	return nil
}

func (w *partWriter) run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case b := <-w.queue:
			if err := w.publish(ctx, b); err != nil {
				if ctx.Err() != nil {
					return nil
				}
				return err
			}
			w.free <- b
		}
	}
}

// publish sends one batch, again and again until a broker has acknowledged it on all its replicas.
func (w *partWriter) publish(ctx context.Context, b *batchBuilder) error {
	raw, err := b.finish(time.Now())
	if err != nil {
		return err
	}
	topic := w.topic.topic
	attempts, base := 0, int64(0)
	err = w.cl.retry(ctx, "produce", topic, w.partition, func(ctx context.Context) error {
		attempts++
		res, err := w.cl.api.RawProduce(ctx, &kafkago.RawProduceRequest{
			Topic: topic, Partition: int(w.partition), RequiredAcks: kafkago.RequireAll,
			RawRecords: protocol.RawRecordSet{Reader: bytes.NewReader(raw)}})
		if err != nil {
			return err
		}
		base = res.BaseOffset
		return res.Error
	})
	if err != nil {
		return err
	}
	return w.appended(base, int64(b.count), attempts)
}

// appended checks where a batch was appended. A gap is a duplicate of the batch when an earlier attempt went through
// without its acknowledgement; otherwise somebody else writes to the partition.
func (w *partWriter) appended(base, count int64, attempts int) error {
	gap := base - w.next
	w.next = base + count
	switch {
	case gap == 0:
	case gap > 0 && attempts > 1:
		if f := w.cl.opt.Events.Duplicates; f != nil {
			f(w.topic.topic, w.partition, gap)
		}
	case !w.topic.exclusive:
	case gap > 0:
		return fmt.Errorf("kafka: topic %q, partition %d: %w: %d records were appended before offset %d by somebody else",
			w.topic.topic, w.partition, stream.ErrFenced, gap, base)
	default:
		return fmt.Errorf("kafka: topic %q, partition %d: %w: a record was appended at offset %d, after offset %d: the log was cut",
			w.topic.topic, w.partition, stream.ErrOutputDamaged, base, base-gap)
	}
	return nil
}
