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

// TxnSink publishes to Kafka topics exactly once, in transactions (DESIGN P3). A batch is one transaction, or several
// when it is beyond MaxTransactionRecords; the last one carries the dead letters, the batch record, the input's offsets
// and, like every one of them, a progress record that says what is published with it. A reader under read_committed sees
// all of a transaction or nothing, and so does Open after a crash: the progress record tells where to go on.
//
// The records of the open transaction are kept until its end is known. When it is lost (its time-out has passed, a
// coordinator forgot it, the answer to its commit says neither yes nor no), the producer is initialised again, the
// progress record says whether it was committed, and if not it is sent again.
type TxnSink struct {
	opt         TxnSinkOptions
	cl          *client
	tx          *transactions
	streamID    string
	session     string
	compression kafkago.Compression
	out         *txnTopic
	dead        *txnTopic // nil when not configured
	control     *txnTopic // nil when not configured
	progress    *txnTopic
	offset      int64 // at or before our last progress record, -1 when not known

	open    bool
	failed  error // set by the first error of Write or End: the sink is of no further use
	batch   uint64
	at      place // published and committed
	count   int   // records of the main output in the open transaction
	spool   spool
	pending []parcel // not yet handed to a round
	waiting int      // bytes in pending, before compression
	round   *round   // under way, or nil

	ctx    context.Context // done when the sink is closed
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup
	once   sync.Once
	err    error // of Close

	hs      []header // scratch
	scratch []byte
}

// closeTimeout bounds how long Close tries to abort the open transaction. Without it readers would wait for the
// transaction's time-out.
const closeTimeout = 2 * time.Second

// NewTxnSink checks the options and returns a sink; it connects with Open.
func NewTxnSink(opt TxnSinkOptions) (*TxnSink, error) {
	if err := opt.setDefaults(); err != nil {
		return nil, err
	}
	compression, err := codecOf(opt.Compression)
	if err != nil {
		return nil, err
	}
	topics := []string{opt.Topic, opt.Progress}
	for _, t := range []string{opt.DeadLetters, opt.Control} {
		if t != "" {
			topics = append(topics, t)
		}
	}
	cl, err := newClient(opt.Client, topics...)
	if err != nil {
		return nil, err
	}
	s := &TxnSink{opt: opt, cl: cl, compression: compression, offset: -1,
		tx:    newTransactions(cl, opt.TransactionalID, opt.TransactionTimeout),
		spool: spool{dir: opt.SpoolDir, limit: opt.BufferBytes}}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	return s, nil
}

// join returns a context that is done when either the caller's or the sink's is.
func (s *TxnSink) join(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

func (s *TxnSink) usable() error {
	switch {
	case s.ctx.Err() != nil:
		return context.Cause(s.ctx)
	case s.failed != nil:
		return s.failed
	case !s.open:
		return errors.New("kafka: sink is not open")
	}
	return nil
}

// Begin implements stream.Sink. Nothing is sent before the first record.
func (s *TxnSink) Begin(_ context.Context, batch uint64) error {
	if err := s.usable(); err != nil {
		return err
	}
	if s.count > 0 {
		return fmt.Errorf("kafka: batch %d begins before batch %d has ended", batch, s.batch)
	}
	s.batch = batch
	return nil
}

// Write implements stream.Sink. Records are sent in the background once there are enough of them; a record before the
// progress that Open told is left out. An error leaves the sink of no further use.
func (s *TxnSink) Write(ctx context.Context, recs []stream.OutRecord) error {
	if err := s.usable(); err != nil {
		return err
	}
	ctx, done := s.join(ctx)
	defer done()
	s.failed = s.write(ctx, recs)
	return s.failed
}

func (s *TxnSink) write(ctx context.Context, recs []stream.OutRecord) error {
	n := int32(len(s.out.parts))
	limit := uint64(s.opt.MaxTransactionRecords)
	for i := range recs {
		r := &recs[i]
		if r.Batch < s.at.batch || r.Batch == s.at.batch && r.Index < s.at.index {
			continue
		}
		if s.count > 0 && r.Index%limit == 0 {
			if err := s.commit(ctx, place{r.Batch, r.Index}, nil); err != nil {
				return err
			}
		}
		key := r.Key
		if key == nil {
			key = []byte(r.Query) // records without a match: those of a query stay in order
		}
		s.hs, s.scratch = headers(s.hs[:0], s.scratch[:0], s.streamID, r)
		s.add(&s.out.parts[partitionOf(key, n)], r.Key, r.Value, s.hs)
		s.count++
		if err := s.gathered(ctx); err != nil {
			return err
		}
	}
	return nil
}

// End implements stream.Sink: it returns when the batch's last transaction is committed.
func (s *TxnSink) End(ctx context.Context, t stream.Tail) (stream.Mark, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	ctx, done := s.join(ctx)
	defer done()
	if s.failed = s.end(ctx, t); s.failed != nil {
		return nil, s.failed
	}
	return s.mark().encode()
}

func (s *TxnSink) end(ctx context.Context, t stream.Tail) error {
	to := place{s.batch + 1, 0}
	if s.at.batch >= to.batch {
		return nil // all of the batch was published before
	}
	if s.dead != nil {
		for i := range t.DeadLetters {
			s.aside(s.dead, uint64(i), &t.DeadLetters[i])
			if err := s.gathered(ctx); err != nil {
				return err
			}
		}
	}
	if s.control != nil && t.BatchRecord != nil {
		s.aside(s.control, 0, t.BatchRecord)
	}
	return s.commit(ctx, to, t.Positions)
}

// aside adds a dead letter or a batch record.
func (s *TxnSink) aside(t *txnTopic, index uint64, r *stream.OutRecord) {
	s.hs, s.scratch = nameHeaders(s.hs[:0], s.scratch[:0], s.streamID, s.batch, index)
	n := int32(len(t.parts))
	p := int32(index % uint64(n))
	if r.Key != nil {
		p = partitionOf(r.Key, n)
	}
	s.add(&t.parts[p], r.Key, r.Value, s.hs)
}

// mark tells how far the topics reach, for Open to find out that they were cut or created anew.
func (s *TxnSink) mark() mark {
	m := mark{Next: map[string][]int64{}}
	for _, t := range s.topics() {
		next := make([]int64, len(t.parts))
		for p := range t.parts {
			next[p] = t.parts[p].end
		}
		m.Next[t.name] = next
	}
	return m
}

func (s *TxnSink) topics() []*txnTopic {
	var out []*txnTopic
	for _, t := range []*txnTopic{s.out, s.dead, s.control, s.progress} {
		if t != nil {
			out = append(out, t)
		}
	}
	return out
}

// Partitions implements stream.Sink: the partition count of the output topic, known from Open on.
func (s *TxnSink) Partitions() int32 {
	if s.out == nil {
		return 0
	}
	return int32(len(s.out.parts))
}

// Close ends the sink. An open transaction is aborted, if the brokers answer in time; otherwise readers under
// read_committed wait for its time-out or for the next Open.
func (s *TxnSink) Close() error {
	s.once.Do(func() {
		s.cancel(errSinkClosed)
		s.wg.Wait()
		if s.open && !errors.Is(s.failed, stream.ErrFenced) {
			ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
			defer cancel()
			if err := s.tx.abort(ctx); err != nil {
				s.opt.Events.retry("abort transaction", s.opt.TransactionalID, -1, 1, err)
			}
		}
		s.err = s.spool.close()
		s.cl.close()
	})
	return s.err
}
