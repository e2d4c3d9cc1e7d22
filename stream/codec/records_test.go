package codec

import (
	"encoding/base64"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher"
	"motifd/stream"
)

func TestDeadLetterRecord(t *testing.T) {
	e := NewEncoder(EncoderOptions{StreamID: "s1"})
	rec, err := e.DeadLetter(stream.DeadLetter{
		Partition: 2,
		Offset:    9,
		Element:   1,
		Reason:    "field",
		Error:     `byte 3: "x"`,
		Key:       []byte("k"),
		Value:     []byte("{\"x\":\"é\n"),
		Size:      400,
	})
	require.NoError(t, err)
	require.Equal(
		t,
		`{"stream":"s1","partition":2,"offset":9,"element":1,"reason":"field","error":"byte 3: `+
			`\"x\"","size":400,"key":"k","value":"{\"x\":\"é\n"}`,
		string(rec.Value),
	)
	require.Equal(t, []byte("k"), rec.Key)

	value := []byte("e 1 \xff")
	rec, err = e.DeadLetter(
		stream.DeadLetter{Element: -1, Reason: "utf8", Error: "bad \xff", Key: []byte{0xfe}, Value: value, Size: 5},
	)
	require.NoError(t, err)
	var got map[string]any
	require.NoError(t, json.Unmarshal(rec.Value, &got))
	require.Equal(t, map[string]any{
		"stream":    "s1",
		"partition": 0.,
		"offset":    0.,
		"reason":    "utf8",
		"error":     "bad \uFFFD",
		"size":      5.,
		"key_base64": base64.StdEncoding.EncodeToString(
			[]byte{0xfe},
		),
		"value_base64": base64.StdEncoding.EncodeToString(value),
	}, got)

	for cut, want := range map[string]string{"a\xf0\x9f\x98": "a", "a\xc3": "a", "aé": "aé", "a": "a", "": ""} {
		rec, err = e.DeadLetter(stream.DeadLetter{Value: []byte(cut), Size: 10})
		require.NoError(t, err)
		require.Contains(t, string(rec.Value), `"value":"`+want+`"}`)
	}

	rec, err = e.DeadLetter(stream.DeadLetter{Element: -1})
	require.NoError(t, err)
	require.Equal(
		t,
		`{"stream":"s1","partition":0,"offset":0,"reason":"","error":"","size":0,"value":""}`,
		string(rec.Value),
	)
	require.Nil(t, rec.Key)
}

func TestBatchRecord(t *testing.T) {
	rec, err := NewEncoder(EncoderOptions{StreamID: "s1"}).BatchRecord(&stream.BatchReport{
		Stream:    "s1",
		Batch:     4,
		Messages:  2,
		Updates:   3,
		Inserted:  1,
		Records:   2,
		Positions: map[string]int64{"1": 5, "0": 7},
		Change:    &stream.ChangeReport{Op: "add", Query: "ring3", Version: 1},
		Queries: []stream.QueryReport{
			{Query: "ring3", Version: 1, Positive: stream.Total{Count: matcher.Count{Hi: 1}}, Truncated: true},
		},
	})
	require.NoError(t, err)
	require.Equal(
		t,
		`{"stream":"s1","batch":4,"messages":2,"updates":3,"inserted":1,"deleted":0,"records":2,"dead_letters":0,`+
			`"positions":{"0":7,"1":5},"change":{"op":"add","query":"ring3","version":1},`+
			`"queries":[{"query":"ring3","version":1,"positive":18446744073709551616,"negative":0,"truncated":true}]}`,
		string(rec.Value),
	)
	require.Equal(t, stream.OutRecord{Key: []byte("s1"), Value: rec.Value, Batch: 4}, rec)
}
