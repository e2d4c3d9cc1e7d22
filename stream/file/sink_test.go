package file

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/stream"
	"motifd/stream/streamtest"
)

// lines reads a file back; one that does not end in a line end fails the test.
func lines(t testing.TB, path string) (recs []stream.OutRecord) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	if len(data) == 0 {
		return nil
	}
	require.Equal(t, byte('\n'), data[len(data)-1], "torn line")
	for line := range bytes.SplitSeq(bytes.TrimSuffix(data, newline), newline) {
		recs = append(recs, stream.OutRecord{Value: line})
	}
	return recs
}

// upserts takes the lines of an upsert output apart.
func upserts(t testing.TB, recs []stream.OutRecord) []stream.OutRecord {
	t.Helper()
	for i, r := range recs {
		var line struct {
			Key   string
			Value json.RawMessage
		}
		require.NoError(t, json.Unmarshal(r.Value, &line))
		recs[i] = stream.OutRecord{Key: []byte(line.Key), Value: line.Value}
		if string(line.Value) == "null" {
			recs[i].Value = nil
		}
	}
	return recs
}

// crash leaves what reached the operating system, as a dying process does; with flushed, what was buffered too, which
// tears a line when the buffer is small.
func crash(t testing.TB, s *Sink, flushed bool) {
	t.Helper()
	for _, o := range s.outputs() {
		if flushed && o.w != nil {
			require.NoError(t, o.w.Flush())
		}
	}
	require.NoError(t, s.Close())
}

func TestSinkConformance(t *testing.T) {
	for name, c := range map[string]struct {
		upsert, flushed bool
		buffer          int
	}{
		"changelog":       {},
		"changelog, torn": {buffer: 7},
		"flushed":         {flushed: true},
		"upsert":          {upsert: true, buffer: 100},
	} {
		t.Run(name, func(t *testing.T) {
			streamtest.TestSink(t, func(t *testing.T) *streamtest.SinkHarness {
				dir := t.TempDir()
				opt := SinkOptions{
					Output: filepath.Join(dir, "out.jsonl"), DeadLetters: filepath.Join(dir, "dead.jsonl"),
					Control: filepath.Join(dir, "control.jsonl"), Upsert: c.upsert, BufferBytes: c.buffer, NoSync: true,
				}
				return &streamtest.SinkHarness{
					New: func(t testing.TB, allow bool) stream.Sink {
						opt := opt
						opt.AllowExisting = allow
						return newSink(t, opt)
					},
					Crash: func(t testing.TB, s stream.Sink) { crash(t, s.(*Sink), c.flushed) },
					Visible: func(t testing.TB) streamtest.Output {
						main := lines(t, opt.Output)
						if c.upsert {
							main = upserts(t, main)
						}
						return streamtest.Output{
							Main: main, DeadLetters: lines(t, opt.DeadLetters), Control: lines(t, opt.Control),
						}
					},
					ExactlyOnce: true, Ordered: true, Keys: c.upsert, Tombstones: c.upsert,
					Exclusive: stream.ErrLocked,
				}
			})
		})
	}
}

func newSink(t testing.TB, opt SinkOptions) *Sink {
	t.Helper()
	s, err := NewSink(opt)
	require.NoError(t, err)
	return s
}

func open(t testing.TB, s *Sink, batch uint64, m stream.Mark, fresh bool) stream.Progress {
	t.Helper()
	got, err := s.Open(t.Context(), "id", batch, m, fresh)
	require.NoError(t, err)
	return got
}

func publish(t testing.TB, s *Sink, values ...string) stream.Mark {
	t.Helper()
	require.NoError(t, s.Begin(t.Context(), 1))
	for _, v := range values {
		require.NoError(t, s.Write(t.Context(), []stream.OutRecord{{Value: []byte(v)}}))
	}
	m, err := s.End(t.Context(), stream.Tail{})
	require.NoError(t, err)
	return m
}

func TestSyncedOutput(t *testing.T) {
	opt := SinkOptions{Output: filepath.Join(t.TempDir(), "out")}
	s := newSink(t, opt)
	open(t, s, 0, nil, true)
	m := publish(t, s, `{"a":1}`)
	require.JSONEq(t, `{"output":8}`, string(m))
	require.NoError(t, s.Close())
	require.NoError(t, newSink(t, opt).Probe())
	require.Len(t, lines(t, opt.Output), 1, "as it was")
}

// TestAnOutputIsNotRotated: no batch goes to a file that is not under its name any more.
func TestAnOutputIsNotRotated(t *testing.T) {
	opt := SinkOptions{Output: filepath.Join(t.TempDir(), "out")}
	s := newSink(t, opt)
	open(t, s, 0, nil, true)
	m := publish(t, s, `{"a":1}`)
	require.NoError(t, os.Rename(opt.Output, opt.Output+".1"))
	require.ErrorIs(t, s.Begin(t.Context(), 2), stream.ErrOutputDamaged)
	require.NoError(t, os.WriteFile(opt.Output, nil, 0o644))
	require.ErrorIs(t, s.Begin(t.Context(), 2), stream.ErrOutputDamaged)
	require.NoError(t, s.Close())
	require.Len(t, lines(t, opt.Output+".1"), 1)

	require.NoError(t, os.Rename(opt.Output+".1", opt.Output))
	s = newSink(t, opt)
	open(t, s, 1, m, false)
	publish(t, s, `{"a":2}`)
	require.NoError(t, s.Close())
	require.Len(t, lines(t, opt.Output), 2)
}

func TestStdoutCannotGoBack(t *testing.T) {
	var out bytes.Buffer
	s := newSink(t, SinkOptions{Output: Stdout, Out: &out})
	require.False(t, open(t, s, 0, nil, true).Known)
	publish(t, s, `{"a":1}`, `{"a":2}`)
	require.Equal(t, "{\"a\":1}\n{\"a\":2}\n", out.String())
	require.NoError(t, s.Close())
}

func TestNoneDiscards(t *testing.T) {
	s := newSink(t, SinkOptions{Output: None})
	require.Equal(t, stream.Progress{Stream: "id", Batch: 8, Known: true}, open(t, s, 7, nil, false))
	require.JSONEq(t, `{}`, string(publish(t, s, "x")))
	require.NoError(t, s.Close())
}

func TestDeviceIsLikeStdout(t *testing.T) {
	s := newSink(t, SinkOptions{Output: os.DevNull})
	require.False(t, open(t, s, 0, nil, true).Known)
	require.JSONEq(t, `{}`, string(publish(t, s, "x")))
	require.NoError(t, s.Close())
}

func TestDamagedOutput(t *testing.T) {
	opt := SinkOptions{Output: filepath.Join(t.TempDir(), "out")}
	s := newSink(t, opt)
	open(t, s, 0, nil, true)
	m := publish(t, s, "1", "2")
	require.NoError(t, s.Close())
	require.NoError(t, os.Truncate(opt.Output, 2))
	s = newSink(t, opt)
	_, err := s.Open(t.Context(), "id", 1, m, false)
	require.ErrorIs(t, err, stream.ErrOutputDamaged)
	require.ErrorContains(t, err, "has 2 bytes, but 4")
	require.Len(t, lines(t, opt.Output), 1, "nothing was touched")
	_, err = s.Open(t.Context(), "id", 1, stream.Mark("x"), false)
	require.ErrorContains(t, err, "none of a file output")
}

func TestOutputNotEmptyNamesTheOption(t *testing.T) {
	opt := SinkOptions{Output: filepath.Join(t.TempDir(), "out")}
	require.NoError(t, os.WriteFile(opt.Output, []byte("mine"), 0o644))
	_, err := newSink(t, opt).Open(t.Context(), "id", 0, nil, true)
	require.ErrorIs(t, err, stream.ErrOutputNotEmpty)
	require.ErrorContains(t, err, "output.allow_existing")

	opt.AllowExisting = true
	s := newSink(t, opt)
	open(t, s, 0, nil, true)
	require.NoError(t, s.Begin(t.Context(), 1))
	require.NoError(t, s.Write(t.Context(), []stream.OutRecord{{Value: []byte("lost")}}))
	s.main.w.WriteString("to")
	crash(t, s, true)

	s = newSink(t, opt) // nothing was committed: what was there before is kept whatever happens
	require.False(t, open(t, s, 0, nil, false).Known)
	m := publish(t, s, "kept")
	require.NoError(t, s.Close())
	data, err := os.ReadFile(opt.Output)
	require.NoError(t, err)
	require.Equal(t, "mine\nlost\nkept\n", string(data))

	opt.AllowExisting = false // from the first commit on it is not needed
	s = newSink(t, opt)
	require.True(t, open(t, s, 1, m, false).Known)
	require.NoError(t, s.Close())
}

func TestOutputAddedLater(t *testing.T) {
	dir := t.TempDir()
	opt := SinkOptions{Output: filepath.Join(dir, "out")}
	s := newSink(t, opt)
	open(t, s, 0, nil, true)
	m := publish(t, s, "1")
	require.NoError(t, s.Close())
	opt.Control = filepath.Join(dir, "control")
	require.NoError(t, os.WriteFile(opt.Control, []byte("old\nto"), 0o644))
	s = newSink(t, opt)
	require.True(t, open(t, s, 1, m, false).Known)
	_, err := s.End(t.Context(), stream.Tail{BatchRecord: &stream.OutRecord{Value: []byte("new")}})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.Len(t, lines(t, opt.Control), 2)
}

// failing is standard output on a full disk.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestWriteErrorsAreReported(t *testing.T) {
	s := newSink(t, SinkOptions{Output: Stdout, Out: failing{}, BufferBytes: 16})
	open(t, s, 0, nil, true)
	err := s.Write(t.Context(), []stream.OutRecord{{Value: make([]byte, 100)}})
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.ErrorContains(t, err, "output -")
	require.NoError(t, s.Close())

	s = newSink(t, SinkOptions{Output: Stdout, Out: failing{}})
	open(t, s, 0, nil, true)
	require.NoError(t, s.Write(t.Context(), []stream.OutRecord{{Value: make([]byte, 100)}}))
	_, err = s.End(t.Context(), stream.Tail{})
	require.ErrorIs(t, err, syscall.ENOSPC)
	_, err = s.End(t.Context(), stream.Tail{})
	require.ErrorIs(t, err, syscall.ENOSPC, "and again")
	require.NoError(t, s.Close())

	s = newSink(t, SinkOptions{Output: filepath.Join(t.TempDir(), "no", "such")})
	require.ErrorIs(t, s.Probe(), os.ErrNotExist)
	_, err = s.Open(t.Context(), "id", 0, nil, true)
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestTombstoneInChangelog(t *testing.T) {
	s := newSink(t, SinkOptions{Output: None})
	open(t, s, 0, nil, true)
	require.ErrorContains(t, s.Write(t.Context(), []stream.OutRecord{{Key: []byte("k")}}), "tombstone")
}

func TestSinkOptions(t *testing.T) {
	for want, opt := range map[string]SinkOptions{
		"no path":       {},
		"both":          {Output: "x", DeadLetters: "./x"},
		"its own":       {Output: Stdout, Control: Stdout},
		"at least 1":    {Output: "x", BufferBytes: -1},
		"control outpu": {Output: "a", DeadLetters: "b", Control: "b"},
	} {
		_, err := NewSink(opt)
		require.ErrorContains(t, err, want)
	}
	s := newSink(t, SinkOptions{Output: None})
	require.Error(t, s.Begin(t.Context(), 1), "not open")
	require.True(t, errors.Is(s.Write(t.Context(), nil), errNotOpen))
}
