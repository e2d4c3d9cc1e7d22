package monitor_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/reference"
	"motifd/stream/monitor"
)

// pair is a Monitor as a user opens it, one over the reference matcher, and the oracle, which knows no ids.
type pair struct {
	t          *testing.T
	fast, slow *monitor.Monitor
	oracle     *matchertest.Oracle
	last       uint64 // batch
}

type receiver = func(*matcher.Event) error

// both has the two Monitors do something that is one batch. They must put out the same, with the next numbers.
func (p *pair) both(do func(m *monitor.Monitor, emit receiver) (*matcher.Summary, error)) (deltas []monitor.Delta) {
	var want []monitor.Delta
	p.last++
	for _, m := range []struct {
		*monitor.Monitor
		into *[]monitor.Delta
	}{{p.fast, &deltas}, {p.slow, &want}} {
		sum, err := do(m.Monitor, monitor.Each(func(d monitor.Delta) error {
			require.Equal(p.t, p.last, d.Batch)
			require.EqualValues(p.t, len(*m.into), d.Index)
			*m.into = append(*m.into, d)
			return nil
		}))
		require.NoError(p.t, err)
		require.Equal(p.t, p.last, sum.Number)
		require.EqualValues(p.t, len(*m.into), sum.Records)
	}
	require.Equal(p.t, want, deltas)
	return deltas
}

// refused has both Monitors refuse updates as one batch.
func (p *pair) refused(updates []dyngraph.Update) {
	for _, m := range []*monitor.Monitor{p.fast, p.slow} {
		var bad *dyngraph.UpdateError
		_, err := m.Apply(p.t.Context(), updates, func(*matcher.Event) error {
			p.t.Error("a refused batch puts something out")
			return nil
		})
		require.ErrorAs(p.t, err, &bad)
	}
}

// matchOf returns the match of a result as the oracle has it.
func matchOf(t *testing.T, d monitor.Delta) (m matchertest.Match) {
	labels := map[string]string{}
	for _, v := range d.Vertices {
		labels[v.Key] = v.Label
		m.Vertices = append(m.Vertices, matchertest.Vertex{Key: v.Key, Label: v.Label})
		require.Equal(t, v.Key, d.Key(v.Name))
	}
	for _, e := range d.Edges {
		m.Edges = append(m.Edges, matchertest.Edge{
			From: matchertest.Vertex{Key: e.From, Label: labels[e.From]},
			To:   matchertest.Vertex{Key: e.To, Label: labels[e.To]}, Label: e.Label,
		})
	}
	return m
}

// check compares what one query puts out under one sign with what the oracle says: the matches that change, and how
// many there were and are.
func (p *pair) check(i int, q *matcher.Query, deltas []monitor.Delta, names []string, from, to int) {
	switch q.Emit {
	case matcher.EmitDeltas:
		var got []string
		for _, d := range deltas {
			got = append(got, p.oracle.Name(i, matchOf(p.t, d)))
		}
		slices.Sort(got)
		require.Equal(p.t, len(names), len(got))
		require.Empty(p.t, matchertest.Diff(names, got))
	case matcher.EmitCounts:
		n := matcher.Count{}
		for _, d := range deltas {
			n = n.Add(d.Count)
		}
		require.Equal(p.t, matcher.CountOf(uint64(len(names))), n)
	case matcher.EmitExists:
		want := 0
		if from == 0 && to > 0 && len(names) > 0 {
			want = 1
		}
		require.Len(p.t, deltas, want)
	}
}

// of returns the results of one query and sign.
func of(deltas []monitor.Delta, q *matcher.Query, sign dyngraph.Sign) (out []monitor.Delta) {
	for _, d := range deltas {
		if d.Query == q.Name && d.Sign == sign {
			out = append(out, d)
		}
	}
	return out
}

// TestP1MonitorEqualsRecomputation plays random streams. Queries of every unit and emit mode come and go, and batches
// with a bad update are refused whole. Both Monitors agree with each other in every field, and with the oracle on keys
// and labels, anchors and counts.
func TestP1MonitorEqualsRecomputation(t *testing.T) {
	refused, negative := 0, 0
	seen := func() bool { return refused > 0 && negative > 0 }
	matchertest.ForSeedsUntil(t, 12, seen, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCase(rng, 4).With(func(q *matcher.Query) {
			q.Unit, q.Backfill = matcher.Unit(rng.IntN(2)), matcher.Backfill(rng.IntN(2))
			q.Emit = []matcher.Emit{matcher.EmitDeltas, matcher.EmitDeltas, matcher.EmitCounts,
				matcher.EmitExists}[rng.IntN(4)]
		})
		c.Queries = slices.DeleteFunc(c.Queries,
			func(q *matcher.Query) bool { return q.CheckCompeting(c.Directed) != nil })
		p := &pair{t: t, oracle: matchertest.NewOracle(c.Directed, c.Queries)}
		var err error
		p.fast, err = monitor.Open(monitor.Options{Undirected: !c.Directed, Threads: rng.IntN(3), TempDir: t.TempDir()})
		require.NoError(t, err)
		defer func() { require.NoError(t, p.fast.Close()) }()
		p.slow, err = monitor.Open(monitor.Options{Undirected: !c.Directed, Backend: reference.New()})
		require.NoError(t, err)
		defer func() { require.NoError(t, p.slow.Close()) }()
		there := make([]bool, len(c.Queries))
		found := make([]matchertest.Found, len(c.Queries))
		known := map[string]string{} // names of announced matches, by id
		for _, batch := range c.Batches {
			for i, q := range c.Queries {
				switch {
				case !there[i] && rng.IntN(2) == 0:
					there[i] = true
					deltas := p.both(func(m *monitor.Monitor, emit receiver) (*matcher.Summary, error) {
						return m.Add(t.Context(), q, emit)
					})
					all := found[i].After
					if q.Backfill == matcher.BackfillNone {
						all = nil
					}
					p.check(i, q, deltas, all, 0, len(all))
					for _, d := range deltas {
						require.True(t, d.Snapshot)
						require.Equal(t, "+", d.Op())
						require.Nil(t, d.Anchor)
						if q.Emit == matcher.EmitDeltas {
							known[d.ID] = p.oracle.Name(i, matchOf(t, d))
						}
					}
					n, err := p.fast.Count(t.Context(), q)
					require.NoError(t, err)
					require.Equal(t, matcher.CountOf(uint64(len(found[i].After))), n)
				case there[i] && rng.IntN(8) == 0:
					there[i] = false
					require.Empty(t, p.both(func(m *monitor.Monitor, _ receiver) (*matcher.Summary, error) {
						return m.Remove(t.Context(), q.Name)
					}))
				}
			}
			var all, good []dyngraph.Update
			trial := p.oracle.Graph.Clone()
			for _, msg := range batch {
				all = append(all, msg.Updates...)
				if trial.Accept(msg) {
					good = append(good, msg.Updates...)
				}
			}
			if len(good) < len(all) && !p.oracle.Graph.Clone().Accept(dyngraph.Message{Updates: all}) {
				refused++
				p.refused(all)
			}
			found, err = p.oracle.Step([]dyngraph.Message{{Updates: good}})
			require.NoError(t, err)
			require.Empty(t, p.oracle.Last.Refused)
			deltas := p.both(func(m *monitor.Monitor, emit receiver) (*matcher.Summary, error) {
				return m.Apply(t.Context(), good, emit)
			})
			n := 0
			for i, q := range c.Queries {
				if !there[i] {
					continue
				}
				f := &found[i]
				gone, come := of(deltas, q, dyngraph.Deleted), of(deltas, q, dyngraph.Inserted)
				p.check(i, q, gone, f.Negative, len(f.After), len(f.Before))
				p.check(i, q, come, f.Positive, len(f.Before), len(f.After))
				n += len(gone) + len(come)
				for _, d := range slices.Concat(gone, come) {
					require.False(t, d.Snapshot)
					if q.Emit != matcher.EmitDeltas {
						require.Empty(t, d.ID)
						continue
					}
					name := p.oracle.Name(i, matchOf(t, d))
					require.Equal(t, &p.oracle.Last.Updates[f.Anchor[d.Op()+name]], d.Anchor)
					if d.Op() == "-" {
						negative++
						if was, ok := known[d.ID]; ok {
							require.Equal(t, was, name)
						}
						delete(known, d.ID)
						continue
					}
					require.NotContains(t, known, d.ID)
					known[d.ID] = name
				}
			}
			require.Len(t, deltas, n)
		}
	})
}
