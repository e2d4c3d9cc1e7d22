package codec

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/stream"
)

// severalLabels lets vertices have several labels; what Account declares is declared for all.
var severalLabels = &property.Schema{SeveralLabels: true, Vertices: property.Declarations{
	"Account": {"risk": {Kind: property.Int64}}}}

// labelsIn returns the labels of a vertex, or of the two ends, as an update has them.
func labelsIn(u *dyngraph.Update) string {
	text := u.FromLabel + ">" + u.ToLabel
	if u.Op.OfVertex() {
		text = u.Label
	}
	return strings.ReplaceAll(text, "\x00", ";")
}

func TestS21JSONLabels(t *testing.T) {
	for in, want := range map[string]string{
		`{"op":"+v","key":"a","labels":["B","A"]}`:                                          "B;A",
		`{"op":"+v","key":"a","labels":[ ],"props":{"risk":1}}`:                             "",
		`{"op":"+v","key":"a","label":"A"}`:                                                 "A",
		`{"op":"+v","key":"a"}`:                                                             "",
		`{"op":"-v","key":"a","labels":["A"]}`:                                              "A",
		`{"op":"=v","key":"a","labels":["+A","-B","+\u002B"]}`:                              "+A;-B;++",
		`{"op":"=v","key":"a","props":{"risk":null}}`:                                       "",
		`{"op":"+","from":"a","to":"b","label":"T","from_labels":["A","B"],"to_label":"C"}`: "A;B>C",
		`{"op":"-","from":"a","to":"b","to_labels":["A;B", "é"]}`:                           ">A;B;é",
	} {
		u := decodeOne(t, FormatJSON, DecoderOptions{Schema: severalLabels}, in)
		require.Equal(t, want, labelsIn(&u), in)
		apply(t, dyngraph.NewGraph(dyngraph.Options{Schema: severalLabels}), u) // the graph takes it, too
	}
	u := decodeOne(t, FormatJSON, DecoderOptions{Schema: severalLabels},
		`{"op":"=v","key":"a","labels":["+Shop"],"props":{"risk":7}}`)
	require.Equal(t, []int{1}, u.Named) // behind the column of the labels
	require.Equal(t, property.Int(7), u.Attr.Value(1))
}

func TestS21BrokenLabels(t *testing.T) {
	d, err := NewDecoder(FormatJSON, DecoderOptions{Schema: severalLabels, MaxLabelLen: 5})
	require.NoError(t, err)
	many := `"A"` + strings.Repeat(`,"A"`, maxLabels)
	for _, c := range []struct{ in, want string }{
		{`{"op":"+v","key":"a","labels":"A"}`,
			`byte 30: "labels" must be an array of strings, not a string`},
		{`{"op":"+v","key":"a","labels":["A",7]}`,
			`byte 35: "labels" must be an array of strings, not a number`},
		{`{"op":"+v","key":"a","labels":["A",""]}`,
			`byte 35: labels has an empty label; leave it out`},
		{`{"op":"+v","key":"a","labels":["ABCDEF"]}`,
			`byte 31: a label of labels "ABCDEF" is too long; at most 5`},
		{`{"op":"+v","key":"a","labels":["A\u0000B"]}`,
			`byte 31: the label "A\x00B" of labels has the character U+0000`},
		{`{"op":"+v","key":"a","label":"A\u0000B"}`,
			`byte 21: the label "A\x00B" has the character U+0000`},
		{`{"op":"+","from":"a","to":"b","to_label":"A\u0000"}`,
			`byte 41: the label "A\x00" of to_label has the character`},
		{`{"op":"+v","key":"a","labels":[` + many + `]}`,
			`labels has more than 100 labels; send several updates`},
		{`{"op":"+v","key":"a","label":"A","labels":["B"]}`,
			`byte 21: the update has "label" and "labels"; all labels`},
		{`{"op":"+","from":"a","to":"b","from_label":"A","from_labels":[]}`,
			`byte 30: the update has "from_label" and ` + `"from_labels"`},
		{`{"op":"+","from":"a","to":"b","labels":["B"]}`,
			`byte 30: the field "labels" does not belong to op "+"`},
		{`{"op":"+v","key":"b","to_labels":["B"]}`,
			`byte 21: the field "to_labels" does not belong to op "+v"`},
		{`{"op":"=v","key":"a","labels":["A"]}`,
			`byte 21: the label "A" of =v is no change; write + before`},
		{`{"op":"=v","key":"a","labels":["+"]}`,
			`byte 21: the label "+" of =v is no change`},
		{`{"op":"=v","key":"a","labels":["+A","-A"]}`,
			`byte 21: the label "A" is named twice by =v`},
		{`{"op":"+v","key":"a","labels":["A","+B"]}`,
			`byte 21: the label "+B" begins with +; only =v adds and removes labels`},
		{`{"labels":["-B"],"op":"-v","key":"a"}`,
			`byte 1: the label "-B" begins with -; only =v adds and removes labels`},
		{`{"op":"+v","key":"a","label":"+B"}`,
			`byte 21: the label "+B" begins with +`},
		{`{"op":"+","from":"a","to":"b","from_labels":["-B"]}`,
			`byte 30: the label "-B" begins with -`},
		{`{"op":"+","from":"a","to":"b","from_label":"A","to_label":"+B"}`,
			`byte 47: the label "+B" begins with +`},
		{`{"op":"=v","key":"a","label":"A"}`,
			`the field "label" does not belong to op "=v", which has key, ts`},
		{`{"op":"=v","key":"a"}`,
			`the field "props" is missing; op "=v" needs key, props`},
		{`{"op":"+v","key":"a","lables":["A"]}`,
			`the field "lables" is unknown; did you mean "labels"?`},
		{`{"op":"+v","key":"a","labels":["A"],"labels":["B"]}`,
			`byte 36: the field "labels" occurs twice`},
	} {
		_, err := d.Decode(stream.Record{Value: []byte(c.in)}, nil)
		require.ErrorContains(t, err, c.want, c.in)
	}
	bare, err := NewDecoder(FormatJSON, DecoderOptions{Schema: &property.Schema{SeveralLabels: true}})
	require.NoError(t, err)
	_, err = bare.Decode(stream.Record{Value: []byte(`{"op":"=v","key":"a","props":{}}`)}, nil)
	require.ErrorContains(t, err, `byte 21: the field "props" does not belong to op "=v", which has key, ts, labels`)
	_, err = bare.Decode(stream.Record{Value: []byte(`{"op":"=v","key":"a"}`)}, nil)
	require.ErrorContains(t, err, `the field "labels" is missing; op "=v" needs key, labels`)

	one, err := NewDecoder(FormatJSON, DecoderOptions{})
	require.NoError(t, err)
	_, err = one.Decode(stream.Record{Value: []byte(`{"op":"+","from":"a","to":"b","from_labels":["A"]}`)}, nil)
	require.ErrorContains(t, err, `byte 30: the field "from_labels" is for vertices that may have several labels `+
		`(graph.vertex_labels: several); write "from_label"`)
}

func TestS21RowsAndLinesHaveLabels(t *testing.T) {
	opt := DecoderOptions{Schema: severalLabels, CSVHeader: "op,from,to,fl,tl,key,kind,risk", MaxLabelLen: 5,
		Mapping: mapping(t, "op=op,from=from,to=to,from_label=fl,to_label=tl,key=key,key_label=kind,prop.risk=risk")}
	for row, want := range map[string]string{
		"+v,,,,,a,A;B,1":  "A;B",
		"+v,,,,,a,,":      "",
		"=v,,,,,a,+A;-B,": "+A;-B",
		"-v,,,,,a,A;B,":   "A;B",
		"+,a,b,A,A;B,,,":  "A>A;B",
	} {
		u := decodeOne(t, FormatCSV, opt, row)
		require.Equal(t, want, labelsIn(&u), row)
		apply(t, dyngraph.NewGraph(dyngraph.Options{Schema: severalLabels}), u)
	}
	d, err := NewDecoder(FormatCSV, opt)
	require.NoError(t, err)
	for row, want := range map[string]string{
		"+v,,,,,a,A;,":     `column "kind" (#7): key_label has an empty label; leave it out`,
		"+,a,b,ABCDEF,,,,": `column "fl" (#4): a label of from_label "ABCDEF" is too long`,
		"=v,,,,,a,A,":      `column "kind" (#7): the label "A" of =v is no change`,
		"+v,,,,,a,A;-B,":   `column "kind" (#7): the label "-B" begins with -; only =v adds and removes labels`,
		"+,a,b,A,+B,,,":    `column "tl" (#5): the label "+B" begins with +`,
	} {
		_, err := d.Decode(stream.Record{Value: []byte(row)}, nil)
		require.ErrorContains(t, err, want, row)
	}
	u := decodeOne(t, FormatText, DecoderOptions{Schema: severalLabels}, "v 5 1;20 3")
	require.Equal(t, "1;20", labelsIn(&u))
	text, err := NewDecoder(FormatText, DecoderOptions{Schema: severalLabels})
	require.NoError(t, err)
	for line, want := range map[string]string{
		"v 5 1;x": `byte 4: found "x" where a label was expected, which is a number from 0`,
		"v 5 1;":  `byte 4: found "" where a label was expected`,
		"v 5 +1":  `byte 4: the label "+1" begins with +; only =v adds and removes labels`,
		"v 5 01":  `byte 4: the label "01" has a leading zero; write it without`,
	} {
		_, err := text.Decode(stream.Record{Value: []byte(line)}, nil)
		require.ErrorContains(t, err, want, line)
	}
	_, err = mustDecoder(t, FormatText, DecoderOptions{}).Decode(stream.Record{Value: []byte("v 5 1;2")}, nil)
	require.ErrorContains(t, err, `found "1;2" where a label was expected`)
}

func mustDecoder(t *testing.T, format string, opt DecoderOptions) stream.Decoder {
	d, err := NewDecoder(format, opt)
	require.NoError(t, err)
	return d
}

// looseLabels are the labels of an update as encoding/json reads them.
type looseLabels struct {
	Op, Key, From, To, Label string
	FromLabel                string   `json:"from_label"`
	ToLabel                  string   `json:"to_label"`
	Labels                   []string `json:"labels"`
	FromLabels               []string `json:"from_labels"`
	ToLabels                 []string `json:"to_labels"`
}

// checkLabels decodes a record and reads its labels again by encoding/json; the graph takes what the decoder takes.
func checkLabels(t *testing.T, d stream.Decoder, value []byte) {
	us, err := d.Decode(stream.Record{Value: value}, nil)
	if err != nil {
		var bad *stream.DecodeError
		require.ErrorAs(t, err, &bad)
		require.Empty(t, us)
		return
	}
	var all []looseLabels
	if value = []byte(strings.TrimSpace(string(value))); len(value) > 0 && value[0] != '[' {
		value = slices.Concat([]byte("["), value, []byte("]"))
	}
	if len(value) > 0 {
		require.NoError(t, json.Unmarshal(value, &all))
	}
	require.Len(t, us, len(all))
	text := func(one string, several []string) string {
		if one != "" {
			several = append(several, one)
		}
		return strings.Join(several, "\x00")
	}
	g := dyngraph.NewGraph(dyngraph.Options{Schema: severalLabels})
	for i := range us {
		u, l := &us[i], &all[i]
		if u.Op.OfVertex() {
			require.Equal(t, text(l.Label, l.Labels), u.Label)
		} else {
			require.Equal(t, l.Label, u.Label)
		}
		require.Equal(t, text(l.FromLabel, l.FromLabels), u.FromLabel)
		require.Equal(t, text(l.ToLabel, l.ToLabels), u.ToLabel)
		if u.From == u.To && !u.Op.OfVertex() {
			continue // a self-loop
		}
		apply(t, g, *u)
		g.Commit()
		if u.Op == dyngraph.InsertVertex {
			v, ok := g.Lookup(u.Key)
			require.True(t, ok)
			require.Equal(t, property.LabelSet(l.Labels...).WithLabels(l.Label), g.View(dyngraph.New).Labels(v))
		}
	}
}

func FuzzLabels(f *testing.F) {
	for _, s := range []string{
		`[{"op":"+v","key":"a","labels":["A","B"],"props":{"risk":1}},{"op":"=v","key":"a","labels":["-A","+\u0043"]}]`,
		`{"op":"+","from":"a","to":"b","label":"T","from_labels":["A","A"],"to_label":"B"}`,
		`{"op":"-","from":"a","to":"b","to_labels":[]}`, `{"op":"+v","key":"a","labels":["A\u0000"]}`,
		`{"op":"=v","key":"a","labels":["A"]}`,
	} {
		f.Add([]byte(s))
	}
	d, err := NewDecoder(FormatJSON, DecoderOptions{Schema: severalLabels, MaxElements: 50})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, value []byte) { checkLabels(t, d, value) })
}

// TestS6SeveralLabels: a record has the labels of its view, and the id has the key alone.
func TestS6SeveralLabels(t *testing.T) {
	g := dyngraph.NewGraph(dyngraph.Options{Directed: true, Schema: severalLabels})
	up := func(text string) *dyngraph.Delta {
		return apply(t, g, decodeAll(t, FormatJSON, DecoderOptions{Schema: severalLabels}, text)...)
	}
	up(`[{"op":"+v","key":"a","labels":["B","A"],"props":{"risk":7}},{"op":"+","from":"a","to":"b","label":"T"}]`)
	g.Commit()
	q := &matcher.Query{Name: "pay", Version: 1,
		Vertices: []matcher.QueryVertex{{Name: "a"}, {Name: "b"}}, Edges: []matcher.QueryEdge{{Name: "t", To: 1}}}
	row := rowOf(t, g.View(dyngraph.New), q, []string{"a", "b"})
	before, err := MatchID(q, g.View(dyngraph.New), row)
	require.NoError(t, err)
	up(`[{"op":"=v","key":"a","labels":["-A","-B","+\"x\""]},{"op":"=v","key":"b","labels":["+C"]}]`)
	after, err := MatchID(q, g.View(dyngraph.New), row)
	require.NoError(t, err)
	require.Equal(t, before, after)
	show := func(w dyngraph.Which, sign dyngraph.Sign) string {
		return string(encode(t, EncoderOptions{}, matchEvent(g, w, q, sign, row)).Value)
	}
	require.Contains(t, show(dyngraph.Old, dyngraph.Deleted),
		`"vertices":{"a":{"key":"a","labels":["A","B"],"props":{"risk":7}},"b":{"key":"b"}}`)
	require.Contains(t, show(dyngraph.New, dyngraph.Inserted),
		`"vertices":{"a":{"key":"a","labels":["\"x\""],"props":{"risk":7}},"b":{"key":"b","labels":["C"]}}`)
}
