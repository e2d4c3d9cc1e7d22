package admin

import (
	"context"
	"errors"
	"fmt"

	kafkago "github.com/segmentio/kafka-go"

	"motifd/stream/kafka"
)

// TopicInfo describes a topic.
type TopicInfo struct {
	Partitions int
	Replicas   int               // the fewest of a partition
	Config     map[string]string // all settings, defaults among them
}

// DescribeTopics tells about topics, by name; those that do not exist are left out. It waits for the brokers until
// ctx is done.
func DescribeTopics(ctx context.Context, opt kafka.ClientOptions, names ...string) (map[string]*TopicInfo, error) {
	cl, err := kafka.NewClient(opt, names...)
	if err != nil {
		return nil, err
	}
	defer cl.Close()
	out := map[string]*TopicInfo{}
	for _, name := range names {
		info, err := describe(ctx, cl, name)
		if err != nil {
			return nil, err
		}
		if info != nil {
			out[name] = info
		}
	}
	return out, nil
}

// describe tells about one topic, nil when it does not exist.
func describe(ctx context.Context, c *kafka.Client, name string) (*TopicInfo, error) {
	var info *TopicInfo
	// A topic may be deleted between the two requests: an attempt begins with the first.
	err := c.Retry(ctx, "describe", name, -1, func(ctx context.Context) error {
		res, err := c.API.Metadata(ctx, &kafkago.MetadataRequest{Topics: []string{name}})
		if err != nil {
			return err
		}
		t := res.Topics[0]
		if errors.Is(t.Error, kafkago.UnknownTopicOrPartition) {
			info = nil
			return nil
		}
		if t.Error != nil {
			return t.Error
		}
		info = &TopicInfo{Partitions: len(t.Partitions)}
		for i, p := range t.Partitions {
			if n := len(p.Replicas); i == 0 || n < info.Replicas {
				info.Replicas = n
			}
		}
		info.Config, err = fetchSettings(ctx, c, kafkago.ResourceTypeTopic, name)
		return err
	})
	if err != nil {
		return nil, err
	}
	return info, nil
}

// DescribeBroker returns the settings of a broker, those that it shows. It waits for the brokers until ctx is done.
func DescribeBroker(ctx context.Context, opt kafka.ClientOptions) (map[string]string, error) {
	cl, err := kafka.NewClient(opt)
	if err != nil {
		return nil, err
	}
	defer cl.Close()
	id := ""
	err = cl.Retry(ctx, "metadata", "", -1, func(ctx context.Context) error {
		res, err := cl.API.Metadata(ctx, &kafkago.MetadataRequest{})
		if err != nil {
			return err
		}
		if len(res.Brokers) == 0 {
			return kafkago.BrokerNotAvailable
		}
		id = fmt.Sprint(res.Brokers[0].ID)
		return nil
	})
	if err != nil {
		return nil, err
	}
	var settings map[string]string
	err = cl.Retry(ctx, "describe configs", "", -1, func(ctx context.Context) (err error) {
		settings, err = fetchSettings(ctx, cl, kafkago.ResourceTypeBroker, id)
		return err
	})
	return settings, err
}

// fetchSettings asks once for the configuration of a topic or a broker.
func fetchSettings(
	ctx context.Context,
	c *kafka.Client,
	kind kafkago.ResourceType,
	name string,
) (map[string]string, error) {
	res, err := c.API.DescribeConfigs(ctx, &kafkago.DescribeConfigsRequest{
		Resources: []kafkago.DescribeConfigRequestResource{{ResourceType: kind, ResourceName: name}},
	})
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, r := range res.Resources {
		if r.Error != nil {
			return nil, r.Error
		}
		for _, e := range r.ConfigEntries {
			out[e.ConfigName] = e.ConfigValue
		}
	}
	return out, nil
}
