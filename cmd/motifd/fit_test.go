package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"motifd/stream/kafka"
)

const fitConfig = `
input: {kafka: {brokers: ["ADDR"], topic: in}}
output: {kafka: {topic: out}}
batch: {linger: 1ms}
checkpoint: {dir: state}
queries: [{name: edge, cypher: "MATCH (a)-[:T]->(b)"}]
`

// fit is a log in the test's process, so that it outlives the daemons, and a directory with a configuration.
type fit struct {
	t   *testing.T
	dir string
	cl  *kgo.Client
	log *kafka.Embedded
	n   int64
}

func newFit(t *testing.T) *fit {
	t.Helper()
	log, err := kafka.OpenEmbedded(kafka.EmbeddedOptions{Topics: []kafka.Topic{{Name: "in"}, {Name: "out"}, kafka.ProgressTopic("out-progress")}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, log.Close()) })
	cl, err := kgo.NewClient(kgo.SeedBrokers(log.Addr()), kgo.DefaultProduceTopic("in"))
	require.NoError(t, err)
	t.Cleanup(cl.Close)
	return &fit{t: t, dir: write(t, map[string]string{"motifd.yaml": strings.Replace(fitConfig, "ADDR", log.Addr(), 1)}), cl: cl, log: log}
}

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
	req := kmsg.NewPtrDeleteTopicsRequest()
	topic := kmsg.NewDeleteTopicsRequestTopic()
	topic.Topic = &name
	req.TopicNames, req.Topics = []string{name}, append(req.Topics, topic)
	resp, err := req.RequestWith(f.t.Context(), f.cl)
	require.NoError(f.t, err)
	require.Zero(f.t, resp.Topics[0].ErrorCode)
}

func (f *fit) create(topics ...kafka.Topic) {
	f.t.Helper()
	require.NoError(f.t, kafka.EnsureTopics(f.t.Context(), kafka.Client{Brokers: []string{f.log.Addr()}}, topics...))
}

// TestP3Fenced: of two daemons on one output the one that started last works; the other one stops with a status of its
// own, and nothing is there twice.
func TestP3Fenced(t *testing.T) {
	f := newFit(t)
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
	require.Len(t, committed(t, f.log.Addr(), "out"), 3)
}

// TestP3OutputDoesNotFit: what does not fit together is refused, with what can be done; nothing is overwritten, and the
// daemon starts when it is told what is wanted.
func TestP3OutputDoesNotFit(t *testing.T) {
	f := newFit(t)
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
	require.Len(t, committed(t, f.log.Addr(), "out"), 1)

	// The progress topic is lost, and with it what is published.
	f.deleteTopic("out-progress")
	require.Contains(t, f.refuse(), "motifd topics create")
	f.create(kafka.ProgressTopic("out-progress"))
	require.Contains(t, f.refuse(), "--reset-progress")
	restart("--reset-progress")
	restart()

	// The output was created anew: with another partition count, then empty.
	f.deleteTopic("out")
	f.create(kafka.Topic{Name: "out", Partitions: 2})
	require.Contains(t, f.refuse(), "former count")
	f.deleteTopic("out")
	f.create(kafka.Topic{Name: "out"})
	require.Contains(t, f.refuse(), "--reset-progress")
	restart("--reset-progress")
	restart()
	require.Len(t, committed(t, f.log.Addr(), "out"), 2)

	// Another stream has taken the output over.
	p = start(t, f.dir, "--checkpoint", "other", "--set", "output.allow_existing=true")
	p.ready()
	p.until("all was taken", func() bool { return p.status().Positions["0"] == f.n })
	p.stop()
	require.Contains(t, f.refuse(), "--reset-progress")
	restart("--reset-progress")
}

// TestBrokersUnreachable: brokers that are not there when the daemon starts are waited for, and the admin interface
// tells so.
func TestBrokersUnreachable(t *testing.T) {
	port := freePort(t)
	dir := write(t, map[string]string{"motifd.yaml": strings.Replace(fitConfig, "ADDR", fmt.Sprintf("127.0.0.1:%d", port), 1)})
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
	log, err := kafka.OpenEmbedded(kafka.EmbeddedOptions{Port: port, Topics: []kafka.Topic{{Name: "in"}, {Name: "out"}, kafka.ProgressTopic("out-progress")}})
	require.NoError(t, err)
	defer log.Close()
	p.ready()
	p.stop()
}
