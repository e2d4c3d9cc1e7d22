//go:build data

package main

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"motifd/matcher/matchertest"
)

// data is the folder of cases with known answers; its README tells of each.
var data = filepath.Join("..", "..", "..", "shared", "data")

// TestDataIsThere fails, and does not skip, when the cases are missing.
func TestDataIsThere(t *testing.T) {
	_, err := os.Stat(filepath.Join(data, "README.md"))
	require.NoError(t, err, "the cases with known answers are missing")
}

// table reads an expected.tsv.
func table(t *testing.T, folder string) (rows []map[string]string) {
	t.Helper()
	var head []string
	for line := range strings.Lines(readFile(t, filepath.Join(data, folder, "expected.tsv"))) {
		cells := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
		if head == nil {
			head = cells
			continue
		}
		row := map[string]string{}
		for i, c := range cells {
			row[head[i]] = c
		}
		rows = append(rows, row)
	}
	require.NotEmpty(t, rows)
	return rows
}

// numbers are the counts of a query in a summary.
type numbers struct {
	Name                        string
	Positive, Negative, Matches json.Number
}

func summaryNumbers(t *testing.T, path string) map[string]numbers {
	t.Helper()
	var s struct{ Queries []numbers }
	require.NoError(t, json.Unmarshal([]byte(readFile(t, path)), &s))
	out := map[string]numbers{}
	for _, q := range s.Queries {
		out[q.Name] = q
	}
	return out
}

func netOf(t *testing.T, q numbers) int64 {
	t.Helper()
	p, err := q.Positive.Int64()
	require.NoError(t, err)
	n, err := q.Negative.Int64()
	require.NoError(t, err)
	return p - n
}

// TestDataIncremental runs every incremental case at batch sizes 1, 100 and the whole stream. Where few cases are asked
// for, none runs at 100, and insertions alone run only as a whole. At batch size 1 positives and negatives are as
// expected; in larger batches transient matches vanish, so that on mixed streams only their difference is (DESIGN S5).
func TestDataIncremental(t *testing.T) {
	sizes := map[string][]int{"insert": {1, 100, 1 << 30}, "mixed": {1, 100, 1 << 30}}
	if matchertest.Quick(t) {
		sizes = map[string][]int{"insert": {1 << 30}, "mixed": {1, 1 << 30}}
	}
	for _, folder := range []string{"tiny_s1", "tiny_s2", "tiny_s3", "synth"} {
		rows := table(t, folder)
		for _, stream := range []string{"insert", "mixed"} {
			for _, batch := range sizes[stream] {
				t.Run(fmt.Sprintf("%s/%s/%d", folder, stream, batch), func(t *testing.T) {
					dir := t.TempDir()
					from := func(name string) string { return filepath.Join(data, folder, name) }
					succeed(t, ".", "replay", "--graph", from("graph.txt"), "--updates", from(stream+".txt"), "--query",
						from("queries"),
						"--undirected", "--batch", strconv.Itoa(batch), "--emit", "counts", "--out", "none",
						"--summary", filepath.Join(dir, "s.json"))
					got := summaryNumbers(t, filepath.Join(dir, "s.json"))
					seen := 0
					for _, want := range rows {
						if want["stream"] != stream {
							continue
						}
						seen++
						q := got[want["query"]]
						if batch == 1 || stream == "insert" {
							require.Equal(t, want["positive"], q.Positive.String(), q.Name)
							require.Equal(t, want["negative"], q.Negative.String(), q.Name)
						}
						expected := numbers{Positive: json.Number(want["positive"]),
							Negative: json.Number(want["negative"])}
						require.Equal(t, netOf(t, expected), netOf(t, q), q.Name)
					}
					require.Equal(t, len(got), seen)
				})
			}
		}
	}
}

// TestDataDeltas runs the tiny cases with every match emitted, on both backends: the same bytes.
func TestDataDeltas(t *testing.T) {
	for _, folder := range []string{"tiny_s1", "tiny_s2", "tiny_s3"} {
		from := func(name string) string { return filepath.Join(data, folder, name) }
		args := []string{"replay", "--graph", from("graph.txt"), "--updates", from("mixed.txt"), "--query",
			from("queries"), "--undirected", "--batch", "10"}
		cpu := succeed(t, ".", args...)
		require.NotEmpty(t, cpu.stdout)
		require.Equal(t, cpu.stdout, succeed(t, ".", append(args, "--backend", "reference")...).stdout)
	}
}

// TestDataStatic counts the static cases by match.
func TestDataStatic(t *testing.T) {
	for _, c := range []struct {
		folder, graph string
	}{{"hprd", "graph.txt"}, {"github16", "graph.txt.gz"}} {
		t.Run(c.folder, func(t *testing.T) {
			rows := table(t, c.folder)
			dir := t.TempDir()
			args := []string{"match", "--graph", filepath.Join(data, c.folder, c.graph), "--undirected", "--summary",
				filepath.Join(dir, "s.json")}
			for _, row := range rows {
				args = append(args, "--query", filepath.Join(data, c.folder, "queries", row["query"]+".graph"))
			}
			succeed(t, ".", args...)
			got := summaryNumbers(t, filepath.Join(dir, "s.json"))
			require.Len(t, got, len(rows))
			for _, row := range rows {
				require.Equal(t, row["matches"], got[row["query"]].Matches.String(), row["query"])
			}
		})
	}
}

// TestDataStaticByStreaming streams the edges of a static case in and out again: the deltas add up to the count, and
// then to zero. The vertices and their labels are there from the start.
func TestDataStaticByStreaming(t *testing.T) {
	want := map[string]string{}
	for _, row := range table(t, "hprd") {
		want[row["query"]] = row["matches"]
	}
	var vertices, in, out strings.Builder
	var edges []string
	for line := range strings.Lines(readFile(t, filepath.Join(data, "hprd", "graph.txt"))) {
		switch {
		case strings.HasPrefix(line, "v "):
			vertices.WriteString(line)
		case strings.HasPrefix(line, "e "):
			edges = append(edges, strings.TrimSpace(line))
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	rng.Shuffle(len(edges), func(i, j int) { edges[i], edges[j] = edges[j], edges[i] })
	for _, e := range edges {
		in.WriteString(e + "\n")
		out.WriteString("-" + e + "\n")
	}
	dir := write(t, map[string]string{"v.txt": vertices.String(), "in.txt": in.String(), "all.txt": in.String() +
		out.String()})
	here, err := filepath.Abs(data)
	require.NoError(t, err)
	args := []string{"replay", "--graph", "v.txt", "--undirected", "--emit", "counts", "--out", "none", "--summary",
		"s.json", "--batch", "500"}
	names := []string{
		"query_dense_16_1", "query_dense_16_2", "query_dense_16_60", "query_dense_16_98", "query_dense_16_99",
		"query_dense_16_150",
	}
	for _, name := range names {
		args = append(args, "--query", filepath.Join(here, "hprd", "queries", name+".graph"))
	}
	succeed(t, dir, append(args, "--updates", "in.txt")...)
	got := summaryNumbers(t, filepath.Join(dir, "s.json"))
	for _, name := range names {
		require.Equal(t, want[name], got[name].Positive.String(), name)
		require.Equal(t, "0", got[name].Negative.String(), name)
	}
	succeed(t, dir, append(args, "--updates", "all.txt")...)
	got = summaryNumbers(t, filepath.Join(dir, "s.json"))
	for _, name := range names {
		require.NotEqual(t, "0", got[name].Positive.String())
		require.Zero(t, netOf(t, got[name]), name)
	}
}

// TestDataYeast counts the patterns of yeast in the whole graph and over its stream of insertions: all of them, or,
// where few cases are asked for, every third. Seven have 65 to 140 edges, and are always counted.
func TestDataYeast(t *testing.T) {
	dir := t.TempDir()
	from := func(name string) string { return filepath.Join(data, "yeast", name) }
	var rows []map[string]string
	var queries []string
	large := 0
	for i, row := range table(t, "yeast") {
		edges, err := strconv.Atoi(row["edges"])
		require.NoError(t, err)
		if edges > 64 {
			large++
		} else if i%3 > 0 && matchertest.Quick(t) {
			continue
		}
		rows = append(rows, row)
		queries = append(queries, "--query", from(filepath.Join("queries", row["query"]+".txt")))
	}
	require.Equal(t, 7, large)
	args := []string{
		"replay", "--graph", from("graph.txt"), "--updates", from("insert.txt"), "--undirected", "--batch", "100",
		"--emit", "counts", "--out", "none", "--summary", filepath.Join(dir, "stream.json"),
	}
	succeed(t, ".", append(args, queries...)...)
	got := summaryNumbers(t, filepath.Join(dir, "stream.json"))
	require.Len(t, got, len(rows))
	for _, row := range rows {
		q := got[row["query"]]
		require.Equal(t, row["positive"], q.Positive.String(), q.Name)
		require.Equal(t, "0", q.Negative.String(), q.Name)
	}
	all := readFile(t, from("graph.txt")) + "\n" + readFile(t, from("insert.txt"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "all.txt"), []byte(all), 0o600))
	args = []string{"match", "--graph", filepath.Join(dir, "all.txt"), "--undirected", "--summary",
		filepath.Join(dir, "s.json")}
	succeed(t, ".", append(args, queries...)...)
	got = summaryNumbers(t, filepath.Join(dir, "s.json"))
	for _, row := range rows {
		require.Equal(t, row["static_matches"], got[row["query"]].Matches.String(), row["query"])
	}
}

// amlsim are the sets of AMLSim payments.
var amlsim = []string{"20K_cycle200", "20K_fanin200cycle200"}

// TestDataAMLSim replays payments in time order with ring patterns of 3, 4 and 5 accounts, and compares the rings and
// the fraud accounts on them with a count of its own.
func TestDataAMLSim(t *testing.T) {
	stated := readFile(t, filepath.Join("..", "..", "docs", "results.md"))
	folders := amlsim
	if matchertest.Quick(t) {
		folders = folders[:1]
	}
	for _, folder := range folders {
		t.Run(folder, func(t *testing.T) {
			dir := write(t, map[string]string{
				"ring3.cypher": "MATCH (a)-[:T]->(b)-[:T]->(c)-[:T]->(a)",
				"ring4.cypher": "MATCH (a)-[:T]->(b)-[:T]->(c)-[:T]->(d)-[:T]->(a)",
				"ring5.cypher": "MATCH (a)-[:T]->(b)-[:T]->(c)-[:T]->(d)-[:T]->(e)-[:T]->(a)",
			})
			here, err := filepath.Abs(filepath.Join(data, "amlsim-20k", folder))
			require.NoError(t, err)
			fraud := map[string]bool{}
			for _, row := range rowsOf(t, filepath.Join(here, "nodes.csv.gz")) {
				if row["isFraud"] == "1" {
					fraud[row["nodeid"]] = true
				}
			}
			numbers := map[string]int{} // of the accounts
			number := func(account string) int {
				if _, ok := numbers[account]; !ok {
					numbers[account] = len(numbers)
				}
				return numbers[account]
			}
			var payments [][]int
			last := -1
			for _, row := range rowsOf(t, filepath.Join(here, "transactions.csv.gz")) {
				from, to := number(row["sourceNodeId"]), number(row["targetNodeId"])
				at, err := strconv.Atoi(row["time"])
				require.NoError(t, err)
				require.GreaterOrEqual(t, at, last, "the payments are in time order")
				last = at
				for len(payments) < len(numbers) {
					payments = append(payments, nil)
				}
				if from != to && !slices.Contains(payments[from], to) {
					payments[from] = append(payments[from], to)
				}
			}
			succeed(t, dir, "replay", "--updates", filepath.Join(here, "transactions.csv.gz"),
				"--csv", "from=sourceNodeId,to=targetNodeId,ts=time,prop.value=value,label='T'",
				"--query", "ring3.cypher", "--query", "ring4.cypher", "--query", "ring5.cypher",
				"--unit", "subgraphs", "--out", "rings.jsonl", "--summary", "s.json")
			got := summaryNumbers(t, filepath.Join(dir, "s.json"))
			reported := map[string]map[string]bool{"ring3": {}, "ring4": {}, "ring5": {}}
			lines, err := os.Open(filepath.Join(dir, "rings.jsonl"))
			require.NoError(t, err)
			defer lines.Close()
			for s := bufio.NewScanner(lines); s.Scan(); {
				var a struct {
					Query    string
					Vertices map[string]struct{ Key string }
				}
				require.NoError(t, json.Unmarshal(s.Bytes(), &a))
				for _, v := range a.Vertices {
					if fraud[v.Key] {
						reported[a.Query][v.Key] = true
					}
				}
			}
			for n := 3; n <= 5; n++ {
				name := fmt.Sprintf("ring%d", n)
				rings, on := cycles(payments, n)
				require.Equal(t, strconv.Itoa(rings), got[name].Positive.String(), name)
				count := 0
				for account := range fraud {
					i, paid := numbers[account]
					require.Equal(t, paid && on[i], reported[name][account], "%s: account %s", name, account)
					if reported[name][account] {
						count++
					}
				}
				row := fmt.Sprintf("| %s | %d | %d | %d of %d (%.1f %%) |", folder, n, rings, count, len(fraud),
					100*float64(count)/float64(len(fraud)))
				assert.Contains(t, stated, row, "docs/results.md does not state this")
			}
		})
	}
}

// cycles counts the directed simple cycles of n vertices, each once, and tells which vertices lie on one: a plain
// depth-first search that shares nothing with motifd. It sorts next.
func cycles(next [][]int, n int) (count int, on []bool) {
	on = make([]bool, len(next))
	path := make([]int, 0, n)
	var walk func()
	walk = func() {
		first, at := path[0], path[len(path)-1]
		if len(path) == n {
			if _, closes := slices.BinarySearch(next[at], first); closes {
				count++
				for _, v := range path {
					on[v] = true
				}
			}
			return
		}
		for _, to := range next[at] {
			if to > first && !slices.Contains(path, to) { // the smallest number is the cycle's first
				path = append(path, to)
				walk()
				path = path[:len(path)-1]
			}
		}
	}
	for v := range next {
		slices.Sort(next[v])
	}
	for v := range next {
		path = append(path[:0], v)
		walk()
	}
	return count, on
}

// rowsOf reads a compressed CSV file with a header.
func rowsOf(t *testing.T, path string) (rows []map[string]string) {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	r := csv.NewReader(z)
	head, err := r.Read()
	require.NoError(t, err)
	for {
		cells, err := r.Read()
		if err == io.EOF {
			return rows
		}
		require.NoError(t, err)
		row := make(map[string]string, len(head))
		for i, c := range cells {
			row[head[i]] = c
		}
		rows = append(rows, row)
	}
}
