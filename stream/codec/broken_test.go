package codec

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/stream"
)

var rewrite = flag.Bool("rewrite", false, "write what is found into the golden files")

// The corpus of broken records: stanzas of "in:", a sum of Go strings with optional repetition ("[" * 40 + "]"), and
// "err:", the golden reason, element and message.

func TestS10BrokenJSON(t *testing.T) {
	runBroken(t, "testdata/broken_json.txt", FormatJSON, `{"op":"-v","key":"a"}`, nil)
}

func TestS10BrokenText(t *testing.T) {
	runBroken(t, "testdata/broken_text.txt", FormatText, "e 1 2", nil)
}

func TestS10BrokenCSV(t *testing.T) {
	m, err := ParseMapping(
		"from=src,to=dst,label=kind,ts=time,op=op,id=id,from_label='Account',prop.amount=amount,vertex=kind:account",
	)
	require.NoError(t, err)
	runBroken(t, "testdata/broken_csv.txt", FormatCSV, "a,b,wire,1,+,x,3.5", func(o *DecoderOptions) {
		o.Mapping, o.CSVHeader = m, "src,dst,kind,time,op,id,amount"
	})
}

func TestS10BrokenMapping(t *testing.T) {
	runCorpus(t, "testdata/broken_mapping.txt", func(in string) string {
		_, err := ParseMapping(in)
		require.Error(t, err)
		return err.Error()
	})
}

func runBroken(t *testing.T, file, format, good string, with func(*DecoderOptions)) {
	opt := DecoderOptions{MaxBytes: 8192, MaxElements: 3, MaxLabelLen: 255, MaxIDLen: 64, MaxPropsBytes: 128}
	if with != nil {
		with(&opt)
	}
	d, err := NewDecoder(format, opt)
	require.NoError(t, err)
	kept := []dyngraph.Update{{Key: "kept"}}
	runCorpus(t, file, func(in string) string {
		dst, err := d.Decode(stream.Record{Value: []byte(in)}, kept)
		require.Len(t, dst, 1, "a refused record leaves no trace")
		var bad *stream.DecodeError
		require.True(t, errors.As(err, &bad), "%q: %v", in, err)
		dst, err = d.Decode(stream.Record{Value: []byte(good)}, dst[:0])
		require.NoError(t, err, "after %q", in)
		require.Len(t, dst, 1)
		return fmt.Sprintf("%s %d: %s", bad.Reason, bad.Element, bad.Msg)
	})
}

func runCorpus(t *testing.T, file string, run func(in string) string) {
	t.Helper()
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	var out strings.Builder
	var got string
	cases := 0
	for lines, n := bufio.NewScanner(f), 1; lines.Scan(); n++ {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "in: "):
			got = run(corpusInput(t, file, n, line[len("in: "):]))
			cases++
			fmt.Fprintf(&out, "%s\nerr: %s\n", line, got)
		case strings.HasPrefix(line, "err:"):
			if want := strings.TrimPrefix(line, "err: "); !*rewrite && want != got {
				t.Errorf("%s:%d:\n got  %s\n want %s", file, n, got, want)
			}
		default:
			fmt.Fprintln(&out, line)
		}
	}
	require.NotZero(t, cases)
	if *rewrite {
		require.NoError(t, os.WriteFile(file, []byte(out.String()), 0o644))
	}
}

func corpusInput(t *testing.T, file string, n int, text string) string {
	t.Helper()
	var out strings.Builder
	for text != "" {
		q, err := strconv.QuotedPrefix(text)
		require.NoError(t, err, "%s:%d: %s", file, n, text)
		part, err := strconv.Unquote(q)
		require.NoError(t, err)
		text = strings.TrimSpace(text[len(q):])
		times := 1
		if rest, ok := strings.CutPrefix(text, "*"); ok {
			number, more, _ := strings.Cut(rest, "+")
			times, err = strconv.Atoi(strings.TrimSpace(number))
			require.NoError(t, err, "%s:%d", file, n)
			text = "+" + more
			if more == "" {
				text = ""
			}
		}
		out.WriteString(strings.Repeat(part, times))
		text = strings.TrimSpace(strings.TrimPrefix(text, "+"))
	}
	return out.String()
}
