package publish

import (
	"context"
	"errors"
	"fmt"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"motifd/stream/kafka"
)

// operationNotAttempted is the error of a partition that was not added because another one could not be.
const operationNotAttempted = kafkago.Error(55)

// Codes that kafka-go does not name.
const (
	producerFenced       = kafkago.Error(90)
	transactionAbortable = kafkago.Error(120)
)

// lost tells whether an error means that the transaction cannot go on with this epoch: it was aborted by its time-out,
// another producer has taken over, or the brokers and we do not agree on its state. (A duplicate that a broker has
// seen a moment ago is no error: one that is refused as such is not known to be ours.)
func lost(err error) bool {
	var code kafkago.Error
	if !errors.As(err, &code) {
		return false
	}
	switch code {
	case kafkago.OutOfOrderSequenceNumber, kafkago.DuplicateSequenceNumber, kafkago.InvalidProducerEpoch,
		kafkago.InvalidTransactionState, kafkago.InvalidProducerIDMapping, kafkago.UnknownProducerId, producerFenced,
		transactionAbortable:
		return true
	}
	return false
}

// call makes one call of a transaction again and again until it succeeds, its transaction is lost, or it fails for
// good. All that is repeated is idempotent: appends carry sequence numbers, the rest sets what is set already. The
// broker's time-out of the transaction ends the repetition while others of its calls get through, and ctx otherwise.
//
// What is known of leaders, coordinators and connections is dropped after every error, whatever it is, but for the one
// that says that the coordinator has not done with the transaction before.
func (x *transactions) call(ctx context.Context, op string, f func(ctx context.Context) error) error {
	f, over := x.followed(op, f)
	defer over()
	for attempt := 1; ; attempt++ {
		err := f(ctx)
		busy := errors.Is(err, kafkago.ConcurrentTransactions)
		if err != nil && !busy {
			x.coordinators.forget()
			x.cl.Transport.CloseIdleConnections()
		}
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case lost(err):
			return fmt.Errorf("%w: %s: %w", errTxnLost, op, err)
		case fatalTxn(err):
			return fmt.Errorf("kafka: %s, transactional id %q: %w", op, x.id, err)
		}
		if busy { // for milliseconds
			err = x.cl.Sleep(ctx, min(time.Millisecond<<min(attempt-1, 6), 50*time.Millisecond))
		} else {
			x.cl.Options.Events.Retried(op, x.id, -1, attempt, err)
			err = x.cl.Pause(ctx, attempt)
		}
		if err != nil {
			return err
		}
	}
}

// followed lets a call that is tried again be seen. over is called when it is not any more.
func (x *transactions) followed(
	op string,
	f func(ctx context.Context) error,
) (g func(ctx context.Context) error, over func()) {
	const often = 100 // attempts at a transaction that is being completed, before it is worth a word: some seconds
	events := &x.cl.Options.Events
	b := events.Follow(op, x.id, -1)
	attempts := 0
	return func(ctx context.Context) error {
		err := f(ctx)
		attempts++
		if err != nil && ctx.Err() == nil && !lost(err) && !fatalTxn(err) {
			b.Failed(err)
			if errors.Is(err, kafkago.ConcurrentTransactions) && attempts%often == 0 {
				events.Retried(op, x.id, -1, attempts, err)
			}
		}
		return err
	}, b.Over
}

// fatalTxn is fatal, with the errors that only transactions have.
func fatalTxn(err error) bool {
	return kafka.Fatal(err) || errors.Is(err, kafkago.InvalidTransactionTimeout) || groupInUse(err)
}

// groupInUse tells whether a group refuses offsets because it has members of its own.
func groupInUse(err error) bool {
	for _, code := range []kafkago.Error{kafkago.IllegalGeneration, kafkago.UnknownMemberId,
		kafkago.RebalanceInProgress,
		kafkago.FencedInstanceID} {
		if errors.Is(err, code) {
			return true
		}
	}
	return false
}
