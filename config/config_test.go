package config

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/matcher"
	"motifd/stream/kafka"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

// sound is the smallest configuration that is complete.
const sound = `
input:
  file: {path: testdata/updates.jsonl}
output:
  file: {path: out.jsonl}
checkpoint: {dir: state}
`

func load(t *testing.T, text string, environ []string, set ...string) (*Config, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "motifd.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	c, err := Load(LoadOptions{File: file, Environ: environ, Set: set})
	if err != nil {
		err = errors.New(strings.ReplaceAll(err.Error(), file, "motifd.yaml"))
	}
	return c, err
}

// TestOverrides holds that the environment overrides the file, and flags override the environment.
func TestOverrides(t *testing.T) {
	text := sound + "batch: {max_updates: 10, max_bytes: 1KiB, linger: 1s}\n"
	c, err := load(t, text, []string{"MOTIFD_BATCH_MAX_BYTES=2MiB", "MOTIFD_BATCH_LINGER=2s", "HOME=/"},
		"batch.linger=3s")
	require.NoError(t, err)
	require.Equal(t, 10, c.Batch.MaxUpdates)
	require.Equal(t, 2*MiB, c.Batch.MaxBytes)
	require.Equal(t, 3*time.Second, c.Batch.Linger.Std())
}

func TestOverridesMakeSections(t *testing.T) {
	c, err := Load(LoadOptions{
		Environ: []string{
			"MOTIFD_INPUT_KAFKA_BROKERS=a:1, b:2",
			"MOTIFD_INPUT_KAFKA_PARTITIONS=3,4",
			"MOTIFD_SERVICE_HOST=10.0.0.1",
		},
		Set: []string{"input.kafka.topic=in", "output.kafka.topic=out", "checkpoint.dir=d"},
	})
	require.NoError(t, err)
	require.Equal(t, []string{"a:1", "b:2"}, c.Input.Kafka.Brokers)
	require.Equal(t, []int32{3, 4}, c.Input.Kafka.Partitions)
	require.Equal(t, "earliest", c.Input.Kafka.Start, "a section that flags make has its defaults")
	require.Equal(t, c.Input.Kafka.Brokers, c.Output.Kafka.Brokers, "the output takes the input's brokers")
	require.Equal(t, 30*time.Second, c.Output.Kafka.RequestTimeout.Std(), "and its time-out")
}

// TestEnvironmentNamesAreUnique holds that no two fields have one variable.
func TestEnvironmentNamesAreUnique(t *testing.T) {
	seen := make(map[string]string)
	for _, path := range Fields() {
		name := EnvName(path)
		require.Empty(t, seen[name], "%s and %s are both %s", path, seen[name], name)
		seen[name] = path
	}
}

// TestS10BadConfigurations holds that every mistake is refused, with its place and what would be right. The corpus is
// testdata/bad/*.yaml, the answers are beside it.
func TestS10BadConfigurations(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			_, err := Load(LoadOptions{File: file})
			require.Error(t, err)
			golden(t, strings.TrimSuffix(file, ".yaml")+".golden", err.Error()+"\n")
			require.NotContains(t, err.Error(), "hunter2", "a secret was shown")
		})
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *rewrite {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

func TestS10BadOverrides(t *testing.T) {
	_, err := load(t, sound, []string{"MOTIFD_BATCH_LINGR=1s"}, "batch.max_update=3", "batch", "batch.linger=fast")
	require.EqualError(t, err, `MOTIFD_BATCH_LINGR: no field has this variable; did you mean MOTIFD_BATCH_LINGER?
--set batch.max_update: there is no field "batch.max_update"; did you mean "batch.max_updates"?
--set batch: expected FIELD=VALUE, such as batch.linger=50ms
--set batch.linger: batch.linger: "fast" is not a duration; write a number with a unit: 50ms, 2s, 1m`)
}

func TestQueries(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ring.cypher"), []byte("MATCH (a)-->(b)-->(c)-->(a)"), 0o644))
	c, err := load(t, sound+`
queries_dir: `+dir+`
queries:
  - {name: pair, cypher: "MATCH (a)-->(b)-->(a)", emit: counts, unit: subgraphs, backfill: full, work_budget: 7}
  - name: tri
    text: |
      v 0 A
      v 1 A
      e 0 1
`, nil)
	require.NoError(t, err)
	queries, err := c.BuildQueries()
	require.NoError(t, err)
	var names []string
	for _, q := range queries {
		names = append(names, q.Name)
		require.Equal(t, "config", q.Origin)
	}
	require.Equal(t, []string{"pair", "ring", "tri"}, names)
	require.Equal(t, matcher.EmitCounts, queries[0].Emit)
	require.Equal(t, matcher.Subgraphs, queries[0].Unit)
	require.Equal(t, matcher.BackfillFull, queries[0].Backfill)
	require.Equal(t, uint64(7), queries[0].WorkBudget)
}

// TestS14CompetingEdges holds that a pattern whose edges compete for one data edge is refused at its place, unless ids
// identify edges. Where a checkpoint is, which may hold the query, it is a warning.
func TestS14CompetingEdges(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "pair.cypher")
	require.NoError(t, os.WriteFile(file, []byte("MATCH (a)-[:T]->(b)<-[:T]-(a)"), 0o644))
	build := func(graph, checkpoint string) (*Config, error) {
		text := strings.NewReplacer("GRAPH", graph, "DIR", dir).Replace(`
graph: {GRAPH}
queries_dir: DIR
queries:
  - name: q
    cypher: |
      MATCH (a)-[t:T]->(b)
      MATCH (a)-[u:T]->(b)
`)
		return load(t, sound+text, []string{"MOTIFD_CHECKPOINT_DIR=" + checkpoint})
	}
	missing := filepath.Join(dir, "none")
	_, err := build("directed: true", missing)
	require.ErrorContains(t, err, `the edges "t", "u" between "a" and "b" cannot match together`)
	require.ErrorContains(t, err, file+":1:20: the edges")
	require.Regexp(t, `motifd.yaml:\d+:18: queries\[0\].cypher: the edges`, err.Error())
	_, err = build("directed: true, edge_identity: id", missing)
	require.NoError(t, err)
	c, err := build("directed: true", dir)
	require.NoError(t, err)
	require.Contains(t, strings.Join(c.Warnings(), "\n"), "the query is refused unless the checkpoint holds it")
}

// TestQueriesHaveTheSameDefaults holds that a query has the same defaults in the configuration, in a file of
// queries_dir and in the API, in each output mode.
func TestQueriesHaveTheSameDefaults(t *testing.T) {
	const ring = "MATCH (a)-->(b)-->(c)-->(a)"
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "dir.cypher"), []byte(ring), 0o600))
	for mode, backfill := range map[string]matcher.Backfill{"changelog": matcher.BackfillNone,
		"upsert": matcher.BackfillFull} {
		c, err := load(
			t,
			sound+"queries_dir: "+dir+"\nqueries: [{name: list, cypher: \""+ring+"\"}]\n",
			[]string{"MOTIFD_OUTPUT_MODE=" + mode},
		)
		require.NoError(t, err)
		queries, err := c.BuildQueries()
		require.NoError(t, err)
		require.Len(t, queries, 2)
		api, err := (&Query{Name: "api", Cypher: ring}).Build(true, mode, nil)
		require.NoError(t, err)
		require.Equal(t, backfill, api.Backfill)
		for _, q := range queries {
			q.Name, q.Origin = api.Name, api.Origin
			require.Equal(t, api, q)
		}
		with, err := (&Query{Name: "with", Cypher: "MATCH (a)-->(b) WITH b, count(*) AS n"}).Build(true, mode, nil)
		require.NoError(t, err)
		require.Equal(t, mode == "changelog", with.SilentChange)
	}
	_, err := (&Query{Name: "api", Cypher: ring, Backfill: "none"}).Build(true, "upsert", nil)
	require.ErrorIs(t, err, matcher.ErrQuery)
}

// TestP7SecretsStaySecret holds that a secret comes from a file or the environment and prints as ***.
func TestP7SecretsStaySecret(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	require.NoError(t, os.WriteFile(file, []byte("hunter2\n"), 0o600))
	text := `
input:
  kafka:
    brokers: [k:9092]
    topic: in
    sasl: {mechanism: plain, username: u, password: {file: ` + file + `}}
output: {kafka: {topic: out}}
checkpoint: {dir: d}
admin: {token: {env: TOKEN}}
`
	c, err := load(t, text, []string{"TOKEN=hunter3"})
	require.NoError(t, err)
	require.Equal(t, "hunter2", c.Input.Kafka.SASL.Password.Reveal())
	require.Equal(t, "hunter3", c.Admin.Token.Reveal())
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		shown := fmt.Sprintf(format, c) + fmt.Sprintf(format, *c.Input.Kafka.SASL) + fmt.Sprintf(format, c.Admin)
		require.NotContains(t, shown, "hunter")
	}
}

// TestSecretFilesAreReadAgain holds that a secret in a file is the one that the file holds now, or the last one if it
// holds none; and that files which others can read are warned of.
func TestSecretFilesAreReadAgain(t *testing.T) {
	dir := t.TempDir()
	password, fifo := filepath.Join(dir, "password"), filepath.Join(dir, "fifo")
	require.NoError(t, os.WriteFile(password, []byte("one\n"), 0o644))
	c, err := load(t, sound, nil, "admin.token.file="+password)
	require.NoError(t, err)
	require.Len(t, c.Warnings(), 1)
	require.Contains(t, c.Warnings()[0], "admin.token: every user of this machine can read the file (mode 0644)")
	var told []error
	c.OnReload(func(path string, err error) {
		require.Equal(t, "admin.token", path)
		told = append(told, err)
	})
	admin := c.Admin // copies are the same
	for _, step := range []struct {
		write func() error
		want  string
		tells int
	}{
		{func() error { return nil }, "one", 0},
		{func() error { return os.WriteFile(password, []byte("two"), 0o600) }, "two", 1},
		{func() error { return os.WriteFile(password, []byte("\n"), 0o600) }, "two", 2},
		{func() error { return os.Remove(password) }, "two", 3},
		{func() error { return os.WriteFile(password, []byte("two\n"), 0o600) }, "two", 4},
		{func() error { return os.WriteFile(password, make([]byte, maxSecretFile+1), 0o600) }, "two", 5},
	} {
		require.NoError(t, step.write())
		for range 2 {
			require.Equal(t, step.want, admin.Token.Reveal())
		}
		require.Len(t, told, step.tells)
	}
	require.NoError(t, os.Chmod(password, 0o600))
	require.NoError(t, os.WriteFile(password, []byte("x"), 0o600))
	c, err = load(t, sound, nil, "admin.token.file="+password)
	require.NoError(t, err)
	require.Empty(t, c.Warnings())

	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	go func() { _ = os.WriteFile(fifo, []byte("once"), 0o600) }()
	c, err = load(t, sound, nil, "admin.token.file="+fifo)
	require.NoError(t, err)
	for range 2 {
		require.Equal(t, "once", c.Admin.Token.Reveal(), "a pipe is read once")
	}
}

// TestConnectionsReadFilesAgain holds that a new connection to the brokers has the certificates and the password that
// the files hold then, the output's like the input's.
func TestConnectionsReadFilesAgain(t *testing.T) {
	dir := t.TempDir()
	ca, password := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "password")
	authority := func(serial int64) *x509.Certificate {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		require.NoError(t, err)
		name := &x509.Certificate{
			SerialNumber:          big.NewInt(serial),
			Subject:               pkix.Name{CommonName: fmt.Sprint(serial)},
			IsCA:                  true,
			BasicConstraintsValid: true,
		}
		der, err := x509.CreateCertificate(rand.Reader, name, name, &key.PublicKey, key)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
		c, err := x509.ParseCertificate(der)
		require.NoError(t, err)
		return c
	}
	pool := func(c *x509.Certificate) *x509.CertPool {
		p := x509.NewCertPool()
		p.AddCert(c)
		return p
	}
	first := authority(1)
	require.NoError(t, os.WriteFile(password, []byte("one"), 0o600))
	c, err := load(t, `
input:
  kafka:
    brokers: [k:9092]
    topic: in
    tls: {ca_file: `+ca+`}
    sasl: {username: u, password: {file: `+password+`}}
output: {kafka: {topic: out}}
checkpoint: {dir: d}
`, nil)
	require.NoError(t, err)
	var told []string
	c.OnReload(func(path string, err error) { told = append(told, fmt.Sprint(path, " ", err)) })
	source, err := c.SourceOptions()
	require.NoError(t, err)
	sink, err := c.SinkOptions()
	require.NoError(t, err)
	check := func(want *x509.Certificate, secret string) {
		t.Helper()
		for _, client := range []kafka.ClientOptions{source.ClientOptions, sink.ClientOptions} {
			require.True(t, client.TLS().RootCAs.Equal(pool(want)))
			require.Equal(t, secret, client.SASL.Password())
		}
	}
	check(first, "one")
	second := authority(2)
	require.NoError(t, os.WriteFile(password, []byte("two\n"), 0o600))
	check(second, "two")
	require.NoError(t, os.WriteFile(ca, []byte("no certificate"), 0o600))
	check(second, "two")
	slices.Sort(told)
	require.Equal(t, []string{
		"input.kafka.sasl.password <nil>", "input.kafka.tls <nil>",
		"input.kafka.tls the CA file holds no PEM certificate",
		"output.kafka.tls <nil>", "output.kafka.tls the CA file holds no PEM certificate",
	}, told)
}

// TestMisplacedSecretsAreNotShown holds it for the command line and the environment; for the file see testdata/bad.
func TestMisplacedSecretsAreNotShown(t *testing.T) {
	for _, set := range []string{
		"admin.token.file=hunter2", "admin.token.env=hunter2", "admin.tokn=hunter2",
		"input.kafka.brokers=sasl://u:hunter2@k:1",
		"output.kafka.brokers=u:hunter2@k:1", "admin.listen=u:hunter2@k:1", "admin.metrics_listen=http://u:hunter2@k:1",
		"graph.bootstrap=http://u:hunter2@h/g.csv",
	} {
		for _, opt := range []LoadOptions{{Set: []string{set}},
			{Environ: []string{strings.Replace(set, strings.Split(set, "=")[0], EnvName(strings.Split(set, "=")[0]),
				1)}}} {
			_, err := Load(opt)
			require.Error(t, err)
			require.NotContains(t, err.Error(), "hunter2", set)
		}
	}
}

// TestEnvironmentOfOthers holds that variables which hold a secret, and those that Kubernetes sets for services whose
// name begins with motifd, are not taken for misspelt fields, and that misspelt fields are told.
func TestEnvironmentOfOthers(t *testing.T) {
	kubernetes := []string{
		"MOTIFD_SERVICE_HOST=10.0.0.1",
		"MOTIFD_SERVICE_PORT=80",
		"MOTIFD_SERVICE_PORT_HTTP=80",
		"MOTIFD_PORT=tcp://10.0.0.1:80",
		"MOTIFD_PORT_8080_TCP=tcp://10.0.0.1:8080",
		"MOTIFD_PORT_8080_TCP_PROTO=tcp",
		"MOTIFD_PORT_8080_TCP_PORT=8080",
		"MOTIFD_PORT_8080_TCP_ADDR=10.0.0.1",
		"MOTIFD_METRICS_V2_SERVICE_HOST=10.0.0.2",
		"MOTIFD_METRICS_V2_PORT=udp://10.0.0.2:53",
		"MOTIFD_METRICS_V2_PORT_53_UDP_ADDR=10.0.0.2",
		"MOTIFD_METRICS_SERVICE_PORT_WEB_UI=80",
		"MOTIFD_EMBEDDED_PORT=tcp://10.0.0.3:9092",
	}
	_, err := load(t, sound, kubernetes)
	require.NoError(t, err)
	for _, secret := range [][2][]string{
		{{"MOTIFD_TOKEN=x"}, {"admin.token.env=MOTIFD_TOKEN"}},
		{{"MOTIFD_TOKEN=x", "MOTIFD_ADMIN_TOKEN_ENV=MOTIFD_TOKEN"}, nil},
	} {
		c, err := load(t, sound, secret[0], secret[1]...)
		require.NoError(t, err)
		require.Equal(t, "x", c.Admin.Token.Reveal())
	}
	for _, typo := range []string{
		"MOTIFD_TOKEN=x", "MOTIFD_EMBEDED_PORT=9093", "MOTIFD_PORT=7475", "MOTIFD_BATCH_LINGR=1s", "MOTIFD_SERVICE=x",
		"MOTIFD_PORT_TCP=x",
		"MOTIFD_ADMIN_LISTEN_PORT=7475",
	} {
		_, err := load(t, sound, []string{typo})
		require.ErrorContains(t, err, "no field has this variable", typo)
	}
}

func TestP7BeyondLoopback(t *testing.T) {
	for listen, loopback := range map[string]bool{
		"127.0.0.1:1": true, "localhost:1": true, "[::1]:1": true, "127.8.8.8:1": true,
		"0.0.0.0:1": false, ":1": false, "example.org:1": false, "192.168.0.1:1": false, "[::]:1": false,
	} {
		require.Equal(t, loopback, IsLoopback(listen), listen)
	}
}

func TestScalars(t *testing.T) {
	for text, want := range map[string]Size{"0": 0, "17": 17, "1KiB": KiB, "3 MiB": 3 * MiB, "2GiB": 2 * GiB, "5B": 5} {
		var s Size
		require.NoError(t, s.UnmarshalText([]byte(text)))
		require.Equal(t, want, s)
	}
	for _, text := range []string{"", "-1", "1KB", "1.5MiB", "99999999999TiB", "MiB"} {
		require.Error(t, new(Size).UnmarshalText([]byte(text)), text)
	}
	require.Equal(t, "8MiB", (8 * MiB).String())
	require.Equal(t, "1025", Size(1025).String())
}

// FuzzLoad holds that no document makes Load panic, and that what is refused is refused with a message.
func FuzzLoad(f *testing.F) {
	f.Add(sound)
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := Default()
		c.src = newSources()
		errs := bindFile(c, "f.yaml", []byte(text))
		for _, err := range errs {
			if err.Error() == "" {
				t.Fatal("an error without a message")
			}
		}
		if len(errs) == 0 {
			c.inherit()
			_ = c.validate(&LoadOptions{GPU: true})
		}
	})
}

// TestUnknownSet: what there is in place of a field that no one knows is said at a length that can be read.
func TestUnknownSet(t *testing.T) {
	for set, want := range map[string]string{
		"batch.lingr=1ms": `there is no field "batch.lingr"; did you mean "batch.linger"?`,
		"batch.frequency=1s": `there is no field "batch.frequency"; there are batch.linger, batch.max_bytes, ` +
			`batch.max_updates`,
		"foo.bar=1":                  `there is no section "foo"; there are admin, batch, checkpoint,`,
		"queries=x":                  "queries is set in the file alone",
		"queries.name=x":             "queries.name is set in the file alone",
		"graph.retention=1d":         "graph.retention is set in the file alone",
		"graph.properties=x":         "graph.properties is set in the file alone",
		"graph.properties.edges.T=x": "graph.properties.edges.T is set in the file alone",
		"graph=x":                    "there is no field \"graph\"; there are graph.",
	} {
		_, err := Load(LoadOptions{Set: []string{set}})
		path, _, _ := strings.Cut(set, "=")
		require.ErrorContains(t, err, "--set "+path+": "+want)
	}
	_, err := Load(LoadOptions{Environ: []string{"MOTIFD_GRAPH_RETENTION=1d"}})
	require.ErrorContains(t, err, "MOTIFD_GRAPH_RETENTION: graph.retention is set in the file alone")
}
