//go:build kafka && unix

package main

import (
	"encoding/base64"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"motifd/stream/kafka"
	"motifd/stream/kafka/admin"
	"motifd/stream/kafka/brokertest"
)

const secretConfig = `
input:
  kafka:
    brokers: ["INPUT"]
    topic: secret-in
    group: secret-group
    tls: {ca_file: "CA"}
    sasl: {mechanism: INMECH, username: INUSER, password: {file: password}}
output:
  kafka:
    brokers: ["OUTPUT"]
    topic: secret-out
    dead_letter: secret-dead
    control: secret-control
    sasl: {mechanism: OUTMECH, username: OUTUSER, password: {env: OUTPUT_PASSWORD}}
batch: {linger: 1ms}
checkpoint: {dir: state}
log: {level: debug, format: json}
queries: [{name: edge, cypher: "MATCH (a)-[:T]->(b)"}]
`

// secrets: passwords come from a file and from the environment, open the brokers, and are in nothing that the daemon
// says or writes; a wrong one is told, and not tried again.
func secrets(t *testing.T, b *brokertest.Secured) {
	in, out := b.Users[2], b.Users[0]
	b.AllowAll(t, "User:"+in.Name)
	b.AllowAll(t, "User:"+out.Name)
	config := strings.NewReplacer("INPUT", b.SASLTLS, "OUTPUT_PASSWORD", "OUTPUT_PASSWORD", "OUTPUT", b.SASL, "CA",
		b.Certs.CAFile,
		"INMECH", in.Mechanism, "INUSER", in.Name, "OUTMECH", out.Mechanism, "OUTUSER", out.Name).Replace(secretConfig)
	dir := write(t, map[string]string{"motifd.yaml": config, "password": in.Password + "\n"})
	t.Setenv("OUTPUT_PASSWORD", out.Password)
	const wrong = "Wr0ng-4711-password"
	var said strings.Builder
	run := func(want int, args ...string) string {
		t.Helper()
		r := motifd(t, dir, append(args, "-c", "motifd.yaml")...)
		require.Equal(t, want, r.code, r.stderr)
		said.WriteString(r.stdout + r.stderr)
		return r.stdout + r.stderr
	}
	run(0, "run", "--check")
	require.Contains(t, run(exitRefused, "run", "--set", "output.kafka.sasl.password="+wrong),
		"a secret is never written on the command line")
	run(0, "topics", "create", "--timeout=10m")
	run(0, "topics", "check", "--timeout=10m")
	cl, err := brokertest.NewClient(b.Addr(), kgo.DefaultProduceTopic("secret-in"))
	require.NoError(t, err)
	defer cl.Close()
	p := start(t, dir)
	p.ready()
	require.NoError(t, cl.ProduceSync(t.Context(),
		&kgo.Record{Value: []byte(strings.TrimSpace(edgeJSON("+", "a", "b")))}, &kgo.Record{Value: []byte("bad")}).
		FirstErr())
	p.until("the updates were taken", func() bool { return p.status().Positions["0"] == 2 })
	for _, path := range []string{"/api/v1/status", "/api/v1/queries", "/metrics", "/readyz"} {
		said.WriteString(p.ask("GET", path, "").body)
	}
	p.stop()
	said.WriteString(p.stderr.String())
	require.Len(t, committed(t, b.Addr(), "secret-out"), 1)

	require.NoError(t, os.WriteFile(filepath.Join(dir, "password"), []byte(wrong), 0o600))
	require.Contains(t, run(exitFailed, "run"), "SASL Authentication Failed")
	require.Contains(t, run(exitFailed, "topics", "check", "--timeout=10m"), "SASL Authentication Failed")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "password"), []byte(in.Password), 0o600))
	t.Setenv("OUTPUT_PASSWORD", wrong)
	require.Contains(t, run(exitFailed, "run"), "SASL Authentication Failed")
	t.Setenv("OUTPUT_PASSWORD", out.Password)
	stranger := brokertest.NewAuthority(t)
	require.Contains(t, run(exitFailed, "run", "--set", "input.kafka.tls.ca_file="+stranger.CAFile),
		"certificate signed by unknown authority")
	require.Contains(t, run(exitFailed, "run", "--set", "input.kafka.brokers="+b.Mutual), "certificate")

	files := 0
	require.NoError(t, filepath.WalkDir(filepath.Join(dir, "state"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files++
			said.WriteString(readFile(t, path))
		}
		return err
	}))
	require.Positive(t, files)
	for _, secret := range []string{in.Password, out.Password, wrong} {
		for _, form := range []string{secret, base64.StdEncoding.EncodeToString([]byte(secret)),
			secret[:len(secret)/2]} {
			require.NotContains(t, said.String(), form)
		}
	}
}

// permissions: what docs/howto/deploy.md lists is enough, and that something is missing is told.
func permissions(t *testing.T, b *brokertest.Secured) {
	u := b.Users[1]
	principal := "User:" + u.Name
	client := kafka.ClientOptions{Brokers: []string{b.Addr()}}
	require.NoError(t, admin.EnsureTopics(t.Context(), client, admin.Topic{Name: "acl-in"},
		admin.Topic{Name: "acl-out"}, admin.Topic{Name: "acl-dead"},
		admin.Topic{Name: "acl-control"}, admin.ProgressTopic("acl-out-progress")))
	config := strings.NewReplacer("INPUT", b.SASL, "OUTPUT_PASSWORD", "OUTPUT_PASSWORD", "OUTPUT", b.SASL,
		`tls: {ca_file: "CA"}`, "", "secret-", "acl-",
		"INMECH", u.Mechanism, "INUSER", u.Name, "OUTMECH", u.Mechanism, "OUTUSER", u.Name).Replace(secretConfig)
	dir := write(t, map[string]string{"motifd.yaml": config, "password": u.Password})
	t.Setenv("OUTPUT_PASSWORD", u.Password)
	cl, err := brokertest.NewClient(b.Addr(), kgo.DefaultProduceTopic("acl-in"))
	require.NoError(t, err)
	defer cl.Close()
	denied := func(what string) {
		t.Helper()
		r := motifd(t, dir, "run", "-c", "motifd.yaml", "--set", "admin.listen=")
		require.Equal(t, exitFailed, r.code, r.stderr)
		require.Contains(t, r.stderr, what)
	}
	allow := func(kind kmsg.ACLResourceType, name string, operations ...kmsg.ACLOperation) {
		t.Helper()
		var all []brokertest.Permission
		for _, op := range operations {
			all = append(all, brokertest.Permission{Operation: op, Kind: kind, Name: name})
		}
		b.Allow(t, principal, all...)
	}
	const topic, group, id = kmsg.ACLResourceTypeTopic, kmsg.ACLResourceTypeGroup, kmsg.ACLResourceTypeTransactionalId
	const read, writing, describe = kmsg.ACLOperationRead, kmsg.ACLOperationWrite, kmsg.ACLOperationDescribe
	denied("Topic Authorization Failed")
	for _, name := range []string{"acl-out", "acl-dead", "acl-control", "acl-out-progress"} {
		allow(topic, name, writing, read, describe)
	}
	denied("Transactional ID Authorization Failed")
	allow(id, "motifd-acl-out", writing, describe)
	denied("Topic Authorization Failed")
	allow(topic, "acl-in", read, describe)
	update := &kgo.Record{Value: []byte(strings.TrimSpace(edgeJSON("+", "a", "b")))}
	require.NoError(t, cl.ProduceSync(t.Context(), update).FirstErr())
	denied("Group Authorization Failed")
	allow(group, "acl-group", read)
	p := start(t, dir)
	p.until("the update was taken", func() bool { return p.status().Positions["0"] == 1 })
	p.stop()
	require.Len(t, committed(t, b.Addr(), "acl-out"), 1)
	r := motifd(t, dir, "topics", "check", "--timeout=10m", "-c", "motifd.yaml")
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.stderr, "Authorization Failed")
}
