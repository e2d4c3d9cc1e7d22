package matcher_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
)

// TestTotalChangesNothing holds, over random histories, that Total is the number of matches, whether its query is
// registered or not, and that an engine which is asked goes on like one that is not.
func TestTotalChangesNothing(t *testing.T) {
	matchertest.ForSeeds(t, 30, func(t *testing.T, rng *rand.Rand) {
		w := newWorld(t, true)
		w.cpu = matchertest.NewDriver(t, true, newCPU(t, 2, rng.IntN(2) == 0), plan.New())
		ring := w.query("ring", "MATCH (a)-->(b)-->(c)-->(a) RETURN a, b, c", subgraphs)
		fan := w.query("fan", "MATCH (a:A)-[:T]->(m), (b)-->(m) RETURN a, b, m", counts)
		asked := []*matcher.Query{
			ring,
			fan,
			w.query("new", "MATCH (a)-->(b)-[:T]->(c), (d:A)-->(b) RETURN a, b, c, d", backfill),
			w.query("none", "MATCH (a:Nobody)-->(b) RETURN a, b"),
		}
		same := func(a, b *matchertest.Output) {
			t.Helper()
			if fmt.Sprint(a.Records) != fmt.Sprint(b.Records) {
				t.Fatalf("batch %d:\n%v\n%v", a.Number, a.Records, b.Records)
			}
		}
		for _, q := range []*matcher.Query{ring, fan} {
			same(w.cpu.Register(q), w.other.Register(q))
		}
		for range 12 {
			var b strings.Builder
			for range 1 + rng.IntN(9) {
				op := "+"
				if rng.IntN(3) == 0 {
					op = "-"
				}
				from, to := rng.IntN(7), rng.IntN(6)
				if to >= from {
					to++
				}
				fmt.Fprintf(
					&b,
					"%s v%d:%s v%d:%s %s;",
					op,
					from,
					[]string{"A", "B"}[from%2],
					to,
					[]string{"A", "B"}[to%2],
					[]string{"", "T"}[rng.IntN(2)],
				)
			}
			msgs := w.messages(b.String())
			same(w.cpu.Batch(msgs), w.other.Batch(msgs))
			for _, q := range asked {
				e := w.cpu.Engine
				want := len(reference.Matches(e.Graph().View(dyngraph.New), q))
				n, known, err := e.Total(t.Context(), q, 0)
				if err != nil || !known || n.Cmp(matcher.CountOf(uint64(want))) != 0 {
					t.Fatalf("%s: %v %v %v, want %d", q.Name, n, known, err, want)
				}
			}
		}
	})
}

// TestTotalIsBounded holds that a count beyond the time is told as unknown, that one that is given up is an error, and
// that the engine goes on after either.
func TestTotalIsBounded(t *testing.T) {
	w := newWorld(t, true)
	w.cpu = matchertest.NewDriver(t, true, newTicking(t, 2), plan.New())
	var b strings.Builder
	for i := range 30 {
		for j := range i {
			fmt.Fprintf(&b, "+ v%d v%d;", i, j)
		}
	}
	msgs := w.messages(b.String())
	w.cpu.Batch(msgs)
	w.other.Batch(msgs)
	clique := w.query("clique", "MATCH (a)--(b)--(c)--(d)--(a), (a)--(c), (b)--(d) RETURN a, b, c, d")
	if _, known, err := w.cpu.Engine.Total(t.Context(), clique, time.Nanosecond); err != nil || known {
		t.Fatal(known, err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := w.cpu.Engine.Total(gone, clique, 0); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	n, known, err := w.cpu.Engine.Total(t.Context(), clique, time.Hour)
	if want := matcher.CountOf(30 * 29 * 28 * 27); err != nil || !known || n.Cmp(want) != 0 {
		t.Fatal(n, known, err)
	}
	w.register(w.query("q", "MATCH (x)-->(y) RETURN x, y"))
	w.batch("+ x y", "+q x y")
}
