//go:build linux

package cpu

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/stream"
	"motifd/stream/codec"
	"motifd/stream/tempfile"
)

// floodMatches is how many matches BenchmarkFlood makes in one batch.
var floodMatches = flag.Int("flood", 500_000_000, "matches of BenchmarkFlood")

// checkOrder receives rows and checks that they come in canonical order; it keeps nothing but the last one.
type checkOrder struct {
	tb    testing.TB
	rows  uint64
	order uint32
	last  []uint32
}

func (c *checkOrder) emit(g matcher.Group) error {
	for i := range g.Rows.Len() {
		row := g.Rows.Row(i)[:g.Rows.Vertices]
		if c.last != nil && (g.Order < c.order || g.Order == c.order && slices.Compare(c.last, row) >= 0) {
			c.tb.Fatalf("row %d, %v of anchor %d, comes after %v of anchor %d", c.rows, row, g.Order, c.last, c.order)
		}
		c.rows, c.order, c.last = c.rows+1, g.Order, append(c.last[:0], row...)
	}
	return nil
}

// runFlood searches the batch, checks what comes out and, if asked, encodes it.
func runFlood(tb testing.TB, f *matchertest.Flood, opt Options, encode bool) (spilled bool) {
	tb.Helper()
	dir := tb.TempDir()
	opt.TempFiles = tempfile.In(dir)
	x := newBench(tb, f.Graph, f.Query, opt)
	defer x.stage(f.Batch)()
	c := checkOrder{tb: tb}
	enc := codec.NewEncoder(codec.EncoderOptions{StreamID: "flood"})
	ev := matcher.Event{Batch: 1, Kind: matcher.EventMatches, Query: f.Query, Sign: dyngraph.Inserted,
		View: x.g.View(dyngraph.New)}
	var records []stream.OutRecord
	bytes := 0
	res := x.rows(func(g matcher.Group) error {
		spilled = spilled || temporaryFiles(tb, dir) > 0
		ev.AnchorEdge, ev.Rows, ev.FirstIndex = &x.b.delta.Net[g.Order], g.Rows, c.rows
		ev.Anchor = &f.Batch[ev.AnchorEdge.UpdateIndex]
		for i := 0; encode && i < g.Rows.Len(); i += 256 {
			var err error
			if records, err = enc.Append(records[:0], &ev, i, min(i+256, g.Rows.Len())); err != nil {
				return err
			}
			for k := range records {
				bytes += len(records[k].Value)
			}
		}
		return c.emit(g)
	})
	if encode && bytes < 100*int(c.rows) {
		tb.Fatalf("%d records have %d bytes", c.rows, bytes)
	}
	if n, _ := res.Count.Uint64(); n != f.Matches || c.rows != f.Matches {
		tb.Fatalf("%d matches counted and %d put out, there are %d", n, c.rows, f.Matches)
	}
	return spilled
}

// temporaryFiles counts the open files of this process that are or were in a directory.
func temporaryFiles(tb testing.TB, dir string) (n int) {
	tb.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		tb.Fatal(err)
	}
	for _, fd := range fds {
		// One that has just been closed has no target any more.
		if to, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && strings.HasPrefix(to, dir+"/") {
			n++
		}
	}
	return n
}

// peakMemory returns the most memory, in MiB, that this process has had resident.
func peakMemory(tb testing.TB) int {
	tb.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		tb.Fatal(err)
	}
	for s := bufio.NewScanner(bytes.NewReader(status)); s.Scan(); {
		if kb, ok := strings.CutPrefix(s.Text(), "VmHWM:"); ok {
			n, err := strconv.Atoi(strings.Fields(kb)[0])
			if err != nil {
				tb.Fatal(err)
			}
			return n >> 10
		}
	}
	tb.Fatal("/proc/self/status does not tell the peak")
	return 0
}

// floodChild names the number of matches in a child process, whose memory is measured.
const floodChild = "MOTIFD_FLOOD_CHILD"

// TestP4AFloodStaysWithinMemory runs itself in a child process: one batch with a million matches, of which one group
// takes more than 20 times what it may hold in memory, is encoded in order within little memory.
func TestP4AFloodStaysWithinMemory(t *testing.T) {
	matchertest.NotUnderRace(t, "it takes 13 seconds of processors, and memory is not measured")
	const matches, limit = 1_000_000, 80 // MiB; the records take 400
	if os.Getenv(floodChild) != "" {
		spilled := runFlood(t, matchertest.NewFlood(matches),
			Options{Threads: 2, GroupMemory: 128 << 10, QueueMemory: 1 << 20}, true)
		fmt.Printf("spilled %v peak %d MiB\n", spilled, peakMemory(t))
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestP4AFloodStaysWithinMemory$")
	cmd.Env = append(os.Environ(), floodChild+"=1", "GOGC=100") // as users collect garbage
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	_, told, _ := strings.Cut(string(out), "spilled ")
	var spilled bool
	var peak int
	if _, err := fmt.Sscanf(told, "%t peak %d MiB", &spilled, &peak); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	t.Logf("peak %d MiB", peak)
	if !spilled {
		t.Error("nothing went to disk")
	}
	if peak > limit && !matchertest.UnderRace {
		t.Errorf("%d MiB were resident, at most %d are to be", peak, limit)
	}
}

// BenchmarkFlood streams one batch with 500 million matches, over 50 million of them in one group, through a check of
// their order, with the memory limits that are the default; the process must stay within 2 GiB. The benchmark of that
// name in package stream encodes them as well.
func BenchmarkFlood(b *testing.B) {
	f := matchertest.NewFlood(*floodMatches)
	for b.Loop() {
		at := time.Now()
		user := userTime()
		runFlood(b, f, Options{}, false)
		b.ReportMetric(float64(f.Matches)/1e6/time.Since(at).Seconds(), "M-matches/s")
		b.ReportMetric(float64(f.Matches)/1e6/(userTime()-user).Seconds(), "M-matches/s-of-CPU")
	}
	b.ReportMetric(float64(f.Matches), "matches")
	peak := peakMemory(b)
	b.ReportMetric(float64(peak), "peak-MiB")
	if peak > 2048 {
		b.Errorf("%d MiB were resident, at most 2048 are to be", peak)
	}
}
