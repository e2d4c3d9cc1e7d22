//go:build emu && !cuda

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"motifd/cmd/motifd/internal/timeline"
	"motifd/matcher/cpu"
	"motifd/matcher/cuda/device"
	"motifd/matcher/matchertest"
)

// TestTopicsTakeTheGPU holds that motifd topics takes a configuration for the GPU where motifd run does.
func TestTopicsTakeTheGPU(t *testing.T) {
	dir := write(t, map[string]string{"motifd.yaml": fileConfig, "in.jsonl": ""})
	t.Chdir(dir)
	set := []string{"engine.backend=cuda"}
	_, err := (&runCmd{Config: "motifd.yaml", Set: set}).load(&app{})
	require.NoError(t, err)
	_, _, _, _, err = (&topicsFlags{Config: "motifd.yaml", Set: set}).open(&app{})
	require.ErrorContains(t, err, "there are no topics")
}

// emulated is a build of motifd with the GPU backend on the emulator.
type emulated struct {
	binary, emulator, dir string
	args                  []string // of a replay
}

// newEmulated builds motifd and the emulator, unless emulatorProgram names one, and writes a stream with two queries.
func newEmulated(t *testing.T) *emulated {
	t.Helper()
	e := &emulated{dir: t.TempDir(), emulator: os.Getenv(emulatorProgram)}
	e.binary = filepath.Join(e.dir, "motifd")
	builds := []*exec.Cmd{exec.Command("go", "build", "-tags", "emu", "-o", e.binary, ".")}
	if e.emulator == "" {
		e.emulator = filepath.Join(e.dir, "emulator")
		builds = append(builds, exec.Command("../../kernels/emu/build.sh", e.emulator))
	}
	for _, build := range builds {
		out, err := build.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	rng := rand.New(rand.NewPCG(3, 4))
	var updates strings.Builder
	for v := range 12 {
		fmt.Fprintf(&updates, "v %d %d\n", v, v%2)
	}
	for range 240 {
		op := "e"
		if rng.IntN(3) == 0 {
			op = "-e"
		}
		if a, b := rng.IntN(12), rng.IntN(12); a != b {
			fmt.Fprintf(&updates, "%s %d %d 7\n", op, a, b)
		}
	}
	var graph strings.Builder
	for v := range 12 {
		fmt.Fprintf(&graph, "v %d %d\n", v, v%2)
	}
	for v := range 40 {
		fmt.Fprintf(&graph, "e %d %d 7\n", v%12, (v+1+v/12)%12)
	}
	for name, text := range map[string]string{"updates.txt": updates.String(), "graph.txt": graph.String(),
		"path.txt": "v 0 0\nv 1 1\nv 2 0\ne 0 1 7\ne 1 2 7\n",
		"ring.txt": "v 0 0\nv 1 1\nv 2 1\ne 0 1 7\ne 1 2 7\ne 2 0 7\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(e.dir, name), []byte(text), 0o600))
	}
	e.args = []string{"replay", "--updates", "updates.txt", "--query", "path.txt", "--query", "ring.txt",
		"--undirected", "--batch", "40"}
	return e
}

// replay replays with more arguments and an emulator.
func (e *emulated) replay(t *testing.T, emulator string, more ...string) result {
	t.Helper()
	return e.motifd(t, emulator, append(slices.Clone(e.args), more...)...)
}

// motifd runs the program with an emulator.
func (e *emulated) motifd(t *testing.T, emulator string, args ...string) result {
	t.Helper()
	cmd := exec.Command(e.binary, args...)
	cmd.Dir = e.dir
	cmd.Env = append(os.Environ(), emulatorProgram+"="+emulator)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // the code tells
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// dying is an emulator that stops answering after so many bytes; stdbuf has each handed on when it comes.
func (e *emulated) dying(t *testing.T, after int) string {
	t.Helper()
	path := filepath.Join(e.dir, fmt.Sprint("dying", after))
	script := fmt.Sprintf("#!/bin/sh\nstdbuf -o0 head -c %d | '%s'\n", after, e.emulator)
	require.NoError(t, os.WriteFile(path, []byte(script), 0o700))
	return path
}

// TestP2GPU builds once for all tests of the GPU backend in the program.
func TestP2GPU(t *testing.T) {
	e := newEmulated(t)
	t.Run("replay", func(t *testing.T) { gpuReplay(t, e) })
	t.Run("rehearsal", func(t *testing.T) { gpuRehearsal(t, e) })
	t.Run("missing", func(t *testing.T) { gpuMissing(t, e) })
	t.Run("lost", func(t *testing.T) { gpuLost(t, e) })
	t.Run("timeline", func(t *testing.T) { gpuTimeline(t, e) })
	t.Run("match", func(t *testing.T) { gpuMatch(t, e) })
	t.Run("backfill", func(t *testing.T) { gpuBackfill(t, e) })
	t.Run("restart", func(t *testing.T) { gpuRestart(t, e) })
	t.Run("hub", func(t *testing.T) { gpuHub(t, e) })
	t.Run("several", func(t *testing.T) { gpuSeveral(t, e) })
}

// gpuSeveral replays and matches with several GPUs: the same bytes as from the CPU, also when some cannot be opened, or
// fail on the way.
func gpuSeveral(t *testing.T, e *emulated) {
	list := func(programs ...string) string { return strings.Join(programs, string(filepath.ListSeparator)) }
	const searching, goesOn, unused = "searching on a GPU", "the others go on where it stopped", "a GPU is not used"
	dying := e.dying(t, 20_000)
	for _, emit := range []string{"deltas", "counts"} {
		want := e.replay(t, "", "--emit", emit, "--backend", "cpu")
		require.Equal(t, 0, want.code, want.stderr)
		require.NotEmpty(t, want.stdout)
		for _, c := range []struct {
			emulators, backend, devices string
			used, lost, missing         int
		}{
			{list(e.emulator, e.emulator, e.emulator), "cuda", "all", 3, 0, 0},
			{list(e.emulator, e.emulator, e.emulator), "auto", "2,0", 2, 0, 0},
			{list(e.emulator, dying), "cuda", "0,1", 2, 1, 0},
			{list(dying, e.emulator), "cuda", "all", 2, 1, 0},
			{e.emulator, "auto", "0,1", 1, 0, 1},
		} {
			got := e.replay(t, c.emulators, "--emit", emit, "--backend", c.backend, "--device", c.devices)
			require.Equal(t, 0, got.code, got.stderr)
			require.Equal(t, want.stdout, got.stdout)
			require.Equal(t, c.used, strings.Count(got.stderr, searching), got.stderr)
			require.Equal(t, c.lost, strings.Count(got.stderr, goesOn), got.stderr)
			require.Equal(t, c.missing, strings.Count(got.stderr, unused), got.stderr)
		}
	}
	got := e.replay(t, e.emulator, "--backend", "cuda", "--device", "0,1")
	require.Equal(t, exitRefused, got.code, got.stderr)
	require.Contains(t, got.stderr, "--backend: opening GPU 1: there is no NVIDIA GPU")
	match := func(emulators, backend string) string {
		r := e.motifd(t, emulators, "match", "--graph", "graph.txt", "--query", "path.txt", "--undirected", "--out",
			"-", "--backend", backend, "--device", "all")
		require.Equal(t, exitOK, r.code, r.stderr)
		return r.stdout
	}
	require.Equal(t, match("", "cpu"), match(list(e.emulator, e.emulator), "cuda"))
	want, _ := e.daemon(t, "several-cpu", "", "engine.backend=cpu")
	records, got := e.daemon(t, "several", list(e.emulator, dying), "engine.backend=auto", "engine.device=all",
		"engine.placement.fill=1")
	require.Equal(t, exitOK, got.code, got.stderr)
	require.Equal(t, want, records)
}

// gpuHub has one account that sixty others pay, against a pattern of ten senders: 7.5e10 matches. The search on the GPU
// ends at the limit, the output says so, and other payments are there. Groups and notices of a limit on matches are the
// same bytes where the hub is small, and so are a cap, counts and exists.
func gpuHub(t *testing.T, e *emulated) {
	var small strings.Builder
	for i := range 14 {
		fmt.Fprintf(&small, `{"op":"+","from":"s%d","to":"payroll","label":"TRANSFER"}`+"\n", i)
	}
	for name, text := range map[string]string{"hub.jsonl": hubMessage() + payment, "small.jsonl": small.String(),
		"fan10.cypher": hubPattern(), "pay.cypher": "MATCH (a)-[:PAY]->(b)",
		"fan4.cypher": "MATCH (a)-[:TRANSFER]->(m), (b)-[:TRANSFER]->(m), (c)-[:TRANSFER]->(m), (d)-[:TRANSFER]->(m)"} {
		require.NoError(t, os.WriteFile(filepath.Join(e.dir, name), []byte(text), 0o600))
	}
	replay := func(updates, query, backend string, more ...string) string {
		emulator := ""
		if backend == "cuda" {
			emulator = e.emulator
		}
		r := e.motifd(t, emulator, append([]string{"replay", "--updates", updates, "--query", query, "--query",
			"pay.cypher", "--unit", "subgraphs", "--backend", backend}, more...)...)
		require.Equal(t, exitOK, r.code, r.stderr)
		require.Equal(t, backend == "cuda", strings.Contains(r.stderr, "searching on a GPU"), r.stderr)
		require.NotEmpty(t, r.stdout)
		return r.stdout
	}
	out := replay("hub.jsonl", "fan10.cypher", "cuda", "--query-time", "50ms")
	require.Contains(t, out, `"query":"fan10","version":1,"op":"!","reason":"skipped"`)
	require.Equal(t, 1, strings.Count(out, `"query":"pay","version":1,"op":"+"`))
	for _, flags := range [][]string{{"--max-matches-per-batch", "10"}, {"--emit", "counts"}, {"--emit", "exists"}} {
		require.Equal(t, replay("small.jsonl", "fan4.cypher", "cpu", flags...),
			replay("small.jsonl", "fan4.cypher", "cuda", append(flags, "--query-time", "1h")...), flags)
	}
	limit := []string{"--group-matches", "100", "--query-time", "1h", "--batch-time", "1h"}
	want := replay("small.jsonl", "fan4.cypher", "cpu", limit...)
	require.Contains(t, want, `"limit":"group_matches"`)
	require.Equal(t, want, replay("small.jsonl", "fan4.cypher", "cuda", limit...))
}

// gpuRehearsal replays a stream that begins with a graph, on which auto compares CPU and GPU before: the same bytes as
// from the CPU.
func gpuRehearsal(t *testing.T, e *emulated) {
	for _, emit := range []string{"deltas", "counts", "exists"} {
		want := e.replay(t, "", "--graph", "graph.txt", "--emit", emit, "--backend", "cpu")
		require.Equal(t, 0, want.code, want.stderr)
		require.Equal(t, emit != "exists", want.stdout != "", "there are matches before the stream, and after it")
		got := e.replay(t, e.emulator, "--graph", "graph.txt", "--emit", emit, "--backend", "cuda")
		require.Equal(t, 0, got.code, got.stderr)
		require.Equal(t, want.stdout, got.stdout)
		require.NotContains(t, got.stderr, "warm-up benchmark", "there is nothing to choose")
		got = e.replay(t, e.emulator, "--graph", "graph.txt", "--emit", emit, "--backend", "auto")
		require.Equal(t, 0, got.code, got.stderr)
		require.Equal(t, want.stdout, got.stdout)
		require.Equal(t, emit != "exists", strings.Contains(got.stderr, "warm-up benchmark of CPU and GPU is done"),
			got.stderr)
	}
}

// gpuReplay replays a stream on the GPU backend, and with one that fails on the way: the same bytes as from the CPU, or
// a clear error where the GPU was asked for by name.
func gpuReplay(t *testing.T, e *emulated) {
	for _, emit := range []string{"deltas", "counts", "exists"} {
		want := e.replay(t, "", "--emit", emit, "--backend", "cpu")
		require.Equal(t, 0, want.code, want.stderr)
		require.NotEmpty(t, want.stdout)
		for _, backend := range []string{"cuda", "auto"} {
			got := e.replay(t, e.emulator, "--emit", emit, "--backend", backend)
			require.Equal(t, 0, got.code, got.stderr)
			require.Equal(t, want.stdout, got.stdout)
			require.Contains(t, got.stderr, "searching on a GPU")
			require.Contains(t, got.stderr, "; cuda, ")
		}
		got := e.replay(t, e.dying(t, 40_000), "--emit", emit, "--backend", "cuda")
		require.Equal(t, exitFailed, got.code, got.stderr)
		require.Contains(t, got.stderr, "the GPU failed in ")
		require.True(t, strings.HasPrefix(want.stdout, got.stdout), "whole batches, and then the error")
	}
}

// daemonConfig has placement prefer the GPU from the first search on.
const daemonConfig = `
graph: {directed: false, bootstrap: BOOT}
input: {file: {path: updates.txt}}
output: {file: {path: OUT}}
checkpoint: {dir: OUT.state}
batch: {max_updates: 40}
engine: {placement: {fill: 1, explore_percent: 100}}
queries:
  - {file: path.txt}
  - {file: ring.txt, emit: counts}
`

// withoutStream drops the id that each daemon gives its output.
func withoutStream(records string) string {
	return regexp.MustCompile(`"stream":"[^"]*"`).ReplaceAllString(records, "")
}

// gpuLost runs the daemon with auto on a GPU that fails on the way: it writes the same as on the CPU, and the loss is
// logged once.
func gpuLost(t *testing.T, e *emulated) {
	run := func(out, emulator, backend, graph string) (records string, r result) {
		config := filepath.Join(e.dir, out+".yaml")
		require.NoError(t, os.WriteFile(config,
			[]byte(strings.NewReplacer("OUT", out, "BOOT", graph).Replace(daemonConfig)), 0o600))
		r = e.motifd(t, emulator, "run", "-c", config, "--set", "admin.listen=", "--backend", backend)
		text, err := os.ReadFile(filepath.Join(e.dir, out))
		require.NoError(t, err, r.stderr)
		return withoutStream(string(text)), r
	}
	lost := 0
	const measuring = 3 * 256 << 10                     // what it is sent before it searches
	for _, graph := range []string{`""`, "graph.txt"} { // which CPU and GPU are compared on
		want, r := run("cpu"+fmt.Sprint(len(graph))+".jsonl", "", "cpu", graph)
		require.Equal(t, 0, r.code, r.stderr)
		require.NotEmpty(t, want)
		for i, after := range []int{20_000, 5_000 + measuring, 20_000 + measuring, 60_000 + measuring} {
			got, r := run(fmt.Sprintf("auto%s%d.jsonl", fmt.Sprint(len(graph)), i), e.dying(t, after), "auto", graph)
			require.Equal(t, 0, r.code, r.stderr)
			require.Equal(t, want, got)
			told := strings.Count(r.stderr, "the CPU goes on where it stopped")
			require.LessOrEqual(t, told, 1)
			lost += told
		}
	}
	require.Positive(t, lost)
}

// gpuTimeline holds of the emulated backend what TestA12Timeline holds of the CPU's, and that what the device does is
// in the timeline: updates of its array, which begin while the host finds candidates, searches, ordering and copies of
// rows, each within the steps of its batch.
func gpuTimeline(t *testing.T, e *emulated) {
	t.Setenv(emulatorProgram, e.emulator)
	matchertest.ForSeeds(t, 3, func(t *testing.T, rng *rand.Rand) {
		p := checkTimeline(t, rng, func(trace *timeline.Timeline) *timedBackend {
			b, err := newBackend(backendOptions{name: "cuda", cpu: cpu.Options{Threads: 1}, log: zerolog.Nop(),
				trace: trace})
			require.NoError(t, err)
			return b
		})
		for n := p.first; n <= p.last; n++ {
			for _, s := range [][2]string{{device.LaneArray, "copy"}, {device.LaneArray, "update"},
				{device.LaneArray, "bits"}, {device.LaneTotals, "search"},
				{device.LaneRows, "search"}, {device.LaneRows, "order"}, {device.LaneCopies, "copy"},
				{device.LaneHost, "emit"}} {
				require.NotEmpty(t, p.of(s[0], s[1], n), "batch %d: %v", n, s)
			}
			if n > p.first { // the device is told of a batch at its beginning if it searched the one before
				update, filter := p.of(device.LaneArray, "copy", n), p.of("step", "filter", n)
				require.Less(t, update[0].begin, filter[0].end, "batch %d: %v, %v", n, update, filter)
			}
		}
	})
}

// gpuMissing asks for a GPU where there is none.
func gpuMissing(t *testing.T, e *emulated) {
	want := e.replay(t, "", "--backend", "cpu")
	got := e.replay(t, "", "--backend", "auto")
	require.Equal(t, 0, got.code, got.stderr)
	require.Equal(t, want.stdout, got.stdout)
	require.Equal(t, 1, strings.Count(got.stderr, "no GPU is used"), got.stderr)
	got = e.replay(t, "", "--backend", "cuda")
	require.Equal(t, exitRefused, got.code, got.stderr)
	require.Contains(t, got.stderr, "there is no NVIDIA GPU")
	require.Empty(t, got.stdout)
	got = e.motifd(t, "", "match", "--graph", "graph.txt", "--query", "path.txt", "--undirected", "--out",
		"matches.missing", "--backend", "cuda")
	require.Equal(t, exitRefused, got.code, got.stderr)
	require.Contains(t, got.stderr, "there is no NVIDIA GPU")
	require.Empty(t, got.stdout)
	require.NoFileExists(t, filepath.Join(e.dir, "matches.missing"))
	_, got = e.daemon(t, "missing", "", "engine.backend=cuda") // there may be one when it is started again
	require.Equal(t, exitFailed, got.code, got.stderr)
	require.Contains(t, got.stderr, "engine.backend: opening GPU 0: there is no NVIDIA GPU")
	require.NoFileExists(t, filepath.Join(e.dir, "missing.jsonl"))
	records, got := e.daemon(t, "missing", e.emulator, "engine.backend=cuda")
	require.Equal(t, exitOK, got.code, got.stderr)
	require.NotEmpty(t, records)
}
