package publish

import (
	"context"
	"errors"
	"fmt"
	"time"

	"motifd/stream"
)

// TxnSink publishes to Kafka topics exactly once, in transactions (DESIGN P3). A batch is one transaction, or several
// when it is beyond MaxTransactionRecords; the last one carries the dead letters, the batch record, the input's offsets
// and, like every one of them, a progress record that says what is published with it. A reader under read_committed
// sees all of a transaction or nothing, and so does Open after a crash: the progress record tells where to go on.
//
// The records of the open transaction are kept until its end is known. When it is lost (its time-out has passed, a
// coordinator forgot it, the answer to its commit says neither yes nor no), the producer is initialised again, the
// progress record says whether it was committed, and if not it is sent again.
type TxnSink struct {
	publisher
	opt      TxnSinkOptions
	tx       *transactions
	session  string
	progress *outTopic
	offset   int64 // at or before our last progress record, -1 when not known

	at     publishPosition             // published and committed
	digest string                      // of the intent of the last batch before at, "" when not known
	next   string                      // of the batch in hand
	check  func(stream.Progress) error // nil: none
	count  int                         // records of the main output in the open transaction
	spool  spool
	again  bool  // the open transaction was lost, and all of it is pending
	slow   int   // times in succession that sending it again took longer than its time-out
	err    error // of Close
}

// closeTimeout bounds how long Close tries to abort the open transaction, without which readers would wait for the
// transaction's time-out, and to publish the last offsets of a group.
const closeTimeout = 2 * time.Second

// NewTxnSink checks the options and returns a sink; it connects with Open.
func NewTxnSink(opt TxnSinkOptions) (*TxnSink, error) {
	if err := opt.setDefaults(); err != nil {
		return nil, err
	}
	s := &TxnSink{opt: opt, offset: -1, spool: spool{dir: opt.SpoolDir, limit: opt.BufferBytes}}
	if err := s.init(opt.SinkOptions, opt.Progress); err != nil {
		return nil, err
	}
	s.cl.OpenWait = opt.openWait
	s.spool.buffers = &s.buffers
	s.tx = newTransactions(s.cl, opt.TransactionalID, opt.TransactionTimeout)
	s.publisher.produce, s.publisher.appended = s.produce, s.appended
	return s, nil
}

// CheckProgress implements stream.DigestingSink.
func (s *TxnSink) CheckProgress(check func(stream.Progress) error) { s.check = check }

// NextDigest implements stream.DigestingSink.
func (s *TxnSink) NextDigest(digest string) { s.next = digest }

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
	return s.do(ctx, func(ctx context.Context) error {
		limit := uint64(s.opt.MaxTransactionRecords)
		for i := range recs {
			r := &recs[i]
			if r.Batch < s.at.batch || r.Batch == s.at.batch && r.Index < s.at.index {
				continue
			}
			if s.count > 0 && r.Index%limit == 0 {
				if err := s.commit(ctx, publishPosition{r.Batch, r.Index}, nil); err != nil {
					return err
				}
			}
			s.addDelta(r)
			s.count++
			if s.worthSending() {
				if err := s.dispatch(ctx); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// End implements stream.Sink: it returns when the batch's last transaction is committed.
func (s *TxnSink) End(ctx context.Context, t stream.Tail) (stream.Mark, error) {
	err := s.do(ctx, func(ctx context.Context) error {
		to := publishPosition{s.batch + 1, 0}
		if s.at.batch >= to.batch {
			return nil // all of the batch was published before
		}
		if s.dead != nil {
			for i := range t.DeadLetters {
				s.addTailRecord(s.dead, uint64(i), &t.DeadLetters[i])
				if s.worthSending() {
					if err := s.dispatch(ctx); err != nil {
						return err
					}
				}
			}
		}
		if s.control != nil && t.BatchRecord != nil {
			s.addTailRecord(s.control, 0, t.BatchRecord)
		}
		return s.commit(ctx, to, t.Positions)
	})
	if err != nil {
		return nil, err
	}
	return s.outputOffsets().encode()
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
				s.opt.Events.Retried("abort transaction", s.opt.TransactionalID, -1, 1, err)
			}
		}
		s.err = s.spool.close()
		s.cl.Close()
	})
	return s.err
}
