package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"motifd/cmd/motifd/internal/command"
	"motifd/config"
	"motifd/stream/kafka"
	"motifd/stream/kafka/admin"
	"motifd/stream/kafka/publish"
)

// topicsCmd sets up the Kafka topics of a configuration.
type topicsCmd struct {
	Create topicsCreateCmd `cmd:"" help:"Create the topics of a configuration that do not exist."`
	Check  topicsCheckCmd  `cmd:"" help:"Check that the topics of a configuration exist and have the right settings."`
}

func (topicsCmd) Help() string {
	return `Topics that exist are left as they are.

Examples:
  motifd topics create -c motifd.yaml --partitions=4 --replication=3
  motifd topics check -c motifd.yaml`
}

// topicsFlags are the flags of both commands.
type topicsFlags struct {
	Config  string        `short:"c" help:"Configuration file (YAML)." placeholder:"FILE"`
	Set     []string      `help:"Set a field of the configuration; repeatable." placeholder:"FIELD=VALUE" sep:"none"`
	Timeout time.Duration `help:"${brokers_timeout_help} (default: ${default})." default:"30s" placeholder:"TIME"`
}

type topicsCreateCmd struct {
	topicsFlags
	Partitions  int `help:"${partitions_help} (default: ${default})." default:"1" placeholder:"N"`
	Replication int `help:"Replicas of each partition (default: the brokers')." placeholder:"N"`
}

func (topicsCreateCmd) Help() string {
	return `The output topic is compacted in upsert mode, the progress topic always. Retention is left to the
brokers' defaults.

Examples:
  motifd topics create -c motifd.yaml
  motifd topics create -c motifd.yaml --partitions=4 --replication=3`
}

type topicsCheckCmd struct{ topicsFlags }

func (topicsCheckCmd) Help() string {
	return `For each topic it says what is wrong and what would be right. Hints are marked as notes. The exit status
is 1 if a topic is missing or wrong.

Example:
  motifd topics check -c motifd.yaml`
}

// topicUse is a topic and what the daemon uses it for.
type topicUse struct {
	use    string // input, output, dead letters, batch records or progress
	field  string // of the configuration
	client kafka.ClientOptions
	topic  admin.Topic // as it is created
}

const (
	useInput    = "input"
	useOutput   = "output"
	useDead     = "dead letters"
	useControl  = "batch records"
	useProgress = "progress"
)

// open reads the configuration and lists its topics. The context ends with the time-out.
func (f *topicsFlags) open(a *app) (*config.Config, []topicUse, context.Context, context.CancelFunc, error) {
	fail := func(err error) (*config.Config, []topicUse, context.Context, context.CancelFunc, error) {
		return nil, nil, nil, nil, err
	}
	cfg, err := config.Load(config.LoadOptions{File: f.Config, Environ: a.environ, Set: f.Set, GPU: gpuBuild})
	if err != nil {
		return fail(command.Refuse(unnamed(f.Config, err)))
	}
	switch {
	case cfg.Input.Kafka == nil && cfg.Output.Kafka == nil:
		return fail(command.Refuse(errors.New("neither input nor output is kafka: there are no topics")))
	case cfg.Embedded != nil:
		return fail(command.Refuse(errors.New("the embedded log creates its topics itself")))
	case f.Timeout <= 0:
		return fail(command.Refuse(fmt.Errorf("--timeout: %s is out of range; it is more than 0", f.Timeout)))
	}
	retry := kafka.Events{Retry: func(op, topic string, _ int32, attempt int, err error) {
		a.log.Warn().Str("op", op).Str("topic", topic).Int("attempt", attempt).Err(err).Msg("kafka: trying again")
	}}
	uses, err := topicUses(cfg, retry)
	if err != nil {
		return fail(err)
	}
	ctx, cancel := context.WithTimeoutCause(a.ctx, f.Timeout,
		fmt.Errorf("the brokers did not answer within %s; --timeout waits longer", f.Timeout))
	return cfg, uses, ctx, cancel, nil
}

// topicUses lists the topics of a configuration.
func topicUses(cfg *config.Config, events kafka.Events) ([]topicUse, error) {
	var out []topicUse
	add := func(use, field string, client kafka.ClientOptions, topic admin.Topic) {
		if topic.Name != "" {
			client.Events = events
			out = append(out, topicUse{use, field, client, topic})
		}
	}
	if in := cfg.Input.Kafka; in != nil {
		opt, err := cfg.SourceOptions()
		if err != nil {
			return nil, err
		}
		add(useInput, "input.kafka.topic", opt.ClientOptions, admin.Topic{Name: in.Topic})
	}
	k := cfg.Output.Kafka
	if k == nil {
		return out, nil
	}
	opt, err := cfg.SinkOptions()
	if err != nil {
		return nil, err
	}
	deleted := map[string]string{"cleanup.policy": "delete"}
	shape := deleted
	if cfg.Output.Mode == "upsert" {
		shape = admin.Compacted()
	}
	add(useOutput, "output.kafka.topic", opt.ClientOptions, admin.Topic{Name: k.Topic, Config: shape})
	add(useDead, "output.kafka.dead_letter", opt.ClientOptions, admin.Topic{Name: k.DeadLetter, Config: deleted})
	add(useControl, "output.kafka.control", opt.ClientOptions, admin.Topic{Name: k.Control, Config: deleted})
	if k.Transactions != publish.TransactionsOff {
		add(useProgress, "output.kafka.progress_topic", opt.ClientOptions, admin.ProgressTopic(k.Progress()))
	}
	return out, nil
}

// Run creates what is missing.
func (c *topicsCreateCmd) Run(a *app) error {
	if c.Partitions < 1 || c.Replication < 0 {
		return command.Refuse(errors.New("--partitions is at least 1, and --replication is not negative"))
	}
	cfg, uses, ctx, cancel, err := c.open(a)
	if err != nil {
		return err
	}
	defer cancel()
	has := true
	if k := cfg.Output.Kafka; k != nil && k.Transactions == publish.TransactionsAuto {
		if has, err = publish.HasTransactions(ctx, uses[len(uses)-1].client); err != nil {
			return err
		}
	}
	for _, u := range uses {
		if u.use == useProgress && !has {
			continue
		}
		found, err := admin.DescribeTopics(ctx, u.client, u.topic.Name)
		if err != nil {
			return err
		}
		if info := found[u.topic.Name]; info != nil {
			if _, err := fmt.Fprintf(a.stdout, "%s: exists, with %s\n", u.topic.Name,
				plural(info.Partitions, "partition")); err != nil {
				return err
			}
			continue
		}
		t := u.topic
		t.Replication = c.Replication
		t.Partitions = 1
		if u.use == useInput || u.use == useOutput {
			t.Partitions = c.Partitions
		}
		if err := admin.EnsureTopics(ctx, u.client, t); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(a.stdout, "%s: created for %s, with %s%s\n", t.Name, u.use,
			plural(t.Partitions, "partition"), andSettings(t.Config)); err != nil {
			return err
		}
	}
	return nil
}

// plural returns a number with its noun.
func plural[N int | uint64](n N, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case noun == "vertex":
		return fmt.Sprintf("%d vertices", n)
	case strings.HasSuffix(noun, "ch"):
		noun += "e"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Run checks.
func (c *topicsCheckCmd) Run(a *app) error {
	cfg, uses, ctx, cancel, err := c.open(a)
	if err != nil {
		return err
	}
	defer cancel()
	found := make([]*admin.TopicInfo, len(uses))
	for i, u := range uses {
		infos, err := admin.DescribeTopics(ctx, u.client, u.topic.Name)
		if err != nil {
			return err
		}
		found[i] = infos[u.topic.Name]
	}
	t := &topicCheck{cfg: cfg}
	if cfg.Output.Kafka != nil {
		if err := t.brokers(ctx, uses[len(uses)-1].client); err != nil {
			return err
		}
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	wrong := 0
	for i, u := range uses {
		if u.use == useProgress && !t.transactions {
			continue
		}
		t.topic(u, found[i])
		wrong += t.print(w, u.topic.Name, u.use, found[i])
	}
	if cfg.Output.Kafka != nil {
		t.settings()
		wrong += t.print(w, "brokers", "", nil)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if wrong > 0 {
		return fmt.Errorf("%s", strings.TrimSpace(plural(wrong, "problem")+" with the topics"))
	}
	return nil
}
