package cpu

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/stream/tempfile"
)

// TestJumpsInWindows has searches that jump count trees of payments within a window, with value orders and without, and
// with parallel payments: what a value order leaves out depends on the times of all payments before, and not on a
// step's images. Plain enumeration is the twin.
func TestJumpsInWindows(t *testing.T) {
	var found, narrowed uint64
	seen := func() bool { return found > 0 && narrowed > 0 }
	matchertest.ForSeedsUntil(t, 12, seen, func(t *testing.T, rng *rand.Rand) {
		vertices, payments := 8+rng.IntN(20), 60+rng.IntN(60)
		var us []dyngraph.Update
		for i := range payments {
			u := dyngraph.Update{Op: dyngraph.InsertEdge, Label: "T"}
			u.Attr = dyngraph.Attr{ID: fmt.Sprint(i), HasTS: true, TS: int64(i)}
			a := rng.IntN(1 + rng.IntN(vertices)) // few have many
			b := (a + 1 + rng.IntN(vertices-1)) % vertices
			u.From, u.To = fmt.Sprint(a), fmt.Sprint(b)
			us = append(us, u)
		}
		q := &matcher.Query{Name: "tree", Version: 1, Within: 5 + rng.Int64N(40)}
		for v := range 4 + rng.IntN(2) {
			q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: fmt.Sprint("v", v)})
			if v > 0 {
				ends := []int{rng.IntN(v), v}
				rng.Shuffle(2, func(i, j int) { ends[i], ends[j] = ends[j], ends[i] })
				q.Edges = append(q.Edges, matcher.QueryEdge{Name: fmt.Sprint("e", v), From: ends[0], To: ends[1],
					Label: "T"})
			}
		}
		want := countWithin(us, q)
		for _, least := range []int{0, 1} {
			g := dyngraph.NewGraph(dyngraph.Options{Directed: true, EdgeIDs: true, Schema: amounts})
			x := newBenchOf(t, g, us, q, Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())})
			x.b.shared.Options.ValueOrderLeast = least
			var stop atomic.Bool
			w := x.b.wayOf(x.b.plans[x.plan], matcher.WantAny, nil, &stop, new(matcher.Result))
			if w.order == nil { // nothing can match
				require.Zero(t, want)
				continue
			}
			for _, jumps := range []bool{false, true} {
				w.shared.Jumps = jumps
				s := w.searcher(x.b, &stop, matcher.WantCount)
				for v := range x.g.View(dyngraph.New).VerticesSeq() {
					s.FromRoot(w.order, dyngraph.New, v)
				}
				require.Equal(t, want, s.Found, "value orders from %d, jumps %t: %+v within %d", least, jumps, q.Edges,
					q.Within)
				narrowed += s.Narrowed()
			}
		}
		found += want
	})
}

// countWithin counts the matches of a tree, whose vertices are in the order of its edges, by trying all payments.
func countWithin(us []dyngraph.Update, q *matcher.Query) uint64 {
	images := make([]string, len(q.Vertices))
	var count func(edge int, least, most int64) uint64
	count = func(edge int, least, most int64) (n uint64) {
		if edge == len(q.Edges) {
			return 1
		}
		e := q.Edges[edge]
		v, before := edge+1, min(e.From, e.To)
		for i := range us {
			u := &us[i]
			at := [2]string{u.From, u.To}
			if e.From == v {
				slices.Reverse(at[:])
			}
			l, m := min(least, u.Attr.TS), max(most, u.Attr.TS)
			if m-l > q.Within || edge > 0 && at[0] != images[before] || at[0] == at[1] {
				continue
			}
			if edge == 0 {
				images[0] = at[0]
			}
			if !slices.Contains(images[:v], at[1]) {
				images[v] = at[1]
				n += count(edge+1, l, m)
			}
		}
		return n
	}
	return count(0, 1<<40, -1)
}
