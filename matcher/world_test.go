package matcher_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/pattern"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
)

// world is a daemon's core for tests that speak in text: cpu and reference side by side.
type world struct {
	t          *testing.T
	directed   bool
	schema     *property.Schema
	cpu, other *matchertest.Driver
	offset     int64
}

func newWorld(t *testing.T, directed bool) *world { return newWorldOf(t, directed, nil) }

// newWorldOf declares properties.
func newWorldOf(t *testing.T, directed bool, schema *property.Schema) *world {
	driver := func(be matcher.Backend) *matchertest.Driver {
		return matchertest.NewDriverWith(t, matcher.EngineOptions{Backend: be, Planner: plan.New(), OnceKey: onceKey,
			Graph: dyngraph.NewGraph(dyngraph.Options{Directed: directed, Schema: schema})})
	}
	return &world{t: t, directed: directed, schema: schema, cpu: driver(newCPU(t, 2, false)),
		other: driver(reference.New())}
}

// query parses a pattern and sets it up as the options say.
func (w *world) query(name, cypher string, options ...func(*matcher.Query)) *matcher.Query {
	w.t.Helper()
	r, err := pattern.ParseRule([]byte(cypher), pattern.Options{Name: name, Directed: w.directed},
		pattern.Declared{Schema: w.schema})
	if err != nil {
		w.t.Fatal(err)
	}
	q := r.Query
	q.Conditions = r.Conditions
	for _, set := range options {
		set(q)
	}
	return q
}

func subgraphs(q *matcher.Query) { q.Unit = matcher.Subgraphs }
func counts(q *matcher.Query)    { q.Emit = matcher.EmitCounts }
func exists(q *matcher.Query)    { q.Emit = matcher.EmitExists }
func backfill(q *matcher.Query)  { q.Backfill = matcher.BackfillFull }
func capped(n uint64) func(*matcher.Query) {
	return func(q *matcher.Query) { q.MaxMatches = n }
}
func exactTotal(q *matcher.Query) { q.ExactTotal = true }

// register registers a query with both and checks what that puts out.
func (w *world) register(q *matcher.Query, want ...string) {
	w.t.Helper()
	w.check(w.cpu.Register(q), want)
	w.check(w.other.Register(q), want)
}

func (w *world) remove(name string, want ...string) {
	w.t.Helper()
	w.check(w.cpu.Remove(name), want)
	w.check(w.other.Remove(name), want)
}

// batch steps over a batch and checks what that puts out, in order.
//
// Messages are separated by ";", the updates of one message by ",". An update is + or - with two ends and perhaps a
// label, or +v, -v or =v with one. An end is key or key:label. Behind an edge's label, or a vertex, come declared
// values: n=5.
func (w *world) batch(text string, want ...string) *matchertest.Output {
	w.t.Helper()
	msgs := w.messages(text)
	out := w.cpu.Batch(msgs)
	w.check(out, want)
	w.check(w.other.Batch(msgs), want)
	return out
}

func (w *world) messages(text string) []dyngraph.Message {
	w.t.Helper()
	var msgs []dyngraph.Message
	for message := range strings.SplitSeq(text, ";") {
		var m dyngraph.Message
		for update := range strings.SplitSeq(message, ",") {
			f := append(strings.Fields(update), "", "", "")
			if f[0] == "" {
				continue
			}
			u := dyngraph.Update{Pos: dyngraph.Position{Offset: w.offset}}
			w.offset++
			switch f[0] {
			case "+", "-":
				u.Op = map[string]dyngraph.Op{"+": dyngraph.InsertEdge, "-": dyngraph.DeleteEdge}[f[0]]
				u.From, u.FromLabel, _ = strings.Cut(f[1], ":")
				u.To, u.ToLabel, _ = strings.Cut(f[2], ":")
				u.Label = f[3]
				w.values(&u, f[min(4, len(f)):])
			case "+v", "-v", "=v":
				u.Op = map[string]dyngraph.Op{"+v": dyngraph.InsertVertex, "-v": dyngraph.DeleteVertex,
					"=v": dyngraph.ReviseVertex}[f[0]]
				u.Key, u.Label, _ = strings.Cut(f[1], ":")
				w.vertexValues(&u, f[2:])
			default:
				w.t.Fatalf("update %q", update)
			}
			m.Updates = append(m.Updates, u)
		}
		msgs = append(msgs, m)
	}
	return msgs
}

// vertexValues sets declared values of a vertex; each name has one type. null is null.
func (w *world) vertexValues(u *dyngraph.Update, fields []string) {
	w.t.Helper()
	for _, f := range fields {
		name, text, ok := strings.Cut(f, "=")
		if !ok {
			continue
		}
		columns := w.schema.Vertices.Columns()
		at := columns.Named(name)[0]
		var v property.Value
		if text != "null" {
			var err error
			if v, err = property.FromText(columns.All()[at].Type, text); err != nil {
				w.t.Fatalf("value %q: %v", f, err)
			}
		}
		setValue(u, at, v)
		if u.Op == dyngraph.ReviseVertex {
			u.Named = append(u.Named, at)
		}
	}
}

// setValue sets the value of a column.
func setValue(u *dyngraph.Update, at int, v property.Value) {
	for len(u.Attr.Values) <= at {
		u.Attr.Values = append(u.Attr.Values, property.Value{})
	}
	u.Attr.Values[at] = v
}

// values sets declared values of an edge.
func (w *world) values(u *dyngraph.Update, fields []string) {
	w.t.Helper()
	for _, f := range fields {
		name, text, ok := strings.Cut(f, "=")
		if !ok {
			continue
		}
		typ, ok := w.schema.Edges.Lookup(u.Label, name)
		v, err := property.FromText(typ, text)
		if !ok || err != nil {
			w.t.Fatalf("value %q: %v", f, err)
		}
		columns := w.schema.Edges.Columns()
		if at, _ := columns.Of(u.Label, name); at == property.TS {
			u.Attr.TS, u.Attr.HasTS = v.Whole(), true
		} else {
			setValue(u, at, v)
		}
	}
}

// check compares records, each written as its sign, query, and keys, number or "exists".
func (w *world) check(out *matchertest.Output, want []string) {
	w.t.Helper()
	var got []string
	for _, r := range out.Records {
		got = append(got, short(&r))
	}
	if !slices.Equal(got, want) {
		w.t.Fatalf("batch %d:\n got %q\nwant %q", out.Number, got, want)
	}
}

func short(r *matchertest.Record) string {
	s := r.Sign.String() + r.Query
	if r.Snapshot {
		s += " snapshot"
	}
	switch r.Kind {
	case matcher.EventCount:
		return fmt.Sprintf("%s #%v", s, r.Count)
	case matcher.EventExists:
		return s + " exists"
	case matcher.EventNotice:
		return s + " ! " + string(r.Notice.Reason)
	}
	for _, v := range r.Match.Vertices {
		s += " " + v.Key
	}
	return s
}

// id returns the dense id of a key.
func (w *world) id(key string) dyngraph.VertexID {
	w.t.Helper()
	id, ok := w.cpu.Engine.Graph().Lookup(key)
	if !ok {
		w.t.Fatalf("no vertex %s", key)
	}
	if other, _ := w.other.Engine.Graph().Lookup(key); other != id {
		w.t.Fatalf("vertex %s has ids %d and %d", key, id, other)
	}
	return id
}
