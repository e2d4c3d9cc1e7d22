package publish

import (
	"context"
	"errors"
	"fmt"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/addoffsetstotxn"
	"github.com/segmentio/kafka-go/protocol/addpartitionstotxn"
	"github.com/segmentio/kafka-go/protocol/endtxn"
	"github.com/segmentio/kafka-go/protocol/txnoffsetcommit"

	"motifd/stream"
	"motifd/stream/kafka"
)

// transactions is a transactional producer: what a Java producer does with a transactional.id, over kafka-go's client,
// which has the calls but no producer of that kind. It keeps no records: when a transaction is lost, its user begins
// again with init and sends them anew.
//
// The life of a transaction: add, produce and offsets in any number, then commit or abort, by one user at a time.
// errTxnLost from any of them means that the transaction was or will be aborted, or that its end is unknown: init,
// then, and ask the log (here: the progress record) what became of it.
type transactions struct {
	cl           *kafka.Client
	id           string // transactional id
	timeout      time.Duration
	coordinators coordinators

	producer int64
	epoch    int16
	began    time.Time                // when the first partition was added to the present transaction
	seq      map[topicPartition]int32 // next sequence number
	added    map[topicPartition]bool  // in the present transaction
	group    bool                     // the group's offsets are in the present transaction
}

// errTxnLost: the transaction cannot go on, and how it ended or will end is not known here.
var errTxnLost = errors.New("transaction lost")

func newTransactions(cl *kafka.Client, id string, timeout time.Duration) *transactions {
	return &transactions{cl: cl, id: id, timeout: timeout, coordinators: coordinators{cl: cl}, producer: -1, epoch: -1}
}

// begin forgets what was added.
func (x *transactions) begin() {
	x.added, x.group = map[topicPartition]bool{}, false
}

// init makes the producer ready: the broker aborts an open transaction of the same id, waits for the end of one that is
// being completed, and raises the epoch. The first time (takeOver) that fences every other producer of the id.
// Afterwards the present epoch is sent along, and stream.ErrFenced tells that another producer has taken over
// (KIP-360; a broker older than 2.5, and the embedded log, do not check it: acquireOutput does).
func (x *transactions) init(ctx context.Context, takeOver bool) error {
	if takeOver {
		x.producer, x.epoch = -1, -1
	}
	var got *kafkago.ProducerSession
	err := x.call(ctx, "init producer", func(ctx context.Context) error {
		res, err := x.cl.API.InitProducerID(ctx, &kafkago.InitProducerIDRequest{
			TransactionalID: x.id, TransactionTimeoutMs: int(x.timeout.Milliseconds()),
			ProducerID: int(x.producer), ProducerEpoch: int(x.epoch)})
		if err != nil {
			return err
		}
		got = res.Producer
		return res.Error
	})
	switch {
	case errors.Is(err, kafkago.InvalidTransactionTimeout):
		return fmt.Errorf(
			"kafka: transaction time-out of %v: %w: the broker's transaction.max.timeout.ms is less",
			x.timeout,
			err,
		)
	case errors.Is(err, errTxnLost):
		return fmt.Errorf("kafka: transactional id %q: %w: %w", x.id, stream.ErrFenced, err)
	case err != nil:
		return err
	}
	x.producer, x.epoch = int64(got.ProducerID), int16(got.ProducerEpoch)
	x.seq = map[topicPartition]int32{}
	x.begin()
	return nil
}

// add adds partitions to the transaction. What was added before costs nothing.
func (x *transactions) add(ctx context.Context, parts []topicPartition) error {
	var topics []addpartitionstotxn.RequestTopic
	index := map[string]int{}
	seen := map[topicPartition]bool{}
	for _, p := range parts {
		if x.added[p] || seen[p] {
			continue
		}
		seen[p] = true
		i, ok := index[p.topic]
		if !ok {
			i = len(topics)
			index[p.topic] = i
			topics = append(topics, addpartitionstotxn.RequestTopic{Name: p.topic})
		}
		topics[i].Partitions = append(topics[i].Partitions, p.partition)
	}
	if len(topics) == 0 {
		return nil
	}
	if len(x.added) == 0 {
		x.began = time.Now()
	}
	err := x.coordinated(
		ctx,
		"add partitions to transaction",
		x.self(),
		func(ctx context.Context, to toCoordinator) error {
			res, err := kafka.Ask[*addpartitionstotxn.Response](ctx, x.cl, &addPartitionsRequest{
				TransactionalID: x.id, ProducerID: x.producer, ProducerEpoch: x.epoch, Topics: topics,
				toCoordinator: to})
			if err != nil {
				return err
			}
			// One partition's error leaves all of them out; the others are then "not attempted".
			var first error
			n := 0
			for _, t := range res.Results {
				for _, p := range t.Results {
					n++
					if err := kafka.CodeError(p.ErrorCode); err != nil &&
						(first == nil || errors.Is(first, operationNotAttempted)) {
						first = err
					}
				}
			}
			if first == nil && n == 0 {
				first = protocol.ErrNoPartition
			}
			return first
		},
	)
	if err != nil {
		return err
	}
	for _, p := range parts {
		x.added[p] = true
	}
	return nil
}

// addGroup adds a consumer group to the transaction, so that it takes offsets of it.
func (x *transactions) addGroup(ctx context.Context, group string) error {
	if x.group {
		return nil
	}
	err := x.coordinated(ctx, "add offsets to transaction", x.self(),
		func(ctx context.Context, to toCoordinator) error {
			res, err := kafka.Ask[*addoffsetstotxn.Response](ctx, x.cl, &addOffsetsRequest{
				TransactionalID: x.id, ProducerID: x.producer, ProducerEpoch: x.epoch, GroupID: group,
				toCoordinator: to})
			if err != nil {
				return err
			}
			return kafka.CodeError(res.ErrorCode)
		})
	x.group = err == nil
	return err
}

// offsets puts the offsets of a consumer group without members into the transaction; addGroup comes before.
func (x *transactions) offsets(ctx context.Context, group, topic string, at stream.Positions) error {
	commits := make([]txnoffsetcommit.RequestPartition, 0, len(at))
	for p, off := range at {
		commits = append(
			commits,
			txnoffsetcommit.RequestPartition{Partition: p, CommittedOffset: off, CommittedLeaderEpoch: -1},
		)
	}
	coordinator := coordinated{kafkago.CoordinatorKeyTypeConsumer, group}
	return x.coordinated(ctx, "offsets of transaction", coordinator, func(ctx context.Context, to toCoordinator) error {
		res, err := kafka.Ask[*txnoffsetcommit.Response](ctx, x.cl, &txnOffsetsRequest{
			TransactionalID: x.id, ProducerID: x.producer, ProducerEpoch: x.epoch, GroupID: group, GenerationID: -1,
			Topics: []txnoffsetcommit.RequestTopic{{Name: topic, Partitions: commits}}, toCoordinator: to})
		if err != nil {
			return err
		}
		for _, t := range res.Topics {
			for _, p := range t.Partitions {
				// A partition that was deleted has no lag. Its batch must be finished all the same.
				if p.ErrorCode != 0 && kafkago.Error(p.ErrorCode) != kafkago.UnknownTopicOrPartition {
					return kafka.CodeError(p.ErrorCode)
				}
			}
		}
		return nil
	})
}

// commit ends the transaction. An answer that was lost is asked for again: a broker answers a repeated commit of the
// same epoch like the first one.
func (x *transactions) commit(ctx context.Context) error { return x.end(ctx, true) }

// abort ends the transaction, if something was added to it, without a trace for readers under read_committed.
func (x *transactions) abort(ctx context.Context) error { return x.end(ctx, false) }

func (x *transactions) end(ctx context.Context, commit bool) error {
	if len(x.added) == 0 && !x.group {
		return nil
	}
	op := "abort transaction"
	if commit {
		op = "commit transaction"
	}
	err := x.coordinated(ctx, op, x.self(), func(ctx context.Context, to toCoordinator) error {
		res, err := kafka.Ask[*endtxn.Response](ctx, x.cl, &endRequest{
			TransactionalID: x.id, ProducerID: x.producer, ProducerEpoch: x.epoch, Committed: commit,
			toCoordinator: to})
		if err != nil {
			return err
		}
		return kafka.CodeError(res.ErrorCode)
	})
	if err == nil {
		x.begin()
	}
	return err
}

// self names the transactional producer to its coordinator.
func (x *transactions) self() coordinated {
	return coordinated{kafkago.CoordinatorKeyTypeTransaction, x.id}
}

// coordinated makes a call that is for a coordinator.
func (x *transactions) coordinated(
	ctx context.Context,
	op string,
	what coordinated,
	f func(ctx context.Context, to toCoordinator) error,
) error {
	return x.call(ctx, op, func(ctx context.Context) error {
		to, err := x.coordinators.of(ctx, what)
		if err != nil {
			return err
		}
		return f(ctx, to)
	})
}
