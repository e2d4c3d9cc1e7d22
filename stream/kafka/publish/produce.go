package publish

import (
	"bytes"
	"context"
	"fmt"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	produceapi "github.com/segmentio/kafka-go/protocol/produce"
	"github.com/segmentio/kafka-go/protocol/rawproduce"
	"golang.org/x/sync/errgroup"

	"motifd/stream/kafka"
)

// produceBatch is a record batch, as recordbatch.Builder.Finish returned it, that is appended to a partition.
type produceBatch struct {
	to       *outPart
	raw      []byte
	count    int32
	alone    bool  // in a request of its own
	base     int64 // offset of the first record, once it is appended
	attempts int
	done     bool
}

// produceBatches makes one attempt at appending the record batches that are not done, each to another partition, in one
// request for each broker and one for each that goes alone. id is the transactional id that they belong to, "" for
// none.
func produceBatches(ctx context.Context, c *kafka.Client, id string, batches []*produceBatch) error {
	groups, err := byLeader(ctx, c, batches)
	if err != nil {
		return err
	}
	var g errgroup.Group
	g.SetLimit(kafka.MaxRequests)
	errs := make([]error, len(groups))
	for i, group := range groups {
		g.Go(func() error {
			errs[i] = sendProduceRequest(ctx, c, id, group)
			return nil
		})
	}
	_ = g.Wait()
	return worst(errs...)
}

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

// byLeader groups the batches that are not done, and do not go alone, by the brokers that lead their partitions, as
// far as is known.
func byLeader(ctx context.Context, c *kafka.Client, batches []*produceBatch) ([][]*produceBatch, error) {
	topics := map[string]bool{}
	req := &kafkago.MetadataRequest{}
	for _, s := range batches {
		if !topics[s.to.topic] {
			topics[s.to.topic] = true
			req.Topics = append(req.Topics, s.to.topic)
		}
	}
	res, err := c.API.Metadata(ctx, req) // which the transport answers from what it knows
	if err != nil {
		return nil, err
	}
	leader := map[topicPartition]int{}
	for _, t := range res.Topics {
		for _, p := range t.Partitions {
			leader[topicPartition{t.Name, int32(p.ID)}] = p.Leader.ID
		}
	}
	var out [][]*produceBatch
	index := map[int]int{}
	for _, s := range batches {
		if s.done {
			continue
		}
		id, ok := leader[s.to.topicPartition]
		if !ok {
			return nil, fmt.Errorf("topic %q, partition %d: %w", s.to.topic, s.to.partition,
				kafkago.UnknownTopicOrPartition)
		}
		i, ok := index[id]
		if !ok || s.alone {
			i = len(out)
			if !s.alone {
				index[id] = i
			}
			out = append(out, nil)
		}
		out[i] = append(out[i], s)
	}
	return out, nil
}

// sendProduceRequest sends one request and marks what was appended.
func sendProduceRequest(ctx context.Context, c *kafka.Client, id string, batches []*produceBatch) error {
	// Half, so that the broker's answer comes before our own time-out.
	timeout := int32(c.Options.RequestTimeout.Milliseconds() / 2)
	req := &rawproduce.Request{TransactionalID: id, Acks: int16(kafkago.RequireAll),
		Timeout: timeout}
	byTopic := map[string]int{}
	byPart := map[topicPartition]*produceBatch{}
	for _, s := range batches {
		i, ok := byTopic[s.to.topic]
		if !ok {
			i = len(req.Topics)
			byTopic[s.to.topic] = i
			req.Topics = append(req.Topics, rawproduce.RequestTopic{Topic: s.to.topic})
		}
		req.Topics[i].Partitions = append(req.Topics[i].Partitions, rawproduce.RequestPartition{
			Partition: s.to.partition, RecordSet: protocol.RawRecordSet{Reader: bytes.NewReader(s.raw)}})
		byPart[s.to.topicPartition] = s
		s.attempts++
	}
	res, err := kafka.Ask[*produceapi.Response](ctx, c, req)
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
				errs = append(
					errs,
					fmt.Errorf("topic %q, partition %d: %w", t.Topic, p.Partition,
						answered(p.ErrorCode, p.ErrorMessage)),
				)
			default:
				s.base, s.done = p.BaseOffset, true
			}
		}
	}
	for _, s := range batches {
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
