package codec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"motifd/dyngraph"
	"motifd/stream"
)

func decodeOne(t require.TestingT, format string, opt DecoderOptions, value string) dyngraph.Update {
	all := decodeAll(t, format, opt, value)
	require.Len(t, all, 1)
	return all[0]
}

func decodeAll(t require.TestingT, format string, opt DecoderOptions, value string) []dyngraph.Update {
	d, err := NewDecoder(format, opt)
	require.NoError(t, err)
	all, err := d.Decode(stream.Record{Partition: 3, Offset: 70, Value: []byte(value)}, nil)
	require.NoError(t, err)
	return all
}

func at(element int32) dyngraph.Position {
	return dyngraph.Position{Partition: 3, Offset: 70, Element: element}
}

func TestJSONUpdates(t *testing.T) {
	all := decodeAll(t, FormatJSON, DecoderOptions{}, `[
		{"op":"+","from":"a1","to":"a2","label":"TRANSFER","from_label":"Account","to_label":"Person",
		 "id":"tx-1","ts":1700000000000,"props":{ "b" : [1, 2.50, {"x":null}], "a":"\u00e9 \/" }},
		{"op":"-","from":"a1","to":"a2","label":"TRANSFER","id":"tx-1","ts":-3,"props":{"n":1}},
		{"op":"+v","key":"a\u0000\ud83d\ude00\n","label":"Account","ts":0},
		{"key":"a1","op":"-v"}
	]`)
	require.Equal(t, []dyngraph.Update{
		{
			Op:        dyngraph.InsertEdge,
			From:      "a1",
			To:        "a2",
			Label:     "TRANSFER",
			FromLabel: "Account",
			ToLabel:   "Person",
			Pos:       at(0),
			Attr: dyngraph.Attr{
				ID:    "tx-1",
				TS:    1700000000000,
				HasTS: true,
				Props: []byte(`{"b":[1,2.50,{"x":null}],"a":"\u00e9 \/"}`),
			},
		},
		{
			Op: dyngraph.DeleteEdge, From: "a1", To: "a2", Label: "TRANSFER", Pos: at(1),
			Attr: dyngraph.Attr{ID: "tx-1", TS: -3, HasTS: true},
		},
		{Op: dyngraph.InsertVertex, Key: "a\x00😀\n", Label: "Account", Pos: at(2), Attr: dyngraph.Attr{HasTS: true}},
		{Op: dyngraph.DeleteVertex, Key: "a1", Pos: at(3)},
	}, all)
}

func TestJSONRecordsWithoutUpdates(t *testing.T) {
	for _, value := range []string{"", " ", "\r\n", "[]", " [ ] "} {
		require.Empty(t, decodeAll(t, FormatJSON, DecoderOptions{}, value), "%q", value)
	}
}

func TestJSONUnknownFieldsAllowed(t *testing.T) {
	opt := DecoderOptions{AllowUnknownFields: true}
	u := decodeOne(t, FormatJSON, opt, `{"x":{"y":[1,{"x":2}]},"op":"-v","X":null,"key":"a"}`)
	require.Equal(t, dyngraph.Update{Op: dyngraph.DeleteVertex, Key: "a", Pos: at(0)}, u)

	d, err := NewDecoder(FormatJSON, opt)
	require.NoError(t, err)
	for value, want := range map[string]string{
		`{"x":1,"op":"-v","key":"a","x":2}`:                           `the name "x" occurs twice in one object`,
		`{"x":{"y":1,"y":1},"op":"-v","key":"a"}`:                     `the name "y" occurs twice in one object`,
		`{"x":` + strings.Repeat("[", 33) + `,"op":"-v","key":"a"}`:   "values are nested more than 32 deep",
		`[{"x":1,"op":"-v","key":"a"},{"op":"-v","key":"a","x":[1,}]`: "found '}' where a value was expected",
	} {
		_, err := d.Decode(stream.Record{Value: []byte(value)}, nil)
		require.ErrorContains(t, err, want, value)
	}
	// Names of one element do not count in the next.
	require.Len(t, decodeAll(t, FormatJSON, opt, `[{"x":1,"op":"-v","key":"a"},{"x":1,"op":"-v","key":"a"}]`), 2)
}

func TestDecodersRefuseUnreadableRecords(t *testing.T) {
	for _, format := range []string{FormatJSON, FormatText} {
		d, err := NewDecoder(format, DecoderOptions{})
		require.NoError(t, err)
		_, err = d.Decode(stream.Record{Value: []byte(`{"op`), Err: fmt.Errorf("longer than 4 bytes")}, nil)
		var bad *stream.DecodeError
		require.ErrorAs(t, err, &bad)
		require.Equal(t, ReasonRecord, bad.Reason)
		require.ErrorContains(t, err, "longer than 4 bytes")
	}
}

// The strings of an update must outlive the record's memory, and so must its props.
func TestUpdatesOwnTheirMemory(t *testing.T) {
	value := []byte(`{"op":"+","from":"a1","to":"a2","label":"L","id":"tx","props":{"a":1}}`)
	d, err := NewDecoder(FormatJSON, DecoderOptions{})
	require.NoError(t, err)
	got, err := d.Decode(stream.Record{Value: value}, nil)
	require.NoError(t, err)
	copy(value, bytes.Repeat([]byte("x"), len(value)))
	_, err = d.Decode(stream.Record{Value: []byte(`{"op":"+","from":"zz","to":"yy","props":{"b":2}}`)}, nil)
	require.NoError(t, err)
	require.Equal(t, dyngraph.Update{Op: dyngraph.InsertEdge, From: "a1", To: "a2", Label: "L",
		Attr: dyngraph.Attr{ID: "tx", Props: []byte(`{"a":1}`)}}, got[0])
}

// genText makes strings that JSON must escape, and others.
var genText = rapid.StringOfN(
	rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune("\"\\/\b\f\n\r\t\x00é\u2028😀"))),
	1,
	12,
	1024,
)

// writeJSON writes a value as encoding/json might, but with arbitrary white space and escapes.
func writeJSON(t *rapid.T, out *strings.Builder, v any) {
	space := func() { out.WriteString(rapid.SampledFrom([]string{"", "", "", " ", "\n\t", "\r "}).Draw(t, "space")) }
	space()
	switch v := v.(type) {
	case string:
		out.WriteByte('"')
		for _, r := range v {
			switch b, _ := json.Marshal(string(r)); {
			case rapid.IntRange(0, 5).Draw(t, "escape") == 0 && r < 0x10000:
				fmt.Fprintf(out, `\u%04x`, r)
			case r == '/' && rapid.Bool().Draw(t, "slash"):
				out.WriteString(`\/`)
			default:
				out.Write(b[1 : len(b)-1])
			}
		}
		out.WriteByte('"')
	case []any:
		out.WriteByte('[')
		for i, x := range v {
			if i > 0 {
				out.WriteByte(',')
			}
			writeJSON(t, out, x)
		}
		out.WriteByte(']')
	case [][2]any:
		out.WriteByte('{')
		for i, m := range v {
			if i > 0 {
				out.WriteByte(',')
			}
			writeJSON(t, out, m[0])
			out.WriteByte(':')
			writeJSON(t, out, m[1])
		}
		out.WriteByte('}')
	default:
		b, err := json.Marshal(v)
		require.NoError(t, err)
		out.Write(b)
	}
	space()
}

func genValue(t *rapid.T, depth int) any {
	switch n := rapid.IntRange(0, 7).Draw(t, "kind"); {
	case n == 0:
		return nil
	case n == 1:
		return rapid.Bool().Draw(t, "bool")
	case n == 2:
		return rapid.Float64().Draw(t, "float")
	case n == 3:
		return rapid.Int64().Draw(t, "int")
	case n == 4 || depth > 3:
		return genText.Draw(t, "text")
	case n == 5:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "elements") {
			list = append(list, genValue(t, depth+1))
		}
		return list
	}
	return genObject(t, depth+1, rapid.IntRange(0, 3).Draw(t, "members"))
}

func genObject(t *rapid.T, depth, members int) [][2]any {
	object := [][2]any{}
	for i := range members {
		object = append(object, [2]any{strconv.Itoa(i) + genText.Draw(t, "name"), genValue(t, depth)})
	}
	return object
}

func TestJSONAgainstEncodingJSON(t *testing.T) {
	d, err := NewDecoder(FormatJSON, DecoderOptions{MaxPropsBytes: 1 << 20})
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		var all []any
		for range rapid.IntRange(1, 4).Draw(t, "updates") {
			op := rapid.SampledFrom([]string{"+", "-", "+v", "-v"}).Draw(t, "op")
			fields := [][2]any{{"op", op}}
			maybe := func(name string, v func() any) {
				if rapid.Bool().Draw(t, name) {
					fields = append(fields, [2]any{name, v()})
				}
			}
			text := func() any { return genText.Draw(t, "text") }
			if strings.HasSuffix(op, "v") {
				fields = append(fields, [2]any{"key", text()})
			} else {
				fields = append(fields, [2]any{"from", text()}, [2]any{"to", text()})
				maybe("from_label", text)
				maybe("to_label", text)
				maybe("id", text)
				maybe("props", func() any { return genObject(t, 1, rapid.IntRange(0, 24).Draw(t, "members")) })
			}
			maybe("label", text)
			maybe("ts", func() any { return rapid.Int64().Draw(t, "ts") })
			all = append(all, rapid.Permutation(fields).Draw(t, "fields"))
		}
		var value strings.Builder
		writeJSON(t, &value, all)
		got, err := d.Decode(stream.Record{Value: []byte(value.String())}, nil)
		require.NoError(t, err, value.String())
		require.NoError(t, sameAsEncodingJSON([]byte(value.String()), got))
	})
}

// sameAsEncodingJSON reads a record that the decoder has taken once more, by encoding/json.
func sameAsEncodingJSON(value []byte, got []dyngraph.Update) error {
	var want []looseUpdate
	r := json.NewDecoder(bytes.NewReader(value))
	r.DisallowUnknownFields()
	if trimmed := bytes.TrimLeft(value, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '{' {
		want = make([]looseUpdate, 1)
		if err := r.Decode(&want[0]); err != nil {
			return err
		}
	} else if len(trimmed) > 0 {
		if err := r.Decode(&want); err != nil {
			return err
		}
	}
	if len(got) != len(want) {
		return fmt.Errorf("%d updates, want %d", len(got), len(want))
	}
	for i, w := range want {
		u := dyngraph.Update{
			Op:        opOf(w.Op),
			Key:       w.Key,
			From:      w.From,
			To:        w.To,
			Label:     w.Label,
			FromLabel: w.FromLabel,
			ToLabel:   w.ToLabel,
		}
		u.Attr.ID = w.ID
		u.Pos.Element = int32(i)
		if w.TS != nil {
			u.Attr.TS, u.Attr.HasTS = *w.TS, true
		}
		if w.Props != nil && u.Op == dyngraph.InsertEdge {
			var compact bytes.Buffer
			if err := json.Compact(&compact, w.Props); err != nil {
				return err
			}
			u.Attr.Props = compact.Bytes()
		}
		if fmt.Sprintf("%#v", got[i]) != fmt.Sprintf("%#v", u) {
			return fmt.Errorf("update %d is\n%#v, want\n%#v", i, got[i], u)
		}
	}
	return nil
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		`{"op":"+","from":"a1","to":"a2","label":"T","from_label":"A","to_label":"B","id":"x","ts":17,` +
			`"props":{"a":[1,{"b":null}]}}`,
		`[{"op":"-v","key":"\ud83d\ude00"},{"op":"-v","key":"\u00E9\uD83D\uDE00\r\t"},{"op":"+v","key":"k",` +
			`"label":""}]`, `{"op":"+","form":"a"}`, ` [ ] `, "\xff",
		`{"op":"+","from":"a","to":"b","props":{"x":-1.5e+300,"y":true,"z":false}}`,
		`{"op":"-","from":"a","to":"b","ts":-0}`,
	} {
		f.Add([]byte(s))
	}
	d, err := NewDecoder(FormatJSON, DecoderOptions{MaxElements: 50})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, value []byte) {
		got, err := d.Decode(stream.Record{Value: value}, nil)
		if err == nil {
			require.NoError(t, sameAsEncodingJSON(value, got))
			return
		}
		require.Empty(t, got)
		var bad *stream.DecodeError
		require.ErrorAs(t, err, &bad)
		require.NotEmpty(t, bad.Msg)
		if bad.Reason == ReasonSyntax && json.Valid(value) {
			// Then it is JSON that is no update: another type where an object stands.
			require.Regexp(t, `where an update object`, bad.Msg)
		}
	})
}
