package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"motifd/stream/kafka"
	"motifd/stream/kafka/admin"
	"motifd/stream/kafka/brokertest"
	"motifd/stream/kafka/embedded"
)

// The props make input, checkpoint and output large; that of a U edge comes again with each T edge behind it.
const diskConfig = `
input: {kafka: {brokers: ["ADDR"], topic: NAME-in}}
output: {echo_props: true, kafka: {topic: NAME-out, transactions: "on", transaction_memory: 64KiB}}
batch: {linger: 1ms}
engine: {spill_dir: spill}
checkpoint: {dir: state}
queries:
  - {name: edge, cypher: "MATCH (a)-[:T]->(b)"}
  - {name: path, cypher: "MATCH (a)-[:U]->(b)-[:T]->(c)"}
`

// onDisk is a daemon whose disk gets into trouble.
type onDisk struct {
	t    *testing.T
	addr string
	name string
	dir  string
	cl   *kgo.Client
	n    int64 // messages sent
}

func newOnDisk(t *testing.T, addr, name string) *onDisk {
	t.Helper()
	d := &onDisk{t: t, addr: addr, name: name}
	require.NoError(t, admin.EnsureTopics(t.Context(), kafka.ClientOptions{Brokers: []string{addr}},
		admin.Topic{Name: name + "-in"}, admin.Topic{Name: name + "-out"}, admin.ProgressTopic(name+"-out-progress")))
	d.dir = write(t, map[string]string{"motifd.yaml": strings.NewReplacer("ADDR", addr, "NAME", name).
		Replace(diskConfig)})
	for _, sub := range []string{"state", "spill"} {
		require.NoError(t, os.Mkdir(filepath.Join(d.dir, sub), 0o755))
	}
	var err error
	d.cl, err = brokertest.NewClient(addr, kgo.DefaultProduceTopic(name+"-in"), kgo.ProducerLinger(0))
	require.NoError(t, err)
	t.Cleanup(d.cl.Close)
	return d
}

// send produces one edge with props of a size.
func (d *onDisk) send(from, to, label string, props int) {
	d.t.Helper()
	value := fmt.Sprintf(`{"op":"+","from":%q,"to":%q,"label":%q,"props":{"pad":%q}}`, from, to, label,
		strings.Repeat("x", props))
	require.NoError(d.t, d.cl.ProduceSync(d.t.Context(), &kgo.Record{Value: []byte(value)}).FirstErr())
	d.n++
}

// taken waits until a daemon has committed all.
func (d *onDisk) taken(p *process) {
	d.t.Helper()
	p.until("all input was taken", func() bool { return p.status().Positions["0"] == d.n })
}

// fails sends one update after the other until a daemon ends, and holds that it says what to do.
func (d *onDisk) fails(p *process, why ...string) {
	d.t.Helper()
	for ended := false; !ended; {
		d.send("a", "b"+strconv.FormatInt(d.n, 10), "T", 20<<10)
		for !ended && p.status().Positions["0"] < d.n {
			select {
			case <-p.done:
				ended = true
			case <-time.After(time.Millisecond):
			}
		}
	}
	d.failed(p, why...)
}

// failed waits for the end of a daemon, and holds that it says what to do.
func (d *onDisk) failed(p *process, why ...string) {
	d.t.Helper()
	<-p.done
	require.Equal(d.t, exitFailed, p.cmd.ProcessState.ExitCode(), p.stderr.String())
	for _, text := range append(why, "what to do: ") {
		require.Contains(d.t, p.stderr.String(), text)
	}
}

// goesOn starts a daemon that has what it needs, and holds that the output is the replay's in the end: each record
// once.
func (d *onDisk) goesOn() {
	d.t.Helper()
	p := start(d.t, d.dir)
	p.ready()
	d.send("z", "last", "T", 10)
	d.taken(p)
	p.stop()
	want := succeed(d.t, d.dir, "replay", "--batch-log", "state").stdout
	var got strings.Builder
	for _, r := range committed(d.t, d.addr, d.name+"-out") {
		got.Write(r.Value)
		got.WriteByte('\n')
	}
	require.Equal(d.t, want, got.String())
	require.Contains(d.t, succeed(d.t, d.dir, "checkpoint", "verify", "state").stdout, "intact")
	left, err := os.ReadDir(filepath.Join(d.dir, "spill"))
	require.NoError(d.t, err)
	require.Empty(d.t, left)
}

// limited starts a daemon that may not write files beyond a size, in units of 512 bytes: it needs no rights to set up,
// and a write beyond fails as on a full disk.
func (d *onDisk) limited(blocks int) *process {
	return startWith(d.t, d.dir, []string{"sh", "-c", fmt.Sprintf(`ulimit -f %d && exec "$@"`, blocks), "sh"})
}

// diskFull: there is no space for the checkpoint, again and again, and then there is.
func diskFull(t *testing.T, addr string) {
	d := newOnDisk(t, addr, "full")
	for i := range 2 {
		d.fails(d.limited(300+37*i), "checkpoint state: the checkpoint cannot be written any more", "file too large")
	}
	d.goesOn()
}

// spoolFull: there is no space for the records of an open transaction, and then there is.
func spoolFull(t *testing.T, addr string) {
	d := newOnDisk(t, addr, "spool")
	d.pathsThrough(50)
	p := d.limited(600)
	d.send("a", "hub", "U", 20<<10)
	d.failed(p, "spool of the open transaction", "spill", "file too large")
	d.goesOn()
}

// pathsThrough makes edges that a U edge to the hub goes on with.
func (d *onDisk) pathsThrough(n int) {
	d.t.Helper()
	for range n {
		d.send("hub", "c"+strconv.FormatInt(d.n, 10), "T", 10)
	}
}

// testLog is a log in the test's process.
func testLog(t *testing.T) string {
	t.Helper()
	log, err := embedded.Open(embedded.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, log.Close()) })
	return log.Addr()
}

// TestP3DiskFull: a daemon that cannot write its checkpoint, or the records of an open transaction, ends with an error
// that says what to do. After that nothing is lost and nothing is doubled.
func TestP3DiskFull(t *testing.T) {
	t.Parallel()
	t.Run("checkpoint", func(t *testing.T) { diskFull(t, testLog(t)) })
	t.Run("spool", func(t *testing.T) { spoolFull(t, testLog(t)) })
}
