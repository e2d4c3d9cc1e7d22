package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/cmd/motifd/internal/admin"
)

// process is a `motifd run` under test.
type process struct {
	t      testing.TB
	cmd    *exec.Cmd
	url    string
	stderr lockedBuffer
	done   chan struct{} // closed when it has ended
}

// lockedBuffer is a bytes.Buffer for two goroutines.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// start starts motifd run on motifd.yaml in a directory.
func start(t testing.TB, dir string, args ...string) *process {
	t.Helper()
	return launch(t, dir, nil, nil, nil, args...)
}

// startOn starts it with standard input and output; nil is none.
func startOn(t testing.TB, dir string, in, out *os.File, args ...string) *process {
	t.Helper()
	return launch(t, dir, nil, in, out, args...)
}

// startWith starts it with a command line in front, that ends in executing its arguments.
func startWith(t testing.TB, dir string, front []string, args ...string) *process {
	t.Helper()
	return launch(t, dir, front, nil, nil, args...)
}

func launch(t testing.TB, dir string, front []string, in, out *os.File, args ...string) *process {
	t.Helper()
	port := freePort(t)
	p := &process{t: t, url: fmt.Sprintf("http://127.0.0.1:%d", port), done: make(chan struct{})}
	line := slices.Concat(front, []string{binary, "run", "-c", "motifd.yaml", "--listen",
		fmt.Sprintf("127.0.0.1:%d", port)}, args)
	p.cmd = exec.Command(line[0], line[1:]...)
	p.cmd.Dir, p.cmd.Stderr = dir, &p.stderr
	if in != nil {
		p.cmd.Stdin = in
	}
	if out != nil {
		p.cmd.Stdout = out
	}
	require.NoError(t, p.cmd.Start())
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait() // the state tells
	}()
	t.Cleanup(func() { p.kill() })
	return p
}

// kill ends the process at once.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.done
}

// stop ends the process gracefully.
func (p *process) stop() {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Signal(syscall.SIGTERM))
	<-p.done
	require.Zero(p.t, p.cmd.ProcessState.ExitCode(), p.stderr.String())
}

// until polls a condition; the process's end is a failure.
func (p *process) until(what string, ok func() bool) {
	p.t.Helper()
	for !ok() {
		select {
		case <-p.done:
			p.t.Fatalf("motifd ended before %s:\n%s", what, p.stderr.String())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// ready waits until the daemon is.
func (p *process) ready() {
	p.t.Helper()
	p.until("it was ready", func() bool {
		resp, err := http.Get(p.url + "/readyz")
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// answer is an answer of the admin interface.
type answer struct {
	code int
	body string
}

// ask sends a request; a body makes it JSON.
func (p *process) ask(method, path, body string) answer {
	p.t.Helper()
	req, err := http.NewRequest(method, p.url+path, strings.NewReader(body))
	require.NoError(p.t, err)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(p.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(p.t, err)
	return answer{resp.StatusCode, strings.TrimSpace(string(text))}
}

// testStatus is a part of /api/v1/status.
type testStatus struct {
	Ready     bool
	Reason    string
	State     string
	Batch     uint64
	Positions map[string]int64
	Edges     int
}

// status returns the daemon's, or the zero one while it does not answer.
func (p *process) status() (s testStatus) {
	resp, err := http.Get(p.url + "/api/v1/status")
	if err != nil {
		return s
	}
	defer resp.Body.Close()
	_ = json.NewDecoder(resp.Body).Decode(&s) // cut off by a kill: as if it had not answered
	return s
}

// fullStatus returns all of it, or the zero one while the daemon does not answer.
func (p *process) fullStatus() (s admin.Status) {
	resp, err := http.Get(p.url + "/api/v1/status")
	if err != nil {
		return s
	}
	defer resp.Body.Close()
	_ = json.NewDecoder(resp.Body).Decode(&s) // cut off by a kill: as if it had not answered
	return s
}
