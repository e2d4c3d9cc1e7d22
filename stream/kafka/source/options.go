package source

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"motifd/stream"
	"motifd/stream/kafka"
)

// Where a partition is read from when no position is known.
const (
	Earliest = "earliest"
	Latest   = "latest"
)

// What a source shows of transactional input.
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
	// Merge is MergeTimestamp (the default) or MergeNone: in which order records of different partitions are read.
	Merge string
	// TopicID is the id of the topic that the positions are of, "" when not known: a topic that was deleted and created
	// anew has another one. KeepTopicID, unless nil, stores the id before the first record is read.
	TopicID     string
	KeepTopicID func(id string) error
	// Epochs are the leader epochs of the records before the positions, as far as they are known: by them a log that
	// was cut below a position and written anew is noticed. KeepEpochs, unless nil, stores them before a record of a
	// new one is handed to Read; it is called from several goroutines, one at a time, and keeps nothing of its
	// argument.
	Epochs     stream.Epochs
	KeepEpochs func(stream.Epochs) error
	// AllowDataLoss goes on at the nearest offset that exists when a position is no longer available; otherwise
	// that is stream.ErrDataLoss.
	AllowDataLoss bool
	// FetchBytes is how much is asked of a partition at once. Default 1 MiB. ReadBytes is how many bytes of keys and
	// values Read returns at most, unless one record alone has more. Default 1 MiB. A partition buffers two
	// responses, and one record batch decompressed.
	FetchBytes, ReadBytes int
	// MaxWait is how long a broker may hold back an answer when there is nothing to read. Default 500 ms.
	MaxWait time.Duration
	// MaxRecordBytes is the limit on key and value of one record; a longer one is a dead letter. Default 1 MiB.
	// MaxBatchBytes is the limit on what one compressed record batch expands to; the records of a larger one are one
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
