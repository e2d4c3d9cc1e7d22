package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"motifd/matcher/matchertest"
	"motifd/stream/kafka"
	"motifd/stream/kafka/admin"
	"motifd/stream/kafka/brokertest"
	"motifd/stream/kafka/embedded"
)

const fitConfig = `
input: {kafka: {brokers: ["ADDR"], topic: NAMEin, group: NAMEgroup}}
output: {kafka: {topic: NAMEout}}
batch: {linger: 1ms}
checkpoint: {dir: state}
queries: [{name: edge, cypher: "MATCH (a)-[:T]->(b)"}]
`

// fit is a log that outlives the daemons, with topics whose names begin with name, and a directory with a
// configuration.
type fit struct {
	t    *testing.T
	dir  string
	cl   *kgo.Client
	addr string
	name string
	n    int64
	log  *embedded.Log // nil when it is not in this process
}

// newFit uses an embedded log in the test's process.
func newFit(t *testing.T) *fit {
	t.Helper()
	log, err := embedded.Open(embedded.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, log.Close()) })
	f := newFitAt(t, log.Addr(), "")
	f.log = log
	return f
}

// newFitAt uses a log at an address.
func newFitAt(t *testing.T, addr, name string) *fit {
	t.Helper()
	text := strings.NewReplacer("ADDR", addr, "NAME", name).Replace(fitConfig)
	f := &fit{t: t, dir: write(t, map[string]string{"motifd.yaml": text}), addr: addr, name: name}
	f.connect()
	f.create(admin.Topic{Name: "in"}, admin.Topic{Name: "out"}, admin.ProgressTopic("out-progress"))
	return f
}

// connect opens the client, anew when the input was created anew.
func (f *fit) connect() {
	f.t.Helper()
	var err error
	f.cl, err = brokertest.NewClient(f.addr, kgo.DefaultProduceTopic(f.name+"in"),
		kgo.MetadataMinAge(10*time.Millisecond))
	require.NoError(f.t, err)
	f.t.Cleanup(f.cl.Close)
}

// held counts the records that the output shows.
func (f *fit) held() int { return len(committed(f.t, f.addr, f.name+"out")) }

// send produces an update that makes a match.
func (f *fit) send() {
	f.t.Helper()
	f.n++
	value := strings.TrimSpace(edgeJSON("+", "a", string(rune('b'+f.n))))
	require.NoError(f.t, f.cl.ProduceSync(f.t.Context(), &kgo.Record{Value: []byte(value)}).FirstErr())
}

// work sends an update and waits until the daemon has committed it.
func (f *fit) work(p *process) {
	f.t.Helper()
	f.send()
	p.until("the update was taken", func() bool { return p.status().Positions["0"] == f.n })
}

// refuse starts a daemon that must not come up, and returns what it says.
func (f *fit) refuse(args ...string) string {
	f.t.Helper()
	r := motifd(f.t, f.dir, append([]string{"run", "-c", "motifd.yaml", "--set", "admin.listen="}, args...)...)
	require.Equal(f.t, exitFailed, r.code, r.stderr)
	require.Contains(f.t, r.stderr, "what to do: ")
	return r.stderr
}

func (f *fit) deleteTopic(name string) {
	f.t.Helper()
	name = f.name + name
	req := kmsg.NewPtrDeleteTopicsRequest()
	topic := kmsg.NewDeleteTopicsRequestTopic()
	topic.Topic = &name
	req.TopicNames, req.Topics, req.TimeoutMillis = []string{name}, append(req.Topics, topic), brokertest.Patience
	resp, err := req.RequestWith(f.t.Context(), f.cl)
	require.NoError(f.t, err)
	require.Zero(f.t, resp.Topics[0].ErrorCode)
	brokertest.Settle(f.t, f.addr)
}

func (f *fit) client() kafka.ClientOptions { return kafka.ClientOptions{Brokers: []string{f.addr}} }

func (f *fit) create(topics ...admin.Topic) {
	f.t.Helper()
	for _, topic := range topics {
		topic.Name = f.name + topic.Name
		require.NoError(f.t, admin.EnsureTopics(f.t.Context(), f.client(), topic))
	}
}

// alter changes settings of a topic.
func (f *fit) alter(topic string, config map[string]string) {
	f.t.Helper()
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	r := kmsg.NewIncrementalAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeTopic, f.name+topic
	for k, v := range config {
		c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		c.Name, c.Value = k, &v
		r.Configs = append(r.Configs, c)
	}
	req.Resources = append(req.Resources, r)
	resp, err := req.RequestWith(f.t.Context(), f.cl)
	require.NoError(f.t, err)
	require.Zero(f.t, resp.Resources[0].ErrorCode)
	brokertest.Settle(f.t, f.addr)
}

// TestP3Fenced: of two daemons on one output the one that started last works; the other one stops with a status of its
// own, and nothing is there twice.
func TestP3Fenced(t *testing.T) {
	t.Parallel()
	fenced(t, newFit(t))
}

func fenced(t *testing.T, f *fit) {
	p := start(t, f.dir)
	p.ready()
	f.work(p)
	p.stop()
	require.NoError(t, os.CopyFS(filepath.Join(f.dir, "copy"), os.DirFS(filepath.Join(f.dir, "state"))))
	first := start(t, f.dir)
	first.ready()
	second := start(t, f.dir, "--checkpoint", "copy")
	second.ready()
	f.work(second)
	<-first.done
	require.Equal(t, exitFenced, first.cmd.ProcessState.ExitCode(), first.stderr.String())
	require.Contains(t, first.stderr.String(), "fenced by another daemon")
	require.Contains(t, first.stderr.String(), "what to do: ")
	f.work(second)
	second.stop()
	require.Equal(t, 3, f.held())
}

// TestP3OutputDoesNotFit: what does not fit together is refused, with what can be done; nothing is overwritten, and the
// daemon starts when it is told what is wanted.
func TestP3OutputDoesNotFit(t *testing.T) {
	matchertest.NotUnderRace(t, "TestP3Fenced has the goroutines of its daemons")
	t.Parallel()
	outputDoesNotFit(t, newFit(t))
}

func outputDoesNotFit(t *testing.T, f *fit) {
	p := start(t, f.dir)
	p.ready()
	f.work(p)
	p.stop()
	restart := func(args ...string) {
		t.Helper()
		p := start(t, f.dir, args...)
		p.ready()
		f.work(p)
		p.stop()
	}

	// The checkpoint is lost.
	require.Contains(t, f.refuse("--checkpoint", "new"), "output.allow_existing")
	require.Equal(t, 1, f.held())

	// The progress topic is lost, and with it what is published.
	f.deleteTopic("out-progress")
	require.Contains(t, f.refuse(), "motifd topics create")
	f.create(admin.ProgressTopic("out-progress"))
	require.Contains(t, f.refuse(), "--reset-progress")
	restart("--reset-progress")
	restart()

	// The output was created anew: with another partition count, then empty.
	f.deleteTopic("out")
	f.create(admin.Topic{Name: "out", Partitions: 2})
	require.Contains(t, f.refuse(), "on_partition_change: keep")
	f.deleteTopic("out")
	f.create(admin.Topic{Name: "out"})
	require.Contains(t, f.refuse(), "--reset-progress")
	restart("--reset-progress")
	restart()
	require.Equal(t, 2, f.held())

	// Another stream has taken the output over.
	p = start(t, f.dir, "--checkpoint", "other", "--set", "output.allow_existing=true")
	p.ready()
	p.until("all was taken", func() bool { return p.status().Positions["0"] == f.n })
	p.stop()
	require.Contains(t, f.refuse(), "--reset-progress")
	restart("--reset-progress")

	// Partitions were added to the output.
	held := f.held()
	f.addPartitions("out", 3)
	require.Contains(t, f.refuse(), "on_partition_change: keep")
	require.Contains(t, f.refuse("--reset-progress"), "on_partition_change: keep")
	restart("--set", "output.kafka.on_partition_change=keep")
	require.Contains(t, f.refuse(), "on_partition_change: keep")
	restart("--set", "output.kafka.on_partition_change=spread")
	restart()
	require.Equal(t, held+3, f.held())

	// The checkpoint is an old copy.
	require.NoError(t, os.CopyFS(filepath.Join(f.dir, "old"), os.DirFS(filepath.Join(f.dir, "state"))))
	restart()
	restart()
	require.Contains(t, f.refuse("--checkpoint", "old"), "restore the newest copy")
	require.Contains(t, f.refuse("--checkpoint", "old", "--reset-progress"), "restore the newest copy")
	restart()
	require.Equal(t, held+6, f.held())

	// Partitions were added to the progress topic.
	f.addPartitions("out-progress", 2)
	says := f.refuse()
	require.Contains(t, says, "output.kafka.progress_topic")
	require.NotContains(t, says, "on_partition_change")
	f.create(admin.ProgressTopic("out-progress-2"))
	restart("--set", "output.kafka.progress_topic="+f.name+"out-progress-2", "--reset-progress")
	require.Equal(t, held+7, f.held())
}

// TestABackupTakesANewOutput: a backup that the output goes beyond goes on once the output's topics are made anew, and
// puts out what comes behind it again.
func TestABackupTakesANewOutput(t *testing.T) {
	t.Parallel()
	f := newFit(t)
	p := start(t, f.dir)
	p.ready()
	f.work(p)
	succeed(t, f.dir, "checkpoint", "backup", "state", "backup")
	f.work(p)
	f.work(p)
	p.stop()
	require.Equal(t, 3, f.held())
	require.Contains(t, f.refuse("--checkpoint", "backup"), "the checkpoint ends at batch")
	f.deleteTopic("out")
	f.deleteTopic("out-progress")
	f.create(admin.Topic{Name: "out"}, admin.ProgressTopic("out-progress"))
	f.refuse("--checkpoint", "backup")
	p = start(t, f.dir, "--checkpoint", "backup", "--reset-progress")
	p.ready()
	p.until("the rest of the input was taken", func() bool { return p.status().Positions["0"] == f.n })
	p.stop()
	require.Equal(t, 2, f.held())
}

// addPartitions raises a topic's partition count.
func (f *fit) addPartitions(topic string, n int32) {
	f.t.Helper()
	req := kmsg.NewPtrCreatePartitionsRequest()
	rt := kmsg.NewCreatePartitionsRequestTopic()
	rt.Topic, rt.Count = f.name+topic, n
	req.Topics, req.TimeoutMillis = append(req.Topics, rt), brokertest.Patience
	resp, err := req.RequestWith(f.t.Context(), f.cl)
	require.NoError(f.t, err)
	require.Zero(f.t, resp.Topics[0].ErrorCode)
	brokertest.Settle(f.t, f.addr)
}

// TestTransactionsHidden: a daemon with transactions auto that was killed before its first batch does not go on without
// them when the brokers show none any more.
func TestTransactionsHidden(t *testing.T) {
	t.Parallel()
	f := newFit(t)
	config := filepath.Join(f.dir, "motifd.yaml")
	text, _, _ := strings.Cut(readFile(t, config), "queries:")
	require.NoError(t, os.WriteFile(config, []byte(text), 0o600))
	p := start(t, f.dir, "--set", "output.kafka.transactions=auto")
	p.ready()
	require.Zero(t, p.status().Batch)
	p.kill()
	hide := map[kmsg.Key]bool{
		kmsg.InitProducerID:     true,
		kmsg.AddPartitionsToTxn: true,
		kmsg.AddOffsetsToTxn:    true,
		kmsg.EndTxn:             true,
		kmsg.TxnOffsetCommit:    true,
	}
	versions, err := kmsg.NewPtrApiVersionsRequest().RequestWith(t.Context(), f.cl)
	require.NoError(t, err)
	f.log.Cluster.ControlKey(int16(kmsg.ApiVersions), func(req kmsg.Request) (kmsg.Response, error, bool) {
		f.log.Cluster.KeepControl()
		res := req.ResponseKind().(*kmsg.ApiVersionsResponse)
		for _, k := range versions.ApiKeys {
			if !hide[kmsg.Key(k.ApiKey)] {
				res.ApiKeys = append(res.ApiKeys, k)
			}
		}
		return res, nil, true
	})
	require.Contains(
		t,
		f.refuse("--set", "output.kafka.transactions=auto"),
		"see whether a proxy hides the brokers' transactions",
	)
	p = start(t, f.dir, "--set", "output.kafka.transactions=off")
	p.ready()
	p.stop()
}

// TestBrokersUnreachable: brokers that are not there when the daemon starts are waited for, and the admin interface
// tells so.
func TestBrokersUnreachable(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	dir := write(t, map[string]string{"motifd.yaml": strings.NewReplacer("ADDR", fmt.Sprintf("127.0.0.1:%d", port),
		"NAME", "").Replace(fitConfig)})
	p := start(t, dir)
	p.until("it said that it waits", func() bool {
		resp, err := http.Get(p.url + "/readyz")
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		return resp.StatusCode == http.StatusServiceUnavailable
	})
	p.until("it had tried again", func() bool {
		return strings.Contains(p.ask("GET", "/metrics", "").body, "motifd_kafka_retries_total{")
	})
	require.Contains(t, p.ask("GET", "/readyz", "").body, "recovering")
	log, err := embedded.Open(embedded.Options{Port: port,
		Topics: []admin.Topic{{Name: "in"}, {Name: "out"}, admin.ProgressTopic("out-progress")}})
	require.NoError(t, err)
	defer log.Close()
	p.ready()
	p.stop()
}
