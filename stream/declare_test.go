package stream_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/pattern"
	"motifd/stream"
	"motifd/stream/codec"
	"motifd/stream/monitor"
	"motifd/stream/streamtest"
)

// paid makes messages of edges with properties, each exactly of the types that the tests declare.
func paid(rng *rand.Rand, messages int) (recs []stream.Record) {
	for range messages {
		a, b := rng.IntN(6), rng.IntN(5)
		if b >= a {
			b++
		}
		op := "+"
		if rng.IntN(4) == 0 {
			op = "-"
		}
		props := ""
		if op == "+" && rng.IntN(6) > 0 {
			props = fmt.Sprintf(`,"props":{"amount":%d.5,"note":"n%d","more":[%d]}`, rng.IntN(9), rng.IntN(3),
				rng.IntN(9))
		}
		recs = append(recs, stream.Record{Value: fmt.Appendf(nil, `{"op":%q,"from":"v%d","to":"v%d","label":"T"%s}`,
			op, a, b, props)})
	}
	return recs
}

// schemaOf declares properties of edges T.
func schemaOf(types ...string) *property.Schema {
	s := &property.Schema{Edges: property.Declarations{"T": {}}}
	for _, pair := range types {
		name, text, _ := strings.Cut(pair, " ")
		t, err := property.ParseType(text)
		if err != nil {
			panic(err)
		}
		s.Edges["T"][name] = t
	}
	return s
}

// asking parses a Cypher pattern that reads what a schema declares.
func asking(t testing.TB, s *property.Schema, name, text string) *matcher.Query {
	t.Helper()
	q, err := pattern.Parse(pattern.Cypher, []byte(text), pattern.Options{Name: name, Directed: true,
		Declared: pattern.Declared{Schema: s}})
	require.NoError(t, err)
	q.Origin, q.Backfill = "config", matcher.BackfillFull
	return q
}

// declaring has the next runs of a world configure a schema and queries; those of before go.
func (w *world) declaring(s *property.Schema, qs ...*matcher.Query) {
	w.change = func(o *stream.PipelineOptions) {
		state := *o.State
		state.Graph = o.Engine.Graph()
		var err error
		o.Decoder, err = codec.NewDecoder(codec.FormatJSON, codec.DecoderOptions{Schema: stream.Declared(&state, s)})
		require.NoError(w.t, err)
		o.Schema, o.DeclareStep = s, 3
		o.Startup = func(stored []matcher.QueryState) (out []*matcher.QueryChange, err error) {
			left := map[string]bool{}
			for _, q := range qs {
				left[q.Name] = true
			}
			for _, q := range stored {
				if !q.Removed && !left[q.Query.Name] {
					out = append(out, &matcher.QueryChange{Remove: q.Query.Name})
				}
			}
			for _, q := range qs {
				out = append(out, &matcher.QueryChange{Add: q})
			}
			return out, nil
		}
	}
}

// part is a run of a world: what is configured, and what is read.
type part struct {
	schema  *property.Schema
	queries []*matcher.Query
	input   []stream.Record
}

// changingParts are runs between which properties are declared, dropped, and get another type.
func changingParts(t *testing.T) []part {
	rng := rand.New(rand.NewPCG(5, 23))
	money, both := schemaOf("amount decimal(2)"), schemaOf("amount decimal(2)", "note string", "ts timestamp")
	note, float := schemaOf("note string"), schemaOf("amount float64", "note string")
	path := "MATCH (a)-[s:T]->(b)-[t:T]->(c) WHERE %s RETURN a, b, c"
	ring := queries(t)[0]
	big := asking(t, money, "big", fmt.Sprintf(path, "s.amount > t.amount"))
	other := asking(t, note, "big", fmt.Sprintf(path, "s.note = t.note"))
	larger := asking(t, float, "larger", fmt.Sprintf(path, "s.amount >= 7.5"))
	return []part{
		{&property.Schema{}, []*matcher.Query{ring}, paid(rng, 25)},
		{money, []*matcher.Query{ring, big}, paid(rng, 10)},
		{both, []*matcher.Query{ring, big}, paid(rng, 10)},
		{note, []*matcher.Query{ring, other}, paid(rng, 10)}, // the new version of a query reads what is left
		{float, []*matcher.Query{ring, other, larger}, paid(rng, 10)},
		{&property.Schema{}, []*matcher.Query{ring}, paid(rng, 5)},
		{schemaOf("more string", "amount int64"), []*matcher.Query{ring}, nil}, // no value is of these types
	}
}

func (w *world) play(p part, f *streamtest.Faults) error {
	w.in.Add(p.input...)
	w.declaring(p.schema, p.queries...)
	return w.run(f)
}

// valuesOf returns the properties of a graph's edges: their values by name, and their other properties.
func valuesOf(t *testing.T, g *dyngraph.Graph) map[string]any {
	all := map[string]any{}
	view := g.View(dyngraph.New)
	for e := range view.EdgesSeq() {
		from, to, label := view.Edge(e)
		values := map[string]string{}
		for i, v := range view.Attr(e).Values {
			if c := g.Columns().All()[i]; !v.IsNull() {
				values[c.Name+" "+c.Type.String()] = v.String()
			}
		}
		others := map[string]any{}
		if p := view.Attr(e).Props; p != nil {
			require.NoError(t, json.Unmarshal(p, &others), "%s", p)
		}
		all[fmt.Sprint(view.Key(from), view.LabelName(label), view.Key(to))] = []any{values, others}
	}
	return all
}

// TestS23DeclaredLater: an edge has the values that it would have if all had been declared from the beginning, and in
// whatever order it was declared what the configuration does not have is as it came.
func TestS23DeclaredLater(t *testing.T) {
	w, out := inMemory(t, streamtest.Tracked, nil)
	whole := streamtest.NewInput(false)
	for i, p := range changingParts(t) {
		require.NoError(t, w.play(p, nil), "part %d", i)
		whole.Add(p.input...)
		if strings.Contains(fmt.Sprint(p.schema.Edges), "more") {
			continue
		}
		twin, _ := inMemory(t, streamtest.Tracked, nil)
		twin.in = whole
		twin.declaring(p.schema)
		require.NoError(t, twin.run(nil))
		want := valuesOf(t, twin.engine(twin.store).Graph())
		require.NotEmpty(t, want)
		require.Equal(t, want, valuesOf(t, w.engine(w.store).Graph()), "part %d", i)
	}
	steps := map[bool]int{}
	for _, b := range w.store.Committed() {
		if b.Declaration != nil {
			require.Empty(t, b.Updates)
			steps[b.Declaration.Last()]++
		}
	}
	require.Equal(t, 6, steps[true])
	require.Greater(t, steps[false], 10)
	all := strings.Join(text(out.Visible(), false), "\n")
	require.Contains(t, all, `"properties":{"edges":{"T":{"amount":"decimal(2)"}},"vertices":{},"changed":`)
	require.Contains(t, all, `"query":"big","version":2,"op":"+"`)

	// What the log holds is all that the output depends on.
	again := replayed(t, w.store.Committed())
	require.Equal(t, text(out.Visible(), false), text(again.Visible(), false))
}

// TestS23PropertyThatIsRead: a property cannot go, or get another type, while a query reads it; nothing of the change
// is made then that the query would notice.
func TestS23PropertyThatIsRead(t *testing.T) {
	parts := changingParts(t)[:2]
	w, _ := inMemory(t, streamtest.Tracked, nil)
	for _, p := range parts {
		require.NoError(t, w.play(p, nil))
	}
	before, committed := valuesOf(t, w.engine(w.store).Graph()), len(w.store.Committed())
	for types, says := range map[string]string{"": "does not declare", "amount float64": "declares as float64",
		"amount decimal(3)": "declares as decimal(3)", "note string": "does not declare"} {
		schema := schemaOf()
		if types != "" {
			schema = schemaOf(types)
		}
		err := w.play(part{schema: schema, queries: parts[1].queries}, nil)
		require.ErrorIs(t, err, matcher.ErrDeclared)
		require.ErrorContains(t, err, `"big": it reads s.amount as decimal(2), which graph.properties `+says+
			"; remove or change the query first, with the property declared as it was")
		require.Len(t, w.store.Committed(), committed, "a refused start makes no batch")
	}
	require.NoError(t, w.play(part{schema: parts[1].schema, queries: parts[1].queries}, nil))
	require.Equal(t, before, valuesOf(t, w.engine(w.store).Graph()))
}

// TestS23CrashAtEveryCall crashes runs that change the declared properties at each call to store and sink: a change
// that was begun goes on where it was.
func TestS23CrashAtEveryCall(t *testing.T) {
	matchertest.NotUnderRace(t, "TestS9CrashAtEveryCall crashes the same goroutines")
	parts := changingParts(t)
	for i := range parts[:6] {
		begin := func() (*world, *streamtest.MemOutput) {
			w, out := inMemory(t, streamtest.Tracked, nil)
			for _, p := range parts[:i] {
				require.NoError(t, w.play(p, nil))
			}
			w.in.Add(parts[i].input...)
			w.declaring(parts[i].schema, parts[i].queries...)
			return w, out
		}
		w, out := begin()
		require.NoError(t, w.run(nil))
		want := text(out.Visible(), false)
		crashAtEveryCall(t, want, eachPointByTurns, func() (*world, func() []string) {
			w, out := begin()
			return w, func() []string { return text(out.Visible(), false) }
		})
	}
}

// TestS23ValuesChangeWithoutAnUpdate: what an engine keeps of a query that is gone does not outlive a change of the
// declared properties, which changes values without a net event. A replay of the batch log steps over all of it in one
// process.
func TestS23ValuesChangeWithoutAnUpdate(t *testing.T) {
	risky := func() *property.Schema {
		return &property.Schema{Edges: property.Declarations{"T": {"amount": {Kind: property.Int64}}},
			Vertices: property.Declarations{"A": {"risk": {Kind: property.Int64}}}}
	}
	e, err := monitor.NewEngine(matcher.EngineOptions{Graph: dyngraph.NewGraph(dyngraph.Options{Directed: true,
		Schema: risky()})})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	batch := uint64(0)
	step := func(b *matcher.Batch) (records int) {
		batch++
		b.Number = batch
		_, err := e.Step(t.Context(), b, func(ev *matcher.Event) error {
			records += ev.Records()
			return nil
		}, nil)
		require.NoError(t, err)
		return records
	}
	change := func(ch *matcher.QueryChange) int {
		ch, err := e.PrepareChange(ch)
		require.NoError(t, err)
		return step(&matcher.Batch{Change: ch})
	}
	queries := []*matcher.Query{
		asking(t, risky(), "vertex", "MATCH (a:A)-[:T]->(b) WHERE a.risk > 5"),
		asking(t, risky(), "edge", "MATCH (a)-[s:T]->(b)-[t:T]->(c) WHERE t.amount > 5"),
	}
	insert := func(values []property.Value, props, from, to string) dyngraph.Update {
		return dyngraph.Update{Op: dyngraph.InsertEdge, From: from, To: to, Label: "T",
			Attr: dyngraph.Attr{Values: values, Props: []byte(props)}}
	}
	vertex := dyngraph.Update{Op: dyngraph.InsertVertex, Key: "v", Label: "A"}
	vertex.Attr.Values = []property.Value{property.Int(9)}
	large := []property.Value{property.Int(9)}
	for _, q := range queries {
		require.Zero(t, change(&matcher.QueryChange{Add: q}))
	}
	require.Equal(t, 1+2, step(&matcher.Batch{Updates: []dyngraph.Update{vertex, insert(large, "", "v", "w"),
		insert(large, "", "w", "x"), insert(large, "", "x", "y")}}))
	for _, q := range queries {
		require.Zero(t, change(&matcher.QueryChange{Remove: q.Name}))
	}
	declare := func(s *property.Schema) {
		s = e.Graph().Options().Schema.Redeclared(s)
		require.NoError(t, e.CheckDeclared(s))
		require.Zero(t, step(&matcher.Batch{Declaration: e.Graph().PlanDeclaration(s, 0, 100)}))
	}
	declare(&property.Schema{})
	step(&matcher.Batch{Updates: []dyngraph.Update{insert(nil, `{"amount":1}`, "w", "x")}})
	declare(risky())
	require.Zero(t, change(&matcher.QueryChange{Add: queries[0]}), "a vertex has lost its value")
	require.Equal(t, 1, change(&matcher.QueryChange{Add: queries[1]}), "of v, w, x and w, x, y the latter is left")
	require.Equal(t, 1, step(&matcher.Batch{Updates: []dyngraph.Update{insert(nil, "", "u", "w"),
		insert(nil, "", "u", "x")}}), "u, x, y")
}
