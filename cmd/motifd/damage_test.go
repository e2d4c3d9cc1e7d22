package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/cmd/motifd/internal/copies"
	"motifd/matcher/matchertest"
)

// checkpointDamaged damages the files of a checkpoint one at a time. The daemon refuses to start, says what to do, and
// changes nothing: with the sound files back it goes on as if nothing had been.
func checkpointDamaged(t *testing.T, addr string) {
	d := newOnDisk(t, addr, "damaged")
	state := filepath.Join(d.dir, "state")
	for range 3 { // a start moves what is in the log into a table
		p := start(t, d.dir)
		p.ready()
		d.pathsThrough(20)
		d.taken(p)
		p.kill()
	}
	sound := filepath.Join(d.dir, "sound")
	require.NoError(t, os.Remove(filepath.Join(state, copies.Socket))) // of the killed daemon
	require.NoError(t, os.CopyFS(sound, os.DirFS(state)))
	marker := d.find("marker.manifest.", "")
	_, manifest, _ := strings.Cut(marker, "MANIFEST")
	flip := func(part int) func(text []byte) []byte { // at a part in ten of the file
		return func(text []byte) []byte {
			text[len(text)*part/10] ^= 0x55
			return text
		}
	}
	for _, c := range []struct {
		file, why string
		change    func(text []byte) []byte // nil removes the file
	}{
		{d.find("", ".sst"), "checkpoint is damaged: state: ", flip(2)},
		{d.find("", ".sst"), "checkpoint is damaged: state: ", nil},
		{"MANIFEST" + manifest, "checkpoint is damaged: state: ", flip(0)},
		{"MANIFEST" + manifest, "checkpoint is damaged: state: ", nil},
		{marker, "none whose name begins with marker.manifest", nil},
		// A log whose end is damaged looks like one that a crash has cut. The output tells that there was more.
		{d.find("", ".log"), "is the end of its write-ahead log damaged?", flip(1)},
		{d.find("", ".log"), "is the end of its write-ahead log damaged?", nil},
	} {
		path := filepath.Join(state, c.file)
		if c.change == nil {
			require.NoError(t, os.Remove(path))
		} else {
			require.NoError(t, os.WriteFile(path, c.change([]byte(readFile(t, path))), 0o644))
		}
		r := motifd(t, d.dir, "run", "-c", "motifd.yaml", "--set", "admin.listen=")
		require.Equal(t, exitFailed, r.code, c.file)
		require.Contains(t, r.stderr, c.why, c.file)
		require.Contains(t, r.stderr, "what to do: ", c.file)
		if strings.Contains(c.why, "damaged:") {
			v := motifd(t, d.dir, "checkpoint", "verify", "state")
			require.Equal(t, exitFailed, v.code, c.file)
			require.Contains(t, v.stdout, "checkpoint is damaged", c.file)
		}
		require.NoError(t, os.RemoveAll(state))
		require.NoError(t, os.CopyFS(state, os.DirFS(sound)))
	}
	d.goesOn()
}

// find returns the file of the checkpoint whose name begins and ends so; the last one, if there are several.
func (d *onDisk) find(prefix, suffix string) (found string) {
	d.t.Helper()
	entries, err := os.ReadDir(filepath.Join(d.dir, "state"))
	require.NoError(d.t, err)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) && strings.HasSuffix(e.Name(), suffix) {
			found = e.Name()
		}
	}
	require.NotEmpty(d.t, found, "%s*%s", prefix, suffix)
	return found
}

// TestP3CheckpointDamaged: a damaged checkpoint is refused, never begun anew.
func TestP3CheckpointDamaged(t *testing.T) {
	matchertest.NotUnderRace(t, "TestP3KillAndRestart has the goroutines of the daemon")
	t.Parallel()
	checkpointDamaged(t, testLog(t))
}
