package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/stream"
)

var payments = &property.Schema{Edges: property.Declarations{
	"PAY":        {"amount": {Kind: property.Decimal, Scale: 2}, "seen": {Kind: property.Timestamp}},
	"BOX":        {"name": {Kind: property.String}, "open": {Kind: property.Bool}},
	property.Any: {"n": {Kind: property.Int64}, "share": {Kind: property.Float64}},
}}

// valuesOf gives an update's values by name.
func valuesOf(u *dyngraph.Update) map[string]string {
	values := map[string]string{}
	for i, v := range u.Attr.Values {
		if !v.IsNull() {
			values[payments.Edges.Columns().All()[i].Name] = v.String()
		}
	}
	return values
}

func TestS13JSONValues(t *testing.T) {
	for in, want := range map[string]struct {
		values map[string]string
		props  string
	}{
		`"label":"PAY","props":{"amount":12.5}`:     {map[string]string{"amount": "12.50"}, ""},
		`"props":{"amount":12.340},"label":"PAY"`:   {map[string]string{"amount": "12.34"}, ""},
		`"label":"PAY","props":{"amount":"-0.000"}`: {map[string]string{"amount": "0.00"}, ""},
		`"label":"PAY","props":{"z":1, "amount":1e1, "a":{"amount":7}, "n":9007199254740993}`: {
			map[string]string{"amount": "10.00", "n": "9007199254740993"}, `{"z":1,"a":{"amount":7}}`},
		`"label":"PAY","props":{"am\u006funt":3,"na\u006de":"x"}`: {map[string]string{"amount": "3.00"},
			`{"na\u006de":"x"}`},
		`"label":"PAY","props":{"amount":null,"seen":"17000000000"}`: {map[string]string{"seen": "17000000000"}, ""},
		`"label":"BOX","props":{"name":"","open":false,"amount":0.001}`: {
			map[string]string{"name": "", "open": "false"}, `{"amount":0.001}`},
		`"label":"BOX","props":{"share":-0.0,"name":"\u00e9"}`: {map[string]string{"share": "0", "name": "é"}, ""},
		`"props":{"n":"-9223372036854775808"}`:                 {map[string]string{"n": "-9223372036854775808"}, ""},
		`"label":"OTHER","props":{"n":1.0,"amount":true}`:      {map[string]string{"n": "1"}, `{"amount":true}`},
		`"label":"PAY","props":{}`:                             {map[string]string{}, `{}`},
		`"label":"PAY","props":{"ts":"x"}`:                     {map[string]string{}, `{"ts":"x"}`},
		`"label":"PAY"`:                                        {map[string]string{}, ``},
	} {
		record := `{"op":"+","from":"a","to":"b",` + in + `}`
		u := decodeOne(t, FormatJSON, DecoderOptions{Schema: payments}, record)
		require.Equal(t, want.values, valuesOf(&u), in)
		require.Equal(t, want.props, string(u.Attr.Props), in)
		g := dyngraph.NewGraph(dyngraph.Options{Schema: payments})
		apply(t, g, u) // the graph takes what the decoder takes
	}
	u := decodeOne(t, FormatJSON, DecoderOptions{Schema: payments},
		`{"op":"-","from":"a","to":"b","label":"PAY","props":{"amount":1}}`)
	require.Nil(t, u.Attr.Values)
}

func TestS13BrokenProperties(t *testing.T) {
	runBroken(t, "testdata/broken_properties.txt", FormatJSON, `{"op":"-v","key":"a"}`, func(o *DecoderOptions) {
		o.Schema = payments
	})
}

func TestS13CSVValues(t *testing.T) {
	opt := DecoderOptions{
		Schema: payments, CSVHeader: "src,dst,kind,amount,note,name,n",
		Mapping: mapping(t, "from=src,to=dst,label=kind,prop.amount=amount,prop.note=note,prop.name=name,prop.n=n"),
	}
	for row, want := range map[string]struct {
		values map[string]string
		props  string
	}{
		"a,b,PAY,12.5,hello,x,7": {map[string]string{"amount": "12.50", "n": "7"}, `{"note":"hello","name":"x"}`},
		"a,b,PAY,,,,":            {map[string]string{}, `{"note":"","name":""}`},
		"a,b,BOX,many,,x,":       {map[string]string{"name": "x"}, `{"amount":"many","note":""}`},
		"a,b,,1,,,-1":            {map[string]string{"n": "-1"}, `{"amount":"1","note":"","name":""}`},
	} {
		u := decodeOne(t, FormatCSV, opt, row)
		require.Equal(t, want.values, valuesOf(&u), row)
		require.Equal(t, want.props, string(u.Attr.Props), row)
	}
	opt.Mapping = mapping(t, "from=src,to=dst,label=kind,prop.amount=amount,prop.n=n")
	u := decodeOne(t, FormatCSV, opt, "a,b,PAY,1,,,2")
	require.Equal(t, map[string]string{"amount": "1.00", "n": "2"}, valuesOf(&u))
	require.Nil(t, u.Attr.Props, "all are declared")

	d, err := NewDecoder(FormatCSV, opt)
	require.NoError(t, err)
	_, err = d.Decode(stream.Record{Value: []byte("a,b,PAY,1,,,2\na,b,PAY,1.234,,,2")}, nil)
	require.EqualError(t, err, `update 1: column "amount" (#4): the property "amount" of the edge label `+
		`"PAY": 1.234 has more decimals; the declared type is decimal(2)`)
}

// twinOfProps reads an edge's props again by encoding/json.
func twinOfProps(label string, plain, got *dyngraph.Update) error {
	var members, rest map[string]json.RawMessage
	if len(plain.Attr.Props) > 0 {
		if err := json.Unmarshal(plain.Attr.Props, &members); err != nil {
			return err
		}
	}
	wants := map[string]property.Value{}
	for name, raw := range members {
		if t, ok := payments.Edges.Lookup(label, name); ok {
			want, err := property.FromJSON(t, raw)
			if err != nil {
				return err
			}
			wants[name] = want
		}
	}
	for name, want := range wants {
		t, _ := payments.Edges.Lookup(label, name)
		column, _ := payments.Edges.Columns().Find(name, t)
		if v := got.Attr.Value(column); v != want {
			return fmt.Errorf("%s is %v, want %v", name, v, want)
		}
		delete(members, name)
	}
	if len(got.Attr.Props) > 0 {
		if err := json.Unmarshal(got.Attr.Props, &rest); err != nil {
			return err
		}
	}
	if !maps.EqualFunc(members, rest, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
		return fmt.Errorf("%s rides along, want %s", got.Attr.Props, members)
	}
	return nil
}

// checkDeclared decodes a record with and without the schema, and compares.
func checkDeclared(t *testing.T, with, without stream.Decoder, value []byte) {
	plain, err := without.Decode(stream.Record{Value: value}, nil)
	if err != nil {
		plain = nil
	}
	got, bad := with.Decode(stream.Record{Value: value}, nil)
	if err != nil {
		require.Error(t, bad, "%s", value)
		return
	}
	var de *stream.DecodeError
	if bad != nil {
		require.ErrorAs(t, bad, &de)
		require.Equal(t, ReasonProperty, de.Reason, "%s: %v", value, bad)
	} else {
		require.Len(t, got, len(plain))
	}
	var wrong error
	for i := range plain {
		if plain[i].Op != dyngraph.InsertEdge {
			continue
		}
		u := &dyngraph.Update{}
		if bad == nil {
			u = &got[i]
		}
		if err := twinOfProps(plain[i].Label, &plain[i], u); errors.Is(err, property.ErrValue) {
			wrong = err
		} else if bad == nil {
			require.NoError(t, err, "%s", value)
		}
	}
	if bad == nil {
		require.NoError(t, wrong, "%s", value)
	} else if !strings.Contains(string(value), `"-"`) { // the props of a deletion are checked, too, and are gone
		require.Error(t, wrong, "%s: %v", value, bad)
	}
}

func newDeclaredDecoders(t require.TestingT) (with, without stream.Decoder) {
	with, err := NewDecoder(FormatJSON, DecoderOptions{Schema: payments, MaxElements: 50})
	require.NoError(t, err)
	without, err = NewDecoder(FormatJSON, DecoderOptions{MaxElements: 50})
	require.NoError(t, err)
	return with, without
}

func TestS13JSONAgainstEncodingJSON(t *testing.T) {
	with, without := newDeclaredDecoders(t)
	names := []string{"amount", "seen", "n", "share", "name", "open", "x", "y", "ts"}
	values := []string{"1", "-0", "12.34", "1.5", "1e2", "1.005", "true", "null", `"1"`, `"2.50"`, `"x"`, `"true"`,
		`""`, "9223372036854775807", "9223372036854775808", `[1]`, `{"n":1}`, "0.1", `"\u0031"`}
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 21))
		var members []string
		rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names[:rng.IntN(4)] {
			members = append(members, fmt.Sprintf("%q:%s", name, values[rng.IntN(len(values))]))
		}
		fields := []string{`"op":"+"`, `"from":"a"`, `"to":"b"`, `"props":{` + strings.Join(members, ",") + `}`}
		if label := []string{"", "PAY", "BOX", "OTHER"}[rng.IntN(4)]; label != "" {
			fields = append(fields, fmt.Sprintf(`"label":%q`, label))
		}
		rng.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
		checkDeclared(t, with, without, []byte("{"+strings.Join(fields, ", ")+"}"))
	}
}

func FuzzDeclared(f *testing.F) {
	for _, s := range []string{
		`{"op":"+","from":"a","to":"b","label":"PAY","props":{"amount":1.50,"x":{"n":[1]},"n":"7"}}`,
		`[{"op":"+","from":"a","to":"b","props":{"share":-0.0,"n":1e3}},` +
			`{"op":"-","from":"a","to":"b","props":{"n":2}}]`,
		`{"op":"+","from":"a","to":"b","label":"BOX","props":{"n\u0061me":"\ud83d\ude00","open":"true"}}`,
	} {
		f.Add([]byte(s))
	}
	with, without := newDeclaredDecoders(f)
	f.Fuzz(func(t *testing.T, value []byte) { checkDeclared(t, with, without, value) })
}

func TestDeclaredValuesOwnTheirMemory(t *testing.T) {
	value := []byte(`{"op":"+","from":"a","to":"b","label":"BOX","props":{"name":"hello","x":"rest"}}`)
	d, err := NewDecoder(FormatJSON, DecoderOptions{Schema: payments})
	require.NoError(t, err)
	got, err := d.Decode(stream.Record{Value: value}, nil)
	require.NoError(t, err)
	copy(value, bytes.Repeat([]byte("x"), len(value)))
	_, err = d.Decode(stream.Record{
		Value: []byte(`{"op":"+","from":"a","to":"b","label":"BOX","props":{"name":"other","y":"gone"}}`)}, nil)
	require.NoError(t, err)
	require.Equal(t, `{"x":"rest"}`, string(got[0].Attr.Props))
	require.True(t, slices.ContainsFunc(got[0].Attr.Values, func(v property.Value) bool { return v.Str() == "hello" }))
}
