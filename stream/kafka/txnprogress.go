package kafka

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"motifd/stream"
)

// place is a point in the output: what comes before (batch, index) is published.
type place struct{ batch, index uint64 }

// progressRecord is the value of a progress record; its key is the transactional id.
type progressRecord struct {
	Version int    `json:"v"`
	Stream  string `json:"stream"`
	Batch   uint64 `json:"batch"`
	Next    uint64 `json:"next"`
	// Session tells which opening of which sink wrote it: a sink that finds another one's has been replaced.
	Session string `json:"session"`
}

const progressVersion = 1

func (p progressRecord) at() place { return place{p.Batch, p.Next} }

// readProgress returns the last committed progress record of the transactional id, nil when there is none. from is an
// offset at or before it, -1 for the log's start. With wait, it waits until every transaction that was open in the
// topic when it was called has ended: init has seen to our own, but other daemons may share the topic.
func (c *client) readProgress(ctx context.Context, topic, id string, from int64, wait bool) (rec *progressRecord, err error) {
	ext, err := c.extents(ctx, topic, []int32{0}, kafkago.ReadUncommitted)
	if err != nil {
		return nil, err
	}
	var value []byte
	e := ext[0]
	err = c.scanCommitted(ctx, topic, 0, max(from, e.start), e.end, wait, func(r *record) error {
		if string(r.key) == id {
			value = append([]byte(nil), r.value...)
		}
		return nil
	})
	if err != nil || len(value) == 0 {
		return nil, err
	}
	rec, err = parseProgress(value)
	if err != nil {
		return nil, fmt.Errorf("kafka: topic %q, key %q: %w: %w", topic, id, stream.ErrMismatch, err)
	}
	return rec, nil
}

// parseProgress reads the value of a progress record.
func parseProgress(value []byte) (*progressRecord, error) {
	rec := &progressRecord{}
	if err := json.Unmarshal(value, rec); err != nil {
		return nil, fmt.Errorf("not a progress record: %w", err)
	}
	if rec.Version != progressVersion {
		return nil, fmt.Errorf("the progress record has version %d, supported is %d", rec.Version, progressVersion)
	}
	if rec.Stream == "" || rec.Session == "" {
		return nil, errors.New("the progress record names no stream or no session")
	}
	return rec, nil
}

// scanCommitted calls f with the records of a partition in [from, to) that read_committed shows. A record is borrowed;
// after an error the response that it came in is read again, so f must not mind to see a record twice. Without wait it
// stops at the first open transaction.
func (c *client) scanCommitted(ctx context.Context, topic string, partition int32, from, to int64, wait bool, f func(r *record) error) error {
	size := 1 << 20
	for next := from; next < to; {
		stop := false
		err := c.retry(ctx, "read back", topic, partition, func(ctx context.Context) error {
			res, err := c.fetch(ctx, topic, partition, next, size, 100*time.Millisecond, kafkago.ReadCommitted)
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
			case len(res.batches) > 0 && size < maxResponse/2:
				size *= 2
			case res.end > next:
				return fmt.Errorf("no record at offset %d, although the log ends at %d", next, res.end)
			case !wait:
				stop = true
			default:
				return fmt.Errorf("a transaction that began at offset %d is open", next)
			}
			return nil
		})
		if err != nil || stop {
			return err
		}
	}
	return nil
}

// committed calls f with the records of a batch unless it is of an aborted transaction or a control batch.
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
