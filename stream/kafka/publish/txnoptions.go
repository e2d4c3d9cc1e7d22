package publish

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// TxnSinkOptions configure a TxnSink. Of the SinkOptions, GroupInterval has no effect: the offsets are part of each
// batch's transaction.
type TxnSinkOptions struct {
	SinkOptions
	// TransactionalID names the producer to the brokers; the sink that opened last with it fences all others. Default
	// "motifd-" and the output topic.
	TransactionalID string
	// Progress is the topic of the progress records: compacted, with one partition. Several daemons may share one.
	// Default: the output topic and "-progress".
	Progress string
	// TransactionTimeout is the time after which the brokers abort an open transaction; it is then done again. Default
	// 1 min; the brokers' transaction.max.timeout.ms bounds it (15 min unless configured).
	TransactionTimeout time.Duration
	// MaxTransactionRecords is the most records of the main output that one transaction holds; a larger batch takes
	// several, cut at multiples of it. Default 100,000.
	MaxTransactionRecords int
	// BufferBytes is the size up to which the open transaction is kept in memory until its end is known; the rest goes
	// to a temporary file in SpoolDir (default: the system's). Default 64 MiB.
	BufferBytes int
	SpoolDir    string
	// LastMode is TransactionsOn or TransactionsOff, as an Output was opened last with the checkpoint; "" is not known.
	// KeepMode, unless nil, stores it when it is another, before a batch is published.
	LastMode string
	KeepMode func(mode string) error

	// openWait is the time that Open waits for another producer's transaction to end: twice TransactionTimeout, and a
	// minute at least.
	openWait time.Duration
}

func (o *TxnSinkOptions) setDefaults() error {
	if err := o.SinkOptions.setDefaults(); err != nil {
		return err
	}
	o.TransactionalID = cmp.Or(o.TransactionalID, "motifd-"+o.Topic)
	o.Progress = cmp.Or(o.Progress, o.Topic+"-progress")
	o.TransactionTimeout = cmp.Or(o.TransactionTimeout, time.Minute)
	o.openWait = cmp.Or(o.openWait, max(2*o.TransactionTimeout, time.Minute))
	o.MaxTransactionRecords = cmp.Or(o.MaxTransactionRecords, 100_000)
	o.BufferBytes = cmp.Or(o.BufferBytes, 64<<20)
	switch o.Progress {
	case o.Topic, o.DeadLetters, o.Control, o.InputTopic:
		return fmt.Errorf("kafka: progress records need a topic of their own, not %q", o.Progress)
	}
	if o.TransactionTimeout < time.Millisecond || o.MaxTransactionRecords < 1 || o.BufferBytes < 1 {
		return errors.New("kafka: transaction time-out, records and buffer must be positive")
	}
	return nil
}
