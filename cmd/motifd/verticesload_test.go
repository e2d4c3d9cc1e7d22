package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"motifd/matcher/matchertest"
	"motifd/stream/kafka/admin"
	"motifd/stream/kafka/embedded"
)

const loadConfig = `
input: {kafka: {brokers: ["ADDR"], topic: in}}
output: {file: {path: out.jsonl}}
batch: {linger: 1ms}
checkpoint: {dir: state}
graph: {edge_identity: ends, properties: {vertices: {A: {risk: int64}, "*": {blocked: bool}}}}
queries:
  - {name: listed, cypher: "MATCH (a:A)-[t:T]->(b:A) WHERE b.blocked AND a.risk > 5"}
`

// TestVerticesAreLoadedWhileTheDaemonRuns loads watch-lists into a running daemon: matches begin, a list that is
// wrong is refused as a whole, and the batch log has what was loaded.
func TestVerticesAreLoadedWhileTheDaemonRuns(t *testing.T) {
	t.Parallel()
	log, err := embedded.Open(embedded.Options{Topics: []admin.Topic{{Name: "in"}}})
	require.NoError(t, err)
	defer log.Close()
	cl, err := kgo.NewClient(kgo.SeedBrokers(log.Addr()), kgo.DefaultProduceTopic("in"))
	require.NoError(t, err)
	defer cl.Close()
	require.NoError(t, cl.ProduceSync(t.Context(), kgo.StringRecord(
		`[{"op":"+","from":"a1","to":"a2","label":"T","from_label":"A","to_label":"A"},`+
			`{"op":"=v","key":"a1","props":{"risk":7}}]`)).FirstErr())
	dir := write(t, map[string]string{"motifd.yaml": strings.Replace(loadConfig, "ADDR", log.Addr(), 1),
		"list.csv": "key,blocked\na2,true\na9,true\n",
		"less.csv": "label,key,blocked,risk\nA,a2,,\n",
		"more.jsonl": `{"op":"=v","key":"a2","props":{"blocked":true}}` + "\n\n" +
			`{"op":"+v","key":"a3","label":"A"}` + "\n",
		"typo.csv":    "key,blokced\na2,true\n",
		"type.csv":    "key,blocked,risk\na2,true,1\na3,true,high\n",
		"label.csv":   "key,risk\na7,1\n",
		"nokey.csv":   "id,blocked\na2,true\n",
		"twice.csv":   "key,blocked,blocked\na2,true,true\n",
		"ragged.csv":  "key,blocked\na2\n",
		"edge.jsonl":  `{"op":"-v","key":"a2"}`,
		"broken.json": "", "broken.jsonl": "{",
	})
	p := start(t, dir)
	p.ready()
	p.until("the input was taken", func() bool { return p.status().Batch == 2 })
	load := func(args ...string) result {
		return motifd(t, dir, append([]string{"vertices", "load", "--url", p.url}, args...)...)
	}
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{exitFailed, `typo.csv: line 2: the daemon answered 400 Bad Request: the vertices are refused: update 0: ` +
			`the property "blokced" is not declared for vertices`, []string{"typo.csv"}},
		{exitFailed, `type.csv: line 3: the daemon answered`, []string{"type.csv", "--label=A"}},
		{exitFailed, `element 1: byte`, []string{"type.csv", "--label=A"}},
		{exitFailed, `the property "risk" is not declared for the label "B"; it is for A`,
			[]string{"label.csv", "--label=B"}},
		{exitFailed, `the header has no column key; it has ["id" "blocked"]`, []string{"nokey.csv"}},
		{exitFailed, `the header has the column "blocked" twice`, []string{"twice.csv"}},
		{exitFailed, `wrong number of fields`, []string{"ragged.csv"}},
		{exitFailed, `update 0 has op "-v"; it is +v or =v`, []string{"edge.jsonl"}},
		{exitFailed, `line 1 is not JSON`, []string{"broken.jsonl"}},
		{exitRefused, `the extension is neither .csv nor .jsonl`, []string{"broken.json"}},
		{exitRefused, `--label is for CSV files`, []string{"more.jsonl", "--label=A"}},
		{exitRefused, `--label does not go with a column label`, []string{"less.csv", "--label=A"}},
	} {
		r := load(c.args...)
		require.Equal(t, c.code, r.code, "%v: %s", c.args, r.stderr)
		require.Contains(t, r.stderr, c.says)
	}
	require.Equal(t, uint64(2), p.status().Batch, "nothing was loaded")
	r := load("list.csv", "--label=A")
	require.Zero(t, r.code, r.stderr)
	require.Equal(t, "2 updates loaded, the last one in batch 3\n", r.stdout)
	require.Equal(t, "1 update loaded, the last one in batch 4\n", load("less.csv").stdout)
	require.Equal(t, "2 updates loaded, the last one in batch 5\n", load("more.jsonl").stdout)
	p.until("all was committed", func() bool { return p.status().Batch == 5 })
	p.stop()
	var got []string
	for line := range strings.Lines(readFile(t, filepath.Join(dir, "out.jsonl"))) {
		_, op, _ := strings.Cut(line, `"op":"`)
		_, anchor, _ := strings.Cut(line, `"anchor":`)
		got = append(got, op[:1]+anchor)
	}
	require.Equal(t, []string{
		`+{"op":"=v","partition":-1,"offset":0,"element":0}}` + "\n",
		`-{"op":"=v","partition":-1,"offset":0,"element":0}}` + "\n",
		`+{"op":"=v","partition":-1,"offset":0,"element":0}}` + "\n",
	}, got)
	out := readFile(t, filepath.Join(dir, "out.jsonl"))
	require.Equal(t, out, succeed(t, dir, "replay", "--batch-log=state").stdout)
	require.Contains(t, succeed(t, dir, "checkpoint", "info", "state").stdout, "4 vertices")
}

const loadLabelsConfig = `
input: {kafka: {brokers: ["ADDR"], topic: in}}
output: {file: {path: out.jsonl}}
batch: {linger: 1ms}
checkpoint: {dir: state}
graph: {vertex_labels: several PROPS}
queries:
  - {name: ab, cypher: "MATCH (a:A&B) RETURN a"}
`

// TestS21VerticesAreLoadedWithSeveralLabels loads CSV files that add and remove labels, with declared properties and
// without; a vertex that is not there gets the labels without their signs.
func TestS21VerticesAreLoadedWithSeveralLabels(t *testing.T) {
	matchertest.NotUnderRace(t, "TestVerticesAreLoadedWhileTheDaemonRuns has the same goroutines")
	t.Parallel()
	log, err := embedded.Open(embedded.Options{Topics: []admin.Topic{{Name: "in"}}})
	require.NoError(t, err)
	defer log.Close()
	for _, props := range []string{"", ", properties: {vertices: {A: {risk: int64}}}"} {
		dir := write(t, map[string]string{
			"motifd.yaml": strings.NewReplacer("ADDR", log.Addr(), " PROPS", props).Replace(loadLabelsConfig),
			"a.csv":       "key\nv1\nv2\n",
			"list.csv":    "key,labels\nv1,B;C\nv2,+B;-A\nv3,A;B\nv4,\n",
			"one.csv":     "label,key\n-B,v1\n",
			"both.csv":    "key,label,labels\nv1,A,B\n",
			"risk.csv":    "key,risk,labels\nv2,7,A\n",
		})
		p := start(t, dir)
		p.ready()
		load := func(args ...string) result {
			return motifd(t, dir, append([]string{"vertices", "load", "--url", p.url}, args...)...)
		}
		for _, args := range [][]string{{"a.csv", "--label=A"}, {"list.csv"}, {"one.csv"}} {
			r := load(args...)
			require.Zero(t, r.code, "%v: %s", args, r.stderr)
		}
		require.Contains(t, load("both.csv").stderr, "the header has the columns label and labels")
		require.Contains(t, load("list.csv", "--label=A").stderr, "--label does not go with a column labels")
		want := []string{`+{"key":"v1","labels":["A","B","C"]}`, `+{"key":"v3","labels":["A","B"]}`,
			`-{"key":"v1","labels":["A","B","C"]}`}
		last := uint64(4)
		if r := load("risk.csv"); props == "" {
			require.Contains(t, r.stderr, `the field "props" does not belong to op "=v"`)
		} else {
			require.Zero(t, r.code, r.stderr)
			want = append(want, `+{"key":"v2","labels":["A","B"],"props":{"risk":7}}`)
			last++
		}
		p.until("all was committed", func() bool { return p.status().Batch == last })
		p.stop()
		var got []string
		for line := range strings.Lines(readFile(t, filepath.Join(dir, "out.jsonl"))) {
			_, op, _ := strings.Cut(line, `"op":"`)
			_, vertex, _ := strings.Cut(line, `"vertices":{"a":`)
			vertex, _, _ = strings.Cut(vertex, `},"anchor"`)
			got = append(got, op[:1]+vertex)
		}
		require.Equal(t, want, got)
	}
}
