package source

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"motifd/stream"
	"motifd/stream/kafka"
	"motifd/stream/kafka/internal/recordbatch"
)

const (
	// partitionInterval is the interval at which a source looks for added partitions.
	partitionInterval = 10 * time.Second
	// damagedAttempts is the number of times a damaged batch is fetched before it becomes one dead letter.
	damagedAttempts = 3
	// readRecords limits the records of one chunk, so that many tiny records are handed on in several chunks.
	readRecords = 16 << 10
)

// fetcher reads one partition.
type fetcher struct {
	s         *Source
	buffer    *partitionBuffer
	partition int32
	next      int64 // offset of the next fetch
	handed    int64 // offset after the last record in recs or handed on
	size      int   // bytes to fetch; grows while a batch does not fit
	damaged   int   // attempts at a damaged batch
	epoch     int32 // leader epoch of the last batch, -1 if unknown

	recs  []stream.Record // chunk being filled
	bytes int
}

// newFetcher returns a fetcher; more tells whether the partition has records from the position on.
func newFetcher(s *Source, p int32, pos int64, more bool) *fetcher {
	f := &fetcher{s: s, buffer: s.merger.add(p, more), partition: p, size: s.opt.FetchBytes}
	f.moveTo(pos)
	return f
}

// moveTo continues reading at another offset.
func (f *fetcher) moveTo(pos int64) {
	f.next, f.handed, f.epoch = pos, pos, -1
	if last, ok := f.s.epochs.at(f.partition, pos); ok {
		f.epoch = last.Epoch
	}
}

// run fetches until ctx is done or an error ends reading for good.
func (f *fetcher) run(ctx context.Context) error {
	s := f.s
	b := s.opt.Events.Follow("fetch", s.opt.Topic, f.partition)
	defer b.Over()
	for attempt := 0; ; {
		if ctx.Err() != nil {
			return nil
		}
		res, err := s.cl.Fetch(ctx, s.opt.Topic, f.partition, f.next, f.size, s.opt.MaxWait, s.iso)
		if err == nil {
			err = f.deliver(ctx, res)
		}
		switch {
		case err == nil:
			attempt, f.damaged = 0, 0
			b.Over()
			continue
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, kafkago.OffsetOutOfRange):
			err = f.outOfRange(ctx)
			if err == nil {
				continue
			}
			return err
		case errors.Is(err, stream.ErrDataLoss):
			return err
		case kafka.Fatal(err):
			return fmt.Errorf("kafka: fetch, topic %q, partition %d, offset %d: %w", s.opt.Topic, f.partition, f.next,
				err)
		}
		attempt++
		b.Failed(err)
		s.opt.Events.Retried("fetch", s.opt.Topic, f.partition, attempt, err)
		if s.cl.Pause(ctx, attempt) != nil {
			return nil
		}
	}
}

// outOfRange handles a position that the partition does not hold. A broker that has just become leader may lag behind,
// so outOfRange first asks for the extent again.
func (f *fetcher) outOfRange(ctx context.Context) error {
	s := f.s
	if moved, err := f.sameLog(ctx); err != nil || moved {
		return err
	}
	ext, err := s.cl.Extents(ctx, s.opt.Topic, []int32{f.partition}, kafkago.ReadUncommitted)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	pos, err := s.available(f.partition, f.next, ext[f.partition])
	if err != nil {
		return err
	}
	if pos == f.next { // it is there by now
		return s.cl.Pause(ctx, 1)
	}
	if pos < f.handed { // created anew
		f.back(pos)
	}
	f.next = pos
	return nil
}

// sameLog checks that the records that were read are still in the log. moved is true if they are not and reading
// continues where the log was cut.
func (f *fetcher) sameLog(ctx context.Context) (moved bool, err error) {
	pos, err := f.s.sameLog(ctx, f.partition, f.next)
	if err != nil || pos == f.next {
		return false, err
	}
	f.back(pos)
	return true, nil
}

// back continues reading at an offset before the records that were handed on.
func (f *fetcher) back(pos int64) {
	f.s.gaps.drop(f.partition)
	f.moveTo(pos)
}

// enter handles a batch whose leader epoch differs from that of the previous batch. All batches of one response are
// from one log.
func (f *fetcher) enter(ctx context.Context, b *recordbatch.Batch, first bool) (moved bool, err error) {
	if first {
		if moved, err := f.sameLog(ctx); err != nil || moved {
			return moved, err
		}
	}
	f.epoch = b.Leader
	if err := f.s.epochs.enter(f.partition, b.Leader, max(b.First, f.next)); err != nil {
		return false, kafka.Permanent(err)
	}
	return false, nil
}

// deliver hands on the records of a response and moves next past them.
func (f *fetcher) deliver(ctx context.Context, res *kafka.Fetched) error {
	aborted := kafka.NewAbortedSet(res.Aborted)
	data, whole, from, first := res.Batches, 0, f.next, true
	f.s.setEnd(f.partition, res.End)
	f.s.merger.setMore(f.buffer, f.next < res.End)
	for {
		b, rest, ok, err := recordbatch.Next(data)
		if err != nil {
			if ferr := f.flush(ctx); ferr != nil {
				return ferr
			}
			if f.damaged++; errors.Is(err, recordbatch.ErrDamaged) && f.damaged >= damagedAttempts {
				return kafka.Permanent(err) // its extent is unknown: there is no way past it
			}
			return err
		}
		if !ok {
			break
		}
		data = rest
		whole++
		if b.Last < f.next {
			continue // a response begins with the batch that holds the offset, or with the batch before it
		}
		moved := false
		if b.Leader >= 0 && b.Leader != f.epoch {
			moved, err = f.enter(ctx, &b, first)
		}
		if moved {
			return nil // nothing of the response is handed on yet
		}
		if first = false; err == nil {
			err = f.batch(ctx, &b, aborted)
			f.passed()
		}
		if err != nil {
			if ferr := f.flush(ctx); ferr != nil {
				return ferr
			}
			return err
		}
	}
	if err := f.flush(ctx); err != nil {
		return err
	}
	f.s.merger.setMore(f.buffer, f.next < res.End)
	if whole > 0 && f.next == from {
		return fmt.Errorf("the broker answered with records before offset %d only", from)
	}
	if whole == 0 && len(data) > 0 {
		if f.size >= kafka.MaxFetch {
			return kafka.Permanent(fmt.Errorf("record batch is larger than %d bytes", f.size))
		}
		f.size *= 2
	}
	return nil
}

// batch appends the records of one batch to the chunk. On an error, next is the first offset that was not appended.
func (f *fetcher) batch(ctx context.Context, b *recordbatch.Batch, aborted *kafka.AbortedSet) error {
	s := f.s
	skip := b.Control() || aborted.Skips(b)
	if skip && !b.Control() {
		f.next = b.Last + 1
		return nil
	}
	payload, err := b.Payload(s.dec)
	if err == nil && b.Control() {
		abort, cerr := b.AbortMarker(payload)
		if cerr == nil {
			aborted.Ended(b.Producer, abort)
			f.next = b.Last + 1
			return nil
		}
		err = cerr
	}
	if err == nil {
		err = b.Records(payload, func(r *recordbatch.Record) error {
			if r.Offset < f.next {
				return nil
			}
			return f.add(ctx, b, r)
		})
	}
	switch {
	case err == nil:
		f.next = b.Last + 1
		return nil
	case errors.Is(err, recordbatch.ErrExpansion):
		return f.refuse(ctx, b, stream.ReasonCompression, err)
	case errors.Is(err, recordbatch.ErrDamaged):
		if f.damaged++; f.damaged < damagedAttempts {
			return err
		}
		f.damaged = 0
		return f.refuse(ctx, b, stream.ReasonDamaged, err)
	}
	return err
}

// refuse hands on the rest of a batch as one record with an error, and moves next past the batch.
func (f *fetcher) refuse(ctx context.Context, b *recordbatch.Batch, reason string, err error) error {
	first := max(b.First, f.next)
	rec := stream.Record{Partition: f.partition, Offset: first, Next: b.Last + 1, Err: &stream.RecordError{
		Reason: reason, Msg: fmt.Sprintf("offsets %d to %d: %v", first, b.Last, err)}}
	f.next = rec.Next
	return f.push(ctx, rec)
}

// add appends one record to the chunk.
func (f *fetcher) add(ctx context.Context, b *recordbatch.Batch, r *recordbatch.Record) error {
	rec := stream.Record{Partition: f.partition, Offset: r.Offset, Next: r.Offset + 1,
		Time: time.UnixMilli(r.Time), Key: r.Key, Value: r.Value}
	if size, limit := len(r.Key)+len(r.Value), f.s.opt.MaxRecordBytes; size > limit {
		rec.Err = &stream.RecordError{
			Reason: stream.ReasonSize,
			Size:   int64(size),
			Msg: fmt.Sprintf(
				"key and value have %d bytes; at most %d are allowed (input.limits.max_message_bytes)",
				size,
				limit,
			),
		}
		rec.Key = slices.Clone(r.Key[:min(len(r.Key), limit)])
		rec.Value = slices.Clone(r.Value[:min(len(r.Value), limit-len(rec.Key))])
	}
	f.next = rec.Next
	return f.push(ctx, rec)
}

// passed notes that the offsets before next hold no further records.
func (f *fetcher) passed() {
	if f.next > f.handed {
		f.s.gaps.add(f.partition, f.handed, f.next)
		f.handed = f.next
	}
}

// push appends a record to the chunk, and hands the chunk on when it is full.
func (f *fetcher) push(ctx context.Context, rec stream.Record) error {
	if rec.Offset > f.handed {
		f.s.gaps.add(f.partition, f.handed, rec.Offset)
	}
	f.handed = rec.Next
	size := len(rec.Key) + len(rec.Value)
	if len(f.recs) > 0 && (f.bytes+size > f.s.opt.ReadBytes || len(f.recs) >= readRecords) {
		if err := f.flush(ctx); err != nil {
			return err
		}
	}
	f.recs = append(f.recs, rec)
	f.bytes += size
	return nil
}

// flush hands the chunk on. It waits until Read has taken the previous chunk.
func (f *fetcher) flush(ctx context.Context) error {
	if len(f.recs) == 0 {
		return nil
	}
	recs := f.recs
	f.recs, f.bytes = nil, 0
	return f.s.merger.put(ctx, f.buffer, recs)
}
