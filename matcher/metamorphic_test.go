package matcher_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
)

// TestS5RecutStreamsHaveTheSameSum cuts one stream, without its end, in different ways: the deltas sum to the same
// matches, and those are what there is in the end. Of subgraphs the orbits are compared, since representatives depend
// on when a key got its id.
func TestS5RecutStreamsHaveTheSameSum(t *testing.T) {
	matchertest.ForSeeds(t, 25, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCase(rng, 4).With(func(q *matcher.Query) { q.Unit = matcher.Unit(rng.IntN(2)) })
		c.Messages = c.Messages[:rng.IntN(len(c.Messages)+1)]
		oracle := matchertest.NewOracle(c.Directed, c.Queries)
		found, err := oracle.Step(c.Messages)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]int{}
		index := map[string]int{}
		for i, q := range c.Queries {
			index[q.Name] = i
			for _, name := range found[i].After {
				want[q.Name+" "+name] = 1
			}
		}
		for range 3 {
			d := matchertest.Run(t, c.Recut(rng), newCPU(t, 1+rng.IntN(2), false), plan.New())
			got := d.Net(func(query string, m matchertest.Match) string { return oracle.Name(index[query], m) })
			if diff := matchertest.Diff(lines(want), lines(got)); diff != "" {
				t.Fatalf("what there is against the sum: %s", diff)
			}
		}
	})
}

func lines(net map[string]int) []string {
	var all []string
	for name, n := range net {
		all = append(all, fmt.Sprint(name, " x", n))
	}
	slices.Sort(all)
	return all
}

// TestS5InsertAllDeleteAll sums every query over the whole stream, which deletes everything in the end: to nothing.
func TestS5InsertAllDeleteAll(t *testing.T) {
	matchertest.ForSeeds(t, 25, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCase(rng, 4).With(func(q *matcher.Query) { q.Emit = matcher.Emit(rng.IntN(2)) })
		d := matchertest.Run(t, c, newCPU(t, 1+rng.IntN(2), false), plan.New())
		if net := d.Net(func(_ string, m matchertest.Match) string { return m.String() }); len(net) > 0 {
			t.Fatalf("the deltas sum to %q", lines(net))
		}
		totals := map[string]int64{}
		for _, out := range d.Batches {
			for _, q := range out.Summary.Queries {
				totals[q.Query.Name] += int64(q.Positive.Lo) - int64(q.Negative.Lo)
			}
		}
		for name, total := range totals {
			if total != 0 {
				t.Fatalf("%s sums to %d", name, total)
			}
		}
		if n := d.Engine.Graph().Edges(); n != 0 {
			t.Fatalf("%d edges are left", n)
		}
	})
}

// TestS7KeysAndThreadsDoNotMatter gives the vertices other keys, and the backend other numbers of threads: ids, order
// and anchors stay.
func TestS7KeysAndThreadsDoNotMatter(t *testing.T) {
	matchertest.ForSeeds(t, 20, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCase(rng, 4).With(func(q *matcher.Query) { randomModes(rng, q) })
		ids := func(c *matchertest.Case, threads int, little bool) []string {
			var all []string
			for _, out := range matchertest.Run(t, c, newCPU(t, threads, little), plan.New()).Batches {
				for _, r := range out.Records {
					all = append(all, fmt.Sprint(out.Number, r.Index, r.Kind, r.Query, r.Sign, r.Snapshot, r.Count,
						r.Anchor, r.AnchorIDs, r.IDs))
				}
			}
			return all
		}
		want := ids(c, 1, false)
		for threads := 2; threads <= 4; threads++ {
			if diff := matchertest.Diff(want, ids(c, threads, threads == 3)); diff != "" {
				t.Fatalf("1 thread against %d: %s", threads, diff)
			}
		}
		renamed := c.Rename(func(key string) string {
			return strings.Repeat("z", 20-len(key)) + key[1:] + "\x00é"
		})
		if diff := matchertest.Diff(want, ids(renamed, 1, false)); diff != "" {
			t.Fatalf("with other keys: %s", diff)
		}
	})
}

// perBatch runs the case and returns, by batch, query and sign, the number of records and the number that the first
// record says.
func perBatch(t *testing.T, c *matchertest.Case) (records map[string]int, counted map[string]matcher.Count) {
	t.Helper()
	records, counted = map[string]int{}, map[string]matcher.Count{}
	for _, out := range matchertest.Run(t, c, newCPU(t, 2, false), plan.New()).Batches {
		for _, r := range out.Records {
			key := fmt.Sprintf("batch %d, %s, sign %d", out.Number, r.Query, r.Sign)
			records[key]++
			counted[key] = r.Count
		}
	}
	return records, counted
}

// TestS12CountsEqualDeltas runs the same case with every query in every emit mode.
func TestS12CountsEqualDeltas(t *testing.T) {
	matchertest.ForSeeds(t, 25, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCase(rng, 4).With(func(q *matcher.Query) { q.Unit = matcher.Unit(rng.IntN(2)) })
		deltas, _ := perBatch(t, c)
		_, counts := perBatch(t, c.With(func(q *matcher.Query) { q.Emit = matcher.EmitCounts }))
		exists, _ := perBatch(t, c.With(func(q *matcher.Query) { q.Emit = matcher.EmitExists }))
		if len(deltas) != len(counts) {
			t.Fatalf("%d groups of deltas, %d counts", len(deltas), len(counts))
		}
		for key, n := range deltas {
			if counts[key] != matcher.CountOf(uint64(n)) {
				t.Fatalf("%s: %d deltas, counted %v", key, n, counts[key])
			}
		}
		present := map[string]int{}
		for i := range len(c.Queries) + len(c.Batches) {
			for _, q := range c.Queries {
				minus := fmt.Sprintf("batch %d, %s, sign %d", i+1, q.Name, dyngraph.Deleted)
				plus := fmt.Sprintf("batch %d, %s, sign %d", i+1, q.Name, dyngraph.Inserted)
				before := present[q.Name]
				after := before + deltas[plus] - deltas[minus]
				present[q.Name] = after
				if (exists[plus] == 1) != (before == 0 && after > 0) ||
					(exists[minus] == 1) != (before > 0 && after == 0) {
					t.Fatalf("batch %d, %s: from %d to %d matches with %d and %d transitions", i+1, q.Name, before,
						after,
						exists[plus], exists[minus])
				}
			}
		}
	})
}

// TestS4SubgraphsTimesOrbitEqualsEmbeddings compares the units: each orbit has as many embeddings as the pattern has
// automorphisms, all in the group of the same anchor.
func TestS4SubgraphsTimesOrbitEqualsEmbeddings(t *testing.T) {
	matchertest.ForSeeds(t, 25, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCase(rng, 4)
		groups := make([][]matchertest.Automorphism, len(c.Queries))
		index := map[string]int{}
		for i, q := range c.Queries {
			groups[i], index[q.Name] = matchertest.Automorphisms(q), i
		}
		orbits := func(unit matcher.Unit) map[string]int {
			found := map[string]int{}
			d := matchertest.Run(t, c.With(func(q *matcher.Query) { q.Unit = unit }), newCPU(t, 2, false), plan.New())
			for _, out := range d.Batches {
				for _, r := range out.Records {
					found[fmt.Sprint(out.Number, r.Query, r.Sign, r.AnchorIDs,
						matchertest.Orbit(groups[index[r.Query]], r.Match))]++
				}
			}
			return found
		}
		embeddings, subgraphs := orbits(matcher.Embeddings), orbits(matcher.Subgraphs)
		if len(embeddings) != len(subgraphs) {
			t.Fatalf("%d orbits of embeddings, %d subgraphs", len(embeddings), len(subgraphs))
		}
		for i, q := range c.Queries {
			p, err := plan.New().Plan(q, dyngraph.NewGraph(dyngraph.Options{Directed: c.Directed}))
			if err != nil {
				t.Fatal(err)
			}
			if p.Automorphisms != matcher.CountOf(uint64(len(groups[i]))) {
				t.Fatalf("%+v %+v: the plan has %v automorphisms, there are %d", q.Vertices, q.Edges, p.Automorphisms,
					len(groups[i]))
			}
		}
		for orbit, n := range subgraphs {
			query := orbit[strings.Index(orbit, "q"):][:3]
			if want := len(groups[index[query]]); n != 1 || embeddings[orbit] != want {
				t.Fatalf("%s: %d subgraphs, %d embeddings, %d automorphisms", orbit, n, embeddings[orbit], want)
			}
		}
	})
}

// TestS11CapsArePrefixes runs the same case with and without caps: what is put out of each query, batch and sign is a
// prefix, and exact totals are exact.
func TestS11CapsArePrefixes(t *testing.T) {
	matchertest.ForSeeds(t, 25, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCase(rng, 4).With(func(q *matcher.Query) {
			q.Unit, q.Backfill = matcher.Unit(rng.IntN(2)), matcher.BackfillFull
		})
		capped := c.With(func(q *matcher.Query) { q.MaxMatches, q.ExactTotal = 1+rng.Uint64N(5), rng.IntN(2) == 0 })
		run := func(c *matchertest.Case) *matchertest.Driver {
			d := matchertest.NewDriver(t, c.Directed, newCPU(t, 1+rng.IntN(3), rng.IntN(2) == 0), plan.New())
			half := len(c.Batches) / 2
			for i, batch := range c.Batches {
				if i == half {
					for _, q := range c.Queries {
						d.Register(q)
					}
				}
				d.Batch(batch)
			}
			return d
		}
		full, cut := run(c), run(capped)
		for n, out := range cut.Batches {
			all := full.Batches[n]
			for _, q := range capped.Queries {
				truncated, total := false, map[dyngraph.Sign]uint64{}
				for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
					want, got := of(all, q, sign), of(out, q, sign)
					total[sign] = uint64(len(want))
					if sign == dyngraph.Inserted && uint64(len(want)) > q.MaxMatches { // negatives are never cut

						want, truncated = want[:q.MaxMatches], true
						if !q.ExactTotal {
							total[sign] = q.MaxMatches
						}
					}
					if len(got) != len(want) {
						t.Fatalf("batch %d, %s, sign %d: %d records of %d, cap %d", n, q.Name, sign, len(got),
							total[sign], q.MaxMatches)
					}
					for i := range got {
						if got[i].LossySince = 0; got[i].Line() != want[i].Line() {
							t.Fatalf("batch %d, %s, sign %d, record %d:\n%s\n%s", n, q.Name, sign, i, want[i].Line(),
								got[i].Line())
						}
					}
				}
				checkSummary(t, out, q, total, truncated)
			}
		}
	})
}

func checkSummary(t *testing.T, out *matchertest.Output, q *matcher.Query, total map[dyngraph.Sign]uint64,
	truncated bool) {
	t.Helper()
	var s matcher.QuerySummary
	for _, x := range out.Summary.Queries {
		if x.Query.Name == q.Name {
			s = x
		}
	}
	if s.Truncated != truncated || s.Negative != matcher.CountOf(total[dyngraph.Deleted]) ||
		s.Positive != matcher.CountOf(total[dyngraph.Inserted]) {
		t.Fatalf("batch %d, %s: truncated %v, totals %v, but the summary says %+v", out.Number, q.Name, truncated,
			total, s)
	}
}

// TestA5QueriesDoNotDisturbEachOther runs each query alone and all together: filters are shared, results are not.
func TestA5QueriesDoNotDisturbEachOther(t *testing.T) {
	matchertest.ForSeeds(t, 15, func(t *testing.T, rng *rand.Rand) {
		c := matchertest.RandomCase(rng, 5).With(func(q *matcher.Query) { q.Unit = matcher.Unit(rng.IntN(2)) })
		together := matchertest.Run(t, c, newCPU(t, 2, false), plan.New())
		for i, q := range c.Queries {
			alone := *c
			alone.Queries = c.Queries[i : i+1]
			var want, got []string
			for _, out := range matchertest.Run(t, &alone, newCPU(t, 1, false), plan.New()).Batches[1:] {
				for _, r := range out.Records {
					want = append(want, fmt.Sprint(r.Line(), r.IDs))
				}
			}
			for _, out := range together.Batches[len(c.Queries):] {
				for _, r := range out.Records {
					if r.Query == q.Name {
						got = append(got, fmt.Sprint(r.Line(), r.IDs))
					}
				}
			}
			if diff := matchertest.Diff(want, got); diff != "" {
				t.Fatalf("alone against together: %s", diff)
			}
		}
	})
}
