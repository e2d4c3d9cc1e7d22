package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"motifd/stream/kafka/internal/recordbatch"
)

// Scan calls f with the records of a partition in [from, to) that the isolation level shows. A record is borrowed;
// after an error the response that it came in is read again, so f must not mind to see a record twice. Under
// read_committed it waits for the end of open transactions, or without wait stops at the first one: whole tells that
// it did not.
func (c *Client) Scan(
	ctx context.Context,
	topic string,
	partition int32,
	from, to int64,
	iso kafkago.IsolationLevel,
	wait bool,
	f func(r *recordbatch.Record) error,
) (whole bool, err error) {
	size := 1 << 20
	var waiting time.Time // for the transaction that is open at next
	for next := from; next < to; {
		stop := false
		err := c.Retry(ctx, "read back", topic, partition, func(ctx context.Context) error {
			res, err := c.Fetch(ctx, topic, partition, next, size, 100*time.Millisecond, iso)
			if err != nil {
				if errors.Is(err, kafkago.OffsetOutOfRange) {
					return permanent{err}
				}
				return err
			}
			start := next
			aborted := NewAbortedSet(res.Aborted)
			for data := res.Batches; ; {
				b, rest, ok, err := recordbatch.Next(data)
				if err != nil {
					return permanent{err}
				}
				if !ok {
					break
				}
				data = rest
				if b.Last < start {
					continue
				}
				if err := committed(&b, aborted, func(r *recordbatch.Record) error {
					if r.Offset < start || r.Offset >= to {
						return nil
					}
					return f(r)
				}); err != nil {
					return permanent{err}
				}
				next = b.Last + 1
			}
			switch {
			case next > start:
				waiting = time.Time{}
			case len(res.Batches) > 0 && size < MaxResponse/2:
				size *= 2
			case res.End > next:
				return fmt.Errorf("no record at offset %d, although the log ends at %d", next, res.End)
			case !wait:
				stop = true
			case waiting.IsZero():
				waiting = time.Now()
				return fmt.Errorf("a transaction that began at offset %d is open", next)
			case c.OpenWait > 0 && time.Since(waiting) > c.OpenWait:
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
func committed(b *recordbatch.Batch, aborted *AbortedSet, f func(r *recordbatch.Record) error) error {
	if aborted.Skips(b) && !b.Control() {
		return nil
	}
	payload, err := b.Payload(recordbatch.NewDecompressor(MaxResponse))
	if err != nil {
		return err
	}
	if b.Control() {
		abort, err := b.AbortMarker(payload)
		if err != nil {
			return err
		}
		aborted.Ended(b.Producer, abort)
		return nil
	}
	return b.Records(payload, f)
}

// ErrHanging: a transaction of somebody else is open in a topic that has to be read to its end, and does not end.
var ErrHanging = errors.New("a transaction of another producer hangs")

// hanging names the transaction that is open at an offset.
func (c *Client) hanging(ctx context.Context, topic string, partition int32, offset int64, waited time.Duration) error {
	who := "of a producer that is not known"
	res, err := c.Fetch(ctx, topic, partition, offset, 1<<20, 100*time.Millisecond, kafkago.ReadUncommitted)
	if err == nil {
		if b, _, ok, err := recordbatch.Next(res.Batches); err == nil && ok && b.Transactional() {
			who = fmt.Sprintf("of producer id %d, since %s", b.Producer, time.UnixMilli(b.MaxTime).UTC().
				Format(time.RFC3339))
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
