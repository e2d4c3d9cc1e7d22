package config

import (
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"motifd/stream/file"
	"motifd/stream/kafka/publish"
)

func (v *validator) output() {
	out := &v.c.Output
	v.oneOf("output.mode", out.Mode, "changelog", "upsert")
	switch {
	case out.Kafka == nil && out.File == nil:
		v.fail("output", "there is no output; set output.kafka (brokers, topic) or output.file (path)")
	case out.Kafka != nil && out.File != nil:
		v.fail("output.file", "output.kafka is set as well; there is one output")
	case out.Kafka != nil:
		v.kafkaOutput(out.Kafka)
	default:
		v.fileOutput(out.File)
	}
}

func (v *validator) kafkaOutput(k *KafkaOutput) {
	if !k.inherited {
		v.connection("output.kafka", &k.Connection)
	}
	if in := v.c.Input.Kafka; in == nil || in.RequestTimeout != k.RequestTimeout { // the input's is checked there
		v.requestTimeout("output.kafka", &k.Connection)
	}
	if k.Topic == "" {
		v.fail("output.kafka.topic", "is missing")
	}
	v.oneOf("output.kafka.compression", k.Compression, "none", "gzip", "snappy", "lz4", "zstd")
	v.oneOf(
		"output.kafka.transactions",
		k.Transactions,
		publish.TransactionsAuto,
		publish.TransactionsOn,
		publish.TransactionsOff,
	)
	v.oneOf(
		"output.kafka.on_partition_change",
		k.OnPartitionChange,
		publish.PartitionsStop,
		publish.PartitionsKeep,
		publish.PartitionsSpread,
	)
	if k.OnPartitionChange == publish.PartitionsSpread && v.c.Output.Mode == "upsert" {
		v.fail(
			"output.kafka.on_partition_change",
			"is spread, and output.mode is upsert: the tombstone of a match could go to another "+
				"partition than the match, which would then stay for ever; use keep, or a new output topic and "+
				"checkpoint",
		)
	}
	v.positive("output.kafka.max_transaction_records", int64(k.MaxTransactionRecords))
	v.positive("output.kafka.transaction_memory", int64(k.TransactionMemory))
	if d := k.TransactionTimeout.Std(); d < time.Second || d > 24*time.Hour {
		v.fail(
			"output.kafka.transaction_timeout",
			"is %s; it is 1s to 24h, and no more than the brokers' transaction.max.timeout.ms",
			d,
		)
	}
	names := []pathName{
		{"output.kafka.topic", k.Topic},
		{"output.kafka.dead_letter", k.DeadLetter},
		{"output.kafka.control", k.Control},
	}
	if k.Transactions != publish.TransactionsOff && k.Topic != "" {
		names = append(names, pathName{"output.kafka.progress_topic", k.Progress()})
	}
	if in := v.c.Input.Kafka; in != nil {
		names = append([]pathName{{"input.kafka.topic", in.Topic}}, names...)
	}
	v.distinct("topic", names)
}

func (v *validator) fileOutput(f *FileOutput) {
	if f.Path == "" {
		v.fail("output.file.path", "is missing; name a file, or - for standard output")
	}
	names := []pathName{
		{"output.file.path", f.Path},
		{"output.file.dead_letter", f.DeadLetter},
		{"output.file.control", f.Control},
	}
	// Told here: outputs are opened when the initial graph is loaded, and a checkpoint with a graph keeps their names.
	for _, n := range names {
		if n.name == "" || n.name == file.None || n.name == file.Stdout || v.elsewhere {
			continue
		}
		if info, err := os.Stat(filepath.Dir(n.name)); err != nil || !info.IsDir() {
			v.fail(n.path, "is %s: %s is not a directory; create it first", n.name, filepath.Dir(n.name))
		}
	}
	if in := v.c.Input.File; in != nil {
		names = append([]pathName{{"input.file.path", in.Path}}, names...)
	}
	v.distinct("file", names)
}

type pathName struct{ path, name string }

// distinct checks that no two fields name the same topic or file; - may be read and written.
func (v *validator) distinct(what string, names []pathName) {
	seen := make(map[string]string)
	for _, n := range names {
		if n.name == "" || n.name == file.Stdin && n.path == "input.file.path" {
			continue
		}
		if first, ok := seen[n.name]; ok {
			v.fail(n.path, "is the same %s as %s: %s", what, first, n.name)
		}
		seen[n.name] = n.path
	}
}

func (v *validator) admin() {
	a := &v.c.Admin
	if a.MaxQueries < 0 {
		v.fail("admin.max_queries", "is %d; it must not be negative", a.MaxQueries)
	}
	if a.MaxRequestsPerSecond < 0 {
		v.fail("admin.max_requests_per_second", "is %d; it must not be negative", a.MaxRequestsPerSecond)
	}
	if a.CountTime < 0 {
		v.fail("admin.count_time", "is %s; it must not be negative", a.CountTime)
	}
	if a.StepTimeout < 0 {
		v.fail("admin.step_timeout", "is %s; it must not be negative", a.StepTimeout)
	}
	if a.MetricsListen != "" {
		if err := checkAddress(a.MetricsListen); err != nil {
			v.fail("admin.metrics_listen", "%v", err)
		} else if a.MetricsListen == a.Listen && !strings.HasSuffix(a.Listen, ":0") {
			v.fail(
				"admin.metrics_listen",
				"is the address of admin.listen, which has metrics and probes, too; leave it out or choose another",
			)
		}
	}
	if a.Listen == "" {
		return
	}
	if err := checkAddress(a.Listen); err != nil {
		v.fail("admin.listen", "%v", err)
		return
	}
	if t := a.TLS; t != nil {
		if t.CertFile == "" || t.KeyFile == "" {
			v.fail("admin.tls", "cert_file and key_file are both needed")
		} else {
			before := len(v.errs)
			v.file("admin.tls.cert_file", t.CertFile)
			v.file("admin.tls.key_file", t.KeyFile)
			v.private("admin.tls.key_file", t.KeyFile)
			if t.src = v.c.src; len(v.errs) == before {
				if _, err := a.ServerTLS(); err != nil {
					v.errs = append(v.errs, &Error{v.c.src.where("admin.tls"), "", err.Error()})
				}
			}
		}
	}
	v.secret("admin.token", &a.Token)
	if !IsLoopback(a.Listen) && (a.TLS == nil || !a.Token.Set()) {
		v.fail("admin.listen", "is %s, beyond loopback: that needs admin.tls (cert_file, key_file) and admin.token; "+
			"or listen on 127.0.0.1", a.Listen)
	}
}

// IsLoopback reports whether an address host:port is reached from this machine only.
func IsLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
