package file

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/stream"
)

func TestFramingOfLines(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"empty", "", nil},
		{"one", "a\n", []string{"a"}},
		{"no end", "a\nb", []string{"a", "b"}},
		{"blank lines are records", "\n\na\n", []string{"", "", "a"}},
		{"CRLF", "a\r\nb\r\n\r\nc\r", []string{"a", "b", "", "c"}},
		{"BOM", "\xef\xbb\xbfa\n\xef\xbb\xbfb\n", []string{"a", "\xef\xbb\xbfb"}},
		{"at the limit", "0123456789\n0123456789\r\nb\n", []string{"0123456789", "0123456789", "b"}},
		{"at the limit, no end", "0123456789", []string{"0123456789"}},
		{"too long", "a\n0123456789x\nb\n", []string{"a", "<size 11> 0123456789", "b"}},
		{"too long, no end", "a\n0123456789xy", []string{"a", "<size 12> 0123456789"}},
		{"much too long", strings.Repeat("x", 5000) + "\nb\n", []string{"<size 5000> xxxxxxxxxx", "b"}},
		{"too long twice", strings.Repeat("x", 50) + "\n" + strings.Repeat("y", 60),
			[]string{"<size 50> xxxxxxxxxx", "<size 60> yyyyyyyyyy"}},
		{"quotes mean nothing", "\"a\nb\"\n", []string{"\"a", "b\""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			requireFraming(t, SourceOptions{MaxRecordBytes: 10}, c.in, c.want)
		})
	}
}

func TestFramingOfCSV(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"plain", "a,b\nc,d\n", []string{"a,b", "c,d"}},
		{"quoted line end", "a,\"b\nc\"\nd\n", []string{"a,\"b\nc\"", "d"}},
		{"quoted line ends", "\"\n\n\",x\nd", []string{"\"\n\n\",x", "d"}},
		{"doubled quotes", "\"a\"\"\nb\"\nc\n", []string{"\"a\"\"\nb\"", "c"}},
		{"quote inside a field", "a\"b\nc\n", []string{"a\"b", "c"}},
		{"text after a quote", "\"a\"b\nc\n", []string{"\"a\"b", "c"}},
		{"CRLF", "\"a\r\n\",b\r\nc\r\n", []string{"\"a\r\n\",b", "c"}},
		{"unclosed at the end", "a\n\"b\nc\nd", []string{"a", "<framing 2> \"b", "c", "d"}},
		{"unclosed in the last line", "a\nx,\"b", []string{"a", "<framing 4> x,\"b"}},
		{"unclosed", "\"b\n" + strings.Repeat("c\n", 12),
			append([]string{"<framing 2> \"b"}, strings.Fields(strings.Repeat("c ", 12))...)},
		{"row too long", "\"0123456789abc\"\nd\n", []string{"<size 15> \"012345678", "d"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			requireFraming(t, SourceOptions{MaxRecordBytes: 10, Framing: FramingCSV, NoHeader: true}, c.in, c.want)
		})
	}
}

// requireFraming reads the input with reads of any size, and from every offset that a record told.
func requireFraming(t *testing.T, opt SourceOptions, in string, want []string) {
	t.Helper()
	opt.Path = filepath.Join(t.TempDir(), "in")
	write(t, opt.Path, []byte(in))
	for _, block := range []int{1, 2, 3, 5, 8, 64, 1 << 16} {
		opt.BlockBytes = block
		recs, err := drain(t, newSource(t, opt))
		require.NoError(t, err)
		require.Equal(t, want, values(recs), "blocks of %d bytes", block)
		var end int64
		for i, r := range recs {
			require.GreaterOrEqual(t, r.Offset, end)
			end = r.Next
			s := newSource(t, opt)
			require.NoError(t, s.Seek(t.Context(), stream.Positions{0: r.Next}))
			rest, err := drain(t, s)
			require.NoError(t, err)
			require.Equal(t, len(want[i+1:]), len(rest))
			require.Equal(t, append([]string(nil), want[i+1:]...), values(rest), "after record %d", i)
		}
		require.LessOrEqual(t, end, int64(len(in)))
	}
}

// FuzzFramer plays the framer against itself with other reads, and checks that every byte is accounted for.
func FuzzFramer(f *testing.F) {
	for _, in := range []string{"", "a\nb", "\"a\nb\",c\nd", "\"a\"\"\nb\nc\nd\ne\nffffffffffffff",
		"\xef\xbb\xbfa\r\n\r\n"} {
		f.Add([]byte(in), true, uint8(10), uint8(3))
		f.Add([]byte(in), false, uint8(4), uint8(1))
	}
	f.Fuzz(func(t *testing.T, in []byte, csv bool, limit, block uint8) {
		run := func(block int) (frames []frame) {
			fr := &framer{r: bytes.NewReader(in), csv: csv, comma: ',', limit: int(limit) + 1, block: block}
			for {
				x, err := fr.next()
				if err != nil {
					require.ErrorIs(t, err, io.EOF)
					return frames
				}
				frames = append(frames, x)
			}
		}
		small, large := run(int(block)+1), run(1<<16)
		require.Equal(t, len(large), len(small))
		end := int64(0)
		if bytes.HasPrefix(in, bom) {
			end = int64(len(bom))
		}
		for i, x := range large {
			y := small[i]
			require.Equal(t, string(x.value), string(y.value))
			require.Equal(t, x.err != nil, y.err != nil)
			require.Equal(t, []int64{x.off, x.next}, []int64{y.off, y.next})
			require.Equal(t, end, x.off)
			require.Greater(t, x.next, x.off)
			require.LessOrEqual(t, len(x.value), int(limit)+1)
			require.True(t, bytes.HasPrefix(in[x.off:], x.value))
			end = x.next
		}
		require.Equal(t, int64(len(in)), end)
	})
}

// TestTooLongNamesTheSetting holds that whoever reads the dead letter of a record that is too long knows what to raise.
func TestTooLongNamesTheSetting(t *testing.T) {
	for _, c := range []struct {
		opt SourceOptions
		in  string
	}{
		{SourceOptions{}, "0123456789x\n"}, {SourceOptions{}, "0123456789x"},
		{SourceOptions{}, strings.Repeat("x", 5000)},
		{SourceOptions{Framing: FramingCSV, NoHeader: true}, "\"b\n" + strings.Repeat("c\n", 12)},
	} {
		c.opt.Path, c.opt.In, c.opt.MaxRecordBytes = Stdin, strings.NewReader(c.in), 10
		recs, err := drain(t, newSource(t, c.opt))
		require.NoError(t, err)
		require.Error(t, recs[0].Err)
		require.Contains(t, recs[0].Err.Error(), "input.limits.max_message_bytes")
	}
}
