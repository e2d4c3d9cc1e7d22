package matcher_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/condition"
	"motifd/matcher/matchertest"
)

// randomDemand draws a resolved label and the data labels below 6 that satisfy it.
func randomDemand(rng *rand.Rand) (dyngraph.LabelID, []dyngraph.LabelID) {
	all := []dyngraph.LabelID{0, 1, 2, 3, 4, 5}
	if rng.IntN(6) == 0 {
		return matcher.AnyLabel, all
	}
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	all = all[:rng.IntN(len(all))]
	l := matcher.LabelSet(append(all, all...)...)
	slices.Sort(all)
	return l, all
}

// TestLabelSetsAgainstLists plays resolved labels against lists of data labels.
func TestLabelSetsAgainstLists(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		a, as := randomDemand(rng)
		b, bs := randomDemand(rng)
		var both []dyngraph.LabelID
		for l := range dyngraph.LabelID(6) {
			require.Equal(t, slices.Contains(as, l), matcher.LabelFits(a, l), "label %d in %v", l, as)
			if slices.Contains(as, l) && slices.Contains(bs, l) {
				both = append(both, l)
			}
		}
		if a != matcher.AnyLabel && b != matcher.AnyLabel {
			require.Equal(t, slices.Equal(as, bs), a == b, "%v and %v", as, bs)
			require.Equal(t, matcher.LabelSet(both...), matcher.CommonLabels(a, b), "%v and %v", as, bs)
		}
		require.Equal(t, a == matcher.AnyLabel || len(as) > 1, matcher.SeveralLabels(a), "%v", as)
		if a != matcher.UnknownLabel && b != matcher.UnknownLabel {
			require.Equal(t, len(both) > 0, matcher.LabelsMeet(a, b), "%v and %v", as, bs)
		}
		for _, l := range both {
			require.True(t, matcher.LabelFits(matcher.CommonLabels(a, b), l), "label %d of %v and %v", l, as, bs)
		}
	}
}

// TestLabelSetsAreTheSameForAll makes the same sets on several goroutines, while others read them.
func TestLabelSetsAreTheSameForAll(t *testing.T) {
	const sets = 200
	var all [4][sets]dyngraph.LabelID
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() {
			for k := range dyngraph.LabelID(sets) {
				all[i][k] = matcher.LabelSet(1000+k, 2000+k, 3000)
				want := []dyngraph.LabelID{1000 + k, 2000 + k, 3000}
				if set := matcher.Alternatives(all[i][k]); !slices.Equal(set, want) {
					t.Errorf("set %d is %v", k, set)
				}
			}
		})
	}
	wg.Wait()
	for i := range all {
		require.Equal(t, all[0], all[i])
	}
}

// TestS21AlternativesAreStored holds that a query with alternatives comes back from the checkpoint, that one without
// keeps the form that it had before there were any, and that alternatives have one form.
func TestS21AlternativesAreStored(t *testing.T) {
	vertex := func(v matcher.QueryVertex) *matcher.Query {
		v.Name = "a"
		return &matcher.Query{Name: "q", Vertices: []matcher.QueryVertex{v, {Name: "b", Label: "B"}},
			Edges: []matcher.QueryEdge{{Name: "e", From: 0, To: 1, AnyOf: []string{"S", "T"}}}}
	}
	q := vertex(matcher.QueryVertex{AnyOf: []string{"A", "B"}})
	require.NoError(t, q.Validate(true))
	text, err := json.Marshal(q)
	require.NoError(t, err)
	require.Contains(t, string(text), `"vertices":[{"name":"a","any_of":["A","B"]},{"name":"b","label":"B"}],`+
		`"edges":[{"name":"e","from":0,"to":1,"any_of":["S","T"]}]`)
	back := new(matcher.Query)
	require.NoError(t, json.Unmarshal(text, back))
	require.Equal(t, q, back)
	require.True(t, matcher.SameDefinition(q, back))
	back.Edges[0].AnyOf = []string{"S", "U"}
	require.False(t, matcher.SameDefinition(q, back))
	require.False(t, matcher.SameDefinition(q, vertex(matcher.QueryVertex{AnyOf: []string{"A", "C"}})))

	for want, v := range map[string]matcher.QueryVertex{
		`bad query "q": vertex "a" has the label "A" and alternatives; it has either`: {Label: "A",
			AnyOf: []string{"A", "B"}},
		`bad query "q": vertex "a" has the alternatives ["A"]; they are two labels at least, ascending and ` +
			`different`: {AnyOf: []string{"A"}},
		`bad query "q": vertex "a" has the alternatives ["B" "A"]; they are two labels at least, ascending and ` +
			`different`: {AnyOf: []string{"B", "A"}},
		`bad query "q": vertex "a" has the alternatives ["A" "A"]; they are two labels at least, ascending and ` +
			`different`: {AnyOf: []string{"A", "A"}},
		`bad query "q": vertex "a" has the alternatives ["" "A"]; they are two labels at least, ascending and ` +
			`different`: {AnyOf: []string{"", "A"}},
		`bad query "q": vertex "a" has the alternatives []; they are two labels at least, ascending and ` +
			`different`: {AnyOf: []string{}},
	} {
		err := vertex(v).Validate(true)
		require.ErrorIs(t, err, matcher.ErrQuery)
		require.EqualError(t, err, want)
	}
}

// TestS21APropertyHasOneTypeUnderAllAlternatives resolves conditions and windows where a label declares what the query
// reads, or not, or otherwise.
func TestS21APropertyHasOneTypeUnderAllAlternatives(t *testing.T) {
	decimal := property.Type{Kind: property.Decimal, Scale: 2}
	schema := &property.Schema{Edges: property.Declarations{"T": {"n": decimal, "ts": {Kind: property.Timestamp}},
		"U": {"n": decimal}, "V": {"n": {Kind: property.Int64}}}}
	for _, c := range []struct {
		anyOf  []string
		within int64
		want   string
	}{
		{anyOf: []string{"T", "U"}},
		{anyOf: []string{"T", "V"}, want: `it reads e.n as decimal(2), which graph.properties does not declare`},
		{anyOf: []string{"T", "W"}, want: `it reads e.n as decimal(2), which graph.properties does not declare`},
		{anyOf: []string{"T", "U"}, within: 1, want: `within reads the ts of edge "e", which is not declared for ` +
			`the label "U"; declare it: graph.properties.edges: {"U": {ts: timestamp}}`},
	} {
		q := &matcher.Query{Name: "q", Vertices: []matcher.QueryVertex{{Name: "a"}, {Name: "b"}}, Within: c.within,
			Edges: []matcher.QueryEdge{{Name: "e", From: 0, To: 1, Label: "T"}}}
		var err error
		q.Conditions, err = condition.Split(matchertest.ScopeOf(schema, q), &condition.Expr{Op: condition.OpIsNull,
			Args: []*condition.Expr{{Op: condition.OpProperty, Text: "e", Property: "n"}}})
		require.NoError(t, err)
		q.Edges[0].Label, q.Edges[0].AnyOf = "", c.anyOf
		_, err = q.Resolve(dyngraph.NewGraph(dyngraph.Options{Schema: schema}))
		if c.want == "" {
			require.NoError(t, err)
			continue
		}
		require.EqualError(t, err, `bad query "q": `+c.want)
	}
}
