package publish

import (
	"fmt"

	"motifd/stream/kafka"
)

// What a sink does when its output has more partitions than at the last commit. A record's partition is the hash of its
// key modulo the count, so that with another count a match and its cancellation part.
const (
	// PartitionsStop refuses to start.
	PartitionsStop = "stop"
	// PartitionsKeep goes on with the partitions that there were; those that were added stay empty.
	PartitionsKeep = "keep"
	// PartitionsSpread uses all partitions from here on: the cancellation of a match that was published before may be
	// in another partition than the match, so that a reader may see it first, and compaction removes neither.
	PartitionsSpread = "spread"
)

// spread returns over how many of the output's n partitions records are spread. committed is the count of the last
// commit, 0 when there was none.
func (o *SinkOptions) spread(n, committed int32) (int32, error) {
	switch {
	case committed == 0 || n == committed:
		return n, nil
	case n > committed && o.OnPartitions == PartitionsKeep:
		return committed, nil
	case n > committed && o.OnPartitions == PartitionsSpread, o.OnPartitions == PartitionsSpread && o.ResetProgress:
		o.Events.Grown(o.Topic, committed, n)
		return n, nil
	case n > committed:
		return 0, fmt.Errorf(
			"kafka: output topic %q: %w: it has %d, the checkpoint was written with %d; a match and its "+
				"cancellation would part",
			o.Topic,
			kafka.ErrPartitions,
			n,
			committed,
		)
	}
	return 0, fmt.Errorf(
		"kafka: output topic %q: %w: it has %d, the checkpoint was written with %d: the topic was deleted and "+
			"created anew",
		o.Topic,
		kafka.ErrPartitions,
		n,
		committed,
	)
}
