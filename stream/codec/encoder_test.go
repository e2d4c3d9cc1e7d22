package codec

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/condition"
	"motifd/stream"
)

func matchEvent(
	g *dyngraph.Graph,
	which dyngraph.Which,
	q *matcher.Query,
	sign dyngraph.Sign,
	rows ...[]uint32,
) *matcher.Event {
	ev := &matcher.Event{
		Query: q,
		Sign:  sign,
		View:  g.View(which),
		Rows:  matcher.Rows{Vertices: len(q.Vertices), Edges: len(q.Edges)},
	}
	for _, r := range rows {
		ev.Rows.Data = append(ev.Rows.Data, r...)
	}
	return ev
}

func encode(t testing.TB, opt EncoderOptions, ev *matcher.Event) stream.OutRecord {
	t.Helper()
	if opt.StreamID == "" {
		opt.StreamID = "s1"
	}
	ev.Batch = 7
	recs, err := NewEncoder(opt).Append(nil, ev, 0, ev.Records())
	require.NoError(t, err)
	require.Len(t, recs, 1)
	if recs[0].Value != nil {
		require.True(t, json.Valid(recs[0].Value), "%s", recs[0].Value)
	}
	return recs[0]
}

func TestDeltaRecord(t *testing.T) {
	g, q, row := ringGraph(t, true)
	ev := matchEvent(g, dyngraph.New, q, dyngraph.Inserted, row)
	ev.FirstIndex = 3
	ev.Anchor = &dyngraph.Update{
		Op:   dyngraph.InsertEdge,
		Pos:  dyngraph.Position{Partition: 2, Offset: 5, Element: 1},
		Attr: dyngraph.Attr{TS: 17, HasTS: true},
	}
	rec := encode(t, EncoderOptions{EchoProps: true}, ev)
	id, err := MatchID(q, ev.View, row)
	require.NoError(t, err)
	hex := fmt.Sprintf("%x", id)
	require.Equal(t, hex, string(rec.Key))
	require.Equal(
		t,
		`{"stream":"s1","batch":7,"index":3,"query":"ring3","version":1,"op":"+","match":"`+hex+`","vertices":{`+
			`"a":{"key":"acc-0000001","label":"Account"},"b":{"key":"acc-0000002","label":"Account"},`+
			`"c":{"key":"acc-0000003","label":"Account"}},"edges":{`+
			`"e1":{"from":"acc-0000001","to":"acc-0000002","label":"TRANSFER","id":"tx-1","ts":1700000000000,`+
			`"props":{"amount":12.5}},`+
			`"e2":{"from":"acc-0000002","to":"acc-0000003","label":"TRANSFER","ts":-5},`+
			`"e3":{"from":"acc-0000003","to":"acc-0000001","label":"TRANSFER"}},`+
			`"anchor":{"op":"+","partition":2,"offset":5,"element":1,"ts":17}}`,
		string(rec.Value),
	)
	require.Equal(
		t,
		stream.OutRecord{Key: rec.Key, Value: rec.Value, Batch: 7, Index: 3, Query: "ring3", Sign: dyngraph.Inserted},
		rec,
	)

	ev.Anchor, ev.Snapshot = nil, true
	rec = encode(t, EncoderOptions{}, ev)
	require.True(t, rec.Snapshot)
	require.Contains(t, string(rec.Value), hex+`","snapshot":true,"vertices":`)
	require.NotContains(t, string(rec.Value), "props")
	require.True(t, strings.HasSuffix(string(rec.Value), `"label":"TRANSFER"}}}`), "%s", rec.Value)
}

func TestDeltaRecordWithoutLabels(t *testing.T) {
	g := dyngraph.NewGraph(dyngraph.Options{Directed: true})
	apply(
		t,
		g,
		dyngraph.Update{Op: dyngraph.InsertEdge, From: "x", To: "y"},
		dyngraph.Update{Op: dyngraph.InsertEdge, From: "x", To: "z", ToLabel: "Bank", Label: "L"},
	)
	q := &matcher.Query{
		Name: `q"1`, Version: 12, Vertices: []matcher.QueryVertex{{Name: "a\n"}, {Name: "b"}, {Name: "c"}},
		Edges: []matcher.QueryEdge{{Name: "e1", From: 0, To: 1}, {Name: "e2", From: 2, To: 0, Either: true}},
	}
	row := rowOf(t, g.View(dyngraph.New), q, []string{"x", "y", "z"})
	ev := matchEvent(g, dyngraph.New, q, dyngraph.Deleted, row)
	ev.Anchor = &dyngraph.Update{Op: dyngraph.DeleteVertex}
	rec := encode(t, EncoderOptions{}, ev)
	require.Equal(
		t,
		`{"stream":"s1","batch":7,"index":0,"query":"q\"1","version":12,"op":"-","match":"`+string(rec.Key)+`",`+
			`"vertices":{"a\n":{"key":"x"},"b":{"key":"y"},"c":{"key":"z","label":"Bank"}},`+
			`"edges":{"e1":{"from":"x","to":"y"},"e2":{"from":"x","to":"z","label":"L"}},`+
			`"anchor":{"op":"-v","partition":0,"offset":0,"element":0}}`,
		string(rec.Value),
	)
}

func TestUndirectedEdgesInByteOrder(t *testing.T) {
	g := dyngraph.NewGraph(dyngraph.Options{})
	apply(
		t,
		g,
		dyngraph.Update{Op: dyngraph.InsertEdge, From: "z", To: "a"},
		dyngraph.Update{Op: dyngraph.InsertEdge, From: "a", To: "m"},
	)
	q := &matcher.Query{
		Name: "q", Version: 1, Vertices: []matcher.QueryVertex{{Name: "u"}, {Name: "v"}, {Name: "w"}},
		Edges: []matcher.QueryEdge{{Name: "e", From: 0, To: 1, Either: true},
			{Name: "f", From: 1, To: 2, Either: true}},
	}
	for _, keys := range [][]string{{"z", "a", "m"}, {"m", "a", "z"}} {
		rec := encode(
			t,
			EncoderOptions{},
			matchEvent(g, dyngraph.New, q, dyngraph.Inserted, rowOf(t, g.View(dyngraph.New), q, keys)),
		)
		require.Contains(
			t,
			string(rec.Value),
			fmt.Sprintf(`"edges":{"e":{"from":"a","to":%q},"f":{"from":"a","to":%q}}`, keys[0], keys[2]),
		)
	}
}

func TestS12CountsAndExistsRecords(t *testing.T) {
	q := ring3(true)
	ev := &matcher.Event{
		Kind:       matcher.EventCount,
		Query:      q,
		Sign:       dyngraph.Deleted,
		FirstIndex: 2,
		Count:      matcher.Count{Hi: 1, Lo: 5},
	}
	rec := encode(t, EncoderOptions{}, ev)
	require.Equal(
		t,
		`{"stream":"s1","batch":7,"index":2,"query":"ring3","version":1,"op":"-","emit":"counts",`+
			`"count":18446744073709551621}`,
		string(rec.Value),
	)
	require.Equal(
		t,
		stream.OutRecord{Key: []byte("ring3"), Value: rec.Value, Batch: 7, Index: 2, Query: "ring3",
			Sign: dyngraph.Deleted},
		rec,
	)

	ev = &matcher.Event{
		Kind:     matcher.EventCount,
		Query:    q,
		Sign:     dyngraph.Inserted,
		Count:    matcher.CountOf(1<<63 + 1),
		Snapshot: true,
	}
	require.Equal(
		t,
		`{"stream":"s1","batch":7,"index":0,"query":"ring3","version":1,"op":"+","emit":"counts",`+
			`"count":9223372036854775809,"snapshot":true}`,
		string(encode(t, EncoderOptions{}, ev).Value),
	)

	ev = &matcher.Event{Kind: matcher.EventExists, Query: q, Sign: dyngraph.Inserted}
	require.Equal(
		t,
		`{"stream":"s1","batch":7,"index":0,"query":"ring3","version":1,"op":"+","emit":"exists"}`,
		string(encode(t, EncoderOptions{}, ev).Value),
	)

	_, err := NewEncoder(EncoderOptions{Upsert: true}).Append(nil, ev, 0, 1)
	require.ErrorContains(t, err, "upsert output goes with emit: deltas only")
}

func TestUpsertTombstones(t *testing.T) {
	g, q, row := ringGraph(t, true)
	plus := encode(t, EncoderOptions{Upsert: true}, matchEvent(g, dyngraph.New, q, dyngraph.Inserted, row))
	minus := encode(t, EncoderOptions{Upsert: true}, matchEvent(g, dyngraph.New, q, dyngraph.Deleted, row))
	require.Equal(t, encode(t, EncoderOptions{}, matchEvent(g, dyngraph.New, q, dyngraph.Inserted, row)), plus)
	require.Nil(t, minus.Value)
	require.Equal(t, plus.Key, minus.Key)
	require.Equal(t, stream.OutRecord{Key: minus.Key, Batch: 7, Query: "ring3", Sign: dyngraph.Deleted}, minus)
}

func TestEncoderRefusesRowsThatAreNone(t *testing.T) {
	g, q, row := ringGraph(t, true)
	e := NewEncoder(EncoderOptions{})
	ev := matchEvent(g, dyngraph.New, q, dyngraph.Inserted, row)
	for _, r := range [][2]int{{0, 2}, {-1, 1}, {1, 0}} {
		_, err := e.Append(nil, ev, r[0], r[1])
		require.ErrorContains(t, err, "of an event that has 1")
	}
	row[3], row[4] = row[4], row[3]
	_, err := e.Append(nil, matchEvent(g, dyngraph.New, q, dyngraph.Inserted, row), 0, 1)
	require.ErrorContains(t, err, "ends are not those of the match")
	_, err = MatchID(q, g.View(dyngraph.New), row)
	require.Error(t, err)
	ev.Rows.Edges = 4
	_, err = e.Append(nil, ev, 0, 0)
	require.ErrorContains(t, err, "the pattern has 3 and 3")
	ev = &matcher.Event{Kind: 9, Query: q}
	_, err = e.Append(nil, ev, 0, 1)
	require.ErrorContains(t, err, "event kind 9 is unknown")
}

// manyRows is a random graph and single-edge matches in it, keys and labels hostile.
func manyRows(t testing.TB, rng *rand.Rand) *matcher.Event {
	g := dyngraph.NewGraph(dyngraph.Options{Directed: true})
	alphabet := []rune("ab\"\\\x00\n\u2028é😀</>")
	text := func() string {
		var b strings.Builder
		for range 1 + rng.IntN(8) {
			b.WriteRune(alphabet[rng.IntN(len(alphabet))])
		}
		return b.String()
	}
	var updates []dyngraph.Update
	for range 300 {
		if u := (dyngraph.Update{Op: dyngraph.InsertEdge, From: text(), To: text(), Label: text()}); u.From != u.To {
			u.Attr.ID = text()
			updates = append(updates, u)
		}
	}
	apply(t, g, updates...)
	q := &matcher.Query{
		Name:     "any",
		Version:  1,
		Vertices: []matcher.QueryVertex{{Name: "a"}, {Name: "b"}},
		Edges:    []matcher.QueryEdge{{Name: "e", To: 1}},
	}
	ev := matchEvent(g, dyngraph.New, q, dyngraph.Inserted)
	for e := range ev.View.EdgesSeq() {
		from, to, _ := ev.View.Edge(e)
		ev.Rows.Data = append(ev.Rows.Data, uint32(from), uint32(to), uint32(e))
	}
	return ev
}

func TestRecordsReadBack(t *testing.T) {
	ev := manyRows(t, rand.New(rand.NewPCG(1, 2)))
	recs, err := NewEncoder(EncoderOptions{StreamID: "s\"\n"}).Append(nil, ev, 0, ev.Rows.Len())
	require.NoError(t, err)
	for i, r := range recs {
		var got struct {
			Stream   string
			Index    int
			Match    string
			Vertices map[string]struct{ Key string }
			Edges    map[string]struct{ From, To, Label, ID string }
		}
		require.NoError(t, json.Unmarshal(r.Value, &got), "%s", r.Value)
		e := ev.Rows.Edge(i, 0)
		from, to, l := ev.View.Edge(e)
		require.Equal(t, "s\"\n", got.Stream)
		require.Equal(t, i, got.Index)
		require.Equal(t, string(r.Key), got.Match)
		require.Equal(t, ev.View.Key(from), got.Vertices["a"].Key)
		require.Equal(t, ev.View.Key(to), got.Vertices["b"].Key)
		require.Equal(
			t,
			struct{ From, To, Label, ID string }{ev.View.Key(from), ev.View.Key(to), ev.View.LabelName(l),
				ev.View.Attr(e).ID},
			got.Edges["e"],
		)
	}
}

// The bytes do not depend on how rows are dealt out, nor on who encodes them beside.
func TestEncoderConcurrentAndSplit(t *testing.T) {
	ev := manyRows(t, rand.New(rand.NewPCG(3, 4)))
	n := ev.Rows.Len()
	want, err := NewEncoder(EncoderOptions{}).Append(nil, ev, 0, n)
	require.NoError(t, err)
	e := NewEncoder(EncoderOptions{})
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(5, uint64(w)))
			for range 20 {
				var got []stream.OutRecord
				for i := 0; i < n; {
					j := min(n, i+1+rng.IntN(50))
					var err error
					if got, err = e.Append(got, ev, i, j); err != nil {
						t.Error(err)
						return
					}
					i = j
				}
				for i := range got {
					if string(got[i].Value) != string(want[i].Value) || string(got[i].Key) != string(want[i].Key) ||
						got[i].Index != want[i].Index {
						t.Errorf("record %d is\n%s, want\n%s", i, got[i].Value, want[i].Value)
						return
					}
				}
			}
		})
	}
	wg.Wait()
}

// A record may be appended to without touching its neighbours.
func TestRecordsShareNoCapacity(t *testing.T) {
	ev := manyRows(t, rand.New(rand.NewPCG(6, 7)))
	recs, err := NewEncoder(EncoderOptions{}).Append(nil, ev, 0, 10)
	require.NoError(t, err)
	for _, r := range recs {
		require.Equal(t, len(r.Value), cap(r.Value))
		require.Equal(t, len(r.Key), cap(r.Key))
	}
}

func TestFormsAreBounded(t *testing.T) {
	e := NewEncoder(EncoderOptions{})
	for range maxForms + 10 {
		e.form(ring3(true))
	}
	require.LessOrEqual(t, len(*e.forms.Load()), maxForms)
}

// TestFormForgetsGiantRecords: room for a giant record is not made for ever, nor is there ever too little for records
// as large as those before, however many of them come in one call.
func TestFormForgetsGiantRecords(t *testing.T) {
	for _, together := range []int{1, 2, 16} {
		f := newForm(ring3(true))
		call := func(bytes int) {
			known := f.size.Load()
			size := known
			for range together {
				size = nextSize(size, bytes)
			}
			f.keepSize(known, size)
		}
		for bytes := 300; bytes < 1<<20; bytes += 1 + bytes/50 {
			call(bytes)
			require.GreaterOrEqual(t, f.size.Load(), int64(bytes))
		}
		for range 200 {
			call(800)
		}
		require.GreaterOrEqual(t, f.size.Load(), int64(800))
		require.LessOrEqual(t, f.size.Load(), int64(1200))
	}
}

func TestPropsOfDeclaredAndOthers(t *testing.T) {
	columns := payments.Edges.Columns()
	values := make([]property.Value, len(columns.All()))
	n, _ := columns.Of("", "n")
	values[n] = property.Int(7)
	for _, c := range []struct {
		attr dyngraph.Attr
		want string
	}{
		{dyngraph.Attr{}, ``},
		{dyngraph.Attr{Props: []byte(`{}`)}, `,"props":{}`},
		{dyngraph.Attr{Props: []byte(`{"z":1}`)}, `,"props":{"z":1}`},
		{dyngraph.Attr{Values: values}, `,"props":{"n":7}`},
		{dyngraph.Attr{Values: values, Props: []byte(`{}`)}, `,"props":{"n":7}`},
		{dyngraph.Attr{Values: values, Props: []byte(`{"z":1}`)}, `,"props":{"n":7,"z":1}`},
	} {
		require.Equal(t, c.want, string(appendProps(nil, columns, "", c.attr.Value, c.attr.Props)))
	}
	require.Equal(t, `,"props":{"z":1}`, string(appendProps(nil, nil, "", nil, []byte(`{"z":1}`))))
}

// TestS15RecordsShowTheValuesOfTheirView: a cancellation shows the old version of a replaced edge, and the announcement
// behind it the new one, whether properties are echoed or not.
func TestS15RecordsShowTheValuesOfTheirView(t *testing.T) {
	g := dyngraph.NewGraph(dyngraph.Options{Directed: true, Schema: payments})
	pay := func(ts int64, amount string) dyngraph.Update {
		return decodeOne(t, FormatJSON, DecoderOptions{Schema: payments}, fmt.Sprintf(`{"op":"+","from":"x","to":"y",`+
			`"label":"PAY","ts":%d,"props":{"z":[1],"n":9007199254740993,"amount":%s,"share":1e21}}`, ts, amount))
	}
	apply(t, g, pay(1, "10"))
	g.Commit()
	paid := condition.Element{Ref: condition.Ref{Edge: true},
		Labels: condition.NewLabels(condition.Alternative{All: []string{"PAY"}})}
	scope := &condition.Scope{Schema: payments, Elements: map[string]condition.Element{"p": paid}}
	read := func(name string) *condition.Expr {
		return &condition.Expr{Op: condition.OpProperty, Text: "p", Property: name}
	}
	formula := func(e *condition.Expr) *condition.Formula {
		f, err := condition.NewFormula(scope, e)
		require.NoError(t, err)
		return f
	}
	q := &matcher.Query{
		Name: "big", Version: 1, Vertices: []matcher.QueryVertex{{Name: "a"}, {Name: "b"}},
		Edges: []matcher.QueryEdge{{Name: "p", From: 0, To: 1, Label: "PAY"}},
	}
	apply(t, g, pay(1, "12.5"))
	v := g.View(dyngraph.Old)
	row := rowOf(t, v, q, []string{"x", "y"})
	edge := func(amount string, more string) string {
		return `{"from":"x","to":"y","label":"PAY","ts":1,"props":{"amount":` + amount +
			`,"n":9007199254740993,"share":1e+21` + more + `}}`
	}
	for _, c := range []struct {
		which  dyngraph.Which
		sign   dyngraph.Sign
		amount string
		twice  string
	}{{dyngraph.Old, dyngraph.Deleted, "10.00", "20.00"}, {dyngraph.New, dyngraph.Inserted, "12.50", "25.00"}} {
		q := *q
		got := string(encode(t, EncoderOptions{}, matchEvent(g, c.which, &q, c.sign, row)).Value)
		require.Contains(t, got, `"edges":{"p":`+edge(c.amount, "")+`}}`)
		got = string(encode(t, EncoderOptions{EchoProps: true}, matchEvent(g, c.which, &q, c.sign, row)).Value)
		require.Contains(t, got, `"edges":{"p":`+edge(c.amount, `,"z":[1]`)+`}}`)

		q.Fields = []matcher.Field{
			{Name: "paid", Element: condition.Ref{Edge: true}}, {Name: "to", Element: condition.Ref{Index: 1}},
			{Name: "twice", Formula: formula(&condition.Expr{Op: condition.OpAdd,
				Args: []*condition.Expr{read("amount"), read("amount")}})},
			{Name: "when", Formula: formula(read("seen"))}, {Name: "share", Formula: formula(read("share"))},
		}
		ev := matchEvent(g, c.which, &q, c.sign, row)
		ev.Anchor = &dyngraph.Update{Op: dyngraph.InsertEdge}
		got = string(encode(t, EncoderOptions{}, ev).Value)
		require.Contains(t, got, `"edges":{"p":`+edge(c.amount, "")+`},"fields":{"paid":`+edge(c.amount, "")+
			`,"to":{"key":"y"},"twice":`+c.twice+`,"when":null,"share":1e+21},"anchor":{`)
	}
}
