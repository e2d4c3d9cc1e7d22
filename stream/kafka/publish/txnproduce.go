package publish

import (
	"context"

	"motifd/stream/kafka/internal/recordbatch"
)

// produce appends record batches, each to another partition, which add has added. They are stamped in place with the
// producer's id, epoch and sequence number. A batch that an earlier attempt had appended is recognised by its sequence
// number, and its offset comes back again.
//
// What is for one broker goes in one request, and a broker has one at a time: brokers since 3.6 check with the
// coordinator that a partition was added, and of two such checks for one producer they fail the first with "not enough
// replicas".
func (x *transactions) produce(ctx context.Context, batches []*produceBatch) error {
	for _, s := range batches {
		recordbatch.Stamp(s.raw, x.producer, x.epoch, x.seq[s.to.topicPartition])
	}
	err := x.call(ctx, "produce", func(ctx context.Context) error { return produceBatches(ctx, x.cl, x.id, batches) })
	if err != nil {
		return err
	}
	for _, s := range batches {
		x.seq[s.to.topicPartition] = after(x.seq[s.to.topicPartition], s.count)
	}
	return nil
}

// after is the sequence number that follows n records from seq on: they go round after 2^31 - 1.
func after(seq, n int32) int32 { return int32((uint32(seq) + uint32(n)) & 0x7fffffff) }
