package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	stdlog "log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"motifd/config"
	"motifd/matcher"
)

// fakeDaemon is a daemon in a given state.
type fakeDaemon struct {
	ready   error
	err     error
	queries []knownQuery
	pending []pendingChange
}

func (f *fakeDaemon) Ready() error          { return f.ready }
func (f *fakeDaemon) Status() statusReport  { return statusReport{Version: "v"} }
func (f *fakeDaemon) Queries() []knownQuery { return f.queries }
func (f *fakeDaemon) Directed() bool        { return true }
func (f *fakeDaemon) Mode() string          { return "changelog" }
func (f *fakeDaemon) Change(context.Context, *matcher.QueryChange, bool) (changed, error) {
	return changed{Batch: 1, Version: 1}, f.err
}
func (f *fakeDaemon) Pending() []pendingChange                     { return f.pending }
func (f *fakeDaemon) Cancel(context.Context, string) (bool, error) { return false, nil }

func ask(a http.Handler, method, path, body string, edit func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = "127.0.0.1:7475"
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if edit != nil {
		edit(r)
	}
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	return w
}

func adminOf(cfg config.Admin, d daemon) http.Handler {
	if cfg.Listen == "" {
		cfg.Listen = "127.0.0.1:7475"
	}
	a, err := newAdmin(cfg, d, newMetrics(0).registry, zerolog.Nop())
	if err != nil {
		panic(err)
	}
	return a
}

// TestP7Admin holds that the interface is closed by default.
func TestP7Admin(t *testing.T) {
	a := adminOf(config.Admin{}, &fakeDaemon{})
	for host, code := range map[string]int{
		"127.0.0.1:7475": 200, "localhost:1": 200, "LOCALHOST": 200, "[::1]:7475": 200,
		"evil.example": 421, "evil.example:7475": 421, "127.0.0.1.evil.example": 421, "": 421,
	} {
		require.Equal(t, code, ask(a, "GET", "/livez", "", func(r *http.Request) { r.Host = host }).Code, host)
	}
	const body = `{"name":"q","cypher":"MATCH (a)-->(b)"}`
	require.Equal(t, 202, ask(a, "POST", "/api/v1/queries", body, nil).Code)
	for _, contentType := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"} {
		got := ask(a, "POST", "/api/v1/queries", body,
			func(r *http.Request) { r.Header.Set("Content-Type", contentType) })
		require.Equal(t, http.StatusUnsupportedMediaType, got.Code, contentType)
	}
	require.Equal(t, http.StatusRequestEntityTooLarge,
		ask(a, "POST", "/api/v1/queries", strings.Repeat(" ", adminMaxBody+1), nil).Code)
	require.Equal(t, http.StatusNotFound, ask(a, "GET", "/debug/pprof/", "", nil).Code)
	require.Equal(t, 200, ask(adminOf(config.Admin{PProf: true}, &fakeDaemon{}), "GET", "/debug/pprof/", "", nil).Code)
}

// TestHostsHaveNoCase holds that admin.hosts is compared without regard to case.
func TestHostsHaveNoCase(t *testing.T) {
	a := adminOf(config.Admin{Hosts: []string{"Motifd.Example"}}, &fakeDaemon{})
	for _, host := range []string{"motifd.example", "MOTIFD.EXAMPLE:7475", "Motifd.Example"} {
		require.Equal(t, http.StatusOK, ask(a, "GET", "/livez", "", func(r *http.Request) { r.Host = host }).Code, host)
	}
	require.Equal(t, http.StatusMisdirectedRequest,
		ask(a, "GET", "/livez", "", func(r *http.Request) { r.Host = "other" }).Code)
}

// TestP7Token holds that a token is asked for everywhere but by the probes.
func TestP7Token(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte("s3cret\n"), 0o600))
	c, err := config.Load(config.LoadOptions{Set: []string{
		"input.file.path=" + file, "input.format=json", "output.file.path=out", "checkpoint.dir=d",
		"admin.token.file=" + file,
	}})
	require.NoError(t, err)
	a := adminOf(c.Admin, &fakeDaemon{})
	for path, code := range map[string]int{"/livez": 200, "/readyz": 200, "/metrics": 401, "/api/v1/status": 401,
		"/api/v1/queries": 401} {
		require.Equal(t, code, ask(a, "GET", path, "", nil).Code, path)
	}
	for auth, code := range map[string]int{"Bearer s3cret": 200, "Bearer s3cre": 401, "s3cret": 401, "Bearer ": 401,
		"Basic s3cret": 401} {
		got := ask(a, "GET", "/api/v1/status", "", func(r *http.Request) { r.Header.Set("Authorization", auth) })
		require.Equal(t, code, got.Code, auth)
		require.NotContains(t, got.Body.String(), "s3cret")
	}
}

// TestServerLog holds that what the HTTP server has to say is a line of the log, not a text of its own.
func TestServerLog(t *testing.T) {
	var log bytes.Buffer
	a, err := newAdmin(config.Admin{Listen: "127.0.0.1:0"}, &fakeDaemon{}, newMetrics(0).registry, zerolog.New(&log))
	require.NoError(t, err)
	a.mux.HandleFunc("GET /panic", func(http.ResponseWriter, *http.Request) { panic("oh") })
	l, err := a.open()
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- a.serve(ctx, l) }()
	_, err = http.Get("http://" + l.Addr().String() + "/panic")
	require.Error(t, err)
	stop()
	require.NoError(t, <-served)
	var line struct{ Level, From, Message string }
	require.NoError(t, json.Unmarshal(log.Bytes(), &line), log.String())
	require.Equal(t, "warn", line.Level)
	require.Equal(t, "admin", line.From)
	require.Contains(t, line.Message, "oh")
}

func TestReadyz(t *testing.T) {
	got := ask(adminOf(config.Admin{}, &fakeDaemon{ready: errors.New("recovering")}), "GET", "/readyz", "", nil)
	require.Equal(t, http.StatusServiceUnavailable, got.Code)
	require.Equal(t, "recovering\n", got.Body.String())
}

func TestAPIAnswers(t *testing.T) {
	const body = `{"name":"q","cypher":"MATCH (a)-->(b)"}`
	for _, c := range []struct {
		err  error
		code int
	}{
		{nil, 202}, {matcher.ErrQuery, 400}, {&matcher.UnchangedError{Name: "q", Version: 7}, 200}, {errPending, 409},
		{matcher.ErrNoQuery, 404}, {errNotReady, 503}, {errors.New("x"), 500},
	} {
		require.Equal(t, c.code, ask(adminOf(config.Admin{}, &fakeDaemon{err: c.err}), "POST", "/api/v1/queries", body,
			nil).Code)
	}
}

// TestP5MetricsAreDocumented holds that docs/metrics.md tells of every metric, and of no other.
func TestP5MetricsAreDocumented(t *testing.T) {
	documented := map[string]bool{}
	for line := range strings.Lines(readFile(t, filepath.Join("..", "..", "docs", "metrics.md"))) {
		if m := regexp.MustCompile("^\\| `(motifd_[a-z_]+)").FindStringSubmatch(line); m != nil {
			documented[m[1]] = true
		}
	}
	known := map[string]bool{}
	descs := make(chan *prometheus.Desc, 1000)
	newMetrics(0).registry.Describe(descs)
	close(descs)
	for d := range descs {
		name := regexp.MustCompile(`fqName: "([^"]+)"`).FindStringSubmatch(d.String())[1]
		if strings.HasPrefix(name, "motifd_") {
			known[name] = true
		}
	}
	require.Equal(t, known, documented)
}

// FuzzDecodeStrict holds that no body makes the decoder panic.
func FuzzDecodeStrict(f *testing.F) {
	f.Add(`{"name":"q","cypher":"MATCH (a)-->(b)"}`)
	f.Add(`{"name":"q","name":"r"}`)
	f.Add(`[1`)
	f.Fuzz(func(t *testing.T, body string) {
		var q newQuery
		if err := decodeStrict(strings.NewReader(body), &q); err == nil {
			_, _ = q.build(true, "changelog")
		}
	})
}

// TestClientSaysWhatIsMissing holds that the commands name the flag that helps: an address without scheme, a
// certificate that is not trusted, a token that is missing or wrong.
func TestClientSaysWhatIsMissing(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector; make test runs it")
	}
	c, err := config.Load(config.LoadOptions{Environ: []string{"TOKEN=s3cret"}, Set: []string{
		"input.file.path=-", "input.format=json", "output.file.path=out", "checkpoint.dir=d", "admin.token.env=TOKEN",
		"admin.hosts=127.0.0.1",
	}})
	require.NoError(t, err)
	server := httptest.NewUnstartedServer(adminOf(c.Admin, &fakeDaemon{}))
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
	state := func(name string, edit func(*matcher.QueryState)) knownQuery {
		s := matcher.QueryState{Query: &matcher.Query{Name: name, Version: 1, Origin: "api"}}
		edit(&s)
		return knownQuery{QueryState: s}
	}
	never := state("never", func(*matcher.QueryState) {})
	never.warnings = []string{"no vertex in the graph has the label \"account\""}
	server := httptest.NewServer(adminOf(config.Admin{}, &fakeDaemon{
		queries: []knownQuery{
			state("hub", func(s *matcher.QueryState) { s.LossySince = 7 }), never,
			state("trial", func(s *matcher.QueryState) { s.Query.Shadow = true }),
			state("off", func(s *matcher.QueryState) { s.Suspended, s.SuspendedBy = true, "operator" }),
		},
		pending: []pendingChange{
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

// TestAPIWantsAPattern holds that the API asks for what it takes: it reads no files.
func TestAPIWantsAPattern(t *testing.T) {
	for _, body := range []string{`{"name":"q"}`, `{"name":"q","cypher":"MATCH (a)-->(b)","text":"v 0"}`} {
		got := ask(adminOf(config.Admin{}, &fakeDaemon{}), "POST", "/api/v1/queries", body, nil)
		require.Equal(t, 400, got.Code)
		require.Contains(t, got.Body.String(), "exactly one of cypher and text")
	}
}
