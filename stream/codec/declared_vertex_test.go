package codec

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/stream"
)

// accounts declares properties of vertices: one of every label, one with a type for each label, one of one label.
var accounts = &property.Schema{Vertices: property.Declarations{
	"Account":    {"risk": {Kind: property.Int64}, "name": {Kind: property.String}},
	"Shop":       {"risk": {Kind: property.Decimal, Scale: 2}},
	property.Any: {"blocked": {Kind: property.Bool}},
}}

// named gives the values of an operation on a vertex by name; a null that =v names is "null".
func named(u *dyngraph.Update) map[string]string {
	all := accounts.Vertices.Columns().All()
	values := map[string]string{}
	for i := range u.Attr.Values {
		if v := u.Attr.Values[i]; !v.IsNull() {
			values[all[i].Name] = v.String()
		}
	}
	for _, i := range u.Named {
		values[all[i].Name] = u.Attr.Value(i).String()
	}
	return values
}

func TestS16JSONVertexValues(t *testing.T) {
	for in, want := range map[string]map[string]string{
		`{"op":"+v","key":"a","label":"Account","props":{"risk":7,"name":"x","note":[1]}}`: {"risk": "7", "name": "x"},
		`{"op":"+v","key":"a","label":"Shop","props":{"risk":"7.5","name":"x"}}`:           {"risk": "7.50"},
		`{"op":"+v","key":"a","label":"Other","props":{"risk":7,"blocked":true}}`:          {"blocked": "true"},
		`{"op":"+v","key":"a","props":{"name":"x","blocked":null}}`:                        {"name": "x"},
		`{"op":"+v","key":"a"}`: {},
		`{"op":"=v","key":"a","label":"Account","props":{"risk":null,"blocked":false}}`: {
			"risk": "null", "blocked": "false"},
		`{"op":"=v","key":"a","props":{"note":1}}`:                   {},
		`{"op":"=v","key":"a","props":{"n\u0061me":"","ts":1}}`:      {"name": ""},
		`{"op":"-v","key":"a","label":"Account","props":{"risk":7}}`: {},
		`{"op":"=v","key":"a","ts":5,"label":"Account","props":{"name":null,"risk":"-3"}}`: {
			"name": "null", "risk": "-3"},
		`{"op":"=v","props":{"blocked":"true","name":"\ud83d\ude00"},"label":"Account","key":"a"}`: {
			"blocked": "true", "name": "😀"},
	} {
		u := decodeOne(t, FormatJSON, DecoderOptions{Schema: accounts}, in)
		require.Equal(t, want, named(&u), in)
		require.Nil(t, u.Attr.Props, in)
		require.IsIncreasing(t, append([]int{-1}, u.Named...), in)
		apply(t, dyngraph.NewGraph(dyngraph.Options{Schema: accounts}), u) // the graph takes what the decoder takes
	}
}

func TestS16BrokenVertexProperties(t *testing.T) {
	runBroken(t, "testdata/broken_vertices.txt", FormatJSON, `{"op":"-v","key":"a"}`, func(o *DecoderOptions) {
		o.Schema = accounts
	})
}

// TestS16NothingDeclared: without declared properties of vertices, they have none, and =v sets nothing.
func TestS16NothingDeclared(t *testing.T) {
	d, err := NewDecoder(FormatJSON, DecoderOptions{Schema: payments})
	require.NoError(t, err)
	for in, want := range map[string]string{
		`{"op":"+v","key":"a","props":{"risk":7}}`: `the field "props" does not belong to op "+v"`,
		`{"op":"=v","key":"a","props":{"risk":7}}`: `graph.properties.vertices declares none`,
		`{"op":"=v","key":"a"}`:                    `graph.properties.vertices declares none`,
	} {
		_, err := d.Decode(stream.Record{Value: []byte(in)}, nil)
		require.ErrorContains(t, err, want, in)
	}
	c, err := NewDecoder(FormatCSV, DecoderOptions{CSVHeader: "op,k", Mapping: mapping(t, "op=op,key=k,from=k,to=k")})
	require.NoError(t, err)
	_, err = c.Decode(stream.Record{Value: []byte("=v,a")}, nil)
	require.ErrorContains(t, err, "graph.properties.vertices declares none")
}

func TestS16CSVVertexValues(t *testing.T) {
	opt := DecoderOptions{Schema: accounts, CSVHeader: "op,from,to,key,kind,risk,name,note",
		Mapping: mapping(t, "op=op,from=from,to=to,key=key,key_label=kind,prop.risk=risk,prop.name=name,"+
			"prop.note=note")}
	for row, want := range map[string]map[string]string{
		"+v,,,a,Account,7,x,hello": {"risk": "7", "name": "x"},
		"+v,,,a,Account,,,":        {},
		"=v,,,a,Account,,x,":       {"risk": "null", "name": "x"},
		"=v,,,a,Shop,1.5,x,":       {"risk": "1.50"},
		"-v,,,a,Shop,1.5,x,":       {},
	} {
		u := decodeOne(t, FormatCSV, opt, row)
		require.Equal(t, want, named(&u), row)
		require.Nil(t, u.Attr.Props, row)
	}
	d, err := NewDecoder(FormatCSV, opt)
	require.NoError(t, err)
	for row, want := range map[string]string{
		"+v,,,a,Account,7.5,,": `column "risk" (#6): the property "risk" of the vertex label "Account": 7.5 is ` +
			`not a whole number; the declared type is int64`,
		"=v,,,a,,7,,": `column "risk" (#6): the property "risk" is declared as int64 for some labels of vertices ` +
			`and as decimal(2) for others; give the vertex's label`,
	} {
		_, err = d.Decode(stream.Record{Value: []byte(row)}, nil)
		require.EqualError(t, err, want)
	}
}

// checkVertices decodes a record and reads the props of its operations on vertices again by encoding/json.
func checkVertices(t *testing.T, d stream.Decoder, value []byte) {
	us, err := d.Decode(stream.Record{Value: value}, nil)
	if err != nil {
		return
	}
	var records []struct {
		Label string                     `json:"label"`
		Props map[string]json.RawMessage `json:"props"`
	}
	if value = []byte(strings.TrimSpace(string(value))); len(value) > 0 && value[0] == '{' {
		value = append(append([]byte("["), value...), ']')
	}
	if len(value) == 0 {
		require.Empty(t, us)
		return
	}
	require.NoError(t, json.Unmarshal(value, &records))
	columns := accounts.Vertices.Columns()
	for i := range us {
		u := &us[i]
		if u.Op != dyngraph.InsertVertex && u.Op != dyngraph.ReviseVertex {
			require.Empty(t, u.Named)
			continue
		}
		want := map[string]string{}
		for name, raw := range records[i].Props {
			var types []property.Type
			if kind, ok := accounts.Vertices.Lookup(u.Label, name); ok && u.Label != "" {
				types = append(types, kind)
			} else if u.Label == "" {
				for _, c := range columns.All() {
					if c.Name == name {
						types = append(types, c.Type)
					}
				}
			}
			if len(types) == 0 {
				continue
			}
			require.Len(t, types, 1, "%s", value)
			v, err := property.FromJSON(types[0], raw)
			require.NoError(t, err, "%s", value)
			if !v.IsNull() || u.Op == dyngraph.ReviseVertex {
				want[name] = v.String()
			}
		}
		require.Equal(t, want, named(u), "%s", value)
		require.Equal(t, records[i].Label, u.Label)
	}
}

func newVertexDecoder(t require.TestingT) stream.Decoder {
	d, err := NewDecoder(FormatJSON, DecoderOptions{Schema: accounts, MaxElements: 50})
	require.NoError(t, err)
	return d
}

func TestS16JSONAgainstEncodingJSON(t *testing.T) {
	d := newVertexDecoder(t)
	names := []string{"risk", "name", "blocked", "x", "ts"}
	values := []string{"1", "-0", "12.34", "true", "null", `"1"`, `"x"`, `""`, `[1]`, `{"risk":1}`, `"\u0031"`}
	taken := 0
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 22))
		var members []string
		for _, at := range rng.Perm(len(names))[:rng.IntN(4)] {
			members = append(members, `"`+names[at]+`":`+values[rng.IntN(len(values))])
		}
		op := []string{"+v", "=v", "-v"}[rng.IntN(3)]
		in := `{"op":"` + op + `","key":"a","props":{` + strings.Join(members, ",") + `}`
		if label := []string{"", "Account", "Shop", "Other"}[rng.IntN(4)]; label != "" {
			in += `,"label":"` + label + `"`
		}
		in += "}"
		if _, err := d.Decode(stream.Record{Value: []byte(in)}, nil); err == nil {
			taken++
		}
		checkVertices(t, d, []byte(in))
	}
	require.Greater(t, taken, 500)
}

func FuzzDeclaredVertices(f *testing.F) {
	for _, s := range []string{
		`{"op":"+v","key":"a","label":"Account","props":{"risk":1,"x":{"n":[1]},"name":"7"}}`,
		`[{"op":"=v","key":"a","props":{"blocked":null}},{"op":"-v","key":"a","props":{"blocked":true}}]`,
		`{"op":"=v","key":"b","label":"Shop","props":{"r\u0069sk":"1.50","name":"\ud83d\ude00"}}`,
	} {
		f.Add([]byte(s))
	}
	d := newVertexDecoder(f)
	f.Fuzz(func(t *testing.T, value []byte) { checkVertices(t, d, value) })
}
