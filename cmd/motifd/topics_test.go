package main

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher/matchertest"
	"motifd/stream/kafka"
	"motifd/stream/kafka/admin"
	"motifd/stream/kafka/embedded"
)

const topicsConfig = `
input: {kafka: {brokers: ["ADDR"], topic: NAMEin}}
output: {mode: MODE, kafka: {topic: NAMEout, dead_letter: NAMEdead, control: NAMEcontrol}}
checkpoint: {dir: state}
`

// topicsDir is a directory with a configuration that names topics of a log, which are not there, and what their names
// begin with.
func topicsDir(t *testing.T, addr, mode string) (dir, name string, client kafka.ClientOptions) {
	t.Helper()
	name = fmt.Sprintf("t%d-", topicsCount.Add(1))
	text := strings.NewReplacer("ADDR", addr, "MODE", mode, "NAME", name).Replace(topicsConfig)
	return write(t, map[string]string{"motifd.yaml": text}), name, kafka.ClientOptions{Brokers: []string{addr}}
}

var topicsCount atomic.Int64

// embeddedLog starts an embedded log in the test's process.
func embeddedLog(t *testing.T) (addr string) {
	t.Helper()
	log, err := embedded.Open(embedded.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, log.Close()) })
	return log.Addr()
}

// TestTopicsCreate holds that what is missing is created such that the check finds nothing wrong, and that what exists
// stays as it is.
func TestTopicsCreate(t *testing.T) {
	t.Parallel()
	topicsCreated(t, embeddedLog(t))
}

func topicsCreated(t *testing.T, addr string) {
	for mode, policy := range map[string]string{"changelog": "delete", "upsert": "compact"} {
		dir, name, client := topicsDir(t, addr, mode)
		r := motifd(t, dir, "topics", "check", "--timeout=10m", "-c", "motifd.yaml")
		require.Equal(t, 1, r.code)
		require.Equal(t, 5, strings.Count(r.stdout, "does not exist"), r.stdout)
		require.Contains(t, r.stderr, "5 problems")
		require.NoError(t, admin.EnsureTopics(t.Context(), client, admin.Topic{Name: name + "control", Partitions: 2}))
		r = succeed(t, dir, "topics", "create", "--timeout=10m", "-c", "motifd.yaml", "--partitions=3")
		require.Contains(t, r.stdout, name+"control: exists, with 2 partitions")
		require.Contains(t, r.stdout, name+"out: created for output, with 3 partitions, cleanup.policy="+policy)
		require.Contains(t, r.stdout, name+"out-progress: created for progress, with 1 partition, "+
			"cleanup.policy=compact")
		r = succeed(t, dir, "topics", "check", "--timeout=10m", "-c", "motifd.yaml")
		require.NotContains(t, r.stdout, "wrong")
		infos, err := admin.DescribeTopics(t.Context(), client, name+"in", name+"out", name+"dead", name+"out-progress",
			name+"nosuch")
		require.NoError(t, err)
		got := map[string]string{}
		for topic, info := range infos {
			got[strings.TrimPrefix(topic, name)] = fmt.Sprint(info.Partitions, " ", info.Config["cleanup.policy"])
		}
		require.Equal(t, map[string]string{"in": "3 delete", "out": "3 " + policy, "dead": "1 delete",
			"out-progress": "1 compact"}, got)
		require.Equal(t, 4, strings.Count(succeed(t, dir, "topics", "create", "--timeout=10m", "-c",
			"motifd.yaml").stdout, "exists")-1)
	}
}

// TestTopicsCheck holds that each thing that is wrong is found, with what would be right.
func TestTopicsCheck(t *testing.T) {
	matchertest.NotUnderRace(t, "TestTopicsCreate has the same goroutines")
	t.Parallel()
	topicsChecked(t, embeddedLog(t))
}

func topicsChecked(t *testing.T, addr string) {
	good := func() map[string]admin.Topic {
		return map[string]admin.Topic{"in": {}, "out": {Partitions: 2}, "dead": {}, "control": {},
			"out-progress": {Config: admin.Compacted()}}
	}
	for what, c := range map[string]struct {
		mode, topic string
		config      map[string]string
		partitions  int
		set, want   string
	}{
		"compacted input":     {topic: "in", config: admin.Compacted(), want: "set cleanup.policy=delete"},
		"compacted changelog": {topic: "out", config: admin.Compacted(), want: "or output.mode: upsert"},
		"deleted upsert":      {mode: "upsert", topic: "out", want: "current matches would be removed"},
		"upsert with retention": {mode: "upsert", topic: "out",
			config: map[string]string{"cleanup.policy": "compact,delete"},
			want:   "retention would remove current matches"},
		"compacted dead letters": {topic: "dead", config: admin.Compacted(), want: "set cleanup.policy=delete"},
		"compacted control":      {topic: "control", config: admin.Compacted(), want: "set cleanup.policy=delete"},
		"progress partitions": {topic: "out-progress", partitions: 2, config: admin.Compacted(),
			want: "a progress topic has 1"},
		"deleted progress": {topic: "out-progress", want: "the progress record would be removed"},
		"short retention": {topic: "out", config: map[string]string{"retention.ms": "1000"},
			want: "make it longer than 2m0s"},
		"small messages": {topic: "out", config: map[string]string{"max.message.bytes": "1000"},
			want: "make it at least 1048576"},
		"in-sync replicas": {topic: "out", config: map[string]string{"min.insync.replicas": "2"},
			want: "nothing can be written"},
		"huge messages": {topic: "in", config: map[string]string{"max.message.bytes": "200000000"},
			want: "cannot be read"},
		"partition": {set: "input.kafka.partitions=0,1",
			want: "has no partition 1, which input.kafka.partitions names"},
		"time-out": {set: "output.kafka.transaction_timeout=1h", want: "transaction.max.timeout.ms is"},
	} {
		mode := "changelog"
		if c.mode != "" {
			mode = c.mode
		}
		dir, prefix, client := topicsDir(t, addr, mode)
		topics := good()
		if mode == "upsert" {
			topics["out"] = admin.Topic{Config: admin.Compacted()}
		}
		if c.topic != "" {
			topics[c.topic] = admin.Topic{Partitions: c.partitions, Config: c.config}
		}
		for name, topic := range topics {
			topic.Name = prefix + name
			require.NoError(t, admin.EnsureTopics(t.Context(), client, topic), what)
		}
		args := []string{"topics", "check", "--timeout=10m", "-c", "motifd.yaml"}
		if c.set != "" {
			args = append(args, "--set", c.set)
		}
		r := motifd(t, dir, args...)
		require.Equal(t, 1, r.code, "%s\n%s", what, r.stdout)
		require.Equal(t, 1, strings.Count(r.stdout, "wrong: "), "%s\n%s", what, r.stdout)
		require.Contains(t, r.stdout, c.want, what)
	}
}

// TestTopicsNotes holds that what is worth knowing is told, and is no error.
func TestTopicsNotes(t *testing.T) {
	t.Parallel()
	topicsNotes(t, embeddedLog(t))
}

func topicsNotes(t *testing.T, addr string) {
	dir, name, client := topicsDir(t, addr, "upsert")
	unclean := map[string]string{"unclean.leader.election.enable": "true", "max.message.bytes": "9000000"}
	for _, topic := range []admin.Topic{
		{Name: "in", Config: unclean},
		{Name: "out", Config: map[string]string{"cleanup.policy": "compact", "delete.retention.ms": "1000"}},
		{Name: "dead", Partitions: 2}, {Name: "control"}, admin.ProgressTopic("out-progress"),
	} {
		topic.Name = name + topic.Name
		require.NoError(t, admin.EnsureTopics(t.Context(), client, topic))
	}
	r := succeed(t, dir, "topics", "check", "--timeout=10m", "-c", "motifd.yaml")
	for _, note := range []string{
		"unclean.leader.election.enable is true",
		"records above input.limits.max_message_bytes, 4194304, become dead letters",
		"a consumer that takes longer to read the topic misses tombstones",
		"has 2 partitions: with one, the dead letters would be in order",
		"there is 1 replica",
	} {
		require.Contains(t, r.stdout, "note: ")
		require.Contains(t, r.stdout, note)
	}
}

// TestTopicsRefusals: what has no topics to set up, and brokers that do not answer.
func TestTopicsRefusals(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"motifd.yaml": fileConfig, "in.jsonl": ""})
	r := motifd(t, dir, "topics", "check", "--timeout=10m", "-c", "motifd.yaml")
	require.Equal(t, exitRefused, r.code)
	require.Contains(t, r.stderr, "there are no topics")
	dir, _ = logDir(t)
	r = motifd(t, dir, "topics", "create", "--timeout=10m", "-c", "motifd.yaml")
	require.Equal(t, exitRefused, r.code)
	require.Contains(t, r.stderr, "the embedded log creates its topics itself")
	dir = write(t, map[string]string{
		"motifd.yaml": strings.NewReplacer("ADDR", fmt.Sprintf("127.0.0.1:%d", freePort(t)), "MODE", "upsert", "NAME",
			"").Replace(topicsConfig)})
	r = motifd(t, dir, "topics", "check", "-c", "motifd.yaml", "--timeout=200ms")
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.stderr, "the brokers did not answer within 200ms")
}
