package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"motifd/matcher/matchertest"
)

var (
	rewrite = flag.Bool("rewrite", false, "write the golden files anew")
	binary  string // motifd, as `make build` builds it
)

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := withBinary(m.Run)
	if err == nil && code == 0 {
		http.DefaultClient.CloseIdleConnections()
		for range 100 { // it waits for half a second, which is little on a busy machine
			if err = goleak.Find(); err == nil {
				break
			}
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// withBinary builds motifd, runs the tests and removes it again.
func withBinary(run func() int) (code int, err error) {
	if err := matchertest.HideVariables(); err != nil {
		return 1, err
	}
	dir, err := os.MkdirTemp("", "motifd-test-")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	binary = filepath.Join(dir, "motifd")
	args, cgo := []string{"build", "-o", binary, "."}, "CGO_ENABLED=0"
	if matchertest.UnderRace { // what the tests run is under the race detector too; it exits with status 66 on a race
		args, cgo = []string{"build", "-race", "-o", binary, "."}, "CGO_ENABLED=1"
	}
	build := exec.Command("go", args...)
	build.Env = append(os.Environ(), cgo)
	if out, err := build.CombinedOutput(); err != nil {
		return 1, fmt.Errorf("building motifd: %w\n%s", err, out)
	}
	// A daemon collects garbage as it does for its users, whatever the tests do.
	if err := os.Unsetenv("GOGC"); err != nil {
		return 1, err
	}
	return run(), nil
}

// result is the outcome of a run of motifd.
type result struct {
	code           int
	stdout, stderr string
}

// motifd runs the binary in a directory.
func motifd(t testing.TB, dir string, args ...string) result {
	t.Helper()
	return runProgram(t, binary, dir, args...)
}

// runProgram runs a program in a directory.
func runProgram(t testing.TB, program, dir string, args ...string) result {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// succeed runs motifd and requires status 0.
func succeed(t testing.TB, dir string, args ...string) result {
	t.Helper()
	r := motifd(t, dir, args...)
	require.Zero(t, r.code, "motifd %s\n%s", strings.Join(args, " "), r.stderr)
	return r
}

// write writes files into a new directory.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return dir
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(readFile(t, path)))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(v))
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *rewrite {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
		return
	}
	require.Equal(t, readFile(t, file), got)
}

// freePort returns a TCP port for a process of the test. It is below those that systems give to connections, and the
// test's until its end: the UDP port of that number is held, which tells other tests, of other processes too.
func freePort(t testing.TB) int {
	t.Helper()
	const first, many = 10_000, 6_000
	var err error
	for range many {
		port := first + rand.IntN(many)
		addr := fmt.Sprintf("127.0.0.1:%d", port)
		var held net.PacketConn
		if held, err = net.ListenPacket("udp", addr); err != nil {
			continue
		}
		var l net.Listener
		if l, err = net.Listen("tcp", addr); err != nil {
			_ = held.Close()
			continue
		}
		require.NoError(t, l.Close())
		t.Cleanup(func() { require.NoError(t, held.Close()) })
		return port
	}
	t.Fatal(err)
	return 0
}
