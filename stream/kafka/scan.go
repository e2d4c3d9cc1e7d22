package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	kafkago "github.com/segmentio/kafka-go"
)

// scan calls f with the records of a partition in [from, to) that the isolation level shows. A record is borrowed;
// after an error the response that it came in is read again, so f must not mind to see a record twice. Under
// read_committed it waits for the end of open transactions, or without wait stops at the first one: whole tells that
// it did not.
func (c *client) scan(
	ctx context.Context,
	topic string,
	partition int32,
	from, to int64,
	iso kafkago.IsolationLevel,
	wait bool,
	f func(r *record) error,
) (whole bool, err error) {
	size := 1 << 20
	var waiting time.Time // for the transaction that is open at next
	for next := from; next < to; {
		stop := false
		err := c.retry(ctx, "read back", topic, partition, func(ctx context.Context) error {
			res, err := c.fetch(ctx, topic, partition, next, size, 100*time.Millisecond, iso)
			if err != nil {
				if errors.Is(err, kafkago.OffsetOutOfRange) {
					return permanent{err}
				}
				return err
			}
			start := next
			aborted := newAbortedSet(res.aborted)
			for data := res.batches; ; {
				b, rest, ok, err := nextBatch(data)
				if err != nil {
					return permanent{err}
				}
				if !ok {
					break
				}
				data = rest
				if b.last < start {
					continue
				}
				if err := b.committed(aborted, func(r *record) error {
					if r.offset < start || r.offset >= to {
						return nil
					}
					return f(r)
				}); err != nil {
					return permanent{err}
				}
				next = b.last + 1
			}
			switch {
			case next > start:
				waiting = time.Time{}
			case len(res.batches) > 0 && size < maxResponse/2:
				size *= 2
			case res.end > next:
				return fmt.Errorf("no record at offset %d, although the log ends at %d", next, res.end)
			case !wait:
				stop = true
			case waiting.IsZero():
				waiting = time.Now()
				return fmt.Errorf("a transaction that began at offset %d is open", next)
			case c.openWait > 0 && time.Since(waiting) > c.openWait:
				return permanent{c.hanging(ctx, topic, partition, next, time.Since(waiting))}
			default:
				return fmt.Errorf("a transaction that began at offset %d is open", next)
			}
			return nil
		})
		if err != nil || stop {
			return false, err
		}
	}
	return true, nil
}

// committed calls f with the records of a batch, unless it is of an aborted transaction or a control batch.
func (b *recordBatch) committed(aborted *abortedSet, f func(r *record) error) error {
	if aborted.skips(b) && !b.control() {
		return nil
	}
	payload, err := b.payload(newDecompressor(maxResponse))
	if err != nil {
		return err
	}
	if b.control() {
		abort, err := b.abortMarker(payload)
		if err != nil {
			return err
		}
		aborted.ended(b.producer, abort)
		return nil
	}
	return b.records(payload, f)
}

// ErrHanging: a transaction of somebody else is open in a topic that has to be read to its end, and does not end.
var ErrHanging = errors.New("a transaction of another producer hangs")

// hanging names the transaction that is open at an offset.
func (c *client) hanging(ctx context.Context, topic string, partition int32, offset int64, waited time.Duration) error {
	who := "of a producer that is not known"
	res, err := c.fetch(ctx, topic, partition, offset, 1<<20, 100*time.Millisecond, kafkago.ReadUncommitted)
	if err == nil {
		if b, _, ok, err := nextBatch(res.batches); err == nil && ok && b.transactional() {
			who = fmt.Sprintf("of producer id %d, since %s", b.producer, time.UnixMilli(b.maxTime).UTC().Format(time.RFC3339))
		}
	}
	return fmt.Errorf(
		"%w: partition %d, offset %d, %s; waited %v",
		ErrHanging,
		partition,
		offset,
		who,
		waited.Round(time.Second),
	)
}
