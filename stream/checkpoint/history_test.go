package checkpoint

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/stream"
	"motifd/stream/eventtime"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testDir = "dir/checkpoint"

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x6d6f74696664)) }

// step is one durable call on a Store, with the state that it leads to.
type step struct {
	name  string
	do    func(s *Store) error
	after string // dump of the state after it
}

// history is a scripted life of a checkpoint, made with a real graph.
type history struct {
	directed bool
	edgeIDs  bool             // in half of them
	schema   *property.Schema // nil in half of them
	start    string           // dump of a fresh checkpoint
	steps    []step
	batches  []stream.Batch // as they were intended, suspensions included
	infos    []*stream.CommitInfo
	graphs   []string // dump of graph, pending, positions and queries after batch i
}

// newHistory scripts n batches. Up to three intents are open at a time; suspensions, query changes and a bootstrap
// occur.
func newHistory(rng *rand.Rand, n int, bootstrap bool) *history {
	h := &history{directed: rng.IntN(2) == 0, edgeIDs: rng.IntN(2) == 0}
	if rng.IntN(2) == 0 {
		if h.schema = testSchema; rng.IntN(2) == 0 {
			h.schema = severalSchema
		}
	}
	timed := rng.IntN(2) == 0
	g := dyngraph.NewGraph(h.options())
	var queries []matcher.QueryState
	pos := stream.Positions{}
	h.start = dumpState(&stream.State{Fresh: true, Graph: g, Queries: queries, Positions: pos})
	if bootstrap {
		for range 3 {
			mustStage(g, h.randomUpdates(rng, 30, 12))
			g.Commit()
		}
		boot := rebuilt(g, h.options())
		h.steps = append(h.steps, step{"bootstrap",
			func(s *Store) error { return s.Bootstrap(context.Background(), boot) },
			dumpState(&stream.State{Fresh: true, Graph: g, Queries: queries, Positions: pos})})
	}
	h.graphs = append(h.graphs, dumpContent(g, pos, queries))
	g.ExpireIsolated(timed)
	var undone *dyngraph.Declaration // of a change that is not done
	memory := randomMemory{}
	// Batches and their effects.
	committed := []string{dumpCommitted(0, g, pos, nil, queries, nil, nil)}
	for i := 1; i <= n; i++ {
		b := stream.Batch{Messages: rng.IntN(9), Bytes: rng.IntN(999), OutputPartitions: int32(rng.IntN(3))}
		b.Number = uint64(i)
		info := &stream.CommitInfo{Batch: uint64(i), Mark: stream.Mark(fmt.Sprint("mark", i))}
		info.Report = randomReport(rng, uint64(i))
		switch {
		case undone != nil || h.schema != nil && rng.IntN(4) == 0:
			undone = h.declare(rng, g, undone, &b, info)
		case rng.IntN(5) == 0:
			b.Change, queries = randomChange(rng, queries)
			info.Queries = queries
		default:
			b.Updates, _ = g.Accept([]dyngraph.Message{{Updates: h.updatesOf(rng, g, 1+rng.IntN(25), 12)}})
			b.DeadLetters = randomDeadLetters(rng)
			if r := info.Report; r != nil && len(r.Queries) > 0 && rng.IntN(4) == 0 {
				r.Queries[0].Changed = matcher.CountOf(rng.Uint64())
			}
			for range rng.IntN(3) {
				pos[int32(rng.IntN(4)-1)] = rng.Int64N(1 << 40)
			}
		}
		b.Positions = clonePositions(pos)
		stageBatch(g, &b)
		info.Effect = g.Effect()
		g.Commit()
		info.Positions = clonePositions(pos)
		if timed {
			h.time(rng, &b, info)
		}
		memory.change(rng, queries, info)
		remembered := memory.with(queries)
		h.batches = append(h.batches, b)
		h.infos = append(h.infos, info)
		h.graphs = append(h.graphs, dumpContent(g, pos, remembered))
		committed = append(committed, dumpCommitted(uint64(i), g, pos, info.Mark, remembered, info.Time, undone))
	}
	// The order of the calls.
	done, open := 0, []stream.Batch{}
	record := func(name string, do func(*Store) error) {
		fresh := done == 0 && len(open) == 0
		h.steps = append(h.steps, step{name, do, fmt.Sprintf("fresh %v\n%s", fresh, committed[done]) + dumpOpen(open)})
	}
	for done < n {
		switch {
		case len(open) < 3 && done+len(open) < n && (len(open) == 0 || rng.IntN(2) == 0):
			i := done + len(open)
			b := h.batches[i]
			open = append(open, b)
			record(fmt.Sprint("intent ", b.Number), func(s *Store) error { return s.Intent(context.Background(), &b) })
		case rng.IntN(4) == 0:
			i := rng.IntN(len(open))
			u := randomDecision(rng)
			open = slices.Clone(open)
			open[i].Decisions = append(slices.Clone(open[i].Decisions), u)
			h.batches[done+i].Decisions = open[i].Decisions
			number := open[i].Number
			record(fmt.Sprint("suspend in ", number), func(s *Store) error { return s.Decide(number, u) })
		default:
			info := h.infos[done]
			open = open[1:]
			done++
			record(fmt.Sprint("commit ", info.Batch),
				func(s *Store) error { return s.Commit(context.Background(), info) })
		}
	}
	return h
}

func mustStage(g *dyngraph.Graph, us []dyngraph.Update) {
	if us == nil {
		us = []dyngraph.Update{}
	}
	if _, err := g.Stage(us); err != nil {
		panic(err)
	}
}

// rebuilt returns a copy of the graph that later changes do not touch.
func rebuilt(g *dyngraph.Graph, opt dyngraph.Options) *dyngraph.Graph {
	l := dyngraph.NewLoader(opt)
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	for i := 1; i < g.Labels(); i++ {
		must(l.Label(g.LabelName(dyngraph.LabelID(i))))
	}
	v := g.View(dyngraph.New)
	for id := range v.VerticesSeq() {
		must(l.Vertex(dyngraph.VertexRecord{ID: id, Key: v.Key(id), Label: v.Label(id),
			Values: v.VertexValues(id)}))
	}
	for e := range v.EdgesSeq() {
		from, to, label := v.Edge(e)
		must(l.Edge(dyngraph.EdgeRecord{From: from, To: to, Label: label, Attr: v.Attr(e)}))
	}
	older, newer := g.PendingFree()
	l.Pending(older, newer)
	out, err := l.Graph()
	must(err)
	return out
}

// testSchema declares properties of every type.
var testSchema = &property.Schema{Edges: property.Declarations{
	"T": {"amount": {Kind: property.Decimal, Scale: 2}, "ts": {Kind: property.Timestamp},
		"note": {Kind: property.String}},
	"U":          {"amount": {Kind: property.Int64}, "seen": {Kind: property.Timestamp}},
	property.Any: {"flag": {Kind: property.Bool}, "share": {Kind: property.Float64}},
}, Vertices: property.Declarations{
	"A":          {"risk": {Kind: property.Int64}, "name": {Kind: property.String}},
	"B":          {"risk": {Kind: property.Decimal, Scale: 3}},
	property.Any: {"blocked": {Kind: property.Bool}},
}}

// severalSchema is testSchema where a vertex may have several labels: no name has two types.
var severalSchema = &property.Schema{Edges: testSchema.Edges, Vertices: property.Declarations{
	"A": testSchema.Vertices["A"], property.Any: testSchema.Vertices[property.Any]}, SeveralLabels: true}

// someLabels returns several labels for an update, each with a sign for =v.
func someLabels(rng *rand.Rand, op dyngraph.Op) string {
	var labels []string
	for range rng.IntN(3) {
		l := []string{"A", "B", "Längeres Label"}[rng.IntN(3)]
		if op == dyngraph.ReviseVertex {
			l = []string{"+", "-"}[rng.IntN(2)] + l
		}
		labels = append(labels, l)
	}
	return property.JoinLabels(labels...)
}

// randomValues returns declared values of a label of edges or vertices.
func randomValues(rng *rand.Rand, columns *property.Columns, label string) []property.Value {
	var values []property.Value
	for _, column := range columns.Under(label).All() {
		if rng.IntN(3) == 0 {
			continue
		}
		for len(values) <= column {
			values = append(values, property.Value{})
		}
		var v property.Value
		switch t := columns.All()[column].Type; t.Kind {
		case property.String:
			v = property.Text([]string{"", "é", "x\x00y"}[rng.IntN(3)])
		case property.Bool:
			v = property.Truth(rng.IntN(2) == 0)
		case property.Float64:
			v, _ = property.Float([]float64{0, -1.5, math.MaxFloat64, rng.NormFloat64()}[rng.IntN(4)])
		default:
			v = property.Stored(t, []uint64{0, 1 << 63, 1<<63 - 1, rng.Uint64N(3)}[rng.IntN(4)])
		}
		values[column] = v
	}
	return property.WithoutNulls(values)
}

func (h *history) options() dyngraph.Options {
	return dyngraph.Options{Directed: h.directed, EdgeIDs: h.edgeIDs, Schema: h.schema}
}

// randomUpdates returns updates with values where the history declares properties, and with few ids where they identify
// edges.
func (h *history) randomUpdates(rng *rand.Rand, n, keys int) []dyngraph.Update {
	return h.updatesOf(rng, dyngraph.NewGraph(h.options()), n, keys)
}

// updatesOf is randomUpdates by what a graph declares.
func (h *history) updatesOf(rng *rand.Rand, g *dyngraph.Graph, n, keys int) []dyngraph.Update {
	us := randomUpdates(rng, n, keys)
	for i := range us {
		u := &us[i]
		switch {
		case h.schema == nil:
		case u.Op == dyngraph.InsertEdge:
			u.Attr.Values = randomValues(rng, g.Columns(), u.Label)
			if h.schema.SeveralLabels {
				u.FromLabel, u.ToLabel = someLabels(rng, u.Op), someLabels(rng, u.Op)
			}
		case u.Op == dyngraph.InsertVertex:
			columns := g.VertexColumns()
			u.Attr.Values = randomValues(rng, columns, u.Label)
			if rng.IntN(2) > 0 {
				u.Op, u.Named = dyngraph.ReviseVertex, columns.Under(u.Label).All()
			}
			if h.schema.SeveralLabels {
				u.Label = someLabels(rng, u.Op)
			}
		}
		if h.edgeIDs && u.Key == "" {
			u.Attr.ID = []string{"", "1", "10", "2"}[rng.IntN(4)]
		}
	}
	return us
}

func randomUpdates(rng *rand.Rand, n, keys int) []dyngraph.Update {
	key := func() string { return fmt.Sprintf("k%d", rng.IntN(keys)) }
	labels := []string{"", "", "A", "B", "Längeres Label"}
	var us []dyngraph.Update
	// A key's label depends on the key, so that updates hardly ever contradict each other.
	of := func(k string) string { return labels[int(k[len(k)-1])%len(labels)] }
	for range n {
		u := dyngraph.Update{Pos: dyngraph.Position{
			Partition: int32(rng.IntN(3)), Offset: rng.Int64N(1 << 33), Element: int32(rng.IntN(3)),
		}}
		switch rng.IntN(12) {
		case 0:
			u.Op, u.Key = dyngraph.DeleteVertex, key()
		case 1:
			u.Op, u.Key = dyngraph.InsertVertex, key()
			u.Label = of(u.Key)
		case 2, 3, 4:
			u.Op = dyngraph.DeleteEdge
		default:
			u.Op = dyngraph.InsertEdge
			u.Attr = randomAttr(rng)
		}
		if u.Key == "" {
			u.From = key()
			for u.To == "" || u.To == u.From {
				u.To = key()
			}
			u.Label = []string{"", "T", "U"}[rng.IntN(3)]
			if u.Op == dyngraph.InsertEdge && rng.IntN(2) == 0 {
				u.FromLabel, u.ToLabel = of(u.From), of(u.To)
			}
		}
		us = append(us, u)
	}
	return us
}

func randomAttr(rng *rand.Rand) (a dyngraph.Attr) {
	if rng.IntN(3) == 0 {
		a.ID = fmt.Sprintf("tx-%d", rng.IntN(1000))
	}
	if a.HasTS = rng.IntN(2) == 0; a.HasTS {
		a.TS = rng.Int64() - rng.Int64()
	}
	if rng.IntN(3) == 0 {
		a.Props = fmt.Appendf(nil, `{"amount":%d}`, rng.IntN(100))
	}
	return a
}

func randomDeadLetters(rng *rand.Rand) (ls []stream.DeadLetter) {
	for range rng.IntN(3) {
		ls = append(ls, stream.DeadLetter{Partition: int32(rng.IntN(3)), Offset: rng.Int64(), Element: rng.IntN(3) - 1,
			Reason: "json", Error: "what is wrong", Value: []byte{0xff, byte(rng.IntN(256))}, Size: rng.IntN(1 << 20)})
	}
	return ls
}

func randomDecision(rng *rand.Rand) matcher.Decision {
	return matcher.Decision{Query: fmt.Sprint("q", rng.IntN(3)), Version: rng.Uint64N(9),
		Sign: dyngraph.Sign(rng.IntN(3) - 1), Order: rng.Uint32(),
		Action: matcher.Action(rng.IntN(4)), Cause: matcher.Cause(rng.IntN(7)), Snapshot: rng.IntN(2) == 0,
		Kept: rng.Uint64()}
}

func randomChange(rng *rand.Rand, queries []matcher.QueryState) (*matcher.QueryChange, []matcher.QueryState) {
	queries = slices.Clone(queries)
	if len(queries) > 0 && rng.IntN(3) == 0 {
		i := rng.IntN(len(queries))
		queries[i].Removed = true
		return &matcher.QueryChange{Remove: queries[i].Query.Name, Retract: rng.IntN(2) == 0}, queries
	}
	q := &matcher.Query{
		Name: fmt.Sprintf("q%03d", len(queries)), Version: 1 + rng.Uint64N(1<<60),
		Vertices: []matcher.QueryVertex{{Name: "a", Label: "A"}, {Name: "b"}},
		Edges:    []matcher.QueryEdge{{Name: "e", From: 0, To: 1, Label: "T"}},
		Source:   "MATCH (a:A)-->(b) RETURN a, b", Language: "cypher", Origin: "api",
	}
	return &matcher.QueryChange{Add: q}, append(queries, matcher.QueryState{Query: q, Suspended: rng.IntN(4) == 0})
}

func randomReport(rng *rand.Rand, batch uint64) *stream.BatchReport {
	if rng.IntN(8) == 0 {
		return nil
	}
	r := &stream.BatchReport{Batch: batch, Messages: rng.IntN(100), Updates: rng.IntN(100), Inserted: rng.IntN(9),
		Deleted: rng.IntN(9), Records: rng.Uint64(), DeadLetters: rng.IntN(3),
		Positions: map[string]int64{"0": 1, "17": -4}}
	if rng.IntN(3) == 0 {
		r.Change = &stream.ChangeReport{Op: "add", Query: "q", Version: 3}
	}
	for i := range rng.IntN(3) {
		r.Queries = append(r.Queries, stream.QueryReport{Query: fmt.Sprint("q", i), Version: 2,
			Positive:  stream.Total{Count: someCount(rng), Unknown: rng.IntN(4) == 0},
			Negative:  stream.Total{Count: someCount(rng)},
			Truncated: rng.IntN(2) == 0, Suspended: rng.IntN(2) == 0, Snapshot: rng.IntN(2) == 0,
			Skipped: rng.Uint64N(3), Limit: []string{"", "query_time"}[rng.IntN(2)], LossySince: rng.Uint64N(3)})
	}
	return r
}

// someCount returns a count of up to 64, 128 or far more bits.
func someCount(rng *rand.Rand) matcher.Count {
	c := matcher.Count{Hi: rng.Uint64N(2), Lo: rng.Uint64()}
	for range rng.IntN(4) {
		c = c.Mul(c)
	}
	return c
}

func clonePositions(p stream.Positions) stream.Positions {
	out := stream.Positions{}
	for k, v := range p {
		out[k] = v
	}
	return out
}

// The dumps spell out everything that a checkpoint promises to keep.

func dumpState(st *stream.State) string {
	return fmt.Sprintf("fresh %v\n", st.Fresh) + dumpCommitted(st.Batch, st.Graph, st.Positions, st.Mark, st.Queries,
		st.Time, st.Declaration) +
		dumpOpen(st.Open)
}

func dumpCommitted(batch uint64, g *dyngraph.Graph, p stream.Positions, m stream.Mark, qs []matcher.QueryState,
	at *eventtime.State, step *dyngraph.Declaration) string {
	js, err := json.Marshal(step)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("batch %d mark %q time %+v step %s\n", batch, string(m), at, js) + dumpContent(g, p, qs)
}

func dumpContent(g *dyngraph.Graph, p stream.Positions, qs []matcher.QueryState) string {
	var b strings.Builder
	for i := 1; i < g.Labels(); i++ {
		fmt.Fprintf(&b, "label %d %q\n", i, g.LabelName(dyngraph.LabelID(i)))
	}
	v := g.View(dyngraph.New)
	for id := range v.VerticesSeq() {
		fmt.Fprintf(&b, "vertex %d %q %d %v\n", id, v.Key(id), v.Label(id), v.VertexValues(id))
	}
	for e := range v.EdgesSeq() {
		from, to, label := v.Edge(e)
		a := v.Attr(e)
		fmt.Fprintf(&b, "edge %d %d %d id %q ts %v %d props %q values %v\n", from, label, to, a.ID, a.HasTS, a.TS,
			string(a.Props), a.Values)
	}
	older, newer := g.PendingFree()
	fmt.Fprintf(&b, "pending %v %v\n", append([]dyngraph.VertexID{}, older...), append([]dyngraph.VertexID{}, newer...))
	fmt.Fprintf(&b, "positions %v\n", map[int32]int64(clonePositions(p)))
	js, err := json.Marshal(append([]matcher.QueryState{}, qs...))
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(&b, "queries %s\n", js)
	for _, q := range qs {
		var lines []string
		for _, e := range q.Once {
			lines = append(lines, fmt.Sprintf("%s %v %x %d\n", q.Query.Name, e.Clock, e.Key, e.TS))
		}
		slices.Sort(lines)
		b.WriteString(strings.Join(lines, ""))
	}
	if js, err = json.Marshal(g.Options().Schema); err != nil {
		panic(err)
	}
	fmt.Fprintf(&b, "schema %s\n", js)
	return b.String()
}

func dumpOpen(open []stream.Batch) string {
	var b strings.Builder
	for i := range open {
		js, err := json.Marshal(open[i]) // Change and slices are spelt out; nil and empty slices may differ
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&b, "open %s\n", strings.ReplaceAll(string(js), ":[]", ":null"))
	}
	return b.String()
}

func testOptions(h *history, fs vfs.FS) Options {
	return Options{Settings: Settings{Directed: h.directed, EdgeIDs: h.edgeIDs, Properties: h.schema,
		Decoding: "json", Input: "file in", Output: "file out", Mode: "changelog", Shape: "{}"},
		FS: fs, Retention: Retention{Batches: 1 << 40}}
}

// recovered opens, recovers, dumps and closes.
func recovered(t testing.TB, opt Options) string {
	t.Helper()
	return recoveredAt(t, testDir, opt)
}

func recoveredAt(t testing.TB, dir string, opt Options) string {
	t.Helper()
	s, err := Open(dir, opt)
	require.NoError(t, err)
	st, err := s.Recover(context.Background())
	require.NoError(t, err)
	require.Len(t, st.StreamID, 32)
	require.NoError(t, s.Close())
	return dumpState(st)
}

// requireSame compares two dumps and shows the first line that differs.
func requireSame(t testing.TB, want, got string, msg ...any) {
	t.Helper()
	if want == got {
		return
	}
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			t.Fatalf("%v: line %d:\nwant %s\ngot  %s", msg, i, w[i], g[i])
		}
	}
	t.Fatalf("%v: want %d lines, got %d", msg, len(w), len(g))
}
