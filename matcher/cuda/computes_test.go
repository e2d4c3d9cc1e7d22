//go:build cuda || emu

package cuda_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/kernels"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/cuda"
	"motifd/matcher/matchertest"
	"motifd/matcher/pattern"
	"motifd/matcher/plan"
	"motifd/stream/tempfile"
)

// passing declares what the payments into and out of accounts are asked for: amounts, fees and flags; and accounts for
// their limits.
var passing = &property.Schema{
	Edges: property.Declarations{"T": {"n": {Kind: property.Int64}, "fee": {Kind: property.Decimal, Scale: 2},
		"cash": {Kind: property.Bool}, "ts": {Kind: property.Timestamp}}},
	Vertices: property.Declarations{"A": {"limit": {Kind: property.Int64}}},
}

// passingQuery returns the pattern of a payment into an account and one out of it, with a condition.
func passingQuery(t *testing.T, name, where string) *matcher.Query {
	t.Helper()
	r, err := pattern.ParseRule([]byte("MATCH (a:A)-[i:T]->(m:A)-[o:T]->(b:A) WHERE "+where),
		pattern.Options{Name: name, Directed: true}, pattern.Declared{Schema: passing})
	check(t, err)
	q := r.Query
	q.Version, q.Conditions = 1, r.Conditions
	return q
}

// values returns values by column; those that are not named are null.
func values(columns *property.Columns, label string, named map[string]property.Value) (all []property.Value) {
	all = make([]property.Value, len(columns.All()))
	for name, v := range named {
		column, _ := columns.Of(label, name)
		all[column] = v
	}
	return all
}

// payment holds the properties of a payment or an account that conditions read. A missing one is null.
type payment map[string]property.Value

// through returns the updates of a payment into an account of its own and one out of it.
func through(g *dyngraph.Graph, name string, in, out, account payment) dyngraph.Message {
	edge := func(from, to string, p payment) dyngraph.Update {
		u := dyngraph.Update{Op: dyngraph.InsertEdge, From: from + name, To: to + name, FromLabel: "A", ToLabel: "A",
			Label: "T"}
		if ts, ok := p["ts"]; ok {
			u.Attr.TS, u.Attr.HasTS = ts.Whole(), true
			p = payment{"n": p["n"], "fee": p["fee"], "cash": p["cash"]}
		}
		u.Attr.Values = values(g.Columns(), "T", p)
		return u
	}
	return dyngraph.Message{Updates: []dyngraph.Update{{Op: dyngraph.InsertVertex, Key: "m" + name, Label: "A",
		Attr: dyngraph.Attr{Values: values(g.VertexColumns(), "A", account)}}, edge("a", "m", in), edge("m", "b", out)}}
}

// computing returns a bench of a graph of passing with a device that notes its searches, and a CPU backend.
func computing(t *testing.T, rng *rand.Rand, queries []*matcher.Query, searches *int) (bench *matchertest.Bench, want,
	got matcher.Backend) {
	o := randomOptions(rng)
	o.Device = watched{newDevice(t, rng, o), func(kernel string) {
		if slices.Contains(kernels.Searches[:], kernel) {
			*searches++
		}
	}}
	o.CPU = cpu.Options{Threads: 2, TempFiles: tempfile.In(t.TempDir())}
	device := cuda.New(o)
	t.Cleanup(func() { check(t, device.Close()) })
	host := cpu.New(cpu.Options{Threads: 2, TempFiles: tempfile.In(t.TempDir())})
	graph := dyngraph.NewGraph(dyngraph.Options{Directed: true, Schema: passing})
	return matchertest.NewBenchOf(t, graph, plan.New(), queries, host, device), host, device
}

// TestS17DeviceComputesExactly plays known answers: sums and products beyond int64 are null, scales count, and unknown
// stays unknown under NOT.
func TestS17DeviceComputesExactly(t *testing.T) {
	n := func(x int64) payment { return payment{"n": property.Int(x)} }
	fee := func(units int64) payment { return payment{"fee": property.Units(units, 2)} }
	limit := func(x int64) payment { return payment{"limit": property.Int(x)} }
	cash := func(x bool) payment { return payment{"cash": property.Truth(x)} }
	ts := func(x int64) payment { return payment{"ts": property.Time(x)} }
	const most, least = math.MaxInt64, math.MinInt64
	matchertest.ForSeeds(t, 1, func(t *testing.T, rng *rand.Rand) {
		for where, cases := range map[string][]struct {
			in, out, account payment
			holds            bool
		}{
			"10 * o.n >= 9 * i.n": {{n(100), n(90), nil, true}, {n(100), n(89), nil, false},
				{n(most), n(1), nil, false}, {n(least), n(most), nil, false}, {n(most / 9), n(most / 10), nil, true},
				{nil, n(1), nil, false}},
			"i.n + o.n = m.limit": {{n(1), n(2), limit(3), true}, {n(most), n(1), limit(least), false},
				{n(most), n(least), limit(-1), true}, {n(1), n(2), nil, false}},
			"i.n + o.n - o.n = i.n": {{n(1), n(most), nil, false}, {n(0), n(most), nil, true}},
			"NOT i.n + o.n > m.limit": {{n(1), n(2), limit(3), true}, {n(1), n(2), limit(2), false},
				{n(most), n(1), limit(0), false}, {nil, n(1), limit(0), false}},
			"i.n < o.n OR m.limit IS NULL": {{n(1), n(2), limit(0), true}, {n(2), n(1), limit(0), false},
				{n(2), n(1), nil, true}, {nil, n(1), nil, true}, {nil, n(1), limit(0), false}},
			"i.fee = o.n": {{fee(1200), n(12), nil, true}, {fee(1201), n(12), nil, false},
				{fee(most), n(most/100 + 1), nil, false}},
			"i.fee + o.n > m.limit": {{fee(1), n(12), limit(12), true}, {fee(0), n(12), limit(12), false},
				{fee(1), n(most / 100), limit(0), true}, {fee(1), n(most/100 + 1), limit(0), false}},
			"-i.n = o.n": {{n(5), n(-5), nil, true}, {n(least), n(least), nil, false},
				{n(-most), n(most), nil, true}},
			"(i.n = 1) XOR (o.n = 1)": {{n(1), n(2), nil, true}, {n(1), n(1), nil, false}, {nil, n(1), nil, false}},
			"i.n - o.n IN [1, 3]": {{n(3), n(2), nil, true}, {n(4), n(2), nil, false},
				{n(most), n(-1), nil, false}},
			"i.cash = o.cash": {{cash(true), cash(true), nil, true}, {cash(true), cash(false), nil, false},
				{cash(true), nil, nil, false}},
			"o.ts - i.ts < m.limit": {{ts(1), ts(5), limit(5), true}, {ts(least), ts(5), limit(5), false}},
		} {
			searches := 0
			bench, _, device := computing(t, rng, []*matcher.Query{passingQuery(t, "q", where)}, &searches)
			for _, c := range cases {
				bench.Stage([]dyngraph.Message{through(bench.Graph, fmt.Sprint(rng.Uint64()), c.in, c.out, c.account)})
				for w := range matcher.WantAny + 1 {
					a := bench.Search(device, dyngraph.Inserted,
						bench.Requests(func(_ int, r *matcher.Request) { r.Want = w }))
					if got := !a.Results[0].Count.IsZero(); got != c.holds {
						t.Errorf("%s: %v with in %v, out %v, account %v", where, got, c.in, c.out, c.account)
					}
				}
				bench.Commit()
			}
			if searches < len(cases) {
				t.Errorf("%s: the device was not asked", where)
			}
		}
	})
}

// TestS17DeviceComputesAsTheCPU does the same with random numbers, near 0 and the ends of int64: the CPU and the device
// find the same payments.
func TestS17DeviceComputesAsTheCPU(t *testing.T) {
	asked := []string{"10 * o.n >= 9 * i.n", "i.n + o.n = m.limit", "i.n * o.n < m.limit + i.fee",
		"i.fee >= o.fee - m.limit",
		"NOT (i.n + m.limit > o.n OR i.fee < o.fee)", "i.n * o.n IS NULL", "i.n - o.n IN [0, 1, null]",
		"(i.n < o.n AND o.n < m.limit) OR (i.fee * 2 = o.fee * 2 AND m.limit IS NOT NULL)", "-i.n <> o.n",
		"(i.n + o.n) * (i.n - o.n) > (o.n - m.limit) * (i.n + m.limit)", "i.cash XOR o.cash", "i.ts + m.limit < o.ts"}
	held, missed := make([]int, len(asked)), make([]int, len(asked))
	all := func() bool { return slices.Min(held) > 0 && slices.Min(missed) > 0 }
	matchertest.ForSeedsUntil(t, rounds, all, func(t *testing.T, rng *rand.Rand) {
		var queries []*matcher.Query
		for i, where := range asked {
			queries = append(queries, passingQuery(t, fmt.Sprintf("q%02d", i), where))
		}
		searches := 0
		bench, want, got := computing(t, rng, queries, &searches)
		number := func() property.Value {
			if rng.IntN(6) == 0 {
				return property.Value{}
			}
			return property.Int(extreme(rng))
		}
		draw := func() payment {
			p := payment{"n": number(), "cash": property.Truth(rng.IntN(2) == 0)}
			if rng.IntN(6) > 0 {
				p["fee"] = property.Units(extreme(rng), 2)
			}
			if rng.IntN(6) > 0 {
				p["ts"] = property.Time(extreme(rng))
			}
			return p
		}
		const each = 40
		for batch := range 3 {
			var messages []dyngraph.Message
			for i := range each {
				messages = append(messages, through(bench.Graph, fmt.Sprint(batch, ".", i), draw(), draw(),
					payment{"limit": number()}))
			}
			bench.Stage(messages)
			requests := bench.Requests(func(_ int, r *matcher.Request) {})
			a := bench.Search(want, dyngraph.Inserted, requests)
			compareAnswers(t, bench, dyngraph.Inserted, requests, a, bench.Search(got, dyngraph.Inserted, requests))
			for i, r := range a.Results {
				if len(requests[i].Plan.NotOnGPU()) > 0 {
					t.Fatalf("%s: %v", asked[i], requests[i].Plan.NotOnGPU())
				}
				held[i] += int(r.Count.Lo)
				missed[i] += each - int(r.Count.Lo)
			}
			bench.Commit()
		}
		if searches == 0 {
			t.Error("the device was not asked")
		}
	})
}
