package matcher_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
)

// rehearsing is a Backend that searches what it is asked to rehearse.
type rehearsing struct {
	matcher.Backend
	rng  *rand.Rand
	fail bool
}

var errRehearsal = errors.New("no rehearsal")

// Capabilities implements matcher.Backend.
func (b *rehearsing) Capabilities() matcher.Capabilities {
	can := b.Backend.Capabilities()
	can.Rehearse = b.rehearse
	return can
}

func (b *rehearsing) rehearse(ctx context.Context, reqs []matcher.Request) (more bool, err error) {
	for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
		if b.rng.IntN(4) == 0 {
			continue
		}
		_, err := b.Search(ctx, sign, reqs, func(matcher.Group) error { return nil },
			func(int, uint32, matcher.Cause) (bool, error) { return true, nil })
		if err != nil {
			return false, err
		}
	}
	if b.fail {
		return false, errRehearsal
	}
	return b.rng.IntN(6) > 0, nil
}

// TestS7RehearsalsPutOutTheSame drives two engines through the same batches, one of which rehearses now and then
// between them, also when that fails: what they put out is the same, ids and all.
func TestS7RehearsalsPutOutTheSame(t *testing.T) {
	matchertest.ForSeeds(t, 15, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCase(rng, 4).With(func(q *matcher.Query) { randomModes(rng, q) })
		be := &rehearsing{Backend: newCPU(t, 1+rng.IntN(3), rng.IntN(3) == 0), rng: rng}
		plain, other := matchertest.NewDriver(t, c.Directed, newCPU(t, 1, false), plan.New()),
			matchertest.NewDriver(t, c.Directed, be, plan.New())
		for _, q := range c.Queries {
			plain.Register(q)
			other.Register(q)
		}
		// A graph that is large enough, beside that of the case.
		batches := append([][]dyngraph.Message{ring(rng, c.Labels)}, c.Batches...)
		for _, batch := range batches {
			if rng.IntN(3) > 0 {
				be.fail = rng.IntN(8) == 0
				n, err := other.Engine.Rehearse(t.Context())
				if err != nil && !errors.Is(err, errRehearsal) {
					t.Fatal(err)
				}
				if be.fail && n > 0 {
					t.Errorf("%d batches were rehearsed after one that failed", n)
				}
			}
			plain.Batch(batch)
			other.Batch(batch)
		}
		if diff := matchertest.Diff(plain.Transcript(), other.Transcript()); diff != "" {
			t.Fatalf("without against with rehearsals: %s", diff)
		}
		// The last one is sure to have a graph.
		be.fail = false
		n, err := other.Engine.Rehearse(t.Context())
		if wanted := slices.ContainsFunc(c.Queries,
			func(q *matcher.Query) bool { return q.Emit != matcher.EmitExists }); err != nil || (n > 0) != wanted {
			t.Fatalf("%d batches, %v", n, err)
		}
	})
}

// ring returns insertions of a ring and of as many chords.
func ring(rng *rand.Rand, l matchertest.Labels) (msgs []dyngraph.Message) {
	of := func(from []string) string {
		if len(from) == 0 {
			return ""
		}
		return from[rng.IntN(len(from))]
	}
	labels := make([]string, 20)
	for v := range labels {
		labels[v] = of(l.Vertex)
	}
	for v := range labels {
		for _, to := range []int{(v + 1) % len(labels), (v + 3) % len(labels)} {
			msgs = append(msgs, dyngraph.Message{
				Updates: []dyngraph.Update{{Op: dyngraph.InsertEdge, From: fmt.Sprint("ring", v), FromLabel: labels[v],
					To: fmt.Sprint("ring", to), ToLabel: labels[to], Label: of(l.Edge)}}})
		}
	}
	return msgs
}

// TestRehearsalsGrow: the batches of a rehearsal are of growing sizes, up to a quarter of the graph, and end when the
// backend has seen enough. A backend that cannot rehearse is not asked, and nor is one about a graph that is too
// small.
func TestRehearsalsGrow(t *testing.T) {
	w := newWorld(t, true)
	q := w.query("q", "MATCH (a:A)-[:T]->(b:B)")
	be := &sizes{Backend: newCPU(t, 1, false)}
	d := matchertest.NewDriver(t, true, be, plan.New())
	d.Register(q)
	be.most = 100
	rehearse := func(want ...int) {
		t.Helper()
		be.rehearsed = nil
		n, err := d.Engine.Rehearse(t.Context())
		if err != nil || n != len(want) || len(be.rehearsed) != n {
			t.Fatalf("%d batches, of %v net edges, %v; want %v", n, be.rehearsed, err, want)
		}
		for i, most := range want {
			if got := be.rehearsed[i]; got[0]+got[1] > most || min(got[0], got[1]) < most/8 {
				t.Errorf("batch %d has %d net edges, want about %d", i, got, most)
			}
		}
	}
	rehearse()
	var m dyngraph.Message
	for i := range 40 {
		for k := range 4 {
			m.Updates = append(m.Updates, dyngraph.Update{Op: dyngraph.InsertEdge, From: "a" + string(rune('A'+i)),
				FromLabel: "A", To: "b" + string(rune('A'+(i*7+k*3)%50)),
				ToLabel: "B", Label: "T"})
		}
	}
	d.Batch([]dyngraph.Message{m})
	be.most = 0
	rehearse() // it has no use for it
	be.most = 100
	rehearse(8, 8, 8, 32, 32, 32)
	be.most = 4
	rehearse(8, 8, 8, 32)
	if n, err := plainly(t, d.Engine.Graph()); n != 0 || err != nil {
		t.Errorf("a backend that cannot rehearse: %d batches, %v", n, err)
	}
}

// sizes is a Backend that notes how large batches are that it rehearses, up to so many of them.
type sizes struct {
	matcher.Backend
	staged    *dyngraph.Delta
	rehearsed [][2]int // deletions and insertions
	most      int
}

func (b *sizes) Stage(d *dyngraph.Delta) error {
	b.staged = d
	return b.Backend.Stage(d)
}

// Capabilities implements matcher.Backend.
func (b *sizes) Capabilities() (can matcher.Capabilities) {
	if b.most > 0 {
		can.Rehearse = b.rehearse
	}
	return can
}

func (b *sizes) rehearse(context.Context, []matcher.Request) (more bool, err error) {
	b.rehearsed = append(b.rehearsed, [2]int{b.staged.Deleted(), b.staged.Inserted()})
	return len(b.rehearsed) < b.most, nil
}

func plainly(t *testing.T, g *dyngraph.Graph) (int, error) {
	be := newCPU(t, 1, false)
	defer be.Close()
	if err := be.Load(g); err != nil {
		return 0, err
	}
	return matcher.Rehearse(t.Context(), g, be, []matcher.Request{{}})
}
