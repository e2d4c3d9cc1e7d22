package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"motifd/matcher/matchertest"
	"motifd/stream"
	"motifd/stream/streamtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pack compresses as the file's name says.
func pack(t testing.TB, name string, data []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	var w io.WriteCloser
	switch CompressionAuto.of(name) {
	case CompressionGzip:
		w = gzip.NewWriter(&buf)
	case CompressionZstd:
		z, err := zstd.NewWriter(&buf, zstd.WithEncoderConcurrency(1))
		require.NoError(t, err)
		w = z
	default:
		return data
	}
	_, err := w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return buf.Bytes()
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, pack(t, path, data), 0o644))
}

func newSource(t testing.TB, opt SourceOptions) *Source {
	t.Helper()
	s, err := NewSource(opt)
	require.NoError(t, err)
	return s
}

// drain reads everything that is left.
func drain(t testing.TB, s stream.Source) (recs []stream.Record, err error) {
	t.Helper()
	for {
		got, err := s.Read(t.Context())
		recs = append(recs, got...)
		if err != nil {
			require.NoError(t, s.Close())
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return recs, err
		}
	}
}

func values(recs []stream.Record) (out []string) {
	for _, r := range recs {
		if r.Err != nil {
			var re *stream.RecordError
			errors.As(r.Err, &re)
			out = append(out, fmt.Sprintf("<%s %d> %s", re.Reason, re.Size, r.Value))
		} else {
			out = append(out, string(r.Value))
		}
	}
	return out
}

func TestConformance(t *testing.T) {
	for _, ext := range []string{".jsonl", ".jsonl.gz", ".jsonl.zst"} {
		for _, csv := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s csv=%v", ext, csv), func(t *testing.T) {
				streamtest.TestSource(t, func(t *testing.T) *streamtest.SourceHarness {
					const parts = 3
					dir := t.TempDir()
					path := func(p int32) string { return filepath.Join(dir, fmt.Sprintf("part-%d%s", p, ext)) }
					header := ""
					opt := SourceOptions{Path: dir, ReadRecords: 4, BlockBytes: 64}
					if csv {
						header = "a,b\n"
						opt.Framing = FramingCSV
					}
					for p := range int32(parts) {
						write(t, path(p), []byte(header))
					}
					return &streamtest.SourceHarness{
						Partitions: parts,
						Produce: func(t testing.TB, recs []stream.Record) {
							for p := range int32(parts) {
								data := []byte(header)
								for _, r := range recs {
									if r.Partition == p {
										data = append(append(data, r.Value...), '\n')
									}
								}
								write(t, path(p), data)
							}
						},
						Open: func(t testing.TB) stream.Source { return newSource(t, opt) },
						Lose: func(t testing.TB, p int32, _ int64) { write(t, path(p), []byte(header+"x")) },
					}
				})
			})
		}
	}
}

func TestCSVHeaderOfEachFile(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "1.csv"), []byte("a,b\n1,2\n3,4\n"))
	write(t, filepath.Join(dir, "2.csv.gz"), []byte("\"c\nd\",e\n5,6\n"))
	write(t, filepath.Join(dir, "3.csv"), nil)
	write(t, filepath.Join(dir, ".hidden"), []byte("x\n"))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
	opt := SourceOptions{Path: dir, Framing: FramingCSV}
	recs, err := drain(t, newSource(t, opt))
	require.NoError(t, err)
	require.Equal(t, []string{"1,2", "3,4", "5,6"}, values(recs))
	require.Equal(t, "a,b", string(recs[1].Header))
	require.Equal(t, "\"c\nd\",e", string(recs[2].Header))

	s := newSource(t, opt) // the header is read again when reading starts in the middle
	require.NoError(t, s.Seek(t.Context(), stream.Positions{0: recs[0].Next}))
	recs, err = drain(t, s)
	require.NoError(t, err)
	require.Equal(t, []string{"3,4", "5,6"}, values(recs))
	require.Equal(t, "a,b", string(recs[0].Header))
}

func TestS10CompressedInputIsLimited(t *testing.T) {
	for _, ext := range []string{".gz", ".zst"} {
		t.Run("bomb"+ext, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "a"+ext), append([]byte("first\n"), make([]byte, 40<<20)...))
			write(t, filepath.Join(dir, "b"), []byte("second\n"))
			recs, err := drain(t, newSource(t, SourceOptions{Path: dir, MaxExpansion: 100, OnDamage: DamageSkip}))
			require.NoError(t, err)
			require.Len(t, recs, 3)
			require.Equal(t, "first", string(recs[0].Value))
			require.ErrorContains(t, recs[1].Err, "more than 100 times")
			require.Equal(t, int64(Abandoned), recs[1].Next)
			require.Equal(t, "second", string(recs[2].Value))

			// it is not tried again
			s := newSource(t, SourceOptions{Path: dir, MaxExpansion: 100, OnDamage: DamageSkip})
			require.NoError(t, s.Seek(t.Context(), stream.Positions{0: recs[1].Next}))
			recs, err = drain(t, s)
			require.NoError(t, err)
			require.Equal(t, []string{"second"}, values(recs))
		})
		t.Run("damaged"+ext, func(t *testing.T) {
			dir := t.TempDir()
			var text []byte
			for i := range 20000 {
				text = fmt.Appendf(text, "line %d %x\n", i, i*i*7919)
			}
			data := pack(t, ext, text)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "a"+ext), data[:len(data)*2/3], 0o644))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "b"+ext), []byte("this is no compressed file at all\n"),
				0o644))
			write(t, filepath.Join(dir, "c"), []byte("fine\n"))
			recs, err := drain(t, newSource(t, SourceOptions{Path: dir, OnDamage: DamageSkip}))
			require.NoError(t, err)
			n := len(recs)
			require.Greater(t, n, 3)
			require.Equal(t, "line 0 0", string(recs[0].Value))
			require.ErrorContains(t, recs[n-3].Err, "cannot be read from byte")
			require.ErrorContains(t, recs[n-2].Err, "cannot be read from byte")
			require.Equal(t, "fine", string(recs[n-1].Value))
		})
	}
	t.Run("window", func(t *testing.T) {
		var buf bytes.Buffer
		z, err := zstd.NewWriter(&buf, zstd.WithWindowSize(8<<20), zstd.WithEncoderConcurrency(1))
		require.NoError(t, err)
		_, err = z.Write(bytes.Repeat([]byte("some line\n"), 1<<20))
		require.NoError(t, err)
		require.NoError(t, z.Close())
		path := filepath.Join(t.TempDir(), "a.zst")
		require.NoError(t, os.WriteFile(path, buf.Bytes(), 0o644))
		recs, err := drain(t, newSource(t, SourceOptions{Path: path, MaxWindow: 1 << 20, OnDamage: DamageSkip}))
		require.NoError(t, err)
		require.Len(t, recs, 1)
		require.ErrorContains(t, recs[0].Err, "window")
	})
}

// TestDamageStops holds that a file that cannot be read to its end ends the reading with its name and the place,
// behind the records before it; that another Read says so again; and that a whole copy is read on from the last
// position.
func TestDamageStops(t *testing.T) {
	var text []byte
	for i := range 20000 {
		text = fmt.Appendf(text, "line %d %x\n", i, i*i*7919)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for _, ext := range []string{".gz", ".zst"} {
		whole := pack(t, ext, text)
		flipped := bytes.Clone(whole)
		flipped[len(flipped)/2] ^= 0x55
		for name, data := range map[string][]byte{
			"truncated": whole[:len(whole)*2/3], "no trailer": whole[:len(whole)-3], "corrupt": flipped,
			"none": []byte("plain text, not compressed\n"),
		} {
			t.Run(name+ext, func(t *testing.T) {
				dir := t.TempDir()
				path := filepath.Join(dir, "a"+ext)
				require.NoError(t, os.WriteFile(path, data, 0o644))
				write(t, filepath.Join(dir, "b"), []byte("behind\n"))
				s := newSource(t, SourceOptions{Path: dir})
				var recs []stream.Record
				got, err := s.Read(t.Context())
				for ; err == nil; got, err = s.Read(t.Context()) {
					recs = append(recs, got...)
				}
				var damage *DamageError
				require.ErrorAs(t, err, &damage)
				require.Equal(t, path, damage.File)
				require.ErrorContains(
					t,
					err,
					fmt.Sprintf("%s is damaged or truncated: it cannot be read from byte %d ", path, damage.Offset),
				)
				require.LessOrEqual(t, damage.Stored, int64(len(data)))
				require.NotContains(t, values(recs), "behind")
				at := stream.Positions{}
				for _, r := range recs {
					require.NoError(t, r.Err)
					at[0] = r.Next
				}
				require.Equal(t, at[0], damage.Offset)
				_, again := s.Read(t.Context())
				require.Equal(t, err, again)
				if name == "corrupt" { // what was read before the damage is found may be anything
					return
				}
				require.Equal(t, lines[:len(recs)], append([]string{}, values(recs)...))
				require.NoError(t, os.WriteFile(path, whole, 0o644))
				s = newSource(t, SourceOptions{Path: dir})
				require.NoError(t, s.Seek(t.Context(), at))
				rest, err := drain(t, s)
				require.NoError(t, err)
				require.Equal(t, slices.Concat(lines[len(recs):], []string{"behind"}), values(rest))
			})
		}
	}
}

func TestHeaderTooLong(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "1.csv"), []byte(strings.Repeat("h,", 50)+"\n1,2\n"))
	write(t, filepath.Join(dir, "2.csv"), []byte("a,b\n1,2\n"))
	recs, err := drain(
		t,
		newSource(t, SourceOptions{Path: dir, Framing: FramingCSV, MaxRecordBytes: 20, OnDamage: DamageSkip}),
	)
	require.NoError(t, err)
	require.Len(t, recs, 2)
	require.ErrorContains(t, recs[0].Err, "header row")
	require.Equal(t, "1,2", string(recs[1].Value))
}

func TestFilesThatAreGone(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "1"), []byte("a\n"))
	s := newSource(t, SourceOptions{Path: dir})
	require.ErrorIs(t, s.Seek(t.Context(), stream.Positions{0: 2, 1: 5}), stream.ErrDataLoss)
	require.NoError(t, s.Seek(t.Context(), stream.Positions{0: 3}))
	_, err := s.Read(t.Context())
	require.ErrorIs(t, err, stream.ErrDataLoss)
	require.ErrorContains(t, err, "put the whole file back")
	require.NoError(t, s.Close())
	_, err = NewSource(SourceOptions{Path: t.TempDir()})
	require.ErrorContains(t, err, "holds no files")
	_, err = NewSource(SourceOptions{Path: filepath.Join(dir, "2")})
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestStandardInput(t *testing.T) {
	for _, c := range []Compression{CompressionNone, CompressionGzip, CompressionZstd} {
		ext := map[Compression]string{CompressionGzip: ".gz", CompressionZstd: ".zst"}[c]
		in := bytes.NewReader(pack(t, ext, []byte("a\nb\nc")))
		s := newSource(t, SourceOptions{Path: Stdin, In: in, Compression: c})
		require.NoError(t, s.Seek(t.Context(), stream.Positions{0: 100}))
		recs, err := drain(t, s)
		require.NoError(t, err)
		require.Equal(t, []string{"a", "b", "c"}, values(recs))
		require.Equal(t, int64(100), recs[0].Offset, "offsets go on")
		require.Equal(t, int64(105), recs[2].Next)
	}
}

func TestPipeIsReadAsItComes(t *testing.T) {
	r, w := io.Pipe()
	s := newSource(t, SourceOptions{Path: Stdin, In: r})
	ctx, cancel := context.WithCancel(t.Context())
	go w.Write([]byte("one\ntw"))
	recs, err := s.Read(ctx)
	require.NoError(t, err)
	require.Equal(t, []string{"one"}, values(recs))

	done := make(chan error, 1)
	go func() {
		_, err := s.Read(ctx)
		done <- err
	}()
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)

	go w.Write([]byte("o\nthree\nfo"))
	recs, err = s.Read(t.Context()) // and nothing was lost
	require.NoError(t, err)
	require.Equal(t, []string{"two", "three"}, values(recs))

	go func() {
		_, err := s.Read(t.Context())
		done <- err
	}()
	require.NoError(t, s.Close())
	require.ErrorIs(t, <-done, os.ErrClosed)
	w.Close()
}

func TestRedirectedFileIsSought(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in")
	write(t, path, []byte("a\nb\nc\n"))
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	s := newSource(t, SourceOptions{Path: Stdin, In: f})
	require.NoError(t, s.Seek(t.Context(), stream.Positions{0: 2}))
	recs, err := drain(t, s)
	require.NoError(t, err)
	require.Equal(t, []string{"b", "c"}, values(recs))
}

func TestProgress(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "1"), []byte("aa\n"))
	write(t, filepath.Join(dir, "2"), []byte("bb\ncc\n"))
	s := newSource(t, SourceOptions{Path: dir})
	require.NoError(t, s.Seek(t.Context(), stream.Positions{0: 3, 1: 3}))
	_, err := drain(t, s)
	require.NoError(t, err)
	done, total := s.Progress()
	require.Equal(t, int64(9), total)
	require.Equal(t, total, done)
}

func TestSourceOptions(t *testing.T) {
	for want, opt := range map[string]SourceOptions{
		"no path":          {},
		"framing":          {Path: "x", Framing: "blocks"},
		"separate":         {Path: "x", Comma: '"'},
		"compression":      {Path: "x", Compression: "rar"},
		"bytes of a":       {Path: "x", MaxRecordBytes: -1},
		"at least 1024":    {Path: "x", MaxWindow: 1},
		"limit on expansi": {Path: "x", MaxExpansion: -1},
		"on damage":        {Path: "x", OnDamage: "cry"},
	} {
		_, err := NewSource(opt)
		require.ErrorContains(t, err, want)
	}
}

// BenchmarkSource reads lines and quoted CSV, plain and compressed.
func BenchmarkSource(b *testing.B) {
	var data []byte
	for i := range 200_000 {
		data = fmt.Appendf(data, "\"account-%d\",account-%d,TRANSFER,%d\n", i*7919%50_000, i%50_000, i)
	}
	for _, ext := range []string{"", ".gz", ".zst"} {
		for _, framing := range []Framing{FramingLines, FramingCSV} {
			b.Run(string(framing)+ext, func(b *testing.B) {
				path := filepath.Join(b.TempDir(), "in"+ext)
				write(b, path, data)
				b.SetBytes(int64(len(data)))
				for b.Loop() {
					s := newSource(b, SourceOptions{Path: path, Framing: framing, NoHeader: true})
					n := 0
					for {
						recs, err := s.Read(b.Context())
						n += len(recs)
						if err != nil {
							require.ErrorIs(b, err, io.EOF)
							break
						}
					}
					require.Equal(b, 200_000, n)
					require.NoError(b, s.Close())
				}
			})
		}
	}
}

// TestFilesOfADirectoryAreKnownByTheirNames has a directory whose files come and go, grow at their end and are read
// in runs that stop anywhere. Every line is read once, those of a file in their order, unless the file that was being
// read is gone.
func TestFilesOfADirectoryAreKnownByTheirNames(t *testing.T) {
	lost := 0
	matchertest.ForSeedsUntil(t, 60, func() bool { return lost > 0 }, func(t *testing.T, rng *rand.Rand) {
		dir, at, known := t.TempDir(), stream.Positions{}, []string(nil)
		written, got := map[string][]string{}, map[string][]string{}
		last := "" // that was begun
		for range 8 {
			for range rng.IntN(4) {
				name := string(rune('a' + rng.IntN(20)))
				if written[name] != nil {
					continue
				}
				var text []byte
				for k := range rng.IntN(6) {
					line := fmt.Sprint(name, k)
					text = append(text, line+"\n"...)
					written[name] = append(written[name], line)
				}
				if written[name] == nil {
					written[name] = []string{}
				}
				write(t, filepath.Join(dir, name), text)
			}
			for name := range written { // what was read may go
				if name != last && len(got[name]) > 0 && len(got[name]) == len(written[name]) && rng.IntN(3) == 0 {
					require.NoError(t, os.RemoveAll(filepath.Join(dir, name)))
				}
			}
			if len(written) == 0 {
				continue
			}
			s := newSource(t, SourceOptions{Path: dir, Known: known, ReadRecords: 1})
			require.True(t, slices.Equal(known, s.Names()[:len(known)]))
			known = s.Names()
			require.NoError(t, s.Seek(t.Context(), at))
			for range rng.IntN(20) {
				recs, err := s.Read(t.Context())
				if errors.Is(err, io.EOF) {
					break
				}
				require.NoError(t, err)
				for _, r := range recs {
					last = known[r.Partition]
					got[last] = append(got[last], string(r.Value))
					at[r.Partition] = r.Next
				}
			}
			require.NoError(t, s.Close())
		}
		if last != "" && rng.IntN(2) == 0 {
			require.NoError(t, os.RemoveAll(filepath.Join(dir, last)))
			err := newSource(t, SourceOptions{Path: dir, Known: known}).Seek(t.Context(), at)
			require.ErrorIs(t, err, stream.ErrDataLoss)
			require.ErrorContains(t, err, filepath.Join(dir, last)+", which is gone")
			lost++
			return
		}
		if len(written) == 0 {
			return
		}
		s := newSource(t, SourceOptions{Path: dir, Known: known})
		require.NoError(t, s.Seek(t.Context(), at))
		recs, err := drain(t, s)
		require.NoError(t, err)
		for _, r := range recs {
			name := s.Names()[r.Partition]
			got[name] = append(got[name], string(r.Value))
		}
		for name, lines := range written {
			require.Equal(t, lines, append([]string{}, got[name]...), name)
		}
	})
}
