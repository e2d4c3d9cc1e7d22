//go:build kafka && unix

// Package brokertest runs an Apache Kafka broker on the loopback interface for tests: one KRaft node that is broker
// and controller, with its storage in a directory of the test. The jars lie in build/kafka/lib of the repository,
// where .ci/kafka/fetch puts them. A broker dies with the test process, however that ends.
package brokertest

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
)

// startTimeout bounds how long a broker may take until it answers; a Java process starts slowly on a busy machine.
const startTimeout = 15 * time.Minute

// Broker is a broker. Its methods are called by one goroutine at a time.
type Broker struct {
	dir    string
	addr   string
	inner  string                        // see StartBehind
	adjust func(lines map[string]string) // of server.properties; nil for none
	lib    string
	config string
	node   string // the node's number in the cluster
	heap   string // "" for 512 MB
	// archiveAtExit is where the broker writes the archive of its classes when it is stopped; "" for nowhere.
	archiveAtExit string
	// listeners are those beside the one without security.
	listeners []listener

	stdin  *os.File // of the shell around the broker: a line is a signal to send, its end is KILL
	exited chan struct{}
}

// shell runs Java as its child, passes on the signals that its standard input names, and kills the child when the
// input ends: when the test process has died, that is.
const shell = `exec 4<&0
java "$@" </dev/null &
pid=$!
(while read -r sig; do kill -"$sig" $pid; done; kill -KILL $pid) <&4 2>/dev/null &
reader=$!
wait $pid
status=$?
kill $reader 2>/dev/null
exit $status`

// JavaOptions have a process of Java start fast and stay small, and write nothing of its own to standard output.
var JavaOptions = []string{"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-Xlog:disable"}

// Start formats a new storage, starts a broker on it and waits until it answers. properties overrides lines of
// server.properties. The broker is killed when the test ends.
func Start(t testing.TB, properties map[string]string) *Broker {
	t.Helper()
	return start(t, &Broker{dir: t.TempDir(), lib: findLib(t)}, properties)
}

func start(t testing.TB, b *Broker, properties map[string]string) *Broker {
	t.Helper()
	b.configure(t, properties)
	b.format(t, clusterID())
	t.Cleanup(b.Kill)
	b.Launch(t)
	return b
}

// configure writes server.properties.
func (b *Broker) configure(t testing.TB, properties map[string]string) {
	t.Helper()
	ports := FreePorts(t, 2)
	b.addr = fmt.Sprintf("127.0.0.1:%d", ports[0])
	b.config = filepath.Join(b.dir, "server.properties")
	lines := map[string]string{
		"process.roles":             "broker,controller",
		"node.id":                   "1",
		"controller.quorum.voters":  fmt.Sprintf("1@127.0.0.1:%d", ports[1]),
		"controller.listener.names": "CONTROLLER",
		"listeners": fmt.Sprintf("PLAINTEXT://%s,CONTROLLER://127.0.0.1:%d", b.addr,
			ports[1]),
		"advertised.listeners":                     "PLAINTEXT://" + b.addr,
		"listener.security.protocol.map":           "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
		"log.dirs":                                 b.data(),
		"auto.create.topics.enable":                "false",
		"offsets.topic.num.partitions":             "1",
		"offsets.topic.replication.factor":         "1",
		"transaction.state.log.num.partitions":     "1",
		"transaction.state.log.replication.factor": "1",
		"transaction.state.log.min.isr":            "1",
		"group.initial.rebalance.delay.ms":         "0",
		// Small segments and an eager cleaner, so that compaction happens within a test.
		"log.segment.bytes":               "1048576",
		"log.initial.task.delay.ms":       "500",
		"log.cleaner.backoff.ms":          "500",
		"log.cleaner.min.cleanable.ratio": "0.01",
		"log.cleaner.dedupe.buffer.size":  "8388608",
		// Time-outs of transactions are looked for often.
		"transaction.abort.timed.out.transaction.cleanup.interval.ms": "250",
		// A broker that has not found its controller by then ends itself.
		"initial.broker.registration.timeout.ms": fmt.Sprint(startTimeout.Milliseconds()),
	}
	maps.Copy(lines, properties)
	for _, l := range b.listeners {
		l.add(lines)
	}
	if b.adjust != nil {
		b.adjust(lines)
	}
	b.node = lines["node.id"]
	var text strings.Builder
	for _, k := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprintf(&text, "%s=%s\n", k, lines[k])
	}
	if err := os.WriteFile(b.config, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// format makes the storage. Kafka's own tool would take a Java process, and adds what a broker assumes by itself.
func (b *Broker) format(t testing.TB, cluster string) {
	t.Helper()
	data := b.data()
	if err := os.Mkdir(data, 0o755); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("version=1\ncluster.id=%s\nnode.id=%s\n", cluster, b.node)
	if err := os.WriteFile(filepath.Join(data, "meta.properties"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// data is the folder of the storage.
func (b *Broker) data() string { return filepath.Join(b.dir, "data") }

// findLib returns the folder of the jars, with the archive of their classes in it.
func findLib(t testing.TB) string {
	t.Helper()
	if _, err := exec.LookPath("java"); err != nil {
		t.Fatal("java is not installed: the tests against a real broker need Java 17 or later")
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		lib := filepath.Join(dir, "build", "kafka", "lib")
		if jars, _ := filepath.Glob(filepath.Join(lib, "kafka_*.jar")); len(jars) > 0 {
			makeArchive(t, lib)
			return lib
		}
		if parent := filepath.Dir(dir); parent != dir {
			dir = parent
			continue
		}
		t.Fatal("build/kafka/lib is missing: run .ci/kafka/fetch first, which needs Java 17 or later and Maven")
	}
}

// clusterID is a random id in the form that Kafka uses; one that begins with a dash would be taken for a flag.
func clusterID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: see crypto/rand
	b[0] &= 0x7f
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// java returns a command that runs a class of the jars.
func (b *Broker) java(ctx context.Context, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, "java", b.javaArgs("256m", args...)...)
}

func (b *Broker) javaArgs(heap string, args ...string) []string {
	archive := "-XX:SharedArchiveFile=" + b.classArchive()
	if b.archiveAtExit != "" {
		archive = "-XX:ArchiveClassesAtExit=" + b.archiveAtExit
	}
	all := append(slices.Clone(JavaOptions), archive, "-Xmx"+heap, "-Dorg.slf4j.simpleLogger.showDateTime=true",
		"-cp", filepath.Join(b.lib, "*"))
	return append(all, args...)
}

// Addr is the address to give to clients.
func (b *Broker) Addr() string { return b.addr }

// LogFile is where the broker's own log goes, over all its starts.
func (b *Broker) LogFile() string { return filepath.Join(b.dir, "broker.log") }

// Launch starts the broker, which does not run, on the storage it has, and waits until it answers.
func (b *Broker) Launch(t testing.TB) {
	t.Helper()
	b.spawn(t)
	if err := b.await(); err != nil {
		text, _ := os.ReadFile(b.LogFile())
		t.Fatalf("%v\n%s", err, text[max(0, len(text)-4000):])
	}
}

// spawn starts the broker's process.
func (b *Broker) spawn(t testing.TB) {
	t.Helper()
	log, err := os.OpenFile(b.LogFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(
		"sh",
		append([]string{"-c", shell, "broker"}, b.javaArgs(cmp.Or(b.heap, "512m"), "kafka.Kafka", b.config)...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r, log, log
	err = cmd.Start()
	_ = r.Close()
	if err != nil {
		_ = w.Close()
		t.Fatal(err)
	}
	exited := make(chan struct{})
	var once sync.Once
	go func() {
		_ = cmd.Wait() // the status of a broker that was killed says nothing
		once.Do(func() { close(exited) })
	}()
	b.stdin, b.exited = w, exited
}

// await returns when the broker answers, or with an error when it has ended.
func (b *Broker) await() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	for {
		if b.answers(ctx) {
			return nil
		}
		select {
		case <-b.exited:
			return fmt.Errorf("the broker ended; see %s", b.LogFile())
		case <-ctx.Done():
			return fmt.Errorf("the broker does not answer after %v; see %s", startTimeout, b.LogFile())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// answers tells whether the broker knows itself to be a member of the cluster.
func (b *Broker) answers(ctx context.Context) bool {
	tr := &kafkago.Transport{}
	defer tr.CloseIdleConnections()
	cl := &kafkago.Client{Addr: kafkago.TCP(b.addr), Transport: tr, Timeout: 5 * time.Second}
	res, err := cl.Metadata(ctx, &kafkago.MetadataRequest{})
	return err == nil && slices.ContainsFunc(res.Brokers, func(r kafkago.Broker) bool {
		return b.addr == fmt.Sprintf("%s:%d", r.Host, r.Port)
	})
}

// Signal sends a signal to the broker by its name: STOP and CONT, say.
func (b *Broker) Signal(t testing.TB, name string) {
	t.Helper()
	if b.stdin == nil {
		t.Fatal("the broker does not run")
	}
	if _, err := io.WriteString(b.stdin, name+"\n"); err != nil {
		t.Fatal(err)
	}
}

// Kill ends the broker with SIGKILL and waits for its end. It does nothing when the broker does not run.
func (b *Broker) Kill() {
	if b.stdin == nil {
		return
	}
	_ = b.stdin.Close()
	<-b.exited
	b.stdin = nil
}

// Stop shuts the broker down in order.
func (b *Broker) Stop(t testing.TB) {
	t.Helper()
	b.Signal(t, "TERM")
	<-b.exited
	_ = b.stdin.Close()
	b.stdin = nil
}

// Restart kills the broker and starts it again on what it has stored.
func (b *Broker) Restart(t testing.TB) {
	t.Helper()
	b.Kill()
	b.Launch(t)
}
