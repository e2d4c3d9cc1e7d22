package codec_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph/property"
	"motifd/stream"
	"motifd/stream/codec"
)

// infer decodes records and returns what is declared for them, as text.
func infer(t *testing.T, format string, opt codec.DecoderOptions, records ...string) (schema *property.Schema,
	undeclared []string) {
	t.Helper()
	opt.KeepProps = true
	dec, err := codec.NewDecoder(format, opt)
	require.NoError(t, err)
	in := codec.NewInference()
	for _, r := range records {
		updates, err := dec.Decode(stream.Record{Value: []byte(r)}, nil)
		require.NoError(t, err, r)
		for i := range updates {
			require.NoError(t, in.Add(&updates[i], format))
		}
	}
	return in.Schema()
}

func declared(text string) property.Type {
	t, err := property.ParseType(text)
	if err != nil {
		panic(err)
	}
	return t
}

func TestInferenceOfJSON(t *testing.T) {
	schema, undeclared := infer(t, codec.FormatJSON, codec.DecoderOptions{},
		`{"op":"+","from":"a","to":"b","label":"T","ts":1,"props":{"amount":12.50,"memo":"x","tags":[1],"none":null}}`,
		`{"op":"+","from":"a","to":"c","label":"T","props":{"amount":7,"ok":true,"ts":3}}`,
		`{"op":"-","from":"a","to":"c","label":"T","props":{"amount":0.125}}`,
		`{"op":"+","from":"a","to":"c","label":"U","props":{"big":9223372036854775808,"mixed":1}}`,
		`{"op":"+","from":"a","to":"d","label":"U","props":{"mixed":"x"}}`,
		`[{"op":"+v","key":"a","label":"Account","props":{"country":"NL","risk":1}},`+
			`{"op":"=v","key":"a","props":{"risk":0.5}},{"op":"-v","key":"a","label":"Account"}]`,
	)
	require.Equal(t, &property.Schema{
		Edges: property.Declarations{
			"T": {"amount": declared("decimal(3)"), "memo": declared("string"), "ok": declared("bool"),
				"ts": declared("timestamp")},
			"U": {"big": declared("float64")},
		},
		Vertices: property.Declarations{
			"Account": {"country": declared("string")}, "*": {"risk": declared("decimal(1)")},
		},
	}, schema)
	require.NoError(t, schema.Validate())
	require.Equal(t, []string{
		"edges.T.tags: some values are arrays or objects",
		"edges.T.ts: the name is that of the time of edges",
		"edges.U.mixed: the values are of several types",
	}, undeclared)
}

func TestInferenceWithoutLabels(t *testing.T) {
	schema, undeclared := infer(t, codec.FormatJSON, codec.DecoderOptions{},
		`{"op":"+","from":"a","to":"b","ts":1,"props":{"amount":1}}`,
		`{"op":"+","from":"a","to":"b","label":"T","ts":1,"props":{"amount":2.5,"only":"T"}}`)
	require.Empty(t, undeclared)
	require.Equal(t, property.Declarations{
		"*": {"amount": declared("decimal(1)"), "ts": declared("timestamp")}, "T": {"only": declared("string")},
	}, schema.Edges)
	require.NoError(t, schema.Validate())

	schema, undeclared = infer(t, codec.FormatJSON, codec.DecoderOptions{}, `{"op":"+","from":"a","to":"b"}`)
	require.Nil(t, schema)
	require.Empty(t, undeclared)
}

func TestInferenceOfCSV(t *testing.T) {
	m, err := codec.ParseMapping("from=#1,to=#2,label='T',ts=#3,prop.amount=#4,prop.code=#5,prop.ok=#6")
	require.NoError(t, err)
	schema, undeclared := infer(t, codec.FormatCSV, codec.DecoderOptions{Mapping: m},
		"a,b,1,12.5,7,true", "a,c,2,3,007,", "a,d,3,,8,false")
	require.Empty(t, undeclared)
	require.Equal(t, property.Declarations{"T": {"amount": declared("decimal(1)"), "code": declared("string"),
		"ok": declared("bool"), "ts": declared("timestamp")}}, schema.Edges)
}

// TestWhatIsInferredIsAccepted decodes records with the declarations that were made for them.
func TestWhatIsInferredIsAccepted(t *testing.T) {
	var records []string
	for i := range 200 {
		records = append(records, fmt.Sprintf(`{"op":"+","from":"a%d","to":"b","label":"L%d","ts":%d,`+
			`"props":{"p":%d.%d,"q":%s,"r":"%d"}}`,
			i, i%3, i, i, i%17, []string{"true", "null", "false"}[i/3%3], i))
	}
	schema, _ := infer(t, codec.FormatJSON, codec.DecoderOptions{}, records...)
	dec, err := codec.NewDecoder(codec.FormatJSON, codec.DecoderOptions{Schema: schema, EdgeIDs: true})
	require.NoError(t, err)
	for _, r := range records {
		updates, err := dec.Decode(stream.Record{Value: []byte(r)}, nil)
		require.NoError(t, err)
		require.Nil(t, updates[0].Attr.Props, "all are declared")
	}
}
