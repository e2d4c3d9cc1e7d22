package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"motifd/config"
	"motifd/stream/kafka"
	"motifd/stream/kafka/admin"
	"motifd/stream/kafka/publish"
)

// topicCheck compares topics with what the daemon needs.
type topicCheck struct {
	cfg          *config.Config
	transactions bool // they are used
	has          bool // the brokers have them
	broker       map[string]string

	wrong, notes []string // of the topic at hand
}

func (t *topicCheck) bad(format string, args ...any) {
	t.wrong = append(t.wrong, fmt.Sprintf(format, args...))
}
func (t *topicCheck) note(format string, args ...any) {
	t.notes = append(t.notes, fmt.Sprintf(format, args...))
}

// brokers asks the output's brokers.
func (t *topicCheck) brokers(ctx context.Context, client kafka.ClientOptions) (err error) {
	if t.has, err = publish.HasTransactions(ctx, client); err != nil {
		return err
	}
	switch t.cfg.Output.Kafka.Transactions {
	case publish.TransactionsOn:
		t.transactions = true
	case publish.TransactionsAuto:
		t.transactions = t.has
	}
	t.broker, err = admin.DescribeBroker(ctx, client)
	return err
}

// topic checks one topic; info is nil when it does not exist.
func (t *topicCheck) topic(u topicUse, info *admin.TopicInfo) {
	if info == nil {
		t.bad("does not exist; motifd topics create creates it for %s%s", u.use, andSettings(u.topic.Config))
		return
	}
	policy := policies(info)
	compacts, deletes := slices.Contains(policy, "compact"), slices.Contains(policy, "delete")
	is := "cleanup.policy is " + strings.Join(policy, ",")
	switch u.use {
	case useInput:
		if compacts {
			t.bad("%s: updates that were not read yet may be removed; set cleanup.policy=delete", is)
		}
		for _, p := range t.cfg.Input.Kafka.Partitions {
			if int(p) >= info.Partitions {
				t.bad(
					"has no partition %d, which input.kafka.partitions names: there are %d, from 0; motifd run "+
						"would not start",
					p,
					info.Partitions,
				)
			}
		}
		t.read(info)
	case useOutput:
		switch {
		case t.cfg.Output.Mode == "upsert" && !compacts:
			t.bad("%s, and output.mode is upsert: current matches would be removed in time; set "+
				"cleanup.policy=compact", is)
		case t.cfg.Output.Mode == "upsert" && deletes:
			t.bad("%s: retention would remove current matches; set cleanup.policy=compact", is)
		case t.cfg.Output.Mode != "upsert" && compacts:
			t.bad("%s, and output.mode is changelog: only the last record of each match would stay; set "+
				"cleanup.policy=delete, or output.mode: upsert", is)
		}
		if d, ok := duration(info, "delete.retention.ms"); ok && t.cfg.Output.Mode == "upsert" && d < time.Hour {
			t.note("delete.retention.ms is %s: a consumer that takes longer to read the topic misses tombstones", d)
		}
	case useDead, useControl:
		if compacts {
			t.bad("%s: of the %s with one key only the last would stay; set cleanup.policy=delete", is, u.use)
		}
		if info.Partitions != 1 {
			t.note("has %d partitions: with one, the %s would be in order", info.Partitions, u.use)
		}
	case useProgress:
		if info.Partitions != 1 {
			t.bad("has %d partitions; a progress topic has 1: name another one with %s", info.Partitions, u.field)
		}
		if !compacts || deletes {
			t.bad("%s: the progress record would be removed in time, and motifd would not start again; set "+
				"cleanup.policy=compact", is)
		}
	}
	if u.use != useInput {
		t.written(info, deletes)
	}
	if info.Replicas == 1 {
		t.note("there is 1 replica: if its broker is lost, its records are lost")
	}
	if info.Config["unclean.leader.election.enable"] == "true" {
		t.note("unclean.leader.election.enable is true: records that were read or acknowledged may vanish, and " +
			"others take their place; set it to false")
	}
}

// read checks a topic that the daemon reads.
func (t *topicCheck) read(info *admin.TopicInfo) {
	n, err := strconv.ParseInt(info.Config["max.message.bytes"], 10, 64)
	if err != nil {
		return
	}
	if n > kafka.MaxFetch {
		t.bad("max.message.bytes is %d: a record batch of more than %d bytes cannot be read; lower it", n,
			kafka.MaxFetch)
	} else if limit := int64(t.cfg.Input.Limits.MaxMessageBytes); n > limit {
		t.note("max.message.bytes is %d: records above input.limits.max_message_bytes, %d, become dead letters", n,
			limit)
	}
}

// written checks a topic that the daemon writes to.
func (t *topicCheck) written(info *admin.TopicInfo, deletes bool) {
	timeout := t.cfg.Output.Kafka.TransactionTimeout.Std()
	if d, ok := duration(info, "retention.ms"); ok && deletes && t.transactions && d < 2*timeout {
		t.bad("retention.ms is %s: records may be removed before their transaction of up to %s has ended; make it "+
			"longer than %s", d, timeout, 2*timeout)
	}
	const least = 1 << 20
	if n, err := strconv.Atoi(info.Config["max.message.bytes"]); err == nil && n < least {
		t.bad("max.message.bytes is %d: record batches of motifd have 512 KiB and one record more; make it at least %d",
			n, least)
	}
	if n, err := strconv.Atoi(info.Config["min.insync.replicas"]); err == nil && n > info.Replicas {
		t.bad("min.insync.replicas is %d, but there are %d replicas: nothing can be written; lower it, or add replicas",
			n, info.Replicas)
	} else if err == nil && n == 1 && info.Replicas > 2 {
		t.note("min.insync.replicas is 1: a record may be acknowledged by one broker and lost with it; set it to 2")
	}
}

// settings checks the output's brokers.
func (t *topicCheck) settings() {
	k := t.cfg.Output.Kafka
	if !t.has && k.Transactions == publish.TransactionsOn {
		t.bad("they have no transactions; set output.kafka.transactions: off, which lowers the guarantee to " +
			"at-least-once")
	}
	if !t.transactions {
		t.note("transactions are not used: a record may appear twice after a crash")
		return
	}
	limit, err := strconv.ParseInt(t.broker["transaction.max.timeout.ms"], 10, 64)
	if d := k.TransactionTimeout.Std(); err == nil && d.Milliseconds() > limit {
		t.bad("transaction.max.timeout.ms is %d: output.kafka.transaction_timeout is %s, which is more; lower it",
			limit, d)
	}
}

// print prints what was found of a topic, or of the brokers, and returns how much is wrong.
func (t *topicCheck) print(w io.Writer, name, use string, info *admin.TopicInfo) int {
	wrong := len(t.wrong)
	state := "ok"
	if info != nil {
		state = "ok, " + plural(info.Partitions, "partition")
	}
	lines := []string{}
	for _, text := range t.wrong {
		lines = append(lines, "wrong: "+text)
	}
	for _, text := range t.notes {
		lines = append(lines, "note: "+text)
	}
	if wrong == 0 {
		lines = append([]string{state}, lines...)
	}
	for i, text := range lines {
		if i > 0 {
			name, use = "", ""
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", name, use, text)
	}
	t.wrong, t.notes = nil, nil
	return wrong
}

// policies lists the topic's cleanup policies.
func policies(info *admin.TopicInfo) []string {
	out := strings.Split(info.Config["cleanup.policy"], ",")
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	slices.Sort(out)
	return out
}

// duration returns a setting in milliseconds that bounds something.
func duration(info *admin.TopicInfo, name string) (time.Duration, bool) {
	ms, err := strconv.ParseInt(info.Config[name], 10, 64)
	if err != nil || ms < 0 {
		return 0, false
	}
	return time.Duration(min(ms, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond, true
}

// andSettings lists settings behind a comma.
func andSettings(cfg map[string]string) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(cfg)) {
		fmt.Fprintf(&b, ", %s=%s", k, cfg[k])
	}
	return b.String()
}
