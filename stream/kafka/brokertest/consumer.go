//go:build kafka && unix

package brokertest

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
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
// code with this repository. Keys, values and headers must be text without control characters.
//
// The console consumer knows no end: it gives up when nothing came for a while, which on a busy machine may be before
// its first record. So whole tells whether this is all; if not, it is asked again to wait for twice as long, from
// three seconds to a minute and a half.
func (b *Broker) Consume(t testing.TB, topic string, whole func([]Record) bool) []Record {
	t.Helper()
	for wait := 3 * time.Second; ; wait *= 2 {
		if recs := b.consume(t, topic, wait); whole(recs) || wait > time.Minute {
			return recs
		}
	}
}

func (b *Broker) consume(t testing.TB, topic string, wait time.Duration) []Record {
	t.Helper()
	cmd := b.java(t.Context(), "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
		"org.apache.kafka.tools.consumer.ConsoleConsumer",
		"--bootstrap-server", b.addr, "--topic", topic, "--from-beginning",
		"--isolation-level", "read_committed", "--timeout-ms", fmt.Sprint(wait.Milliseconds()),
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
