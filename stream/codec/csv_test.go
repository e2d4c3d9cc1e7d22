package codec

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/stream"
)

func mapping(t require.TestingT, text string) *Mapping {
	m, err := ParseMapping(text)
	require.NoError(t, err)
	require.Equal(t, text, m.String())
	return m
}

func csvOne(t *testing.T, m, header, row string) dyngraph.Update {
	t.Helper()
	d, err := NewDecoder(FormatCSV, DecoderOptions{Mapping: mapping(t, m)})
	require.NoError(t, err)
	got, err := d.Decode(stream.Record{Partition: 3, Offset: 70, Value: []byte(row), Header: []byte(header)}, nil)
	require.NoError(t, err)
	require.Len(t, got, 1)
	require.Equal(t, at(0), got[0].Pos)
	got[0].Pos = dyngraph.Position{}
	return got[0]
}

// Rows of the public data sets that users will try first.
func TestCSVDataSets(t *testing.T) {
	amlsim := "sourceNodeId,targetNodeId,value,time"
	require.Equal(t, dyngraph.Update{
		Op: dyngraph.InsertEdge, From: "280", To: "15349", Label: "TRANSFER", FromLabel: "Account", ToLabel: "Account",
		Attr: dyngraph.Attr{TS: 1, HasTS: true, Props: []byte(`{"value":"147.8"}`)},
	}, csvOne(t, "from=sourceNodeId,to=targetNodeId,label='TRANSFER',ts=time,"+
		"from_label='Account',to_label='Account',prop.value=value", amlsim, "280,15349,147.8,1\n"))

	require.Equal(t, dyngraph.Update{Op: dyngraph.InsertVertex, Key: "7", Label: "1"},
		csvOne(t, "op='+v',key=nodeid,key_label=isFraud", "nodeid,isFraud,init_balance,fraudStep", "7,1,175.80,-1\r\n"))

	finbench := "time_ms,op,kind,from,to,amount"
	const m = "from=from,to=to,label=kind,ts=time_ms,op=op,vertex=kind:account"
	require.Equal(t, dyngraph.Update{
		Op: dyngraph.InsertEdge, From: "4647433340469642673", To: "4666573638885966169", Label: "withdraw",
		Attr: dyngraph.Attr{TS: 1595187860915, HasTS: true},
	}, csvOne(t, m, finbench, "1595187860915,+,withdraw,4647433340469642673,4666573638885966169,6172213.11"))
	require.Equal(
		t,
		dyngraph.Update{
			Op:   dyngraph.DeleteVertex,
			Key:  "213639507323388069",
			Attr: dyngraph.Attr{TS: 1669855342281, HasTS: true},
		},
		csvOne(t, m, finbench, "1669855342281,-,account,213639507323388069,,"),
	)
}

func TestCSVMapping(t *testing.T) {
	for _, c := range []struct {
		mapping, header, row string
		want                 dyngraph.Update
	}{
		{"from=#2,to=#1", "", "b,a", dyngraph.Update{Op: dyngraph.InsertEdge, From: "a", To: "b"}},
		{"from=#1,to=#1", "x", "a", dyngraph.Update{Op: dyngraph.InsertEdge, From: "a", To: "a"}},
		{` from = "a ""b"", c" , to = d`, `"a ""b"", c",d`, "1,2",
			dyngraph.Update{Op: dyngraph.InsertEdge, From: "1", To: "2"}},
		{"from=a b,to=c", "\ufeffa b,c", "1,2", dyngraph.Update{Op: dyngraph.InsertEdge, From: "1", To: "2"}},
		{`from="#1",to=x`, "#1,x", "1,2", dyngraph.Update{Op: dyngraph.InsertEdge, From: "1", To: "2"}},
		{"from=a,to=b,label='it''s, so'", "a,b", "1,2",
			dyngraph.Update{Op: dyngraph.InsertEdge, From: "1", To: "2", Label: "it's, so"}},
		{"from=a,to=b,ts='5',op='-'", "a,b", "1,2",
			dyngraph.Update{Op: dyngraph.DeleteEdge, From: "1", To: "2", Attr: dyngraph.Attr{TS: 5, HasTS: true}}},
		{"from=a,to=b,op=o,ts=t,id=i", "a,b,o,t,i,unused", "1,2,+,,,z",
			dyngraph.Update{Op: dyngraph.InsertEdge, From: "1", To: "2"}},
		{"from=a,to=b,op=o,key=k,key_label=l", "a,b,o,k,l", ",,+v,x,y",
			dyngraph.Update{Op: dyngraph.InsertVertex, Key: "x", Label: "y"}},
		{"from=a,to=b,op=o,from_label=l", "a,b,o,l", "x,,+v,y",
			dyngraph.Update{Op: dyngraph.InsertVertex, Key: "x", Label: "y"}},
		{"op=o,key=k", "k,o", "x,-v", dyngraph.Update{Op: dyngraph.DeleteVertex, Key: "x"}},
		{`from=a,to=b,vertex="a":'#1'`, "a,b", "#1,", dyngraph.Update{Op: dyngraph.InsertVertex, Key: "#1"}},
		{"from=a,to=b,prop.q\"=b,prop.z='c'", "a,b", "1,\"2\n\"\"3\"\"\"", dyngraph.Update{
			Op: dyngraph.InsertEdge, From: "1", To: "2\n\"3\"",
			Attr: dyngraph.Attr{Props: []byte(`{"q\"":"2\n\"3\"","z":"c"}`)},
		}},
	} {
		require.Equal(t, c.want, csvOne(t, c.mapping, c.header, c.row), c.mapping)
	}
}

func TestCSVSeveralRowsAreOneMessage(t *testing.T) {
	opt := DecoderOptions{Mapping: mapping(t, "from=a,to=b"), CSVHeader: "a;b", CSVComma: ';'}
	got := decodeAll(t, FormatCSV, opt, "1;2\n\n\"3\n\";4\r\n")
	require.Equal(t, []dyngraph.Update{
		{Op: dyngraph.InsertEdge, From: "1", To: "2", Pos: at(0)},
		{Op: dyngraph.InsertEdge, From: "3\n", To: "4", Pos: at(1)},
	}, got)
	require.Empty(t, decodeAll(t, FormatCSV, opt, "\n"))
	require.Empty(t, decodeAll(t, FormatCSV, opt, ""))
}

// A directory of files has a header per file; a file whose header does not fit spoils its own records only.
func TestCSVHeaders(t *testing.T) {
	d, err := NewDecoder(FormatCSV, DecoderOptions{Mapping: mapping(t, "from=src,to=dst")})
	require.NoError(t, err)
	for i, c := range []struct{ header, row, want, err string }{
		{"src,dst", "a,b", "a>b", ""},
		{"dst,src", "a,b", "b>a", ""},
		{"src,dest", "a,b", "", `the mapping names a column "dst", but the header has "src,dest"; did you mean ` +
			`"dest"? A constant is written 'dst'`},
		{"x,y", "a,b", "", `the mapping names a column "src", but the header has "x,y"; a constant is written 'src'`},
		{"src,dst,src", "a,b,c", "", `the header has two columns "src", #1 and #3; name the one that is meant by ` +
			`its number`},
		{"\"src,dst", "a,b", "", `the header row "\"src,dst" cannot be read`},
		{"", "a,b", "", "the record comes without a header row"},
		{"dst,src", "a,b", "b>a", ""},
	} {
		header := []byte(c.header)
		for range 2 {
			got, err := d.Decode(stream.Record{Value: []byte(c.row), Header: header}, nil)
			if c.err != "" {
				require.ErrorContains(t, err, c.err, "case %d", i)
				continue
			}
			require.NoError(t, err, "case %d", i)
			require.Equal(t, c.want, got[0].From+">"+got[0].To)
		}
	}
	_, err = NewDecoder(FormatCSV, DecoderOptions{Mapping: mapping(t, "from=src,to=#4"), CSVHeader: "src,dst"})
	require.ErrorContains(t, err, "the mapping names column #4, but the header has 2 columns")
	_, err = NewDecoder(FormatCSV, DecoderOptions{})
	require.ErrorContains(t, err, "need a column mapping")

	d, err = NewDecoder(FormatCSV, DecoderOptions{Mapping: mapping(t, "from=#1,to=#4")})
	require.NoError(t, err)
	_, err = d.Decode(stream.Record{Value: []byte("a,b")}, nil)
	require.ErrorContains(t, err, "the row has 2 field(s), but the mapping names column #4")
}

func TestCSVOpWithoutItsColumns(t *testing.T) {
	d, err := NewDecoder(FormatCSV, DecoderOptions{Mapping: mapping(t, "op=o,key=k"), CSVHeader: "k,o"})
	require.NoError(t, err)
	_, err = d.Decode(stream.Record{Value: []byte("x,+")}, nil)
	require.ErrorContains(t, err, "needs from, which the mapping does not set; set from=COLUMN")
}

func FuzzCSV(f *testing.F) {
	for _, s := range []string{"a,b,l,1,+,i,p", "\"a\n\"\"\",b,l,,-,,", "a,b,account,,+,,", "a,b\n", "\"", "\xff",
		"a,,,,-v,,\n,b,,,+,,"} {
		f.Add(s)
	}
	m := mapping(f, "from=#1,to=#2,label=#3,ts=#4,op=#5,id=#6,prop.p=#7,vertex=#3:account")
	d, err := NewDecoder(FormatCSV, DecoderOptions{Mapping: m, MaxElements: 50})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, value string) {
		got, err := d.Decode(stream.Record{Value: []byte(value)}, nil)
		if err != nil {
			require.Empty(t, got)
			var bad *stream.DecodeError
			require.ErrorAs(t, err, &bad)
			return
		}
		r := csv.NewReader(strings.NewReader(value))
		r.FieldsPerRecord = -1
		for _, u := range got {
			row, err := r.Read()
			require.NoError(t, err)
			if u.Op == dyngraph.InsertVertex || u.Op == dyngraph.DeleteVertex {
				require.Equal(t, row[0], u.Key)
				continue
			}
			require.Equal(t, row[:3], []string{u.From, u.To, u.Label})
			require.Equal(t, row[5], u.Attr.ID)
			if u.Op == dyngraph.InsertEdge {
				var props map[string]string
				require.NoError(t, json.Unmarshal(u.Attr.Props, &props))
				require.Equal(t, map[string]string{"p": row[6]}, props)
			}
		}
		_, err = r.Read()
		require.Equal(t, io.EOF, err)
	})
}

func FuzzParseMapping(f *testing.F) {
	for _, s := range []string{
		"from=a,to=b", "from=#1,to=#2,label='x''y',vertex=kind:'a,b'", `from="a ""b""",to=b,prop.x=c`,
		"op='+v',key=k,key_label=l", "from=a,,to=b", "=",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ParseMapping(text)
		if err != nil {
			return
		}
		again, err := ParseMapping(m.String())
		require.NoError(t, err)
		require.Equal(t, m, again)
		d, err := NewDecoder(FormatCSV, DecoderOptions{Mapping: m})
		require.NoError(t, err)
		header := []byte("a,b,c,k,l,kind,#1")
		for _, row := range []string{"1,2,3,4,5,6,7", "1,2", ",,,,,,"} {
			if _, err := d.Decode(stream.Record{Value: []byte(row), Header: header}, nil); err != nil {
				var bad *stream.DecodeError
				require.ErrorAs(t, err, &bad)
			}
		}
	})
}

func TestCSVTooManyFields(t *testing.T) {
	d, err := NewDecoder(FormatCSV, DecoderOptions{Mapping: mapping(t, "from=#1,to=#2")})
	require.NoError(t, err)
	_, err = d.Decode(stream.Record{Value: []byte("a,b" + strings.Repeat(",", maxColumns))}, nil)
	require.ErrorContains(t, err, "fields; at most 16384 are allowed")
}
