//go:build emu && !cuda

package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGPUNumber holds that every way to name a GPU's number opens the GPU of that number: the emulator is number 0,
// and no other.
func TestGPUNumber(t *testing.T) {
	dir := write(t, map[string]string{
		"u.txt": "v 0 0\nv 1 1\ne 0 1\n", "q.txt": "v 0 0\nv 1 1\ne 0 1\n", "g.txt": "v 0 0\nv 1 1\ne 0 1\n",
		"c.yaml": `
input: {file: {path: u.txt}}
output: {file: {path: out.jsonl}}
checkpoint: {dir: state}
admin: {listen: ""}
queries: [{file: q.txt}]
engine: {backend: cuda, device: 3}
`,
	})
	program := filepath.Join(dir, "motifd")
	out, err := exec.Command("go", "build", "-tags", "emu", "-o", program, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	t.Setenv(emulatorProgram, filepath.Join(dir, "nosuch")) // which number 0 would start
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"replay", "--updates=u.txt", "--query=q.txt", "--backend=cuda"}, exitRefused,
			"starting the emulator: "},
		{[]string{"replay", "--updates=u.txt", "--query=q.txt", "--backend=cuda", "--device=1"}, exitRefused,
			"--backend: opening GPU 1: there is no NVIDIA GPU"},
		{[]string{"match", "--graph=g.txt", "--query=q.txt", "--backend=cuda", "--device=1"}, exitRefused,
			"--backend: opening GPU 1: there is no NVIDIA GPU"},
		{[]string{"run", "-c", "c.yaml"}, exitFailed, "engine.backend: opening GPU 3: there is no NVIDIA GPU"},
		{[]string{"run", "-c", "c.yaml", "--device=2"}, exitFailed,
			"engine.backend: opening GPU 2: there is no NVIDIA GPU"},
		{[]string{"run", "-c", "c.yaml", "--device=0"}, exitFailed, "starting the emulator: "},
	} {
		r := runProgram(t, program, dir, c.args...)
		require.Equal(t, c.code, r.code, "%s\n%s", c.args, r.stderr)
		require.Contains(t, r.stderr, c.want, c.args)
		require.Empty(t, r.stdout)
	}
}
