package source

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"motifd/stream"
	"motifd/stream/kafka"
)

// Each leader of a partition has an epoch, and writes it into the record batches that it appends (KIP-101). When a
// replica that lacks records is elected (an unclean election), the log is cut, and other records get the same offsets.
// The end of the former epoch in the current log, as OffsetForLeaderEpoch returns it (KIP-320), is then below the
// position.

// ErrTruncated: records that were read are no longer in the log.
var ErrTruncated = errors.New("the log was cut below the position by an unclean leader election")

// TruncatedError says which records are no longer in the log. It wraps ErrTruncated and stream.ErrDataLoss.
type TruncatedError struct {
	Topic     string
	Partition int32
	Epoch     int32 // leader epoch of the last record that was read
	Cut       int64 // offset at which the log was cut
	Position  int64 // offset of the next record to read
}

// Error implements error.
func (e *TruncatedError) Error() string {
	return fmt.Sprintf(
		"kafka: topic %q, partition %d: %v: %v: it was cut at offset %d; records up to offset %d were read, the "+
			"last one of "+
			"leader epoch %d, and others are or will be in their place",
		e.Topic,
		e.Partition,
		stream.ErrDataLoss,
		ErrTruncated,
		e.Cut,
		e.Position-1,
		e.Epoch,
	)
}

// Unwrap returns ErrTruncated and stream.ErrDataLoss.
func (e *TruncatedError) Unwrap() []error { return []error{ErrTruncated, stream.ErrDataLoss} }

// epochLog holds the leader epochs of records that were read. It may be used by several goroutines.
type epochLog struct {
	keep func(stream.Epochs) error // nil: none

	mu sync.Mutex
	of stream.Epochs
}

func newEpochLog(of stream.Epochs, keep func(stream.Epochs) error) *epochLog {
	of = maps.Clone(of)
	if of == nil {
		of = stream.Epochs{}
	}
	return &epochLog{keep: keep, of: of}
}

// at returns the epoch of the record before a position; ok is false if it is unknown.
func (e *epochLog) at(partition int32, pos int64) (found stream.EpochStart, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.of[partition] {
		if s.Start < pos {
			found, ok = s, true
		}
	}
	return found, ok
}

// enter notes and keeps that the records of a partition from an offset on have an epoch.
func (e *epochLog) enter(partition int32, epoch int32, start int64) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cut(partition, start)
	e.of[partition] = append(e.of[partition], stream.EpochStart{Epoch: epoch, Start: start})
	if e.keep == nil {
		return nil
	}
	return e.keep(e.of)
}

// cut removes the epochs of the offsets from one on. The caller holds mu.
func (e *epochLog) cut(partition int32, from int64) {
	e.of[partition] = slices.DeleteFunc(
		slices.Clone(e.of[partition]),
		func(s stream.EpochStart) bool { return s.Start >= from },
	)
}

// begin keeps, for each position, only the epoch of the record before it.
func (e *epochLog) begin(at stream.Positions) {
	e.mu.Lock()
	defer e.mu.Unlock()
	maps.DeleteFunc(e.of, func(p int32, _ []stream.EpochStart) bool { _, ok := at[p]; return !ok })
	for p, pos := range at {
		e.cut(p, pos)
		if n := len(e.of[p]); n > 0 {
			e.of[p] = e.of[p][n-1:]
		} else {
			delete(e.of, p)
		}
	}
}

// drop removes all epochs.
func (e *epochLog) drop() {
	e.mu.Lock()
	defer e.mu.Unlock()
	clear(e.of)
}

// sameLog returns pos if, by their epoch, the records before it are still in the log as they were read. Otherwise it
// handles the loss: with AllowDataLoss reading continues where the log was cut.
func (s *Source) sameLog(ctx context.Context, p int32, pos int64) (int64, error) {
	last, ok := s.epochs.at(p, pos)
	if !ok {
		return pos, nil
	}
	end, known, err := epochEnd(ctx, s.cl, s.opt.Topic, p, last.Epoch)
	switch {
	case err != nil:
		return 0, err
	case !known || end >= pos:
		return pos, nil
	case end < 0: // no record of the epoch is left
		end = last.Start
	}
	if !s.opt.AllowDataLoss {
		return 0, &TruncatedError{Topic: s.opt.Topic, Partition: p, Epoch: last.Epoch, Cut: end, Position: pos}
	}
	s.opt.Events.Lost(p, end, pos)
	return end, nil
}

// epochVersion is the version of OffsetForLeaderEpoch that is used: the first one for consumers (Kafka 2.3).
const epochVersion = 3

// epochPatience is the time for which a broker's answer that it does not know an epoch is not believed: a broker that
// was replaced as the leader, and does not know it yet, knows only older epochs. It is longer than the session of a
// broker with its controller.
const epochPatience = time.Minute

// epochEnd asks for the end of the records of an epoch and of all earlier epochs in a partition's log; -1 means that
// the log has had no leader with that epoch. known is false if the brokers cannot answer.
func epochEnd(
	ctx context.Context,
	c *kafka.Client,
	topic string,
	partition, epoch int32,
) (end int64, known bool, err error) {
	var unknown time.Time // since when the leader has not known the epoch
	err = c.Retry(ctx, "leader epoch", topic, partition, func(ctx context.Context) error {
		if known, err = c.Supports(ctx, protocol.OffsetForLeaderEpoch, epochVersion); err != nil || !known {
			return err
		}
		// With the epoch as the current one, a leader that has been replaced meanwhile answers with an error.
		end, err = askEpochEnd(ctx, c, topic, partition, epoch, epoch)
		if errors.Is(err, kafkago.FencedLeaderEpoch) {
			end, err = askEpochEnd(ctx, c, topic, partition, -1, epoch)
		}
		if errors.Is(err, kafkago.UnknownLeaderEpoch) {
			if unknown.IsZero() {
				unknown = time.Now()
			} else if time.Since(unknown) >= epochPatience {
				end, err = -1, nil
			}
		}
		if err != nil {
			c.Transport.CloseIdleConnections() // a new connection pool asks for the leader at once
		}
		return err
	})
	return end, known, err
}

func askEpochEnd(ctx context.Context, c *kafka.Client, topic string, partition, current, epoch int32) (int64, error) {
	res, err := kafka.Ask[*epochEndResponse](ctx, c,
		&epochEndRequest{ReplicaID: -1, Topics: []epochEndTopic{{Topic: topic,
			Partitions: []epochEndPartition{{Partition: partition, CurrentLeaderEpoch: current, LeaderEpoch: epoch}}}}})
	if err != nil {
		return 0, err
	}
	if len(res.Topics) != 1 || len(res.Topics[0].Partitions) != 1 {
		return 0, protocol.ErrNoPartition
	}
	p := res.Topics[0].Partitions[0]
	if p.LeaderEpoch < 0 {
		p.EndOffset = -1
	}
	return p.EndOffset, kafka.CodeError(p.ErrorCode)
}

// epochEndRequest is OffsetForLeaderEpoch for one partition. kafka-go has no type for it.
type epochEndRequest struct {
	ReplicaID int32           `kafka:"min=v3,max=v3"`
	Topics    []epochEndTopic `kafka:"min=v3,max=v3"`
}

type epochEndTopic struct {
	Topic      string              `kafka:"min=v3,max=v3"`
	Partitions []epochEndPartition `kafka:"min=v3,max=v3"`
}

type epochEndPartition struct {
	Partition          int32 `kafka:"min=v3,max=v3"`
	CurrentLeaderEpoch int32 `kafka:"min=v3,max=v3"`
	LeaderEpoch        int32 `kafka:"min=v3,max=v3"`
}

type epochEndResponse struct {
	ThrottleTimeMs int32                   `kafka:"min=v3,max=v3"`
	Topics         []epochEndTopicResponse `kafka:"min=v3,max=v3"`
}

type epochEndTopicResponse struct {
	Topic      string                      `kafka:"min=v3,max=v3"`
	Partitions []epochEndPartitionResponse `kafka:"min=v3,max=v3"`
}

type epochEndPartitionResponse struct {
	ErrorCode   int16 `kafka:"min=v3,max=v3"`
	Partition   int32 `kafka:"min=v3,max=v3"`
	LeaderEpoch int32 `kafka:"min=v3,max=v3"`
	EndOffset   int64 `kafka:"min=v3,max=v3"`
}

func (*epochEndRequest) ApiKey() protocol.ApiKey  { return protocol.OffsetForLeaderEpoch }
func (*epochEndResponse) ApiKey() protocol.ApiKey { return protocol.OffsetForLeaderEpoch }

// Broker routes the request to the partition's leader.
func (r *epochEndRequest) Broker(cluster protocol.Cluster) (protocol.Broker, error) {
	topic, partition := r.Topics[0].Topic, r.Topics[0].Partitions[0].Partition
	p, ok := cluster.Topics[topic].Partitions[partition]
	if !ok {
		return protocol.Broker{ID: -1}, protocol.NewErrNoPartition(topic, partition)
	}
	b, ok := cluster.Brokers[p.Leader]
	if !ok {
		return protocol.Broker{ID: -1}, protocol.NewErrNoLeader(topic, partition)
	}
	return b, nil
}

func init() { protocol.Register(&epochEndRequest{}, &epochEndResponse{}) }
