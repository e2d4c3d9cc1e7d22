package publish

import (
	"context"
	"errors"
	"fmt"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"motifd/stream"
	"motifd/stream/kafka"
)

// When an Output uses transactions.
const (
	TransactionsAuto = "auto" // when the brokers have them
	TransactionsOn   = "on"
	TransactionsOff  = "off"
)

// Output is the sink that a daemon publishes through: a TxnSink, or a Sink when the brokers have no transactions or it
// was told so. Which one is decided by Open.
type Output struct {
	opt   TxnSinkOptions
	mode  string
	sink  stream.Sink // nil before Open
	check func(stream.Progress) error
	group *groupOffsets // nil when there is no group, or its offsets are in the transactions
}

var _ stream.DigestingSink = (*Output)(nil)

// NewOutput checks the options and returns an output; it connects with Open. mode is TransactionsAuto, TransactionsOn
// or TransactionsOff.
func NewOutput(opt TxnSinkOptions, mode string) (*Output, error) {
	switch mode {
	case TransactionsAuto, TransactionsOn, TransactionsOff:
	default:
		return nil, fmt.Errorf("kafka: transactions %q are not auto, on or off", mode)
	}
	if err := opt.setDefaults(); err != nil {
		return nil, err
	}
	return &Output{opt: opt, mode: mode}, nil
}

// ErrDowngrade: the output was written in transactions until now, and the brokers show none any more.
var ErrDowngrade = errors.New("the brokers no longer have transactions")

// ErrNoTransactions: the brokers have no transactions, but the output was told to use them.
var ErrNoTransactions = errors.New("the brokers have no transactions")

// Open implements stream.Sink; see TxnSink.Open and Sink.Open. It waits for the brokers until ctx is done.
func (o *Output) Open(
	ctx context.Context,
	streamID string,
	batch uint64,
	committed stream.Mark,
	fresh bool,
) (stream.Progress, error) {
	if o.sink != nil {
		return stream.Progress{}, errors.New("kafka: output is already open")
	}
	on := o.mode == TransactionsOn
	if o.mode != TransactionsOff {
		has, err := HasTransactions(ctx, o.opt.ClientOptions)
		if err != nil {
			return stream.Progress{}, err
		}
		if on && !has {
			return stream.Progress{}, fmt.Errorf("kafka: %w", ErrNoTransactions)
		}
		on = has
	}
	if o.mode == TransactionsAuto && !on {
		if was, err := o.transactional(committed); err != nil {
			return stream.Progress{}, err
		} else if was {
			return stream.Progress{}, fmt.Errorf(
				"kafka: topic %q: %w: until batch %d it was written in transactions; without them the guarantee is "+
					"at-least-once",
				o.opt.Topic,
				ErrDowngrade,
				batch,
			)
		}
	}
	mode := TransactionsOff
	if on {
		mode = TransactionsOn
	}
	if f := o.opt.Events.Transactions; f != nil {
		f(on)
	}
	opt := o.opt
	if opt.Group != "" && (!on || opt.Input != nil) { // a transaction holds offsets of groups on its own brokers alone
		var err error
		if o.group, err = newGroupOffsets(&opt.SinkOptions); err != nil {
			return stream.Progress{}, err
		}
		opt.Group = ""
	}
	if on {
		s, err := NewTxnSink(opt)
		if err != nil {
			return stream.Progress{}, err
		}
		s.CheckProgress(o.check)
		o.sink = s
	} else {
		s, err := NewSink(opt.SinkOptions)
		if err != nil {
			return stream.Progress{}, err
		}
		o.sink = s
	}
	pr, err := o.sink.Open(ctx, streamID, batch, committed, fresh)
	if err == nil && mode != o.opt.LastMode && o.opt.KeepMode != nil {
		err = o.opt.KeepMode(mode)
	}
	return pr, err
}

// transactional tells whether the output was written in transactions when it was open last. Where the checkpoint does
// not tell (older versions), the mark does: the progress topic is among its topics then.
func (o *Output) transactional(committed stream.Mark) (bool, error) {
	if o.opt.LastMode != "" || len(committed) == 0 {
		return o.opt.LastMode == TransactionsOn, nil
	}
	m, err := parseMark(committed)
	_, in := m.Next[o.opt.Progress]
	return in, err
}

// Transactional tells whether the output uses transactions, once it is open.
func (o *Output) Transactional() bool {
	_, ok := o.sink.(*TxnSink)
	return ok
}

// HasTransactions asks a broker whether it knows the requests of transactions. It waits for the brokers until ctx is
// done.
func HasTransactions(ctx context.Context, opt kafka.ClientOptions) (bool, error) {
	cl, err := kafka.NewClient(opt)
	if err != nil {
		return false, err
	}
	defer cl.Close()
	missing := 0
	err = cl.Retry(ctx, "api versions", "", -1, func(ctx context.Context) error {
		res, err := cl.API.ApiVersions(ctx, &kafkago.ApiVersionsRequest{})
		if err != nil {
			return err
		}
		if res.Error != nil {
			return res.Error
		}
		known := map[protocol.ApiKey]bool{}
		for _, k := range res.ApiKeys {
			known[protocol.ApiKey(k.ApiKey)] = true
		}
		missing = 0
		for _, k := range []protocol.ApiKey{protocol.InitProducerId, protocol.AddPartitionsToTxn, protocol.EndTxn,
			protocol.AddOffsetsToTxn, protocol.TxnOffsetCommit} {
			if !known[k] {
				missing++
			}
		}
		return nil
	})
	return missing == 0, err
}

// CheckProgress implements stream.DigestingSink.
func (o *Output) CheckProgress(check func(stream.Progress) error) { o.check = check }

// NextDigest implements stream.DigestingSink.
func (o *Output) NextDigest(digest string) {
	if s, ok := o.sink.(stream.DigestingSink); ok {
		s.NextDigest(digest)
	}
}

// Begin implements stream.Sink.
func (o *Output) Begin(ctx context.Context, batch uint64) error {
	if o.sink == nil {
		return errors.New("kafka: output is not open")
	}
	return o.sink.Begin(ctx, batch)
}

// Write implements stream.Sink.
func (o *Output) Write(ctx context.Context, recs []stream.OutRecord) error {
	return o.sink.Write(ctx, recs)
}

// End implements stream.Sink.
func (o *Output) End(ctx context.Context, t stream.Tail) (stream.Mark, error) {
	m, err := o.sink.End(ctx, t)
	if err == nil && o.group != nil {
		o.group.set(t.Positions)
	}
	return m, err
}

// Partitions implements stream.Sink.
func (o *Output) Partitions() int32 {
	if o.sink == nil {
		return 0
	}
	return o.sink.Partitions()
}

// Close implements stream.Sink.
func (o *Output) Close() error {
	var err error
	if o.sink != nil {
		err = o.sink.Close()
	}
	if o.group != nil {
		o.group.close()
	}
	return err
}
