package admin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	kafkago "github.com/segmentio/kafka-go"

	"motifd/stream/kafka"
)

// Topic describes a topic to create.
type Topic struct {
	Name        string
	Partitions  int               // default 1
	Replication int               // default: the broker's
	Config      map[string]string // cleanup.policy: compact, say
}

// Compacted is the Config of a topic that keeps the last record of each key, as upsert mode wants for its output.
func Compacted() map[string]string { return map[string]string{"cleanup.policy": "compact"} }

// EnsureTopics creates the topics that do not exist. One that exists is left as it is; if Partitions is set and
// differs from what it has, that is ErrPartitions. It returns when a broker shows them; it waits for the brokers
// until ctx is done.
func EnsureTopics(ctx context.Context, opt kafka.ClientOptions, topics ...Topic) error {
	cl, err := kafka.NewClient(opt)
	if err != nil {
		return err
	}
	defer cl.Close()
	for _, t := range topics {
		if err := ensure(ctx, cl, t); err != nil {
			return err
		}
	}
	return nil
}

// ensure creates one topic.
func ensure(ctx context.Context, c *kafka.Client, t Topic) error {
	cfg := kafkago.TopicConfig{Topic: t.Name, NumPartitions: max(t.Partitions, 1), ReplicationFactor: t.Replication}
	if t.Replication == 0 {
		cfg.ReplicationFactor = -1
	}
	for _, k := range slices.Sorted(maps.Keys(t.Config)) {
		cfg.ConfigEntries = append(cfg.ConfigEntries, kafkago.ConfigEntry{ConfigName: k, ConfigValue: t.Config[k]})
	}
	var n int32
	// What was created shows later than the answer. An attempt begins with the creation: the topic may be deleted
	// meanwhile.
	err := c.Retry(ctx, "create topic", t.Name, -1, func(ctx context.Context) error {
		res, err := c.API.CreateTopics(ctx, &kafkago.CreateTopicsRequest{Topics: []kafkago.TopicConfig{cfg}})
		if err != nil {
			return err
		}
		if err := res.Errors[t.Name]; err != nil && !errors.Is(err, kafkago.TopicAlreadyExists) {
			return err
		}
		n, err = c.FetchPartitionCount(ctx, t.Name)
		return err
	})
	if err != nil {
		return err
	}
	if t.Partitions > 0 && n != int32(t.Partitions) {
		return fmt.Errorf("kafka: topic %q: %w: it has %d, wanted %d", t.Name, kafka.ErrPartitions, n, t.Partitions)
	}
	return nil
}

// ProgressTopic describes a topic for progress records, for EnsureTopics.
func ProgressTopic(name string) Topic {
	return Topic{Name: name, Partitions: 1, Config: Compacted()}
}
