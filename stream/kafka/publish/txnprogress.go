package publish

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	kafkago "github.com/segmentio/kafka-go"

	"motifd/stream"
	"motifd/stream/kafka"
	"motifd/stream/kafka/internal/recordbatch"
)

// publishPosition is the first (batch, index) that is not published yet.
type publishPosition struct{ batch, index uint64 }

// progressRecord is the value of a progress record; its key is the transactional id.
type progressRecord struct {
	Version int    `json:"v"`
	Stream  string `json:"stream"`
	Batch   uint64 `json:"batch"`
	Next    uint64 `json:"next"`
	// Session tells which opening of which sink wrote it: a sink that finds another one's has been replaced.
	Session string `json:"session"`
	// Digest is the stream.Progress's. Records of older versions have none.
	Digest string `json:"digest,omitempty"`
}

const progressVersion = 1

func (p progressRecord) at() publishPosition { return publishPosition{p.Batch, p.Next} }

// readProgress returns the last committed progress record of the transactional id, nil when there is none. from is an
// offset at or before it, -1 for the log's start. With wait, it waits until every transaction that was open in the
// topic when it was called has ended: init has seen to our own, but other daemons may share the topic. Without, whole
// tells that there was none.
func readProgress(
	ctx context.Context,
	c *kafka.Client,
	topic, id string,
	from int64,
	wait bool,
) (rec *progressRecord, whole bool, err error) {
	ext, err := c.Extents(ctx, topic, []int32{0}, kafkago.ReadUncommitted)
	if err != nil {
		return nil, false, err
	}
	var value []byte
	e := ext[0]
	whole, err = c.Scan(
		ctx,
		topic,
		0,
		max(from, e.Start),
		e.End,
		kafkago.ReadCommitted,
		wait,
		func(r *recordbatch.Record) error {
			if string(r.Key) == id {
				value = append([]byte(nil), r.Value...)
			}
			return nil
		},
	)
	if err != nil || len(value) == 0 {
		return nil, whole, err
	}
	rec, err = parseProgress(value)
	if err != nil {
		return nil, whole, fmt.Errorf("kafka: topic %q, key %q: %w: %w", topic, id, stream.ErrMismatch, err)
	}
	return rec, whole, nil
}

// parseProgress reads the value of a progress record.
func parseProgress(value []byte) (*progressRecord, error) {
	rec := &progressRecord{}
	if err := json.Unmarshal(value, rec); err != nil {
		return nil, fmt.Errorf("not a progress record: %w", err)
	}
	if rec.Version != progressVersion {
		return nil, fmt.Errorf("the progress record has version %d, supported is %d", rec.Version, progressVersion)
	}
	if rec.Stream == "" || rec.Session == "" {
		return nil, errors.New("the progress record names no stream or no session")
	}
	return rec, nil
}
