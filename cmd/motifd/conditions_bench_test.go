//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// conditionShapes are twenty patterns of payments: cycles, stars, paths, triangles and others, each as the ends of its
// payments.
var conditionShapes = []string{"ab bc ca", "ab bc cd da", "ab bc cd de ea", // cycles
	"ab bc ac", "ab ac bc cd", "ab bc ca cd", // triangles
	"am bm cm", "ma mb mc", "am bm mc", "am mb mc", "am bm mc md", // stars
	"ab bc", "ab bc cd", "ab bc cd de", "ab cb cd", "ba bc cd", // paths
	"ab bd ac cd", "ab ac bd dc", "ab ba bc", "am mb bc ca"}

// conditionKinds names the conditions of the patterns. The first six are always true: none, on each payment alone,
// between pairs of payments, a window, all of these, and a formula that is no difference. The last is selective: few
// payments are large, and follow each other soon.
var conditionKinds = []string{"none", "own", "between", "within", "all", "formula", "selective"}

// conditionPattern returns a pattern with conditions of a kind.
func conditionPattern(shape, kind string) string {
	var edges, where []string
	for i, ends := range strings.Fields(shape) {
		edges = append(edges, fmt.Sprintf("(%c:Account)-[t%d:TRANSFER]->(%c:Account)", ends[0], i, ends[1]))
		switch kind {
		case "own", "all":
			where = append(where, fmt.Sprintf("t%d.amount > -1", i))
		case "selective":
			where = append(where, fmt.Sprintf("t%d.amount > 5000", i))
		}
		switch {
		case i == 0:
		case kind == "between" || kind == "all":
			where = append(where, fmt.Sprintf("t%d.ts - t%d.ts < duration('P1000D')", i, i-1))
		case kind == "formula":
			where = append(where, fmt.Sprintf("10 * t%d.amount >= t%d.amount - 1000000000", i, i-1))
		case kind == "selective":
			where = append(where, fmt.Sprintf("0 <= t%d.ts - t%d.ts <= duration('PT3H')", i, i-1))
		}
	}
	text := "MATCH " + strings.Join(edges, ", ")
	if len(where) > 0 {
		text += " WHERE " + strings.Join(where, " AND ")
	}
	return text + "\n"
}

// BenchmarkConditions measures what conditions cost end to end: the CPU time of replays of generated payments for
// twenty patterns without conditions, by the time of those with conditions, by turns: the medians of the ratios of each
// turn. A replay decodes the payments, searches, and writes all matches out. With ids many payments are parallel to
// others; with ends a payment replaces the one before. The million payments expire after six hours.
func BenchmarkConditions(b *testing.B) {
	for _, c := range []struct {
		name, payments, accounts, cases, identity string
		more                                      []string
	}{
		{"id", "20000", "5000", "80", "id", nil},
		{"ends", "20000", "5000", "80", "ends", nil},
		{"million", "1000000", "500000", "2000", "ends", []string{"--retention=TRANSFER=6h"}},
		{"million-id", "1000000", "500000", "2000", "id", []string{"--retention=TRANSFER=6h"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			dir := b.TempDir()
			succeed(b, dir, "synth", "aml", "--payments="+c.payments, "--accounts="+c.accounts, "--cases="+c.cases)
			for _, kind := range conditionKinds {
				require.NoError(b, os.Mkdir(filepath.Join(dir, kind), 0o755))
				for i, shape := range conditionShapes {
					require.NoError(b, os.WriteFile(filepath.Join(dir, kind, fmt.Sprintf("p%02d.cypher", i)),
						[]byte(conditionPattern(shape, kind)), 0o644))
				}
			}
			args := append(c.more, "--updates=aml/payments.jsonl", "--properties=aml/properties.yaml",
				"--edge-identity="+c.identity, "--out=/dev/null", "--summary=summary.json")
			benchConditions(b, dir, args)
		})
	}
}

// benchConditions replays patterns of all kinds by turns.
func benchConditions(b *testing.B, dir string, args []string) {
	ratios := map[string][]float64{}
	var none float64
	var matches uint64
	for b.Loop() {
		for _, kind := range conditionKinds {
			all := append([]string{"replay", "--query=" + kind}, args...)
			if kind == "within" || kind == "all" {
				all = append(all, "--within=10000d")
			}
			at := childTime(b)
			succeed(b, dir, all...)
			took := (childTime(b) - at).Seconds()
			found := foundIn(b, filepath.Join(dir, "summary.json"))
			if kind == "none" {
				none, matches = took, found
			}
			require.True(b, matches == found || kind == "selective", "%s: %d matches, not %d", kind, found, matches)
			ratios[kind] = append(ratios[kind], none/took)
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(matches), "matches")
	for _, kind := range conditionKinds[1:] {
		slices.Sort(ratios[kind])
		b.ReportMetric(ratios[kind][len(ratios[kind])/2], kind+"/none")
	}
}

// childTime is the CPU time of the programs that have run.
func childTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// foundIn returns how many matches a summary tells of.
func foundIn(b *testing.B, path string) (n uint64) {
	text, err := os.ReadFile(path)
	require.NoError(b, err)
	var s struct {
		Queries []struct{ Positive, Negative uint64 }
	}
	require.NoError(b, json.Unmarshal(text, &s))
	for _, q := range s.Queries {
		n += q.Positive + q.Negative
	}
	return n
}
