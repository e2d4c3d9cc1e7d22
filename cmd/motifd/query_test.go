package main

import (
	"encoding/pem"
	"io"
	stdlog "log"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"motifd/cmd/motifd/internal/admin"
	"motifd/config"
	"motifd/matcher"
)

// fakeDaemon is a daemon that has queries and pending changes.
type fakeDaemon struct {
	admin.Daemon
	queries []admin.Query
	pending []admin.PendingChange
}

func (f *fakeDaemon) Queries() []admin.Query         { return f.queries }
func (f *fakeDaemon) Pending() []admin.PendingChange { return f.pending }

// adminOf returns the admin interface of a daemon.
func adminOf(t *testing.T, cfg config.Admin, d admin.Daemon) *admin.Server {
	t.Helper()
	if cfg.Listen == "" {
		cfg.Listen = "127.0.0.1:7475"
	}
	a, err := admin.New(cfg, d, prometheus.NewRegistry(), zerolog.Nop())
	require.NoError(t, err)
	return a
}

// TestClientSaysWhatIsMissing holds that the commands name the flag that helps: an address without scheme, a
// certificate that is not trusted, a token that is missing or wrong.
func TestClientSaysWhatIsMissing(t *testing.T) {
	c, err := config.Load(config.LoadOptions{Environ: []string{"TOKEN=s3cret"}, Set: []string{
		"input.file.path=-", "input.format=json", "output.file.path=out", "checkpoint.dir=d", "admin.token.env=TOKEN",
		"admin.hosts=127.0.0.1",
	}})
	require.NoError(t, err)
	server := httptest.NewUnstartedServer(adminOf(t, c.Admin, &fakeDaemon{}))
	server.Config.ErrorLog = stdlog.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	dir := write(t, map[string]string{
		"token": "s3cret", "wrong": "other",
		"ca.pem": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})),
	})
	for _, x := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--url", "localhost:7475"}, exitRefused, "write http://HOST:PORT"},
		{[]string{"--url", "127.0.0.1:7475"}, exitRefused, "write http://HOST:PORT"},
		{[]string{"--url", ""}, exitRefused, "write http://HOST:PORT"},
		{[]string{"--url", "https://user:s3cret@localhost:7475"}, exitRefused, "--token-file"},
		{[]string{"--url", "user:s3cret@localhost:7475"}, exitRefused, "--token-file"},
		{[]string{"--url", server.URL}, exitFailed, "--ca-file"},
		{[]string{"--url", server.URL, "--ca-file", "ca.pem"}, exitFailed, "--token-file"},
		{[]string{"--url", server.URL, "--ca-file", "ca.pem", "--token-file", "wrong"}, exitFailed, "admin.token"},
		{[]string{"--url", server.URL, "--ca-file", "ca.pem", "--token-file", "token"}, exitOK, ""},
	} {
		r := motifd(t, dir, append([]string{"query", "list"}, x.args...)...)
		require.Equal(t, x.code, r.code, r.stderr)
		require.Contains(t, r.stderr, x.says)
		require.NotContains(t, r.stderr, "is motifd running")
		require.NotContains(t, r.stderr, "s3cret")
	}
}

// TestQueryListTellsAll holds that the list on the terminal tells of pending changes, of what a query leaves out, and
// why one cannot match.
func TestQueryListTellsAll(t *testing.T) {
	state := func(name string, edit func(*matcher.QueryState)) admin.Query {
		s := matcher.QueryState{Query: &matcher.Query{Name: name, Version: 1, Origin: "api"}}
		edit(&s)
		return admin.Query{QueryState: s}
	}
	never := state("never", func(*matcher.QueryState) {})
	never.Warnings = []string{"no vertex in the graph has the label \"account\""}
	server := httptest.NewServer(adminOf(t, config.Admin{}, &fakeDaemon{
		queries: []admin.Query{
			state("hub", func(s *matcher.QueryState) { s.LossySince = 7 }), never,
			state("trial", func(s *matcher.QueryState) { s.Query.Shadow = true }),
			state("off", func(s *matcher.QueryState) { s.Suspended, s.SuspendedBy = true, "operator" }),
		},
		pending: []admin.PendingChange{
			{Op: "add", Query: "ring", State: "waiting", Seconds: 0.6},
			{Op: "add", Query: "fan10", State: "running", Seconds: 12.3, Found: 4, Backfill: "70", Records: 2},
		},
	}))
	defer server.Close()
	var list []string
	for line := range strings.Lines(succeed(t, t.TempDir(), "query", "list", "--url", server.URL).stdout) {
		list = append(list, strings.Join(strings.Fields(line), " "))
	}
	require.Equal(t, []string{
		"NAME VERSION EMIT UNIT ORIGIN STATE",
		"hub 1 deltas embeddings api active, lossy since batch 7",
		"never 1 deltas embeddings api active",
		"trial 1 deltas embeddings api active, shadow",
		"off 1 deltas embeddings api suspended (operator)",
		"query never, warning: no vertex in the graph has the label \"account\"",
		"pending: add of query ring, waiting for 1s",
		"pending: add of query fan10, running for 12s, 4 matches found of 70, 2 records",
	}, list)
}
