package config

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"motifd/stream/codec"
	"motifd/stream/file"
)

// validator collects what is wrong, with the place of the field.
type validator struct {
	c      *Config
	getenv func(string) (string, bool)
	gpu    bool // the program has the GPU backend
	errs   Errors
	// elsewhere is LoadOptions.Elsewhere.
	elsewhere bool
}

func (v *validator) fail(path, format string, args ...any) {
	v.errs = append(v.errs, &Error{v.c.src.where(path), path, fmt.Sprintf(format, args...)})
}

func (v *validator) oneOf(path, value string, choices ...string) {
	if !slices.Contains(choices, value) {
		v.fail(path, "%s", unknown("choice", value, choices))
	}
}

func (v *validator) positive(path string, value int64) {
	if value <= 0 {
		v.fail(path, "is %d; it has to be greater than 0", value)
	}
}

func (v *validator) secret(path string, s *Secret) {
	if v.elsewhere {
		return
	}
	if err := s.resolve(v.c.src, path, v.getenv); err != nil {
		v.fail(path, "%v", err)
	}
	v.private(path, s.File)
}

// validate checks everything that can be checked without starting anything.
func (c *Config) validate(opt *LoadOptions) error {
	v := &validator{c: c, getenv: lookup(opt.Environ), gpu: opt.GPU, elsewhere: opt.Elsewhere}
	v.graph()
	v.input()
	v.batch()
	v.time()
	v.output()
	v.engine()
	v.checkpoint()
	v.admin()
	v.embedded()
	v.oneOf("log.level", c.Log.Level, "debug", "info", "warn", "error")
	v.oneOf("log.format", c.Log.Format, "auto", "console", "json")
	if _, err := c.BuildQueries(); err != nil {
		if list, ok := err.(Errors); ok {
			v.errs = append(v.errs, list...)
		} else {
			v.errs = append(v.errs, err)
		}
	}
	return v.errs.or()
}

func (v *validator) graph() {
	g := &v.c.Graph
	v.properties()
	v.oneOf("graph.bootstrap_format", g.BootstrapFormat, "auto", "json", "csv", "text")
	if g.Bootstrap != "" {
		v.file("graph.bootstrap", g.Bootstrap)
		if g.BootstrapFormat == "auto" {
			if f, err := FormatOf(g.Bootstrap); err != nil {
				v.fail("graph.bootstrap", "%v; or set graph.bootstrap_format", err)
			} else {
				g.BootstrapFormat = f
			}
		}
	}
	if g.Bootstrap != "" || g.BootstrapCSV != "" {
		v.columns("graph.bootstrap_csv", g.BootstrapCSV, g.BootstrapFormat, "graph.bootstrap_format")
	}
	if limit := uint64(1<<31 - 1); g.MaxEdges > limit {
		v.fail("graph.max_edges", "is %d; a graph holds at most %d edges", g.MaxEdges, limit)
	}
	if limit := uint64(1 << 20); g.MaxVertexLabels > limit {
		v.fail("graph.max_vertex_labels", "is %d; a graph has at most %d labels", g.MaxVertexLabels, limit)
	}
	v.oneOf("graph.on_max_edges", g.OnMaxEdges, OnMaxEdgesPause, OnMaxEdgesReject)
	if limit := uint64(1<<32 - 1); g.MaxVertices > limit {
		v.fail("graph.max_vertices", "is %d; a graph holds at most %d vertices", g.MaxVertices, limit)
	}
}

// file checks that a file can be read.
func (v *validator) file(path, name string) {
	if isPEM(name) {
		v.fail(path, "holds the text itself; it is the name of a file")
		return
	}
	f, err := os.Open(name)
	if err != nil {
		v.fail(path, "%v", err)
		return
	}
	_ = f.Close() // nothing was written
}

// columns checks the column mapping of CSV records, which goes with that format alone.
func (v *validator) columns(path, mapping, format, formatPath string) {
	switch {
	case mapping == "" && format == "csv":
		v.fail(path, "is missing; CSV needs it: from=COLUMN,to=COLUMN,label=COLUMN,...")
	case mapping == "":
	case format != "csv":
		v.fail(path, "goes with %s: csv, which is %s", formatPath, format)
	default:
		if _, err := codec.ParseMapping(mapping); err != nil {
			v.fail(path, "%v", err)
		}
	}
}

func (v *validator) input() {
	in := &v.c.Input
	switch {
	case in.Kafka == nil && in.File == nil:
		v.fail("input", "there is no input; set input.kafka (brokers, topic) or input.file (path)")
	case in.Kafka != nil && in.File != nil:
		v.fail("input.file", "input.kafka is set as well; there is one input")
	case in.Kafka != nil:
		v.kafkaInput(in.Kafka)
		if in.Format == "auto" {
			in.Format = "json"
		}
	case in.File.Path == "":
		v.fail("input.file.path", "is missing; name a file, a directory, or - for standard input")
	case in.Format == "auto":
		v.detectFormat(in)
	}
	v.oneOf("input.format", in.Format, "auto", "json", "csv", "text")
	v.oneOf("input.unknown_fields", in.UnknownFields, "refuse", "ignore")
	v.columns("input.csv.columns", in.CSV.Columns, in.Format, "input.format")
	if c := in.CSV.Comma; len(c) > 1 || c != "" && (c[0] >= 0x80 || c == "\"" || c == "\n" || c == "\r") {
		v.fail("input.csv.comma", "is %q; it must be one ASCII character, but not a quote or a line break", c)
	}
	v.positive("input.limits.max_message_bytes", int64(in.Limits.MaxMessageBytes))
	v.positive("input.limits.max_depth", int64(in.Limits.MaxDepth))
	v.positive("input.limits.max_updates", int64(in.Limits.MaxUpdates))
	v.positive("input.limits.max_props_bytes", int64(in.Limits.MaxPropsBytes))
	v.positive("input.limits.max_expanded_bytes", int64(in.Limits.MaxExpandedBytes))
	v.positive("input.limits.max_expansion", int64(in.Limits.MaxExpansion))
	if f := in.File; f != nil {
		v.oneOf("input.file.on_damage", f.OnDamage, string(file.DamageStop), string(file.DamageSkip))
	}
	o := v.c.decoderOptions()
	if o.EnsureDefaults(); len(v.errs) == 0 {
		if err := o.Validate(); err != nil {
			v.fail("input.limits", "%v", err)
		} else if in.Format == codec.FormatCSV {
			v.header(in)
		}
	}
}

// header checks that there is a header for columns that are named, and that it has them: without, every record would be
// refused.
func (v *validator) header(in *Input) {
	o, err := v.c.DecoderOptions()
	switch {
	case err != nil:
		v.fail("input.csv.columns", "%v", err)
	case in.CSV.Header != "":
		if _, err := codec.NewDecoder(in.Format, o); err != nil {
			v.fail("input.csv.header", "%v", err)
		}
	case in.Kafka != nil && !o.Mapping.ByNumber():
		v.fail(
			"input.csv.header",
			"is missing: records of Kafka come without a header row, and input.csv.columns names columns; "+
				"write the row here, or number the columns as in from=#1",
		)
	}
}

// detectFormat tells the format of a file by its extension; in a directory all files have one format.
func (v *validator) detectFormat(in *Input) {
	path := in.File.Path
	if path == file.Stdin {
		v.fail("input.format", "standard input has no extension to tell the format by; set json, csv or text")
		return
	}
	if _, err := os.Stat(path); err != nil {
		if !v.elsewhere {
			v.fail("input.file.path", "%v", err)
		}
		return
	}
	f, err := FormatOf(path)
	if err != nil {
		v.fail("input.file.path", "%v; or set input.format", err)
		return
	}
	in.Format = f
}

// FormatOf tells the format of an update or graph file by its extension, .gz and .zst aside. The files of a directory
// have one format.
func FormatOf(path string) (string, error) {
	byName := func(name string) (string, error) {
		if f := codec.FormatOf(name); f != "" {
			return f, nil
		}
		return "", fmt.Errorf(
			"%s: the extension does not tell the format; it is .txt or .graph, .jsonl, or .csv, each also with .gz "+
				"or .zst",
			name,
		)
	}
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() { // a file that is not there is for its reader to tell
		return byName(path)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return "", err
	}
	format := ""
	for _, e := range entries {
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		f, err := byName(filepath.Join(path, e.Name()))
		switch {
		case err != nil:
			return "", err
		case format != "" && format != f:
			return "", fmt.Errorf(
				"%s: the directory holds files of the formats %s and %s; one input has one format",
				path,
				format,
				f,
			)
		}
		format = f
	}
	if format == "" {
		return "", fmt.Errorf("%s: the directory is empty, so that the format is unknown", path)
	}
	return format, nil
}

func (v *validator) kafkaInput(k *KafkaInput) {
	v.connection("input.kafka", &k.Connection)
	v.requestTimeout("input.kafka", &k.Connection)
	if k.Topic == "" {
		v.fail("input.kafka.topic", "is missing")
	}
	v.oneOf("input.kafka.start", k.Start, "earliest", "latest")
	v.oneOf("input.kafka.isolation", k.Isolation, "read_committed", "read_uncommitted")
	v.oneOf("input.kafka.merge", k.Merge, "timestamp", "none")
	v.oneOf("input.kafka.on_data_loss", k.OnDataLoss, "stop", "continue")
	sorted := slices.Sorted(slices.Values(k.Partitions))
	for i, p := range sorted {
		if p < 0 || i > 0 && p == sorted[i-1] {
			v.fail("input.kafka.partitions", "%d is negative or named twice", p)
		}
	}
}

// requestTimeout checks a bound on answers: below a second a broker that syncs its disk is taken for one that is away.
func (v *validator) requestTimeout(path string, c *Connection) {
	if d := c.RequestTimeout.Std(); d < time.Second || d > 10*time.Minute {
		v.fail(path+".request_timeout", "is %s; it is 1s to 10m", d)
	}
}

func (v *validator) connection(path string, c *Connection) {
	if len(c.Brokers) == 0 {
		v.fail(path+".brokers", "is missing; name at least one broker as host:port, or add the section embedded")
	}
	for _, b := range c.Brokers {
		if err := checkAddress(b); err != nil {
			v.fail(path+".brokers", "%v", err)
		}
	}
	if t := c.TLS; t != nil {
		before := len(v.errs)
		if (t.CertFile == "") != (t.KeyFile == "") {
			v.fail(path+".tls", "cert_file and key_file go together")
		}
		for _, f := range []pathName{{"ca_file", t.CAFile}, {"cert_file", t.CertFile}, {"key_file", t.KeyFile}} {
			if f.name != "" {
				v.file(path+".tls."+f.path, f.name)
			}
		}
		v.private(path+".tls.key_file", t.KeyFile)
		if len(v.errs) == before {
			if _, err := t.config(v.c.src, path+".tls"); err != nil {
				v.fail(path+".tls", "%v", err)
			}
		}
	}
	if s := c.SASL; s != nil {
		v.oneOf(path+".sasl.mechanism", s.Mechanism, "plain", "scram-sha-256", "scram-sha-512")
		if s.Username == "" {
			v.fail(path+".sasl.username", "is missing")
		}
		if !s.Password.Set() {
			v.fail(path+".sasl.password", "is missing; write {file: FILE} or {env: VARIABLE}")
		}
		v.secret(path+".sasl.password", &s.Password)
	}
}

// checkAddress checks host:port.
func checkAddress(addr string) error {
	if err := plainAddress(addr); err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("%q is not an address; write host:port", addr)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return fmt.Errorf("%q has no valid port; it is a number from 0 to 65535", addr)
	}
	return nil
}

func (v *validator) batch() {
	b := &v.c.Batch
	v.positive("batch.max_updates", int64(b.MaxUpdates))
	v.positive("batch.max_bytes", int64(b.MaxBytes))
	q := &v.c.Queues
	v.positive("queues.input_records", int64(q.InputRecords))
	v.positive("queues.input_bytes", int64(q.InputBytes))
	v.positive("queues.output_bytes", int64(q.OutputBytes))
}

func (v *validator) engine() {
	e := &v.c.Engine
	if e.Backend == "cuda" && !v.gpu {
		v.fail("engine.backend", NoGPU)
	} else {
		v.oneOf("engine.backend", e.Backend, "auto", "cpu", "cuda", "reference")
	}
	if err := e.Device.Check(); err != nil {
		v.fail("engine.device", "%v", err)
	}
	if p := &e.Placement; p.Fill < 1 {
		v.fail("engine.placement.fill", "is 0; it has to be greater than 0")
	} else if p.ExplorePercent < 1 || p.ExplorePercent > 100 {
		v.fail("engine.placement.explore_percent", "is %d; it is 1 to 100", p.ExplorePercent)
	} else if p.HysteresisPercent < 1 || p.HysteresisPercent > 99 {
		v.fail("engine.placement.hysteresis_percent", "is %d; it is 1 to 99", p.HysteresisPercent)
	} else if p.Rehearse < 0 {
		v.fail("engine.placement.rehearse", "is %v; it is a duration like 500ms, or 0 for none", p.Rehearse)
	}
	if e.Threads < 0 || e.Threads > 1024 {
		v.fail("engine.threads", "is %d; it is 1 to 1024, or 0 for one per processor", e.Threads)
	}
	v.positive("engine.group_memory", int64(e.GroupMemory))
	if l := &e.Limits; l.QueryTime < 0 {
		v.fail("engine.limits.query_time", "is %v; it is a duration like 1m, or 0 for no limit", l.QueryTime)
	} else if l.BatchTime < 0 {
		v.fail("engine.limits.batch_time", "is %v; it is a duration like 5m, or 0 for no limit", l.BatchTime)
	}
	if e.SpillDir != "" && !v.elsewhere {
		if info, err := os.Stat(e.SpillDir); err != nil || !info.IsDir() {
			v.fail("engine.spill_dir", "%s is not a directory; create it first", e.SpillDir)
		}
	}
}

func (v *validator) checkpoint() {
	if v.c.Checkpoint.Dir == "" {
		v.fail("checkpoint.dir", "is missing; name a directory for the daemon's state, it is created when it does "+
			"not exist")
	}
}

func (v *validator) embedded() {
	e := v.c.Embedded
	if e == nil {
		return
	}
	if e.Dir == "" {
		v.fail("embedded.dir", "is missing; name a directory for the embedded log's data")
	}
	if e.Port < 1 || e.Port > 65535 {
		v.fail("embedded.port", "is %d; it is 1 to 65535", e.Port)
	}
	if e.Partitions < 1 || e.Partitions > 1000 {
		v.fail("embedded.partitions", "is %d; it is 1 to 1000", e.Partitions)
	}
	if v.c.Input.Kafka == nil && v.c.Output.Kafka == nil {
		v.fail("embedded", "neither input nor output is kafka, so that nothing would use the embedded log")
	}
}
