//go:build data && unix

package cpu

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/stream/tempfile"
)

// BenchmarkDataStatic compares searches of whole graphs, for counts and for rows, with the textbook's: of yeast and of
// hprd, for queries of random walks that no test has seen. STATIC chooses: graph, size, kind, number, seed.
func BenchmarkDataStatic(b *testing.B) {
	for name, files := range map[string][]string{"yeast": {"graph.txt", "insert.txt"}, "hprd": {"graph.txt"}} {
		if g := os.Getenv("STATIC_GRAPH"); g != "" && g != name {
			continue
		}
		dir := matchertest.Synth("../../../shared/data/" + name)
		var us []dyngraph.Update
		for _, f := range files {
			us = append(us, dir.Updates(b, f)...)
		}
		t := newTextbook(us)
		count := 50
		if n := os.Getenv("STATIC_N"); n != "" {
			count, _ = strconv.Atoi(n)
		}
		for _, n := range []int{8, 16, 24, 32} {
			if s := os.Getenv("STATIC_SIZE"); s != "" && s != strconv.Itoa(n) {
				continue
			}
			for _, dense := range []bool{true, false} {
				if s := os.Getenv("STATIC_DENSE"); s != "" && s != strconv.FormatBool(dense) {
					continue
				}
				benchStatic(b, fmt.Sprintf("%s/%d/dense=%t", name, n, dense), us, t, n, dense, count)
			}
		}
	}
}

var staticMost = 5 * time.Second

func init() {
	if d, err := time.ParseDuration(os.Getenv("STATIC_MOST")); err == nil {
		staticMost = d
	}
}

func benchStatic(b *testing.B, name string, us []dyngraph.Update, t *textbook, n int, dense bool, count int) {
	rng := rand.New(rand.NewPCG(uint64(n), 23))
	var x *bench
	var sums, plans [2]float64
	var slow [2]int
	for i := 0; i < count; {
		q := t.walk(rng, n, dense)
		if q == nil {
			continue
		}
		i++
		if only := os.Getenv("STATIC_ONLY"); only != "" && only != strconv.Itoa(i) {
			continue
		}
		if x == nil {
			x = newBenchOf(b, dyngraph.NewGraph(dyngraph.Options{}), us, q, Options{Threads: 1,
				TempFiles: tempfile.In(b.TempDir())})
		}
		p := textbookOf(q)
		began := time.Now()
		want, known := t.count(p, staticMost)
		twin := time.Since(began)
		var took [2]time.Duration
		var line strings.Builder
		for k, emit := range []matcher.Emit{matcher.EmitCounts, matcher.EmitDeltas} {
			q.Emit = emit
			if emit == matcher.EmitDeltas && (!known || want > 1e6) && os.Getenv("STATIC_ROWS") == "" {
				continue
			}
			began = time.Now()
			x.prepare(q)
			ctx, cancel := context.WithTimeout(b.Context(), staticMost)
			wanted := []matcher.Want{matcher.WantCount, matcher.WantRows}[k]
			planned := time.Since(began)
			drop := func(matcher.Rows) error { return nil }
			res, err := x.b.Enumerate(ctx, dyngraph.New, x.plan, wanted, 0, nil, drop)
			cancel()
			took[k] = time.Since(began)
			plans[k] += math.Log(float64(took[k]) / float64(twin))
			took[k] -= planned
			fmt.Fprintf(&line, " plan %.4f steps %d", planned.Seconds(), res.Steps)
			if err != nil {
				fmt.Fprintf(&line, " over")
			} else if got, _ := res.Count.Uint64(); known && got != want {
				b.Fatalf("%s %d: %d, want %d", name, i, got, want)
			}
			sums[k] += math.Log(float64(took[k]) / float64(twin))
			if took[k] > time.Second || took[k] > 10*twin {
				slow[k]++
			}
		}
		if took[0] > time.Second/2 || took[1] > time.Second/2 || took[0] > 10*twin || took[1] > 10*twin ||
			os.Getenv("STATIC_V") != "" {
			fmt.Printf("  %s #%d: twin %.4f count %.4f rows %.4f matches %d edges %d%s\n", name, i, twin.Seconds(),
				took[0].Seconds(), took[1].Seconds(), want, len(q.Edges), line.String())
		}
	}
	fmt.Printf("%s: time over the twin's, geometric mean: count %.2f rows %.2f; "+
		"with plans %.2f %.2f; slow %d %d\n", name,
		math.Exp(sums[0]/float64(count)), math.Exp(sums[1]/float64(count)),
		math.Exp(plans[0]/float64(count)), math.Exp(plans[1]/float64(count)), slow[0], slow[1])
}
