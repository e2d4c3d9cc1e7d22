//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"motifd/cmd/motifd/internal/payments"
	"motifd/matcher/matchertest"
	"motifd/stream/checkpoint"
)

const soakConfig = `
input: {file: {path: "-"}, format: json}
output: {file: {path: "-"}}
batch: {linger: 10ms, max_updates: 2000}
checkpoint: {dir: state, retention: {batches: 200}}
log: {level: warn}
queries:
`

// Soak settings; `make soak` sets the first.
const (
	soakDuration = 8 * time.Second // unless SOAK_DURATION says otherwise
	soakRate     = 20_000          // updates a second
	// updates at once: a machine too slow for the rate gets fewer, not ever more at a time
	soakStep     = 300
	soakAccounts = 20_000 // 12,500 payments at a time, and what is planted
)

// TestP4Soak runs the daemon on a stream of payments that forgets: every insertion is followed by its deletion, so that
// the graph stays of one size, while a query comes and goes every second. Meanwhile memory, live heap, goroutines and
// file handles are sampled. They are flat: over the second half of the time a least-squares line through the least
// samples of ten windows rises by no more than checkFlat allows.
//
// The deltas are checked as they come (what appears was not there, what disappears was), and in the end what stands is
// what `motifd match` counts in the graph that is left.
func TestP4Soak(t *testing.T) {
	matchertest.NotUnderRace(t, "TestRunOnFiles and TestP3KillAndRestart have the goroutines of the daemon")
	duration := soakDuration
	if text := os.Getenv("SOAK_DURATION"); text != "" {
		var err error
		duration, err = time.ParseDuration(text)
		require.NoError(t, err, "SOAK_DURATION")
	}
	var text strings.Builder
	text.WriteString(soakConfig)
	for i, q := range payments.Queries() {
		emit := []string{"deltas", "counts", "exists"}[i%3]
		fmt.Fprintf(&text, "  - {name: %s-%s, unit: subgraphs, emit: %s, cypher: %q}\n", q.Name, emit, emit, q.Text)
		fmt.Fprintf(&text, "  - {name: %s, unit: subgraphs, backfill: full, cypher: %q}\n", q.Name, q.Text)
	}
	s := &soak{t: t, dir: write(t, map[string]string{"motifd.yaml": text.String()}),
		gen:   payments.NewGenerator(payments.Options{Seed: 7, Accounts: soakAccounts}),
		graph: make(map[payments.Edge]string)}
	s.run(duration)
	s.checkDisk()
	s.checkFlat(duration)
	s.checkMatches()
}

// soak is one run.
type soak struct {
	t       *testing.T
	dir     string
	gen     *payments.Generator
	graph   map[payments.Edge]string // id by payment
	sent    uint64
	changes int
	samples []soakSample
	disk    int64 // bytes that the checkpoint's directory had at most
	deltas  uint64
	there   map[string]string // query by match id, of those that emit deltas
}

// soakSample holds some of the daemon's metrics at a time.
type soakSample struct {
	at                               float64 // seconds
	rss, heap, goroutines, fileCount float64
}

func (s *soak) run(duration time.Duration) {
	t := s.t
	in, feed, err := os.Pipe()
	require.NoError(t, err)
	read, out, err := os.Pipe()
	require.NoError(t, err)
	p := startOn(t, s.dir, in, out)
	require.NoError(t, in.Close())
	require.NoError(t, out.Close())
	followed := make(chan error, 1)
	go func() { followed <- s.follow(read) }()
	w := bufio.NewWriterSize(feed, 1<<16)
	p.ready()
	begin, every := time.Now(), max(50*time.Millisecond, duration/600)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	var sampled, changed time.Duration
	// On a machine that does much else, a short run is prolonged until the windows of its second half are full.
	for now := time.Duration(0); now < duration || len(s.samples) < soakSamples; now = time.Since(begin) {
		if due := uint64(now.Seconds() * soakRate); due > s.sent {
			s.produce(w, min(due-s.sent, soakStep))
		}
		require.NoError(t, w.Flush())
		if now-sampled >= every {
			sampled = now
			s.sample(p, now)
		}
		if now-changed >= time.Second {
			changed = now
			s.change(p)
		}
		select {
		case <-tick.C:
		case <-p.done:
			t.Fatal(p.stderr.String())
		}
	}
	require.NoError(t, feed.Close()) // the input ends, and with it the daemon
	<-p.done
	require.Zero(t, p.cmd.ProcessState.ExitCode(), p.stderr.String())
	// change removes queries, maybe in the middle of a registration: in its batch, or while it is still pending.
	for line := range strings.Lines(p.stderr.String()) {
		require.Contains(t, line, `"query":"passing"`)
		require.Regexp(t, `"limit":"operator"|"error":"the change was withdrawn"`, line)
	}
	require.NoError(t, <-followed)
	require.NoError(t, read.Close())
}

// produce sends n payments.
func (s *soak) produce(w io.Writer, n uint64) {
	for range n {
		e := s.gen.Next()
		s.sent++
		u := payments.NewUpdate(&e.Update)
		if edge := (payments.Edge{From: u.From, To: u.To, Label: u.Label}); u.Op == "+" {
			s.graph[edge] = u.ID
		} else {
			delete(s.graph, edge)
		}
		line, err := json.Marshal(u)
		require.NoError(s.t, err)
		_, err = w.Write(append(line, '\n'))
		require.NoError(s.t, err)
	}
}

// change registers a query; the next time it removes it.
func (s *soak) change(p *process) {
	method, path, body := "POST", "", `{"name":"passing","emit":"counts","backfill":"full","cypher":"MATCH `+
		`(a:Account)-[:TRANSFER]->(b)-[:TOP_UP]->(c:Wallet)-->(a)"}`
	if s.changes++; s.changes%2 == 0 {
		method, path, body = "DELETE", "/passing", ""
	}
	var got answer
	p.until(
		"it took a query change",
		func() bool { // on a machine that does much else the one before may still be being made
			got = p.ask(method, "/api/v1/queries"+path, body)
			return got.code != http.StatusConflict
		},
	)
	require.Equal(s.t, http.StatusAccepted, got.code, got.body)
}

// sample reads the daemon's metrics.
func (s *soak) sample(p *process, at time.Duration) {
	text := p.ask("GET", "/metrics", "").body
	value := func(name string) float64 {
		for line := range strings.Lines(text) {
			if rest, ok := strings.CutPrefix(line, name+" "); ok {
				x, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
				require.NoError(s.t, err)
				return x
			}
		}
		require.Fail(s.t, "no metric "+name)
		return 0
	}
	s.disk = max(s.disk, directoryBytes(s.t, filepath.Join(s.dir, "state")))
	const mib = 1 << 20
	s.samples = append(s.samples, soakSample{
		at: at.Seconds(), rss: value("process_resident_memory_bytes") / mib,
		// The collector's next goal is twice what it last found alive.
		heap: value("go_memstats_next_gc_bytes") / 2 / mib, goroutines: value("go_goroutines"),
		fileCount: value("process_open_fds"),
	})
}

// follow reads the daemon's output: a match appears only when it is not there, and disappears only when it is.
func (s *soak) follow(r io.Reader) (err error) {
	defer func() {
		if err != nil { // the daemon is not to wait for a reader
			_, _ = io.Copy(io.Discard, r)
		}
	}()
	s.there = make(map[string]string)
	for lines := json.NewDecoder(r); ; {
		var d struct{ Op, Query, Match string }
		if err := lines.Decode(&d); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading the output: %w", err)
		}
		s.deltas++
		if d.Match == "" {
			continue // counts and exists
		}
		if _, there := s.there[d.Match]; there != (d.Op == "-") {
			return fmt.Errorf("match %s of %s: %s, but it is there: %v", d.Match, d.Query, d.Op, there)
		}
		if d.Op == "+" {
			s.there[d.Match] = d.Query
		} else {
			delete(s.there, d.Match)
		}
	}
}

// soakWindows is the number of windows that the second half of the time is looked at in, soakSamples the least number
// of samples in all: eight to a window, so that the least of them is one between two batches.
const (
	soakWindows = 10
	soakSamples = 2 * soakWindows * 8
)

// rise cuts the second half of the samples into windows, takes the least of each, fits a line through these by least
// squares, and returns by how much it rises; and their mean. The least, because buffers that fill and empty and a
// collector that comes late on a busy machine make peaks that say nothing, while a leak lifts the bottom too.
func (s *soak) rise(of func(soakSample) float64) (rise, mean float64) {
	half := s.samples[len(s.samples)/2:]
	var least []float64
	for i := range soakWindows {
		low := math.Inf(1)
		for _, x := range half[len(half)*i/soakWindows : len(half)*(i+1)/soakWindows] {
			low = min(low, of(x))
		}
		least = append(least, low)
	}
	const middle = float64(soakWindows-1) / 2
	var y, tt, ty float64
	for _, low := range least {
		y += low / soakWindows
	}
	for i, low := range least {
		t := float64(i) - middle
		tt, ty = tt+t*t, ty+t*(low-y)
	}
	return ty / tt * (soakWindows - 1), y
}

// TestSoakRise holds that the line finds a leak under noise, and none where there is only noise.
func TestSoakRise(t *testing.T) {
	s := &soak{t: t}
	for i := range 600 {
		at := float64(i)
		x := soakSample{at: at, rss: 100 + 64*math.Mod(at/14, 1), heap: 100 + at/60 + 10*math.Sin(at)}
		if i > 580 { // a peak at the end
			x.rss += 100
			x.heap += 100
		}
		s.samples = append(s.samples, x)
	}
	rise, mean := s.rise(func(x soakSample) float64 { return x.rss })
	require.InDelta(t, 0, rise, 2)
	require.InDelta(t, 100, mean, 2)
	rise, _ = s.rise(func(x soakSample) float64 { return x.heap })
	require.InDelta(t, 4.5, rise, 0.8)
}

// checkFlat holds the bounds. The checkpoint fills and empties write buffers of 2 x 32 MiB, about once in soakCycle:
// over windows shorter than that memory may rise by as much. In less than soakMemory memory is still growing to what it
// needs, and is reported only.
func (s *soak) checkFlat(duration time.Duration) {
	const soakMemory, soakCycle, buffers, spare = 60.0, 15.0, 64.0, 4.0
	last := s.samples[len(s.samples)-1]
	s.t.Logf("%.0f s, %d updates, %d deltas, %d samples", last.at, s.sent, s.deltas, len(s.samples))
	memory, flat := spare, true
	switch {
	case duration.Seconds() < soakMemory:
		memory = math.Inf(1)
	case duration.Seconds()/2/soakWindows < soakCycle:
		memory = buffers
	}
	for _, m := range []struct {
		name  string
		of    func(soakSample) float64
		part  float64 // of the mean
		fixed float64
	}{
		{"resident memory, MiB", func(x soakSample) float64 { return x.rss }, 0.05, memory},
		{"live heap, MiB", func(x soakSample) float64 { return x.heap }, 0.05, memory},
		{"goroutines", func(x soakSample) float64 { return x.goroutines }, 0, 2}, // some come and go with batches
		{"file handles", func(x soakSample) float64 { return x.fileCount }, 0.05, 1},
	} {
		rise, mean := s.rise(m.of)
		most := math.Inf(-1)
		for _, x := range s.samples[len(s.samples)/2:] {
			most = max(most, m.of(x))
		}
		allowed := m.part*mean + m.fixed
		s.t.Logf("%-20s mean of the least %.1f, at most %.0f; over the second half it rises by %.2f, allowed %.2f",
			m.name, mean, most, rise, allowed)
		flat = assert.LessOrEqual(s.t, rise, allowed, m.name) && flat
	}
	for i := 0; i < len(s.samples); i += max(1, len(s.samples)/20) {
		x := &s.samples[i]
		s.t.Logf("at %3.0f s: %.0f MiB resident, %.0f MiB live heap, %.0f goroutines, %.0f file handles", x.at, x.rss,
			x.heap, x.goroutines, x.fileCount)
	}
	require.True(s.t, flat, "something grows")
}

// checkDisk holds the bound of docs/howto/size.md on the checkpoint's directory, at each sample: twice the graph and
// the log, 256 MiB of tables and 64 MiB of write-ahead log.
func (s *soak) checkDisk() {
	const record, fixed = 200, 320 << 20
	info, err := checkpoint.Info(filepath.Join(s.dir, "state"), nil)
	require.NoError(s.t, err)
	bound := 2*(info.LogBytes+record*int64(info.Vertices+info.Edges)) + fixed
	s.t.Logf(
		"the checkpoint took at most %d MiB on disk, %d allowed; in the end %d, of a log of %d and %d vertices and "+
			"edges",
		s.disk>>20,
		bound>>20,
		info.DiskBytes>>20,
		info.LogBytes>>20,
		info.Vertices+info.Edges,
	)
	require.LessOrEqual(s.t, s.disk, bound)
	require.LessOrEqual(s.t, int64(info.DiskBytes), bound)
}

// directoryBytes sums the sizes of the files in a directory, which may come and go meanwhile.
func directoryBytes(t *testing.T, dir string) (n int64) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil {
			var info fs.FileInfo
			if info, err = d.Info(); err == nil && info.Mode().IsRegular() {
				n += info.Size()
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}))
	return n
}

// checkMatches compares what stands with a count in the graph that is left.
func (s *soak) checkMatches() {
	var lines strings.Builder
	for _, e := range slices.SortedFunc(maps.Keys(s.graph),
		func(a, b payments.Edge) int { return strings.Compare(s.graph[a], s.graph[b]) }) {
		label := func(key string) string {
			if strings.HasPrefix(key, "wallet") {
				return "Wallet"
			}
			return "Account"
		}
		line, err := json.Marshal(payments.Update{Op: "+", From: e.From, To: e.To, Label: e.Label,
			FromLabel: label(e.From), ToLabel: label(e.To)})
		require.NoError(s.t, err)
		lines.Write(append(line, '\n'))
	}
	require.NoError(s.t, os.WriteFile(filepath.Join(s.dir, "left.jsonl"), []byte(lines.String()), 0o644))
	standing := make(map[string]int64)
	for _, q := range s.there {
		standing[q]++
	}
	require.NotEmpty(s.t, standing)
	require.NoError(s.t, os.Mkdir(filepath.Join(s.dir, "queries"), 0o755))
	for _, q := range payments.Queries() {
		require.NoError(s.t, os.WriteFile(filepath.Join(s.dir, "queries", q.Name+".cypher"), []byte(q.Text), 0o644))
	}
	succeed(s.t, s.dir, "match", "--graph=left.jsonl", "--query=queries", "--unit=subgraphs", "--summary=left.json")
	var left struct{ Queries []foundCounts }
	require.NoError(s.t, json.Unmarshal([]byte(readFile(s.t, filepath.Join(s.dir, "left.json"))), &left))
	for i := range left.Queries {
		q := &left.Queries[i]
		require.Equal(s.t, q.sum().Int64(), standing[q.Name], q.Name)
	}
}
