package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"motifd/cmd/motifd/internal/payments"
	"motifd/stream/kafka/admin"
	"motifd/stream/kafka/embedded"
)

const metricsConfig = `
input: {kafka: {brokers: ["ADDR"], topic: in, on_data_loss: continue}}
output: {kafka: {topic: out, transactions: "off"}}
batch: {max_updates: 20, linger: 1ms}
checkpoint: {dir: state}
graph: {max_edges: 1000000, edge_identity: id, retention: {"*": 10s}, properties: {vertices: {"*": {flag: bool}}}}
queues: {input_records: 50}
queries:
  - {name: pair, cypher: "MATCH (a)-[:T]->(b)-[:T]->(a)", backfill: full}
  - {name: capped, cypher: "MATCH (a)-[:T]->(b)", max_matches_per_batch: 1}
  - {name: greedy, cypher: "MATCH (a)-->(b)-->(c)", work_budget: 1, over_budget: suspend}
  - {name: frugal, cypher: "MATCH (a)-->(b)-->(c)", work_budget: 1}
  - {name: once, cypher: "MATCH (a)-[:T]->(b)", once: {per: [b], for: 1h}}
`

// sample is a line of /metrics: name{labels} value.
var sample = regexp.MustCompile(`(?m)^(motifd_\w+)(?:\{.*\})? (\S+)$`)

// moved collects which metrics have been seen with which values.
type moved map[string]map[float64]bool

func (m moved) scrape(t *testing.T, p *process) {
	t.Helper()
	for _, s := range sample.FindAllStringSubmatch(p.ask("GET", "/metrics", "").body, -1) {
		name := s[1]
		for _, suffix := range []string{"_bucket", "_count", "_sum"} {
			name = strings.TrimSuffix(name, suffix)
		}
		v, err := strconv.ParseFloat(s[2], 64)
		require.NoError(t, err)
		if m[name] == nil {
			m[name] = map[float64]bool{}
		}
		m[name][v] = true
	}
}

// has tells whether a metric was seen with a value above 0.
func (m moved) has(name string) bool {
	for v := range m[name] {
		if v > 0 {
			return true
		}
	}
	return false
}

// TestP5MetricsMove holds that every metric that docs/metrics.md names exists and moves, and that there is none that
// it does not name.
func TestP5MetricsMove(t *testing.T) {
	t.Parallel()
	named := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(motifd_\\w+)` \\|").
		FindAllStringSubmatch(readFile(t, filepath.Join("..", "..", "docs", "metrics.md")), -1) {
		named[row[1]] = true
	}
	require.Greater(t, len(named), 35)
	log, err := embedded.Open(embedded.Options{Topics: []admin.Topic{{Name: "in"}, {Name: "out"}}})
	require.NoError(t, err)
	defer log.Close()
	cl, err := kgo.NewClient(kgo.SeedBrokers(log.Addr()), kgo.DefaultProduceTopic("in"))
	require.NoError(t, err)
	defer cl.Close()
	send := func(values ...string) {
		var recs []*kgo.Record
		for _, v := range values {
			recs = append(recs, &kgo.Record{Value: []byte(v)})
		}
		require.NoError(t, cl.ProduceSync(t.Context(), recs...).FirstErr())
	}
	edges := func(op string, n int) (out []string) {
		for i := range n {
			text, err := json.Marshal([]payments.Update{
				{Op: op, From: fmt.Sprint(i), To: fmt.Sprint(i + 1), Label: "T"},
				{Op: op, From: fmt.Sprint(i + 1), To: fmt.Sprint(i), Label: "T"}})
			require.NoError(t, err)
			out = append(out, string(text)+strings.Repeat(" ", 1000)) // more than one fetch in all
		}
		return out
	}
	dir := write(t, map[string]string{"motifd.yaml": strings.Replace(metricsConfig, "ADDR", log.Addr(), 1)})
	m := moved{}

	// The output does not take anything for a while: everything waits, and is tried again.
	stuck := log.Cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: "out",
		Err: kerr.NotLeaderForPartition, Count: -1})
	send(append(edges("+", 1500), "{", `{"op":"+","from":"a","to":"a"}`,
		`[{"op":"+","from":"a","to":"b","id":"1"},{"op":"-","from":"a","to":"b"}]`)...)
	p := start(t, dir)
	p.ready()
	waiting := []string{"motifd_queue_records", "motifd_queue_bytes", "motifd_publish_queue_bytes",
		"motifd_batches_in_flight", "motifd_kafka_retries_total", "motifd_input_lag"}
	p.until("everything waited", func() bool {
		m.scrape(t, p)
		for _, name := range waiting {
			if !m.has(name) {
				return false
			}
		}
		return true
	})
	stuck.Remove()
	p.until("the input was taken", func() bool { m.scrape(t, p); return p.status().Positions["0"] == 1503 })

	// A record that was published, but whose acknowledgement says otherwise, is published again.
	log.Cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: "out", Err: kerr.RequestTimedOut})
	send(append(edges("-", 1), `{"op":"=v","key":"5","props":{"flag":true}}`)...)
	p.until("a record was doubled",
		func() bool { m.scrape(t, p); return m.has("motifd_kafka_duplicate_records_total") })
	require.Equal(t, http.StatusAccepted, p.ask("DELETE", "/api/v1/queries/pair", "").code)
	p.stop()

	// Records that were not read yet are gone.
	send(edges("+", 10)...)
	del := kmsg.NewPtrDeleteRecordsRequest()
	topic := kmsg.NewDeleteRecordsRequestTopic()
	topic.Topic = "in"
	part := kmsg.NewDeleteRecordsRequestTopicPartition()
	part.Offset = -1
	topic.Partitions = append(topic.Partitions, part)
	del.Topics = append(del.Topics, topic)
	_, err = del.RequestWith(t.Context(), cl)
	require.NoError(t, err)
	p = start(t, dir)
	p.ready()
	p.until("the loss was counted", func() bool { m.scrape(t, p); return m.has("motifd_kafka_lost_records_total") })

	// Times: the second update has the first one expire, with a tick, and the third one is late.
	timed := func(ts int) { send(fmt.Sprintf(`{"op":"+","from":"t%d","to":"t","label":"T","ts":%d}`, ts, ts)) }
	timed(50_000)
	timed(90_000)
	p.until("an edge expired", func() bool { m.scrape(t, p); return m.has("motifd_expired_edges_total") })
	timed(60_000)
	p.until("an update was late", func() bool { m.scrape(t, p); return m.has("motifd_late_updates_total") })
	p.stop()

	for name := range named {
		if strings.HasPrefix(name, "motifd_placement") || name == "motifd_gpu_used" { // motifd-cuda's
			continue
		}
		if name == "motifd_checkpoint_wait_seconds_total" { // that takes hundreds of MiB, or a slow disk
			continue
		}
		if name == "motifd_partition_time_behind_seconds" { // that takes a second partition
			continue
		}
		require.True(t, m.has(name), "%s does not move", name)
	}
	for name := range m {
		require.True(t, named[name], "docs/metrics.md does not name %s", name)
	}
	for _, name := range []string{"motifd_input_lag", "motifd_graph_edges", "motifd_batch"} {
		require.Greater(t, len(m[name]), 1, name)
	}
}

// TestDashboard holds that the dashboard asks for metrics that there are.
func TestDashboard(t *testing.T) {
	docs := readFile(t, filepath.Join("..", "..", "docs", "metrics.md"))
	text := readFile(t, filepath.Join("..", "..", ".docker", "grafana", "dashboards", "motifd.json"))
	require.True(t, json.Valid([]byte(text)))
	asked := regexp.MustCompile(`motifd_\w+`).FindAllString(text, -1)
	require.Greater(t, len(asked), 20)
	for _, name := range asked {
		for _, suffix := range []string{"_bucket", "_sum"} {
			name = strings.TrimSuffix(name, suffix)
		}
		require.Contains(t, docs, "`"+name+"`")
	}
}
