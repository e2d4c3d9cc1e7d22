package publish

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"motifd/stream/kafka"
)

// SinkOptions configure a Sink.
type SinkOptions struct {
	kafka.ClientOptions
	Topic string
	// DeadLetters is the topic of refused input records, Control that of the batch records; "" drops dead letters
	// (they are still counted) and needs no batch records.
	DeadLetters, Control string
	// ExpectPartitions is the partition count the output must have; 0 accepts any. A match and its cancellation share
	// a partition only while the count stays as it is.
	ExpectPartitions int32
	// OnPartitions tells what to do when the output has more partitions than at the last commit: PartitionsStop (the
	// default), PartitionsKeep or PartitionsSpread.
	OnPartitions string
	// AllowExisting accepts an output that holds records although the checkpoint is new, and that others write to.
	AllowExisting bool
	// ResetProgress lets the sink go on after the committed batch although the output, or its progress record, was
	// lost, cut or written by others. Records of the batch in hand may then appear twice. It is for one start.
	ResetProgress bool
	// Compression is "" or "none", "gzip", "snappy", "lz4" or "zstd".
	Compression string
	// BatchBytes is the size at which a record batch is sent. Default 512 KiB; at most the topic's max.message.bytes
	// less the largest record.
	BatchBytes int
	// Group publishes the input positions as the offsets of this consumer group on InputTopic, once per GroupInterval
	// (default 1 s) and at the end. "" publishes nothing.
	Group, InputTopic string
	GroupInterval     time.Duration
	// Input reaches the brokers that hold InputTopic, if they are not those of the output.
	Input *kafka.ClientOptions

	// sendBytes is the size that is gathered before it is sent while a batch goes on; roundBytes is the size that may
	// wait for the requests that are under way.
	sendBytes, roundBytes int
}

func (o *SinkOptions) setDefaults() error {
	if err := o.ClientOptions.SetDefaults(); err != nil {
		return err
	}
	if o.Topic == "" {
		return errors.New("kafka: no output topic is configured")
	}
	if o.DeadLetters == o.Topic || o.Control == o.Topic || (o.Control != "" && o.Control == o.DeadLetters) {
		return errors.New("kafka: output, dead letters and control records need topics of their own")
	}
	if o.Group != "" && o.InputTopic == "" {
		return errors.New("kafka: a consumer group needs the input topic")
	}
	if o.Input != nil {
		input := *o.Input
		if err := input.SetDefaults(); err != nil {
			return fmt.Errorf("%w, of the input", err)
		}
		o.Input = &input
	}
	if _, err := codecOf(o.Compression); err != nil {
		return err
	}
	o.OnPartitions = cmp.Or(o.OnPartitions, PartitionsStop)
	switch o.OnPartitions {
	case PartitionsStop, PartitionsKeep, PartitionsSpread:
	default:
		return fmt.Errorf(
			"kafka: what to do with added partitions is %s, %s or %s, not %q",
			PartitionsStop,
			PartitionsKeep,
			PartitionsSpread,
			o.OnPartitions,
		)
	}
	o.BatchBytes = cmp.Or(o.BatchBytes, 512<<10)
	o.GroupInterval = cmp.Or(o.GroupInterval, time.Second)
	o.sendBytes = cmp.Or(o.sendBytes, 256<<10)
	o.roundBytes = cmp.Or(o.roundBytes, 4<<20)
	return nil
}

func codecOf(name string) (kafkago.Compression, error) {
	switch name {
	case "", "none":
		return 0, nil
	case "gzip":
		return kafkago.Gzip, nil
	case "snappy":
		return kafkago.Snappy, nil
	case "lz4":
		return kafkago.Lz4, nil
	case "zstd":
		return kafkago.Zstd, nil
	}
	return 0, fmt.Errorf("kafka: compression %q is not none, gzip, snappy, lz4 or zstd", name)
}
