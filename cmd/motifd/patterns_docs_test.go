package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/config"
	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/condition"
	"motifd/stream/monitor"
)

// patternsPage returns the text of docs/patterns.md between two headings, and the configuration there.
func patternsPage(t *testing.T, from, to string) (text string, c *config.Config) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "patterns.md"))
	require.NoError(t, err)
	_, text, ok := strings.Cut(string(page), "\n### "+from+"\n")
	require.True(t, ok)
	text, _, ok = strings.Cut(text, "\n### "+to)
	require.True(t, ok)
	yaml := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(text)
	dir := t.TempDir()
	file := filepath.Join(dir, "motifd.yaml")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "in.jsonl"), nil, 0o644))
	require.NoError(t, os.WriteFile(file, []byte(yaml[1]+fmt.Sprintf("input: {file: {path: %s}}\n"+
		"output: {file: {path: %s}}\ncheckpoint: {dir: %s}\n", filepath.Join(dir, "in.jsonl"),
		filepath.Join(dir, "out.jsonl"), filepath.Join(dir, "state"))), 0o644))
	c, err = config.Load(config.LoadOptions{File: file})
	require.NoError(t, err)
	return text, c
}

// documented returns the configuration of such a part, its queries, and a monitor with these.
func documented(t *testing.T, from, to string) (*config.Config, []*matcher.Query, *monitor.Monitor) {
	t.Helper()
	_, c := patternsPage(t, from, to)
	queries, err := c.BuildQueries()
	require.NoError(t, err)
	m, err := monitor.Open(monitor.Options{Properties: c.Graph.Schema(), Threads: 1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	for _, q := range queries {
		_, err := m.Add(t.Context(), q, nil)
		require.NoError(t, err)
	}
	return c, queries, m
}

// somePayments are transfers of all kinds between a few accounts.
func somePayments() []dyngraph.Update {
	rng := rand.New(rand.NewPCG(21, 1))
	columns := map[string]func() property.Value{
		"amount":  func() property.Value { return property.Units(rng.Int64N(100_000), 2) },
		"channel": func() property.Value { return property.Text([]string{"web", "app", "atm"}[rng.IntN(3)]) },
		"cash":    func() property.Value { return property.Truth(rng.IntN(2) == 0) },
		"hops":    func() property.Value { return property.Int(rng.Int64N(4) - 1) },
		"rate": func() property.Value {
			v, _ := property.Float(rng.Float64())
			return v
		},
	}
	var updates []dyngraph.Update
	for range 120 {
		from := rng.IntN(12)
		u := dyngraph.Update{Op: dyngraph.InsertEdge, From: fmt.Sprint("a", from), Label: "TRANSFER",
			To: fmt.Sprint("a", (from+1+rng.IntN(11))%12)}
		u.Attr.TS, u.Attr.HasTS = 3_600_000+rng.Int64N(4*3_600_000), rng.IntN(8) > 0
		for _, name := range []string{"amount", "cash", "channel", "hops", "rate"} { // the order of the columns
			v := columns[name]()
			if rng.IntN(6) == 0 {
				v = property.Value{}
			}
			u.Attr.Values = append(u.Attr.Values, v)
		}
		updates = append(updates, u)
	}
	return updates
}

// TestS17DocumentedConditions runs every condition, property map and field of docs/patterns.md: each holds for some of
// the matches, and not for all.
func TestS17DocumentedConditions(t *testing.T) {
	text, c := patternsPage(t, "Conditions", "Properties of vertices")
	m, err := monitor.Open(monitor.Options{Properties: c.Graph.Schema(), Threads: 1})
	require.NoError(t, err)
	defer m.Close()
	ctx := context.Background()
	_, err = m.Apply(ctx, somePayments(), nil)
	require.NoError(t, err)
	params := config.Declared(nil, c.Queries[0].Params).Parameters
	used := func(pattern string) map[string]condition.Parameter {
		own := make(map[string]condition.Parameter)
		for name, p := range params {
			if strings.Contains(pattern, "$"+name) {
				own[name] = p
			}
		}
		return own
	}
	count := func(pattern string) matcher.Count {
		q, err := m.ParseWith("q", pattern, used(pattern))
		require.NoError(t, err, pattern)
		n, err := m.Count(ctx, q)
		require.NoError(t, err, pattern)
		return n
	}
	const path = "MATCH (a)-[t:TRANSFER]->(b)-[u:TRANSFER]->(c)"
	all := count(path)
	require.True(t, all.Lo > 500)
	some := func(pattern string) {
		n := count(pattern)
		require.True(t, n.Lo > 0 && n.Lo < all.Lo, "%s has %s matches of %s", pattern, n, all)
	}
	conditions, fields, _ := strings.Cut(text, "\n### Fields\n")
	rows := regexp.MustCompile("(?m)^\\| `(.*?)` \\|").FindAllStringSubmatch(conditions, -1)
	require.Len(t, rows, 16)
	for _, row := range rows {
		some(path + " WHERE " + row[1])
	}
	maps := regexp.MustCompile("`-(\\[t:TRANSFER \\{.*?\\}\\])->`").FindAllStringSubmatch(conditions, -1)
	require.Len(t, maps, 1)
	some(strings.Replace(path, "[t:TRANSFER]", maps[0][1], 1))

	queries, err := c.BuildQueries()
	require.NoError(t, err)
	whole, err := m.Count(ctx, queries[0])
	require.NoError(t, err)
	require.True(t, whole.Lo > 0 && whole.Lo < all.Lo, "the example has %s matches", whole)

	values := regexp.MustCompile("(?m)^\\| `(t.*?)` \\|").FindAllStringSubmatch(fields, -1)
	require.Len(t, values, 3)
	for _, v := range values {
		q, err := m.Parse("q", path+" RETURN "+v[1])
		require.NoError(t, err, v[1])
		require.Len(t, q.Fields, 1)
	}
}

// TestS26DocumentedPaths runs the example and every condition on paths of docs/patterns.md: each holds for some of the
// matches, and not for all.
func TestS26DocumentedPaths(t *testing.T) {
	_, c := patternsPage(t, "Conditions", "Properties of vertices")
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "patterns.md"))
	require.NoError(t, err)
	_, text, ok := strings.Cut(string(page), "\n### Paths\n")
	require.True(t, ok)
	text, _, _ = strings.Cut(text, "\n### ")
	m, err := monitor.Open(monitor.Options{Properties: c.Graph.Schema(), Threads: 1})
	require.NoError(t, err)
	defer m.Close()
	_, err = m.Apply(t.Context(), somePayments(), nil)
	require.NoError(t, err)
	count := func(pattern string) uint64 {
		params := config.Declared(nil, c.Queries[0].Params).Parameters
		for name := range params {
			if !strings.Contains(pattern, "$"+name) {
				delete(params, name)
			}
		}
		q, err := m.ParseWith("q", pattern, params)
		require.NoError(t, err, pattern)
		n, err := m.Count(t.Context(), q)
		require.NoError(t, err, pattern)
		return n.Lo
	}
	const path = "MATCH (a)-[t:TRANSFER*1..3]->(b)-[z:TRANSFER]->(c)"
	require.Contains(t, text, "`"+path+"`")
	all := count(path)
	rows := regexp.MustCompile("(?m)^\\| `(.*?)` \\|").FindAllStringSubmatch(text, -1)
	require.Len(t, rows, 6)
	for _, row := range rows {
		n := count(path + " WHERE " + row[1])
		require.True(t, n > 0 && n < all, "%s has %d matches of %d", row[1], n, all)
	}
	example := regexp.MustCompile("(?s)```cypher\n(.*?)```").FindStringSubmatch(text)
	require.Positive(t, count(example[1]))
	require.Positive(t, count("MATCH (a)-[t:TRANSFER*3..6]->(a)"))
}

// someAccounts are accounts of all kinds with transfers between them.
func someAccounts(columns, amounts *property.Columns) []dyngraph.Update {
	rng := rand.New(rand.NewPCG(22, 1))
	values := map[string]func() property.Value{
		"risk":    func() property.Value { return property.Int(rng.Int64N(10)) },
		"country": func() property.Value { return property.Text([]string{"NL", "BE", "FR"}[rng.IntN(3)]) },
		"limit":   func() property.Value { return property.Units(rng.Int64N(100_000), 2) },
		"blocked": func() property.Value { return property.Truth(rng.IntN(2) == 0) },
	}
	var updates []dyngraph.Update
	const accounts = 40
	for i := range accounts {
		u := dyngraph.Update{Op: dyngraph.InsertVertex, Key: fmt.Sprint("a", i), Label: "Account"}
		for _, c := range columns.All() {
			v := values[c.Name]()
			if rng.IntN(6) == 0 {
				v = property.Value{}
			}
			u.Attr.Values = append(u.Attr.Values, v)
		}
		updates = append(updates, u)
	}
	at, _ := amounts.Of("TRANSFER", "amount")
	for range 400 {
		from := rng.IntN(accounts)
		u := dyngraph.Update{Op: dyngraph.InsertEdge, From: fmt.Sprint("a", from), Label: "TRANSFER",
			To: fmt.Sprint("a", (from+1+rng.IntN(accounts-1))%accounts)}
		u.Attr.Values = make([]property.Value, at+1)
		u.Attr.Values[at] = property.Units(rng.Int64N(100_000), 2)
		updates = append(updates, u)
	}
	return updates
}

// TestS16DocumentedConditions runs every condition and property map on vertices of docs/patterns.md: each holds for
// some of the matches, and not for all.
func TestS16DocumentedConditions(t *testing.T) {
	text, c := patternsPage(t, "Properties of vertices", "Paths")
	schema := c.Graph.Schema()
	m, err := monitor.Open(monitor.Options{Properties: schema, Threads: 1})
	require.NoError(t, err)
	defer m.Close()
	ctx := context.Background()
	_, err = m.Apply(ctx, someAccounts(schema.Vertices.Columns(), schema.Edges.Columns()), nil)
	require.NoError(t, err)
	count := func(pattern string) uint64 {
		q, err := m.Parse("q", pattern)
		require.NoError(t, err, pattern)
		n, err := m.Count(ctx, q)
		require.NoError(t, err, pattern)
		return n.Lo
	}
	const path = "MATCH (a:Account)-[t:TRANSFER]->(b:Account)"
	all := count(path)
	require.Greater(t, all, uint64(50))
	rows := regexp.MustCompile("(?m)^\\| `(.*?)` \\|").FindAllStringSubmatch(text, -1)
	require.Len(t, rows, 6)
	patterns := []string{}
	for _, row := range rows {
		patterns = append(patterns, path+" WHERE "+row[1])
	}
	maps := regexp.MustCompile("`(\\(b:Account \\{.*?\\}\\))`").FindAllStringSubmatch(text, -1)
	require.Len(t, maps, 1)
	for _, pattern := range append(patterns, strings.Replace(path, "(b:Account)", maps[0][1], 1)) {
		n := count(pattern)
		require.True(t, n > 0 && n < all, "%s has %d matches of %d", pattern, n, all)
	}
}
