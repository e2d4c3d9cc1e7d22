package codec

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOptions(t *testing.T) {
	var o DecoderOptions
	require.Error(t, o.Validate())
	o.EnsureDefaults()
	require.NoError(t, o.Validate())
	require.Equal(t, 1024, o.MaxKeyLen)

	for _, bad := range []DecoderOptions{
		{MaxKeyLen: 1025}, {MaxKeyLen: -1}, {MaxDepth: 1001}, {MaxBytes: -1}, {MaxLabelLen: 2000}, {MaxElements: -1},
		{MaxIDLen: -5}, {MaxPropsBytes: -5}, {CSVComma: '"'}, {CSVComma: '\n'}, {CSVComma: -1},
	} {
		for _, format := range []string{FormatJSON, FormatCSV, FormatText} {
			_, err := NewDecoder(format, bad)
			require.ErrorContains(t, err, "decoder option", "%+v", bad)
		}
	}
	_, err := NewDecoder("xml", DecoderOptions{})
	require.EqualError(t, err, `update format "xml" is unknown; use json, csv or text`)
}

func TestFormatOf(t *testing.T) {
	for name, want := range map[string]string{
		"a.jsonl": FormatJSON, "a.json.gz": FormatJSON, "dir.csv/a.txt": FormatText, "A.CSV.ZST": FormatCSV,
		"x.graph.gz": FormatText,
		"a":          "", "a.gz": "", "csv": "", "a.csv.bz2": "", "": "", "a.xml": "", "a.csv.gz.zst": "",
	} {
		require.Equal(t, want, FormatOf(name), name)
	}
}

func TestNearest(t *testing.T) {
	for name, want := range map[string]string{
		"form": "from", "FROM": "from", "fromLabel": "from_label", "form-label": "from_label", "lable": "label",
		"k":    "",
		"pops": "props", "tss": "ts", "x": "", "": "", "amount": "",
	} {
		require.Equal(t, want, nearest(name, fieldNames), name)
	}
}
