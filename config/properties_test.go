package config

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph/property"
)

const declaring = sound + `
graph:
  properties:
    edges:
      TRANSFER: {amount: decimal(2), ts: timestamp}
      NOTE: {}
      "*": {memo: string}
  edge_identity: ends
queries:
  - name: burst
    within: 1d12h
    params: {big: 1000.00, day: 24h, names: [x, "1d", 7], on: true}
    cypher: |
      MATCH (a)-[t:TRANSFER]->(b)-[u:TRANSFER]->(c)
      WHERE t.amount > $big AND u.ts - t.ts <= $day AND t.memo IN ['x', 'y'] AND $on
      RETURN t.amount AS amount, b
`

func TestS13Properties(t *testing.T) {
	_, err := load(t, declaring, nil)
	require.Error(t, err)
	require.ErrorContains(t, err,
		"the parameter $names is bound, and the pattern does not have it; it has $big, $day, $on")
	text := strings.Replace(declaring, `, names: [x, "1d", 7]`, "", 1)
	c, err := load(t, text, nil)
	require.NoError(t, err)
	schema := &property.Schema{Edges: property.Declarations{
		"TRANSFER":   {"amount": {Kind: property.Decimal, Scale: 2}, "ts": {Kind: property.Timestamp}},
		property.Any: {"memo": {Kind: property.String}},
	}}
	require.Equal(t, schema, c.Graph.Schema())
	require.Equal(t, schema, c.GraphOptions().Schema)
	require.Equal(t, schema, c.CheckpointOptions().Settings.Properties)
	decoder, err := c.DecoderOptions()
	require.NoError(t, err)
	require.Equal(t, schema, decoder.Schema)
	queries, err := c.BuildQueries()
	require.NoError(t, err)
	q := queries[0]
	require.EqualValues(t, 36*3_600_000, q.Within)
	require.Len(t, q.Fields, 1)
	var conditions []string
	for _, x := range q.Conditions {
		conditions = append(conditions, x.Format(q.ElementName))
	}
	require.Equal(t, []string{"t.amount > 1000.00", "(u.ts - t.ts) <= duration('P1D')", "t.memo IN ['x', 'y']"},
		conditions)

	plain, err := load(t, sound+"graph: {edge_identity: ends, properties: {edges: {A: {}}}}\n", nil)
	require.NoError(t, err)
	require.Nil(t, plain.Graph.Schema(), "nothing is declared")
}

// TestS14EdgeIdentity holds what an edge is, as configured and by default, and that all options say the same.
func TestS14EdgeIdentity(t *testing.T) {
	const properties = "properties: {edges: {A: {n: int64}}}"
	for text, ids := range map[string]bool{
		"{directed: true}":                          false,
		"{edge_identity: ends}":                     false,
		"{edge_identity: id}":                       true,
		"{" + properties + "}":                      true,
		"{" + properties + ", edge_identity: ends}": false,
		"{properties: {edges: {A: {}}}}":            false,
		"{retention: {A: 1d}}":                      true,
		"{retention: {A: 1d}, edge_identity: ends}": false,
	} {
		c, err := load(t, sound+"graph: "+text+"\n", nil)
		require.NoError(t, err, text)
		decoder, err := c.DecoderOptions()
		require.NoError(t, err)
		require.Equal(t, []bool{ids, ids, ids, ids}, []bool{c.Graph.EdgeIDs(), c.GraphOptions().EdgeIDs,
			decoder.EdgeIDs, c.CheckpointOptions().Settings.EdgeIDs}, text)
	}
}

func TestParams(t *testing.T) {
	text := func(s string) property.Value { return property.Text(s) }
	for in, want := range map[string][]property.Value{
		"7": {property.Int(7)}, "-1.50": {property.Units(-150, 2)}, "24h": {property.Int(86_400_000)},
		"1d12h": {property.Int(129_600_000)}, "true": {property.Truth(true)}, "'24h'": {text("24h")},
		`"7"`: {text("7")}, "abc": {text("abc")}, "'true'": {text("true")}, "''": {text("")}, "d": {text("d")},
		"[1, x, '2', 3s]":   {property.Int(1), text("x"), text("2"), property.Int(3000)},
		"90071992547409931": {property.Int(90071992547409931)},
	} {
		p, err := ParseParam(in)
		require.NoError(t, err, in)
		require.Equal(t, want, p.Values, in)
		require.Equal(t, in[0] == '[', p.List, in)
		js, err := json.Marshal(p)
		require.NoError(t, err)
		var again Param
		require.NoError(t, json.Unmarshal(js, &again), "%s", js)
		require.Equal(t, p, again, in)
	}
	for _, in := range []string{"", "{a: 1}", "[[1]]", "24x", "1.5d", "2024-01-01", "9223372036854775808", "[1",
		"null"} {
		_, err := ParseParam(in)
		require.Error(t, err, in)
	}
	for _, in := range []string{"null", "{}", "[null]", "[[1]]", "1e999", `"\ud800"`} {
		require.Error(t, json.Unmarshal([]byte(in), new(Param)), in)
	}
}

func TestSpans(t *testing.T) {
	for in, want := range map[string]int64{"1ms": 1, "90s": 90_000, "24h": 86_400_000, "7d": 604_800_000,
		"1d12h30m": 131_400_000, "106751d23h": 9223369200000, "106752d": 9223372800000,
		"300000d1ms": 25920000000001, "106751991166d": 9223372036742400000} {
		var s Span
		require.NoError(t, s.UnmarshalText([]byte(in)), in)
		require.EqualValues(t, want, s, in)
		var again Span
		require.NoError(t, again.UnmarshalText([]byte(s.String())), s.String())
		require.Equal(t, s, again)
	}
	for ms, want := range map[Span]string{1: "1ms", 90_000: "1m30s", 60_000: "1m", 86_400_000: "24h",
		5_400_000: "1h30m", 3_601_000: "1h0m1s", 30_000: "30s", 600_000: "10m", 36_000_000: "10h"} {
		require.Equal(t, want, ms.String())
	}
	for _, in := range []string{"", "0s", "-1h", "1", "d", "1us", "1h1d", "1.5d", "400y", "2w", "106751991167d",
		"106751991168d", "9999999999999d", "1dd"} {
		require.ErrorContains(t, new(Span).UnmarshalText([]byte(in)), "the units d, h, m, s and ms", in)
		require.ErrorContains(t, new(Span).UnmarshalText([]byte(in)), " to 106751991166d", in)
	}
}

func TestParseProperties(t *testing.T) {
	s, err := ParseProperties("p.yaml", []byte("edges: {T: {amount: decimal(2)}}"))
	require.NoError(t, err)
	require.Equal(t, property.Declarations{"T": {"amount": {Kind: property.Decimal, Scale: 2}}}, s.Edges)
	s, err = ParseProperties("p.yaml", []byte("vertices: {A: {risk: int64}, B: {}}"))
	require.NoError(t, err)
	require.Equal(t, &property.Schema{Vertices: property.Declarations{"A": {"risk": {Kind: property.Int64}}}}, s)
	for in, want := range map[string]string{
		"":                               "no property is declared",
		"edges: {T: {}}":                 "no property is declared",
		"edges: {T: {amount: money}}":    `p.yaml:1:21: edges.T.amount: the type "money" is unknown`,
		"T: {amount: int64}":             `p.yaml:1:1: there is no field "T"`,
		"edges: {T: {ts: int64}}":        `ts of the edge label "T" is declared int64`,
		"vertices: {A: {ts: timestamp}}": `property "ts" of the vertex label "A": ts is the time of edges`,
		"edges: {T: {amount: int64}":     "p.yaml:1:",
		"edges: [T]":                     "expected a section with entries",
	} {
		_, err := ParseProperties("p.yaml", []byte(in))
		require.ErrorContains(t, err, want, in)
	}
}

// TestFormatProperties: declarations with any names are read back as they were written.
func TestFormatProperties(t *testing.T) {
	schema := &property.Schema{Edges: property.Declarations{}, Vertices: property.Declarations{}}
	names := []string{"T", "*", "true", "Null", "a b", "ä", `"`, "x: y", "{", "#", "12", "-", "~", "\n", "on"}
	for i, name := range names {
		of := map[string]property.Type{name: {Kind: property.Decimal, Scale: uint8(i)}, "_1": {Kind: property.Bool}}
		if i%2 == 0 {
			schema.Edges[name] = of
		} else {
			schema.Vertices[name] = of
		}
	}
	delete(schema.Vertices["*"], "_1") // would be declared twice
	read, err := ParseProperties("text", []byte(FormatProperties(schema)))
	require.NoError(t, err, FormatProperties(schema))
	require.Equal(t, schema, read)
	one := property.Declarations{"T": {"amount": {Kind: property.Decimal, Scale: 2}}}
	require.Equal(t, "{edges: {T: {amount: decimal(2)}}}", FormatProperties(&property.Schema{Edges: one}))
}
