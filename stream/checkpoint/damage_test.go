package checkpoint

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"motifd/matcher/matchertest"
)

// damagedOnce opens a checkpoint and returns what it recovers, or the error.
func damagedOnce(t *testing.T, opt Options) (string, error) {
	t.Helper()
	s, err := Open(testDir, opt)
	if err != nil {
		return "", err
	}
	st, err := s.Recover(context.Background())
	if cerr := s.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return "", err
	}
	return dumpState(st), nil
}

func contentOf(t *testing.T, fs vfs.FS, path string) []byte {
	t.Helper()
	f, err := fs.Open(path)
	require.NoError(t, err)
	text, err := io.ReadAll(f)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return text
}

func replace(t *testing.T, fs vfs.FS, path string, text []byte) {
	t.Helper()
	f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	require.NoError(t, err)
	_, err = f.Write(text)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// TestDamagedFiles flips bytes of each file in turn, cuts it, and removes it. The checkpoint is then refused as
// damaged, or recovers to a state that it had once: damage to the end of the write-ahead log looks as if the log had
// been cut by a crash, and what the output has tells that it was not. It never recovers to anything else, and a
// refusal leaves the tables alone.
func TestDamagedFiles(t *testing.T) {
	matchertest.NotUnderRace(t, "it takes 8 seconds of processors")
	h := newHistory(newRand(21), 6, true)
	sound := vfs.NewMem()
	for i, st := range h.steps {
		if i == 0 || i == len(h.steps)/2 { // a start moves what is in the log into a table
			_, err := damagedOnce(t, testOptions(h, sound))
			require.NoError(t, err)
		}
		s, err := Open(testDir, testOptions(h, sound))
		require.NoError(t, err)
		require.NoError(t, st.do(s), st.name)
		if i >= len(h.steps)/2 {
			for _, st := range h.steps[i+1:] {
				require.NoError(t, st.do(s), st.name)
			}
			require.NoError(t, s.Close())
			break
		}
		require.NoError(t, s.Close())
	}
	states := []string{h.start}
	for _, st := range h.steps {
		states = append(states, st.after)
	}
	last := states[len(states)-1]
	names, err := sound.List(testDir)
	require.NoError(t, err)
	refused, older, unharmed := map[string]int{}, map[string]int{}, map[string]int{}
	for _, name := range names {
		path := sound.PathJoin(testDir, name)
		text := contentOf(t, sound, path)
		// 000014.sst, MANIFEST-000011, marker.manifest.000003.MANIFEST-000011
		kind := strings.Trim(name, "-.0123456789")
		try := func(what string, change func(fs *vfs.MemFS)) {
			fs := vfs.NewMem()
			ok, err := vfs.Clone(sound, fs, testDir, testDir)
			require.NoError(t, err)
			require.True(t, ok)
			change(fs)
			tables := tablesOf(t, fs)
			got, err := damagedOnce(t, testOptions(h, fs))
			switch {
			case err != nil:
				require.ErrorIs(t, err, ErrDamaged, "%s %s", name, what)
				require.NotContains(t, err.Error(), "\n", "%s %s", name, what)
				require.Subset(t, tablesOf(t, fs), tables, "%s %s", name, what)
				refused[kind]++
			case got == last:
				unharmed[kind]++
			default:
				require.Equal(t, "log", kind, "%s %s: the state is another one", name, what)
				require.Contains(t, states, got, "%s %s", name, what)
				older[kind]++
			}
		}
		try("removed", func(fs *vfs.MemFS) { require.NoError(t, fs.Remove(path)) })
		for to := len(text) / 2; to < len(text); to += max(len(text)/80, 1) {
			try(fmt.Sprintf("cut to %d of %d", to, len(text)), func(fs *vfs.MemFS) { replace(t, fs, path, text[:to]) })
		}
		for at := 0; at < len(text); at += max(len(text)/40, 1) {
			try("flipped", func(fs *vfs.MemFS) {
				c := slices.Clone(text)
				c[at] ^= 0x55
				replace(t, fs, path, c)
			})
		}
	}
	t.Logf("refused %v, older %v, unharmed %v", refused, older, unharmed)
	require.Positive(t, refused["sst"])
	require.Positive(t, refused["MANIFEST"])
	for kind := range unharmed { // the marker is empty: it can only be lost
		if strings.HasPrefix(kind, "marker.manifest") {
			require.Positive(t, refused[kind])
		}
	}
}

func tablesOf(t *testing.T, fs vfs.FS) (out []string) {
	t.Helper()
	names, err := fs.List(testDir)
	require.NoError(t, err)
	for _, n := range names {
		if strings.HasSuffix(n, ".sst") {
			out = append(out, n)
		}
	}
	return out
}

// TestCutManifest cuts the manifest that has the only table. To Pebble that looks as if a crash had kept it from being
// written; it would begin with an empty database and remove the table.
func TestCutManifest(t *testing.T) {
	h := newHistory(newRand(22), 1, true)
	id := func(fs vfs.FS, readOnly bool) (string, error) {
		opt := testOptions(h, fs)
		opt.ReadOnly = readOnly
		s, err := Open(testDir, opt)
		if err != nil {
			return "", err
		}
		id := s.streamID
		return id, s.Close()
	}
	sound := vfs.NewMem()
	_, err := id(sound, false)
	require.NoError(t, err)
	want, err := id(sound, false) // moves what is in the log into a table
	require.NoError(t, err)
	tables, refused := tablesOf(t, sound), 0
	require.Len(t, tables, 1)
	names, err := sound.List(testDir)
	require.NoError(t, err)
	for _, name := range names {
		path := sound.PathJoin(testDir, name)
		text := contentOf(t, sound, path)
		for to := range text {
			if !strings.HasPrefix(name, "MANIFEST-") {
				break
			}
			fs := vfs.NewMem()
			ok, err := vfs.Clone(sound, fs, testDir, testDir)
			require.NoError(t, err)
			require.True(t, ok)
			replace(t, fs, path, text[:to])
			for _, readOnly := range []bool{true, false, false} {
				got, err := id(fs, readOnly)
				if err == nil {
					require.Equal(t, want, got, "%s cut to %d bytes", name, to)
					continue
				}
				require.ErrorIs(t, err, ErrDamaged, "%s cut to %d bytes", name, to)
				require.Equal(t, tables, tablesOf(t, fs))
				refused++
			}
		}
	}
	require.Positive(t, refused)
}
