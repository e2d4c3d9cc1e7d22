package source

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"motifd/stream"
	"motifd/stream/kafka"
)

// The start of reading in a partition without a position.
const (
	Earliest = "earliest"
	Latest   = "latest"
)

// The isolation levels of transactional input.
const (
	ReadCommitted   = "read_committed"
	ReadUncommitted = "read_uncommitted"
)

// Options configure a Source.
type Options struct {
	kafka.ClientOptions
	Topic string
	// Partitions to read; nil means all, with those that are added later.
	Partitions []int32
	// Start is Earliest (the default) or Latest, for partitions without a position.
	Start string
	// Isolation is ReadCommitted (the default: aborted transactions are left out) or ReadUncommitted.
	Isolation string
	// Merge is MergeTimestamp (the default) or MergeNone: the order of records from different partitions.
	Merge string
	// TopicID is the id of the topic that the positions are of, "" when not known: a topic that was deleted and created
	// anew has another one. KeepTopicID, unless nil, stores the id before the first record is read.
	TopicID     string
	KeepTopicID func(id string) error
	// Epochs are the known leader epochs of the records before the positions. With them the source detects a log that
	// was cut below a position and written again. KeepEpochs, unless nil, stores them before Read returns a record of a
	// new epoch. It is called from several goroutines, one at a time, and must not keep its argument.
	Epochs     stream.Epochs
	KeepEpochs func(stream.Epochs) error
	// AllowDataLoss continues at the nearest offset that exists when a position is no longer available. Without it that
	// is stream.ErrDataLoss.
	AllowDataLoss bool
	// FetchBytes is the size of one fetch from a partition. Default 1 MiB. ReadBytes is the maximum number of bytes of
	// keys and values that Read returns, unless one record has more. Default 1 MiB. A partition buffers two responses
	// and one decompressed record batch.
	FetchBytes, ReadBytes int
	// MaxWait is the time by which a broker may delay its answer while there is nothing to read. Default 500 ms.
	MaxWait time.Duration
	// MaxRecordBytes is the limit on key and value of one record; a longer one is a dead letter. Default 1 MiB.
	// MaxBatchBytes is the limit on the decompressed size of one record batch. The records of a larger batch become one
	// dead letter. Default 64 MiB.
	MaxRecordBytes, MaxBatchBytes int
}

func (o *Options) setDefaults() error {
	if err := o.ClientOptions.SetDefaults(); err != nil {
		return err
	}
	if o.Topic == "" {
		return errors.New("kafka: no input topic is configured")
	}
	o.Start = cmp.Or(o.Start, Earliest)
	if o.Start != Earliest && o.Start != Latest {
		return fmt.Errorf("kafka: start %q is not %s or %s", o.Start, Earliest, Latest)
	}
	o.Isolation = cmp.Or(o.Isolation, ReadCommitted)
	if o.Isolation != ReadCommitted && o.Isolation != ReadUncommitted {
		return fmt.Errorf("kafka: isolation %q is not %s or %s", o.Isolation, ReadCommitted, ReadUncommitted)
	}
	o.Merge = cmp.Or(o.Merge, MergeTimestamp)
	if o.Merge != MergeTimestamp && o.Merge != MergeNone {
		return fmt.Errorf("kafka: merge %q is not %s or %s", o.Merge, MergeTimestamp, MergeNone)
	}
	seen := map[int32]bool{}
	for _, p := range o.Partitions {
		if p < 0 || seen[p] {
			return fmt.Errorf("kafka: partition %d is negative or listed twice", p)
		}
		seen[p] = true
	}
	o.FetchBytes = cmp.Or(o.FetchBytes, 1<<20)
	o.ReadBytes = cmp.Or(o.ReadBytes, 1<<20)
	o.MaxWait = cmp.Or(o.MaxWait, 500*time.Millisecond)
	o.MaxRecordBytes = cmp.Or(o.MaxRecordBytes, 1<<20)
	o.MaxBatchBytes = cmp.Or(o.MaxBatchBytes, 64<<20)
	if o.FetchBytes > kafka.MaxFetch {
		return fmt.Errorf("kafka: fetch size %d is above the limit of %d bytes", o.FetchBytes, kafka.MaxFetch)
	}
	return nil
}
