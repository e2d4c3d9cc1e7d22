package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"motifd/config"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/stream"
)

// fakeDaemon is a daemon in a given state.
type fakeDaemon struct {
	ready   error
	err     error
	queries []Query
	pending []PendingChange
	schema  *property.Schema
	added   *matcher.Query
}

func (f *fakeDaemon) Ready() error     { return f.ready }
func (f *fakeDaemon) Status() Status   { return Status{Version: "v"} }
func (f *fakeDaemon) Queries() []Query { return f.queries }
func (f *fakeDaemon) Directed() bool   { return true }
func (f *fakeDaemon) Mode() string     { return "changelog" }

func (f *fakeDaemon) Schema() *property.Schema { return f.schema }
func (f *fakeDaemon) Change(_ context.Context, ch *matcher.QueryChange, _ bool) (ChangeResult, error) {
	f.added = ch.Add
	return ChangeResult{Batch: 1, Version: 1}, f.err
}
func (f *fakeDaemon) LoadVertices(context.Context, []byte) (LoadResult, error) {
	return LoadResult{Batch: 3, Updates: 2}, f.err
}
func (f *fakeDaemon) Pending() []PendingChange                     { return f.pending }
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

func adminOf(cfg config.Admin, d Daemon) http.Handler {
	if cfg.Listen == "" {
		cfg.Listen = "127.0.0.1:7475"
	}
	a, err := New(cfg, d, prometheus.NewRegistry(), zerolog.Nop())
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
		ask(a, "POST", "/api/v1/queries", strings.Repeat(" ", maxBody+1), nil).Code)
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
	servers, err := Open(config.Admin{Listen: "127.0.0.1:0"}, &fakeDaemon{}, prometheus.NewRegistry(),
		zerolog.New(&log).Level(zerolog.WarnLevel))
	require.NoError(t, err)
	a := servers[0]
	a.mux.HandleFunc("GET /panic", func(http.ResponseWriter, *http.Request) { panic("oh") })
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- a.Serve(ctx) }()
	_, err = http.Get("http://" + a.listener.Addr().String() + "/panic")
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
		{matcher.ErrNoQuery, 404}, {ErrNotReady, 503}, {errors.New("x"), 500},
	} {
		require.Equal(t, c.code, ask(adminOf(config.Admin{}, &fakeDaemon{err: c.err}), "POST", "/api/v1/queries", body,
			nil).Code)
	}
}

func TestAPILoadsVertices(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
		body string
	}{
		{nil, 202, `{"batch":3,"updates":2}`}, {ErrVertices, 400, `{"error":"the vertices are refused"}`},
		{ErrNotReady, 503, `{"error":"the daemon is not ready"}`}, {errors.New("x"), 500, `{"error":"x"}`},
	} {
		w := ask(adminOf(config.Admin{}, &fakeDaemon{err: c.err}), "POST", "/api/v1/vertices", `[]`, nil)
		require.Equal(t, c.code, w.Code)
		require.Equal(t, c.body+"\n", w.Body.String())
	}
	w := ask(adminOf(config.Admin{}, &fakeDaemon{}), "POST", "/api/v1/vertices", strings.Repeat(" ", maxBody+1), nil)
	require.Equal(t, 413, w.Code)
}

// FuzzDecodeStrict holds that no body makes the decoder panic.
func FuzzDecodeStrict(f *testing.F) {
	f.Add(`{"name":"q","cypher":"MATCH (a)-->(b)"}`)
	f.Add(`{"name":"q","name":"r"}`)
	f.Add(`[1`)
	f.Fuzz(func(t *testing.T, body string) {
		var q NewQuery
		if err := decodeStrict(strings.NewReader(body), &q); err == nil {
			_, _ = q.build(true, "changelog", nil)
		}
	})
}

// TestS17APITakesConditions: the daemon's properties, and the parameters and the window of the body.
func TestS17APITakesConditions(t *testing.T) {
	d := &fakeDaemon{schema: &property.Schema{Edges: property.Declarations{
		"T": {"amount": {Kind: property.Decimal, Scale: 2}, "ts": {Kind: property.Timestamp}}}}}
	body := func(more string) string {
		return `{"name":"q","cypher":"MATCH (a)-[t:T]->(b) WHERE t.amount > $big AND t.ts IN $days"` + more + `}`
	}
	got := ask(adminOf(config.Admin{}, d), "POST", "/api/v1/queries",
		body(`,"within":"1d","params":{"big":1000.50,"days":[0,86400000]}`), nil)
	require.Equal(t, 202, got.Code, got.Body)
	require.EqualValues(t, 86_400_000, d.added.Within)
	require.Len(t, d.added.Conditions, 2)
	require.Equal(t, "t.amount > 1000.50", d.added.Conditions[0].Format(d.added.ElementName))
	for more, want := range map[string]string{
		``: "$big", `,"params":{"big":1,"days":[0],"more":1}`: "$more is bound",
		`,"params":{"big":"1","days":[0]}`: "is compared with the string", `,"params":{"big":null}`: "a parameter is",
		`,"params":{"big":1,"days":[0],"big":2}`: "\"big\\\" is given twice", `,"params":[1]`: "has to be an object",
		`,"params":{"big":1,"days":[0]},"within":"soon"`: "is not a span of time",
	} {
		got := ask(adminOf(config.Admin{}, d), "POST", "/api/v1/queries", body(more), nil)
		require.Equal(t, 400, got.Code, more)
		require.Contains(t, got.Body.String(), want, more)
	}
}

// TestAPIWantsAPattern holds that the API asks for what it takes: it reads no files.
func TestAPIWantsAPattern(t *testing.T) {
	for _, body := range []string{`{"name":"q"}`, `{"name":"q","cypher":"MATCH (a)-->(b)","text":"v 0"}`} {
		got := ask(adminOf(config.Admin{}, &fakeDaemon{}), "POST", "/api/v1/queries", body, nil)
		require.Equal(t, 400, got.Code)
		require.Contains(t, got.Body.String(), "exactly one of cypher and text")
	}
}

// TestEveryFieldIsDocumented holds that docs/api.md names every field of the requests and answers, and that its tables
// of fields name no other.
func TestEveryFieldIsDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "api.md"))
	require.NoError(t, err)
	known := map[string]bool{}
	for _, v := range []any{Status{}, QueryList{}, NewQuery{}, ChangeResult{}, LoadResult{}, problem{}} {
		jsonFields(reflect.TypeOf(v), known)
	}
	delete(known, "removed") // of motifd checkpoint info: a list leaves removed queries out
	require.Greater(t, len(known), 50)
	for name := range known {
		if !strings.Contains(string(page), "`"+name+"`") && !strings.Contains(string(page), `"`+name+`":`) {
			t.Errorf("docs/api.md does not name the field %s", name)
		}
	}
	table := false
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, "|")
		table = len(cells) > 2 && (table || strings.HasPrefix(cells[1], " field"))
		if !table || strings.HasPrefix(cells[1], " field") {
			continue
		}
		for i, name := range strings.Split(cells[1], "`") {
			if i%2 == 1 && !known[name] {
				t.Errorf("docs/api.md names the field %s, which there is not", name)
			}
		}
	}
}

// jsonFields adds the names that a struct has in JSON, and those of the structs in it.
func jsonFields(of reflect.Type, names map[string]bool) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct {
		return
	}
	for i := range of.NumField() {
		f := of.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" && !f.Anonymous || name == "queries" && of == reflect.TypeFor[stream.Status]() {
			continue // not in the answer: Status.Queries hides the pipeline's
		}
		if name != "" {
			names[name] = true
		}
		jsonFields(f.Type, names)
	}
}
