//go:build kafka && unix

package brokertest

import (
	"fmt"
	"maps"
	"strings"
	"testing"
)

// StartCluster starts three brokers that replicate: one of them may be away. Each is a controller, too, and has little
// memory. Leaders move some nine seconds after a broker has died: much sooner, and brokers on a busy machine lose their
// leadership to each other for no other reason than that they are slow. The brokers are killed when the test ends.
func StartCluster(t testing.TB, properties map[string]string) []*Broker {
	t.Helper()
	const nodes = 3
	lines := map[string]string{
		"default.replication.factor":                "3",
		"offsets.topic.replication.factor":          "3",
		"transaction.state.log.replication.factor":  "3",
		"min.insync.replicas":                       "2",
		"transaction.state.log.min.isr":             "2",
		"broker.heartbeat.interval.ms":              "500",
		"broker.session.timeout.ms":                 "9000",
		"controller.quorum.fetch.timeout.ms":        "5000",
		"controller.quorum.election.timeout.ms":     "1000",
		"controller.quorum.election.backoff.max.ms": "1000",
		"replica.lag.time.max.ms":                   "9000",
		"num.network.threads":                       "1",
		"num.io.threads":                            "2",
	}
	maps.Copy(lines, properties)
	var voters []string
	ports := FreePorts(t, nodes)
	for i, port := range ports {
		voters = append(voters, fmt.Sprintf("%d@127.0.0.1:%d", i+1, port))
	}
	var brokers []*Broker
	for i, port := range ports {
		b := &Broker{dir: t.TempDir(), lib: findLib(t), heap: "256m"}
		b.adjust = func(lines map[string]string) {
			lines["node.id"] = fmt.Sprint(i + 1)
			lines["controller.quorum.voters"] = strings.Join(voters, ",")
			lines["listeners"] = fmt.Sprintf("PLAINTEXT://%s,CONTROLLER://127.0.0.1:%d", b.addr, port)
		}
		b.configure(t, lines)
		brokers = append(brokers, b)
	}
	cluster := clusterID()
	for _, b := range brokers {
		b.format(t, cluster)
		t.Cleanup(b.Kill)
		b.spawn(t)
	}
	for _, b := range brokers {
		if err := b.await(); err != nil {
			t.Fatal(err)
		}
	}
	return brokers
}
