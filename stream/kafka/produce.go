package kafka

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	produceapi "github.com/segmentio/kafka-go/protocol/produce"
	"github.com/segmentio/kafka-go/protocol/rawproduce"
	"golang.org/x/sync/errgroup"
)

// shipment is a record batch, as batchBuilder.finish returned it, that is appended to a partition.
type shipment struct {
	at    topicPartition
	raw   []byte
	count int32
	base  int64 // offset of the first record, once it is appended
	done  bool
}

// produce appends record batches, each to another partition, which add has added. They are stamped in place with the
// producer's id, epoch and sequence number. A batch that an earlier attempt had appended is recognised by its sequence
// number, and its offset comes back again.
//
// What is for one broker goes in one request, and a broker has one at a time: brokers since 3.6 check with the
// coordinator that a partition was added, and of two such checks for one producer they fail the first with "not enough
// replicas".
func (x *transactions) produce(ctx context.Context, ships []*shipment) error {
	for _, s := range ships {
		stamp(s.raw, x.producer, x.epoch, x.seq[s.at])
	}
	err := x.call(ctx, "produce", func(ctx context.Context) error {
		groups, err := x.byLeader(ctx, ships)
		if err != nil {
			return err
		}
		var g errgroup.Group
		errs := make([]error, len(groups))
		for i, group := range groups {
			g.Go(func() error {
				errs[i] = x.ship(ctx, group)
				return nil
			})
		}
		_ = g.Wait()
		return worst(errs...)
	})
	if err != nil {
		return err
	}
	for _, s := range ships {
		x.seq[s.at] = after(x.seq[s.at], s.count)
	}
	return nil
}

// after is the sequence number that follows n records from seq on: they go round after 2^31 - 1.
func after(seq, n int32) int32 { return int32((uint32(seq) + uint32(n)) & 0x7fffffff) }

// worst returns the error that decides what happens next: one that ends the attempts before one that does not.
func worst(errs ...error) error {
	var first error
	for _, err := range errs {
		if err != nil && (fatalTxn(err) || first == nil || lost(err) && !fatalTxn(first)) {
			first = err
		}
	}
	return first
}

// byLeader groups the shipments that are not done by the brokers that lead their partitions, as far as is known.
func (x *transactions) byLeader(ctx context.Context, ships []*shipment) ([][]*shipment, error) {
	topics := map[string]bool{}
	req := &kafkago.MetadataRequest{}
	for _, s := range ships {
		if !topics[s.at.topic] {
			topics[s.at.topic] = true
			req.Topics = append(req.Topics, s.at.topic)
		}
	}
	res, err := x.cl.api.Metadata(ctx, req) // which the transport answers from what it knows
	if err != nil {
		return nil, err
	}
	leader := map[topicPartition]int{}
	for _, t := range res.Topics {
		for _, p := range t.Partitions {
			leader[topicPartition{t.Name, int32(p.ID)}] = p.Leader.ID
		}
	}
	var out [][]*shipment
	index := map[int]int{}
	for _, s := range ships {
		if s.done {
			continue
		}
		id, ok := leader[s.at]
		if !ok {
			return nil, fmt.Errorf("topic %q, partition %d: %w", s.at.topic, s.at.partition, kafkago.UnknownTopicOrPartition)
		}
		i, ok := index[id]
		if !ok {
			i = len(out)
			index[id] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], s)
	}
	return out, nil
}

// ship sends one request and marks what was appended.
func (x *transactions) ship(ctx context.Context, ships []*shipment) error {
	req := &rawproduce.Request{TransactionalID: x.id, Acks: int16(kafkago.RequireAll),
		Timeout: int32(x.cl.opt.RequestTimeout.Milliseconds() / 2)} // so that the broker's answer comes before our own time-out
	byTopic := map[string]int{}
	byPart := map[topicPartition]*shipment{}
	for _, s := range ships {
		i, ok := byTopic[s.at.topic]
		if !ok {
			i = len(req.Topics)
			byTopic[s.at.topic] = i
			req.Topics = append(req.Topics, rawproduce.RequestTopic{Topic: s.at.topic})
		}
		req.Topics[i].Partitions = append(req.Topics[i].Partitions, rawproduce.RequestPartition{
			Partition: s.at.partition, RecordSet: protocol.RawRecordSet{Reader: bytes.NewReader(s.raw)}})
		byPart[s.at] = s
	}
	res, err := ask[*produceapi.Response](ctx, x.cl, req)
	if err != nil {
		return err
	}
	var errs []error
	for _, t := range res.Topics {
		for _, p := range t.Partitions {
			s := byPart[topicPartition{t.Topic, p.Partition}]
			switch {
			case s == nil:
			case p.ErrorCode != 0:
				errs = append(errs, fmt.Errorf("topic %q, partition %d: %w", t.Topic, p.Partition, answered(p.ErrorCode, p.ErrorMessage)))
			default:
				s.base, s.done = p.BaseOffset, true
			}
		}
	}
	for _, s := range ships {
		if !s.done && len(errs) == 0 {
			errs = append(errs, protocol.ErrNoPartition)
		}
	}
	return worst(errs...)
}

// answered is the error of a code, with the broker's own words if it has some.
func answered(code int16, message string) error {
	if message == "" {
		return kafkago.Error(code)
	}
	return fmt.Errorf("%w: %s", kafkago.Error(code), message)
}

// stamp writes what makes a record batch transactional, and its checksum.
func stamp(raw []byte, producer int64, epoch int16, seq int32) {
	h := raw[prefix:]
	attributes := binary.BigEndian.Uint16(h[offAttributes:]) | attrTransactional
	binary.BigEndian.PutUint16(h[offAttributes:], attributes)
	binary.BigEndian.PutUint64(h[offProducer:], uint64(producer))
	binary.BigEndian.PutUint16(h[offEpoch:], uint16(epoch))
	binary.BigEndian.PutUint32(h[offSequence:], uint32(seq))
	binary.BigEndian.PutUint32(h[offCRC:], crc32.Checksum(h[offAttributes:], castagnoli))
}
