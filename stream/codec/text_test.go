package codec

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/stream"
)

func TestTextUpdates(t *testing.T) {
	for value, want := range map[string]dyngraph.Update{
		"e 0 12":         {Op: dyngraph.InsertEdge, From: "0", To: "12"},
		"e 3 12 7\r\n":   {Op: dyngraph.InsertEdge, From: "3", To: "12", Label: "7"},
		" -e\t3  12 7 ":  {Op: dyngraph.DeleteEdge, From: "3", To: "12", Label: "7"},
		"v 5":            {Op: dyngraph.InsertVertex, Key: "5"},
		"v 5 0":          {Op: dyngraph.InsertVertex, Key: "5", Label: "0"},
		"v 5 0 17":       {Op: dyngraph.InsertVertex, Key: "5", Label: "0"},
		"-v 5":           {Op: dyngraph.DeleteVertex, Key: "5"},
		"e 3 3":          {Op: dyngraph.InsertEdge, From: "3", To: "3"}, // acceptance refuses it
		"\n\n# x\nv 5\n": {Op: dyngraph.InsertVertex, Key: "5"},
	} {
		want.Pos = at(0)
		require.Equal(t, want, decodeOne(t, FormatText, DecoderOptions{}, value), "%q", value)
	}
	for _, value := range []string{"", "\n", "t 37700 289003", "# a comment", "#comment", "% a comment", "  # x",
		"\r\n"} {
		require.Empty(t, decodeAll(t, FormatText, DecoderOptions{}, value), "%q", value)
	}
	all := decodeAll(t, FormatText, DecoderOptions{}, "t 2 1\nv 0 1 1\nv 1 1 1\n# edges\ne 0 1 0")
	require.Len(t, all, 3)
	require.Equal(t, at(2), all[2].Pos)
	require.Equal(t, dyngraph.InsertEdge, all[2].Op)
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"e 1 2", "-e 1 2 3\n", "v 1 2 3", "-v 9", "t 1 2", "# x", "e 1 2\r\n\r\nv 3", "e 00 1",
		"\xff"} {
		f.Add(s)
	}
	d, err := NewDecoder(FormatText, DecoderOptions{MaxElements: 50})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, value string) {
		got, err := d.Decode(stream.Record{Value: []byte(value)}, nil)
		if err != nil {
			require.Empty(t, got)
			var bad *stream.DecodeError
			require.ErrorAs(t, err, &bad)
			return
		}
		var again strings.Builder
		for _, u := range got {
			switch u.Op {
			case dyngraph.InsertEdge:
				fmt.Fprintln(&again, "e", u.From, u.To, u.Label)
			case dyngraph.DeleteEdge:
				fmt.Fprintln(&again, "-e", u.From, u.To, u.Label)
			case dyngraph.InsertVertex:
				fmt.Fprintln(&again, "v", u.Key, u.Label)
			case dyngraph.DeleteVertex:
				fmt.Fprintln(&again, "-v", u.Key)
			}
		}
		same, err := d.Decode(stream.Record{Value: []byte(again.String())}, nil)
		require.NoError(t, err)
		require.Equal(t, got, same)
	})
}
