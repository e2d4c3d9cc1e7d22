package matcher_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/matchertest"
)

// TestManyThresholds has many rules with conditions on one property, in batches of many payments: an update is looked
// up among them (DESIGN A21). They put out what the reference does.
func TestManyThresholds(t *testing.T) {
	found, revised := 0, 0
	seen := func() bool { return found > 100 && revised > 0 }
	matchertest.ForSeedsUntil(t, 4, seen, func(t *testing.T, rng *rand.Rand) {
		schema := &property.Schema{Edges: property.Declarations{"T": {"n": {Kind: property.Int64},
			"m": {Kind: property.Int64}}}}
		w := newWorldOf(t, true, schema)
		for i := range 24 {
			where := ""
			for k, e := range []string{"t", "u"} {
				name := []string{"n", "n", "m"}[rng.IntN(3)]
				relation := []string{"<", ">", "=", ">=", "<>"}[rng.IntN(5)]
				text := fmt.Sprintf("%s.%s %s %d", e, name, relation, rng.IntN(20))
				if rng.IntN(4) == 0 {
					text = fmt.Sprintf("%d <= %s.%s < %d", rng.IntN(8), e, name, 9+rng.IntN(9))
				}
				if k > 0 {
					where += " AND "
				}
				where += text
			}
			if i%8 == 0 {
				where = "t.n < u.n" // no condition on one payment alone
			}
			mode := [](func(*matcher.Query)){func(*matcher.Query) {}, counts, exists}[rng.IntN(6)/2%3]
			q := w.query(fmt.Sprintf("q%02d", i), "MATCH (a)-[t:T]->(b)-[u:T]->(c) WHERE "+where, mode)
			w.cpu.Register(q)
			w.other.Register(q)
		}
		ids := map[string]bool{}
		for range 4 {
			var msgs []dyngraph.Message
			for range 30 {
				from := rng.IntN(12)
				u := dyngraph.Update{Op: dyngraph.InsertEdge, From: fmt.Sprint(from),
					To: fmt.Sprint((from + 1 + rng.IntN(11)) % 12), Label: "T"}
				id := u.From + ">" + u.To
				u.Attr.Values = []property.Value{property.Int(rng.Int64N(20)), property.Int(rng.Int64N(20))}
				if ids[id] {
					revised++
					if rng.IntN(2) == 0 {
						u.Op, u.Attr.Values = dyngraph.DeleteEdge, nil
					}
				}
				ids[id] = u.Op == dyngraph.InsertEdge
				msgs = append(msgs, dyngraph.Message{Updates: []dyngraph.Update{u}})
			}
			lines := func(d *matchertest.Driver) (lines []string) {
				d.Batch(slices.Clone(msgs))
				o := d.Batches[len(d.Batches)-1]
				for i := range o.Records {
					lines = append(lines, o.Records[i].Line())
				}
				return lines
			}
			want, got := lines(w.other), lines(w.cpu)
			found += len(want)
			if diff := matchertest.Diff(want, got); diff != "" {
				t.Fatalf("reference against cpu: %s", diff)
			}
		}
	})
}
