//go:build kafka && unix

package brokertest

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// Record is a record as Java's console consumer shows it.
type Record struct {
	Partition  int
	Offset     int64
	Key, Value string // Null when there is none
	Headers    map[string]string
}

// Null stands for a key or a value that is not there.
const Null = "<null>"

// Consume reads a topic from its beginning with Java's console consumer under read_committed: a reader that shares no
// code with this repository. It ends when nothing came for three seconds. Keys, values and headers must be text
// without control characters.
func (b *Broker) Consume(t testing.TB, topic string) []Record {
	t.Helper()
	cmd := b.java(t.Context(), "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
		"org.apache.kafka.tools.consumer.ConsoleConsumer",
		"--bootstrap-server", b.addr, "--topic", topic, "--from-beginning",
		"--isolation-level", "read_committed", "--timeout-ms", "3000",
		"--property", "print.partition=true", "--property", "print.offset=true",
		"--property", "print.headers=true", "--property", "print.key=true",
		"--property", "null.literal="+Null, "--property", "key.separator=\x1f",
		"--property", "headers.separator=\x1e")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	// The time-out is reported as an error, although it is how reading ends.
	if err := cmd.Run(); err != nil && !strings.Contains(stderr.String(), "TimeoutException") {
		t.Fatalf("console consumer: %v\n%s", err, stderr.String())
	}
	var out []Record
	for line := range strings.Lines(stdout.String()) {
		r, err := parseLine(strings.TrimSuffix(line, "\n"))
		if err != nil {
			t.Fatalf("console consumer: %v in %q", err, line)
		}
		out = append(out, r)
	}
	return out
}

func parseLine(line string) (Record, error) {
	f := strings.Split(line, "\x1f")
	if len(f) != 5 {
		return Record{}, fmt.Errorf("%d fields, want 5", len(f))
	}
	r := Record{Key: f[3], Value: f[4], Headers: map[string]string{}}
	var err error
	if r.Partition, err = strconv.Atoi(strings.TrimPrefix(f[0], "Partition:")); err != nil {
		return r, err
	}
	if r.Offset, err = strconv.ParseInt(strings.TrimPrefix(f[1], "Offset:"), 10, 64); err != nil {
		return r, err
	}
	for h := range strings.SplitSeq(f[2], "\x1e") {
		if k, v, ok := strings.Cut(h, ":"); ok {
			r.Headers[k] = v
		}
	}
	return r, nil
}
