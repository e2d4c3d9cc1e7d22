package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/cmd/motifd/internal/payments"
	"motifd/matcher/matchertest"
)

const fileConfig = `
input: {file: {path: in.jsonl}}
output: {file: {path: out.jsonl, dead_letter: dead.jsonl, control: control.jsonl}}
batch: {max_updates: 3, linger: 10s}
checkpoint: {dir: state}
queries:
  - {name: ring, cypher: "MATCH (a)-[:T]->(b)-[:T]->(c)-[:T]->(a)"}
  - {name: pairs, cypher: "MATCH (a)-[:T]->(b)-[:T]->(a)", emit: counts}
`

func edgeJSON(op, from, to string) string {
	return fmt.Sprintf(`{"op":%q,"from":%q,"to":%q,"label":"T"}`, op, from, to) + "\n"
}

// TestEmptyFlag holds that a flag without text counts: it overrides the file.
func TestEmptyFlag(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	dir := write(t, map[string]string{"motifd.yaml": fileConfig + "admin: {listen: " +
		strconv.Quote(taken.Addr().String()) + "}\n", "in.jsonl": ""})
	succeed(t, dir, "run", "-c", "motifd.yaml", "--listen=")
	require.Contains(t, motifd(t, dir, "run", "-c", "motifd.yaml").stderr,
		"address already in use; another motifd may be running")
	require.Contains(t, motifd(t, dir, "run", "-c", "motifd.yaml", "--checkpoint=", "--listen=").stderr,
		"checkpoint.dir: is missing")
}

// TestNoQueryIsTold holds that a daemon without a query says that it reports nothing, and one with a query does not.
func TestNoQueryIsTold(t *testing.T) {
	t.Parallel()
	none, _, _ := strings.Cut(fileConfig, "queries:")
	for text, told := range map[string]bool{none: true, fileConfig: false} {
		dir := write(t, map[string]string{"motifd.yaml": text, "in.jsonl": ""})
		r := motifd(t, dir, "run", "-c", "motifd.yaml", "--set", "admin.listen=")
		require.Equal(t, 0, r.code, r.stderr)
		require.Equal(t, told, strings.Contains(r.stderr, "there is no query"), r.stderr)
	}
}

// TestRunOnFiles runs the daemon to the end of a file, again with nothing new, and again with more: it carries on, and
// the replay of its batch log is what it wrote (DESIGN P2).
func TestRunOnFiles(t *testing.T) {
	t.Parallel()
	first := edgeJSON("+", "a", "b") + edgeJSON("+", "b", "c") + edgeJSON("+", "c", "a") + edgeJSON("+", "b", "a")
	second := edgeJSON("-", "a", "b") + edgeJSON("+", "a", "b")
	third := edgeJSON("-", "c", "a")
	dir := write(t, map[string]string{"motifd.yaml": fileConfig, "in.jsonl": first})
	out := func() string { return readFile(t, filepath.Join(dir, "out.jsonl")) }
	run := func() { t.Helper(); succeed(t, dir, "run", "-c", "motifd.yaml", "--set", "admin.listen=") }
	run()
	once := out()
	require.Equal(t, 4, strings.Count(once, "\n"), once) // three turns of the ring, one count
	run()
	require.Equal(t, once, out(), "nothing new, nothing written")
	appendFile(t, filepath.Join(dir, "in.jsonl"), second+third)
	run()
	more := out()
	require.True(t, strings.HasPrefix(more, once))
	require.Equal(t, 3, strings.Count(more[len(once):], "\n"), more)
	require.Equal(t, more, succeed(t, dir, "replay", "--batch-log", "state").stdout)
	require.Equal(t, more, succeed(t, dir, "replay", "--batch-log", "state", "--backend", "reference").stdout)
	own := motifd(t, dir, "replay", "--batch-log", "state", "--out", "out.jsonl")
	require.Equal(t, exitRefused, own.code)
	require.Contains(t, own.stderr, "out.jsonl is the output of the daemon itself")
	require.Equal(t, more, out())
	require.Contains(t, succeed(t, dir, "checkpoint", "verify", "state").stdout, "intact")
	require.Contains(t, succeed(t, dir, "checkpoint", "info", "state").stdout, "query")
	info := succeed(t, dir, "checkpoint", "info", "--json", "state").stdout
	require.Contains(t, info, `"emit": "deltas"`)
	require.Contains(t, info, "]->(", "patterns are readable")

	// Another configuration of what the checkpoint depends on is refused, with what to do.
	for set, field := range map[string]string{"input.unknown_fields=ignore": "decoding",
		"output.file.path=other.jsonl": "output"} {
		r := motifd(t, dir, "run", "-c", "motifd.yaml", "--set", "admin.listen=", "--set", set)
		require.NotZero(t, r.code)
		require.Contains(t, r.stderr, field)
		require.Contains(t, r.stderr, "checkpoint.dir")
	}
}

// TestRunOnADirectory: files that were read may go, and files that come are read whatever their names, each once; one
// that goes while it is being read is missed.
func TestRunOnADirectory(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"motifd.yaml": strings.Replace(fileConfig, "path: in.jsonl", "path: in", 1)})
	in := filepath.Join(dir, "in")
	require.NoError(t, os.Mkdir(in, 0o755))
	put := func(name, from, to string) {
		t.Helper()
		require.NoError(t, os.WriteFile(filepath.Join(in, name), []byte(edgeJSON("+", from, to)), 0o644))
	}
	messages := func() (n int) {
		t.Helper()
		for line := range strings.Lines(readFile(t, filepath.Join(dir, "control.jsonl"))) {
			var r struct{ Messages int }
			require.NoError(t, json.Unmarshal([]byte(line), &r))
			n += r.Messages
		}
		return n
	}
	run := func() { t.Helper(); succeed(t, dir, "run", "-c", "motifd.yaml", "--set", "admin.listen=") }
	put("b.jsonl", "a", "b")
	put("d.jsonl", "b", "c")
	run()
	require.Equal(t, 2, messages())
	require.NoError(t, os.Remove(filepath.Join(in, "b.jsonl")))
	put("a.jsonl", "c", "a")
	put("c.jsonl", "b", "a")
	run()
	require.Equal(t, 4, messages())
	require.Contains(t, succeed(t, dir, "checkpoint", "info", "state").stdout, `partition 3 ("c.jsonl"): `)
	require.Contains(t, succeed(t, dir, "checkpoint", "verify", "state").stdout, "intact")
	require.NoError(t, os.Remove(filepath.Join(in, "c.jsonl")))
	r := motifd(t, dir, "run", "-c", "motifd.yaml", "--set", "admin.listen=")
	require.NotZero(t, r.code)
	require.Contains(t, r.stderr, filepath.Join("in", "c.jsonl")+", which is gone; put it back")
}

func appendFile(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(text)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// TestS8ConfiguredQueries holds that a difference between configured and stored queries is a batch, and that queries of
// the API stay.
func TestS8ConfiguredQueries(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"motifd.yaml": fileConfig, "in.jsonl": edgeJSON("+", "a", "b")})
	changes := func() (out []string) {
		for line := range strings.Lines(readFile(t, filepath.Join(dir, "control.jsonl"))) {
			var r struct {
				Change *struct {
					Op, Query string
					Version   uint64
				}
			}
			require.NoError(t, json.Unmarshal([]byte(line), &r))
			if r.Change != nil {
				out = append(out, fmt.Sprint(r.Change.Op, " ", r.Change.Query, " ", r.Change.Version))
			}
		}
		return out
	}
	run := func(set ...string) {
		t.Helper()
		succeed(t, dir, append([]string{"run", "-c", "motifd.yaml", "--set", "admin.listen="}, set...)...)
	}
	run()
	require.Equal(t, []string{"add pairs 1", "add ring 1"}, changes())
	changed := strings.Replace(fileConfig, "emit: counts", "emit: exists", 1)
	changed = strings.Replace(changed, "name: ring", "name: circle", 1)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "motifd.yaml"), []byte(changed), 0o644))
	run()
	require.Equal(t, []string{"add pairs 1", "add ring 1", "remove ring 1", "add circle 1", "replace pairs 2"},
		changes())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "motifd.yaml"), []byte(fileConfig), 0o644))
	run()
	require.Equal(t, []string{"remove circle 1", "replace pairs 3", "add ring 2"}, changes()[5:])
}

// TestS10BrokenRecords feeds the daemon a corpus of broken records between good ones: each is a dead letter with its
// reason, and none stops it.
func TestS10BrokenRecords(t *testing.T) {
	t.Parallel()
	broken := []string{
		"\xff\xfe", "{", "[]x", `{"op":"+"}`, `{"op":"+","from":"a","to":"a"}`,
		`{"op":"+","from":"a","to":"b","frm":1}`,
		`{"op":"+","op":"-","from":"a","to":"b"}`, `{"op":"?","from":"a","to":"b"}`, `{"op":"+","from":"","to":"b"}`,
		`{"op":"+","from":"a","to":"b","ts":1e400}`, `{"op":"+","from":"a","to":"b","ts":99999999999999999999}`,
		`{"op":"+","from":"a","to":"b","props":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`,
		`[{"op":"+","from":"x","to":"y"},{"op":"+","from":"x"}]`, `{"op":"+v","key":"` + strings.Repeat("k", 2000) +
			`"}`,
		`{"op":"+v","key":"l","label":"A"}` + "\n" + `{"op":"+v","key":"l","label":"B"}`, strings.Repeat("x", 5<<20),
	}
	var in strings.Builder
	for i, b := range broken {
		in.WriteString(b + "\n" + edgeJSON("+", "a", fmt.Sprint("n", i)))
	}
	dir := write(t, map[string]string{
		"motifd.yaml": strings.Replace(fileConfig, "MATCH (a)-[:T]->(b)-[:T]->(c)-[:T]->(a)", "MATCH (a)-[:T]->(b)", 1),
		"in.jsonl":    in.String()})
	r := succeed(t, dir, "run", "-c", "motifd.yaml", "--set", "admin.listen=")
	require.Equal(t, len(broken), strings.Count(readFile(t, filepath.Join(dir, "out.jsonl")), "\n"), r.stderr)
	dead := readFile(t, filepath.Join(dir, "dead.jsonl"))
	require.Equal(t, len(broken), strings.Count(dead, "\n"))
	for line := range strings.Lines(dead) {
		var d struct{ Reason, Error string }
		require.NoError(t, json.Unmarshal([]byte(line), &d))
		require.NotEmpty(t, d.Reason)
		require.NotEmpty(t, d.Error)
	}
}

// TestBootstrap loads an initial graph without emitting, once.
func TestBootstrap(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{
		"motifd.yaml": fileConfig, "graph.jsonl": edgeJSON("+", "a", "b") + edgeJSON("+", "b", "c"),
		"in.jsonl": edgeJSON("+", "c", "a"),
	})
	for range 2 {
		succeed(t, dir, "run", "-c", "motifd.yaml", "--set", "admin.listen=", "--graph", "graph.jsonl")
		require.Equal(t, 3, strings.Count(readFile(t, filepath.Join(dir, "out.jsonl")), "\n"))
	}
	require.Equal(t, readFile(t, filepath.Join(dir, "out.jsonl")),
		succeed(t, dir, "replay", "--batch-log", "state").stdout)
	// A mistake in the graph names file and line.
	dir = write(t, map[string]string{"motifd.yaml": fileConfig, "graph.jsonl": edgeJSON("+", "a", "b") + "\n{}\n",
		"in.jsonl": ""})
	r := motifd(t, dir, "run", "-c", "motifd.yaml", "--set", "admin.listen=", "--graph", "graph.jsonl")
	require.NotZero(t, r.code)
	require.Contains(t, r.stderr, "graph.jsonl:3: ")
}

const logConfig = `
input: {kafka: {topic: payments, group: motifd}}
output: {kafka: {topic: alerts, dead_letter: bad, control: batches}}
batch: {linger: 5ms}
checkpoint: {dir: state}
embedded: {dir: log, port: PORT, sync: false}
queries:
  - {name: ring, cypher: "MATCH (a)-[:T]->(b)-[:T]->(c)-[:T]->(a)"}
  - {name: pair, cypher: "MATCH (a)-[:T]->(b)-[:T]->(a)", unit: subgraphs}
`

func logDir(t *testing.T) (dir string, port int) {
	t.Helper()
	port = freePort(t)
	return write(t, map[string]string{"motifd.yaml": strings.Replace(logConfig, "PORT", fmt.Sprint(port), 1)}), port
}

// TestAPI talks to a running daemon, by HTTP and by motifd query.
func TestAPI(t *testing.T) {
	t.Parallel()
	dir, _ := logDir(t)
	p := start(t, dir)
	p.ready()
	require.Equal(t, http.StatusOK, p.ask("GET", "/livez", "").code)
	require.Equal(
		t,
		answer{202, `{"batch":3,"version":1}`},
		p.ask("POST", "/api/v1/queries", `{"name":"x y","cypher":"MATCH (a)-->(b)"}`),
	)
	same := p.ask("POST", "/api/v1/queries", `{"name":"x y","cypher":"MATCH (a)-->(b)"}`)
	require.Equal(
		t,
		answer{200, `{"version":1,"unchanged":true}`},
		same,
		"a request that is made again is no mistake",
	)
	require.Equal(
		t,
		answer{202, `{"batch":4,"version":2}`},
		p.ask("POST", "/api/v1/queries", `{"name":"x y","cypher":"MATCH (a)-->(b)","emit":"counts"}`),
	)
	require.Equal(t, http.StatusConflict, p.ask("POST", "/api/v1/queries/x%20y/resume", "{}").code)
	for body, want := range map[string]string{
		`{"name":"z","cypher":"MATCH (a)-[e]->(b) WHERE e.x = 1"}`:  `1:26: property \"x\" is not declared`,
		`{"name":"z","cyfer":"MATCH (a)-->(b)"}`:                    `\"cyfer\" is unknown; did you mean \"cypher\"`,
		`{"name":"z","name":"y","cypher":"MATCH (a)-->(b)"}`:        "twice",
		`{"Name":"z","cypher":"MATCH (a)-->(b)"}`:                   `\"Name\" is unknown; did you mean \"name\"`,
		`{"name":"z","sample":-1}`:                                  "is -1; it has to be a whole number",
		`{"name":"z","cypher":5}`:                                   "is 5; it has to be a string",
		`{"name":"z","cypher":"MATCH (a:A`:                          "unexpected EOF",
		`{"name":"z"`:                                               "ends inside",
		"{\"name\":\"z\",\"cypher\":\"MATCH (a:`\\ud800`)-->(b)\"}": "half of a surrogate pair",
		"{\"name\":\"z\",\"cypher\":\"MATCH (a:`\xff`)-->(b)\"}":    "not UTF-8",
		`{"name":"z"}`: "exactly one",
		`{"name":"z","cypher":"MATCH (a)-->(b)"} x`: "after",
		`[]`: "one JSON object",
		`{"name":"x/y","cypher":"MATCH (a)-->(b)"}`:              "U+002F",
		`{"name":"a\ud800","cypher":"MATCH (a)-->(b)"}`:          "U+FFFD",
		`{"name":"a\n{\"x\":1}","cypher":"MATCH (a)-->(b)"}`:     "U+000A",
		`{"name":"z","cypher":"MATCH (a)-->(b)","emit":"delta"}`: "deltas",
	} {
		got := p.ask("POST", "/api/v1/queries", body)
		require.Equal(t, http.StatusBadRequest, got.code, body)
		require.Contains(t, got.body, want)
	}
	require.Equal(t, http.StatusNotFound, p.ask("DELETE", "/api/v1/queries/z", "").code)
	require.Equal(t, http.StatusNotFound, p.ask("GET", "/debug/pprof/", "").code, "pprof is off by default")
	metrics := p.ask("GET", "/metrics", "").body
	require.Contains(t, metrics, "motifd_ready 1")
	p.until("the lag", func() bool { // once the first fetch has been answered
		return strings.Contains(p.ask("GET", "/metrics", "").body, `motifd_input_lag{partition="0"} 0`)
	})

	file := write(t, map[string]string{"wedge.cypher": "MATCH (a)-->(b)<--(c)"})
	client := func(args ...string) result { t.Helper(); return succeed(t, file, append(args, "--url", p.url)...) }
	require.Equal(t, "query wedge, version 1, from batch 5 on\n", client("query", "add", "wedge.cypher").stdout)
	require.Equal(
		t,
		"query wedge, version 1, is registered like this already\n",
		client("query", "add", "wedge.cypher").stdout,
	)
	require.Contains(t, client("query", "list").stdout, "wedge")
	require.Equal(t, "query x y, version 2, removed in batch 6\n", client("query", "remove", "x y").stdout)
	require.Equal(t, 1, motifd(t, file, "query", "remove", "x y", "--url", p.url).code)
	p.stop()

	p = start(t, dir) // queries of the API stay
	p.ready()
	list := p.ask("GET", "/api/v1/queries", "").body
	require.Contains(t, list, `"wedge"`)
	require.NotContains(t, list, `"x y"`)
	p.stop()
	require.Equal(t, 1, motifd(t, file, "query", "list", "--url", p.url).code)
}

// TestS11MaxEdges holds that graph.max_edges pauses input and turns readiness off, visibly, while changes are served.
func TestS11MaxEdges(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{
		"motifd.yaml": strings.Replace(fileConfig, "linger: 10s", "linger: 1ms", 1),
		"in.jsonl": edgeJSON("+", "a", "b") + edgeJSON("+", "b", "c") + edgeJSON("+", "c", "d") +
			edgeJSON("+", "d", "e"),
	})
	p := start(t, dir, "--set", "graph.max_edges=3", "--set", "batch.max_updates=1")
	p.until("it was paused", func() bool { return p.status().State == "paused" })
	got := p.ask("GET", "/readyz", "")
	require.Equal(t, http.StatusServiceUnavailable, got.code)
	require.Contains(t, got.body, "graph.max_edges")
	require.Equal(t, 1, strings.Count(p.stderr.String(),
		"input is paused: the graph has 3 edges and graph.max_edges is 3"))
	require.Equal(t, 3, p.status().Edges)
	require.Equal(t, http.StatusAccepted,
		p.ask("POST", "/api/v1/queries", `{"name":"z","cypher":"MATCH (a)-->(b)"}`).code)
	p.stop()
}

// TestS11SuspendAndResume holds that a query which exceeds its work budget is suspended visibly, stays so over a
// restart, and resumes as a new version.
func TestS11SuspendAndResume(t *testing.T) {
	t.Parallel()
	dir, port := logDir(t)
	p := start(t, dir)
	p.ready()
	require.Equal(t, http.StatusAccepted,
		p.ask("POST", "/api/v1/queries",
			`{"name":"greedy","cypher":"MATCH (a)-->(b)-->(c)","work_budget":1,"over_budget":"suspend"}`).code)
	var list []payments.Update
	for i := range 30 {
		list = append(list, payments.Update{Op: "+", From: "a", To: fmt.Sprint("b", i), Label: "T"},
			payments.Update{Op: "+", From: fmt.Sprint("b", i), To: "c", Label: "T"})
	}
	value, err := json.Marshal(list)
	require.NoError(t, err)
	require.NoError(t, produceOne(t.Context(), port, value))
	suspended := func() bool {
		return strings.Contains(p.ask("GET", "/api/v1/queries", "").body, `"suspended":true`)
	}
	p.until("the query was suspended", suspended)
	require.Contains(t, p.ask("GET", "/metrics", "").body, `motifd_query_suspensions_total{query="greedy"} 1`)
	p.stop()
	require.Contains(t, p.stderr.String(), "exceeded a limit and is suspended")
	p = start(t, dir)
	p.ready()
	require.True(t, suspended())
	got := p.ask("POST", "/api/v1/queries/greedy/resume", "{}")
	require.Equal(t, http.StatusAccepted, got.code, got.body)
	require.Contains(t, got.body, `"version":2`)
	p.until("the query was resumed", func() bool { return !suspended() })
	p.stop()
}

// TestUpsert writes tombstones for cancellations, to Kafka and to files.
func TestUpsert(t *testing.T) {
	t.Parallel()
	text := strings.Replace(fileConfig, "output: {", "output: {mode: upsert, ", 1)
	text = strings.Replace(text, ", emit: counts", ", backfill: full", 1)
	text = strings.Replace(text, `->(a)"}`+"\n  - {name: pairs", `->(a)", backfill: full}`+"\n  - {name: pairs", 1)
	dir := write(t, map[string]string{
		"motifd.yaml": text,
		"in.jsonl": edgeJSON("+", "a", "b") + edgeJSON("+", "b", "a") + edgeJSON("+", "b", "c") +
			edgeJSON("-", "b", "a"),
	})
	succeed(t, dir, "run", "-c", "motifd.yaml", "--set", "admin.listen=", "--set", "batch.max_updates=1")
	out := readFile(t, filepath.Join(dir, "out.jsonl"))
	require.Equal(t, 4, strings.Count(out, "\n"), out)
	require.Equal(t, 2, strings.Count(out, `"value":null`), out)
	require.Equal(t, out, succeed(t, dir, "replay", "--batch-log", "state").stdout)
}

// TestRunStopsAtADamagedFile: a truncated file ends the daemon with its name and the byte, and a whole copy is read on;
// input.file.on_damage: skip leaves out the rest as one dead letter.
func TestRunStopsAtADamagedFile(t *testing.T) {
	matchertest.NotUnderRace(t, "TestRunOnFiles has the goroutines of the daemon, TestDamageStops those of the source")
	t.Parallel()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for i := range 5000 {
		fmt.Fprint(z, edgeJSON("+", fmt.Sprint("a", i*7919), fmt.Sprint("b", i*104729)))
	}
	fmt.Fprint(z, edgeJSON("+", "x", "y")+edgeJSON("+", "y", "x"))
	require.NoError(t, z.Close())
	dir := write(t, map[string]string{"motifd.yaml": strings.Replace(fileConfig, "in.jsonl", "in.jsonl.gz", 1)})
	in := filepath.Join(dir, "in.jsonl.gz")
	require.NoError(t, os.WriteFile(in, packed.Bytes()[:packed.Len()*2/3], 0o644))
	r := motifd(t, dir, "run", "-c", "motifd.yaml", "--set", "admin.listen=")
	require.Equal(t, exitFailed, r.code, r.stderr)
	require.Contains(t, r.stderr, "in.jsonl.gz is damaged or truncated: it cannot be read from byte ")
	require.Contains(t, r.stderr, "on_damage: skip")
	require.Empty(t, readFile(t, filepath.Join(dir, "dead.jsonl")))
	require.NoError(t, os.WriteFile(in, packed.Bytes(), 0o644))
	succeed(t, dir, "run", "-c", "motifd.yaml", "--set", "admin.listen=")
	require.Equal(t, 1, strings.Count(readFile(t, filepath.Join(dir, "out.jsonl")), `"query":"pairs"`))

	require.NoError(t, os.RemoveAll(filepath.Join(dir, "state")))
	require.NoError(t, os.Remove(filepath.Join(dir, "out.jsonl")))
	require.NoError(t, os.Remove(filepath.Join(dir, "control.jsonl")))
	require.NoError(t, os.WriteFile(in, packed.Bytes()[:packed.Len()*2/3], 0o644))
	succeed(t, dir, "run", "-c", "motifd.yaml", "--set", "admin.listen=", "--set", "input.file.on_damage=skip")
	dead := readFile(t, filepath.Join(dir, "dead.jsonl"))
	require.Equal(t, 1, strings.Count(dead, "\n"))
	require.Contains(t, dead, `"reason":"compression"`)
}
