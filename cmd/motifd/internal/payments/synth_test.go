package payments

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
)

// cents reads an amount.
func cents(t *testing.T, p Payment) int64 {
	t.Helper()
	n, err := strconv.ParseInt(strings.Replace(p.Amount.String(), ".", "", 1), 10, 64)
	require.NoError(t, err)
	return n
}

// TestSynthIsDeterministic: equal options make equal payments and cases, another seed others.
func TestSynthIsDeterministic(t *testing.T) {
	play := func(seed uint64) (us []dyngraph.Update, cases []*Case) {
		s := NewSynth(SynthOptions{Seed: seed, Accounts: 300, Payments: 5000, Cases: 40})
		for u, ok := s.Next(); ok; u, ok = s.Next() {
			us = append(us, u)
		}
		return us, s.Cases()
	}
	us, cases := play(7)
	again, casesAgain := play(7)
	require.Equal(t, us, again)
	require.Equal(t, cases, casesAgain)
	other, _ := play(8)
	require.NotEqual(t, us, other)
}

// TestSynthStream: payments come in the order of their times within the span, with ids and amounts of their own, some
// between one pair; and each planted payment is one of the stream's.
func TestSynthStream(t *testing.T) {
	for _, opt := range []SynthOptions{{Seed: 1}, {Seed: 2, Cases: 9}, {Seed: 3, Payments: 100},
		{Seed: 4, Accounts: 2000, Payments: 20_000, Cases: 200, Span: 30 * 24 * hour}} {
		s := NewSynth(opt)
		seen, pairs, last := map[string]dyngraph.Update{}, map[[2]string]int{}, int64(Epoch)
		for u, ok := s.Next(); ok; u, ok = s.Next() {
			require.GreaterOrEqual(t, u.Attr.TS, last)
			last = u.Attr.TS
			require.NotEqual(t, u.From, u.To)
			require.Zero(t, seen[u.Attr.ID].Label, "two payments have one id")
			seen[u.Attr.ID] = u
			pairs[[2]string{u.From, u.To}]++
		}
		require.LessOrEqual(t, last, Epoch+max(opt.Span, minSpan))
		require.Len(t, s.Cases(), opt.Cases)
		planted := 0
		for _, c := range s.Cases() {
			for _, p := range c.Payments {
				u := seen[p.ID]
				require.Equal(t, [2]string{p.From, p.To}, [2]string{u.From, u.To})
				require.Equal(t, p.TS, u.Attr.TS)
				require.JSONEq(t, `{"amount":`+p.Amount.String()+`}`, string(u.Attr.Props))
				planted++
			}
		}
		require.Len(t, seen, opt.Payments+planted)
		if opt.Payments > 10_000 {
			require.Greater(t, len(seen)-len(pairs), len(seen)/20, "parallel payments")
		}
	}
}

// TestSynthCases: what is planted has the form of its typology, by who pays and is paid how often; rounds follow one
// another, what is passed on is less than what was received, and Fits says whether the case is quick and its sums are
// split below the threshold.
func TestSynthCases(t *testing.T) {
	s := NewSynth(SynthOptions{Seed: 5, Accounts: 1000, Cases: 800})
	for _, ok := s.Next(); ok; {
		_, ok = s.Next()
	}
	fits := map[Typology][2]int{}
	for _, c := range s.Cases() {
		in, out := map[string]int{}, map[string]int{}
		received := map[string]int64{}
		first := cents(t, c.Payments[0])
		for i, p := range c.Payments {
			if sum := received[p.From]; sum > 0 && c.Typology != Cycle {
				require.Less(t, cents(t, p), sum)
			}
			received[p.To] += cents(t, p)
			in[p.To]++
			out[p.From]++
			require.True(t, i == 0 || p.TS > c.Payments[i-1].TS)
		}
		span := c.Payments[len(c.Payments)-1].TS - c.Payments[0].TS
		require.Equal(t, c.Fits, span <= Within && first < 1_000_000, "%+v", c)
		n := len(c.Payments)
		var want string // (in, out) of the accounts
		switch c.Typology {
		case Cycle:
			want = strings.Repeat("1/1 ", n)
		case FanIn:
			want = strings.Repeat("0/1 ", n) + strconv.Itoa(n) + "/0 "
		case FanOut:
			want = "0/" + strconv.Itoa(n) + " " + strings.Repeat("1/0 ", n)
		case ScatterGather:
			k := strconv.Itoa(n / 2)
			want = "0/" + k + " " + strings.Repeat("1/1 ", n/2) + k + "/0 "
		case Random:
			want = "0/1 " + strings.Repeat("1/1 ", n-1) + "1/0 "
		case GatherScatter:
			payers := len(out) - 1 // beside the middle
			want = strings.Repeat("0/1 ", payers) + fmt.Sprintf("%d/%d ", payers, n-payers) +
				strings.Repeat("1/0 ", n-payers)
		case Bipartite:
			want = strings.Repeat("0/3 ", n/3) + strings.Repeat(strconv.Itoa(n/3)+"/0 ", 3)
		case Stack:
			k := n/2 - 2
			want = strings.Repeat("0/2 ", k) + strings.Repeat("2/0 ", 2) + strings.Repeat(strconv.Itoa(k)+"/2 ", 2)
		}
		var got, wanted []string
		accounts := map[string]bool{}
		for _, p := range c.Payments {
			accounts[p.From], accounts[p.To] = true, true
		}
		for a := range accounts {
			got = append(got, strconv.Itoa(in[a])+"/"+strconv.Itoa(out[a]))
		}
		wanted = strings.Fields(want)
		slices.Sort(got)
		slices.Sort(wanted)
		require.Equal(t, wanted, got, "%+v", c)
		f := fits[c.Typology]
		f[map[bool]int{true: 0, false: 1}[c.Fits]]++
		fits[c.Typology] = f
	}
	require.Len(t, fits, len(Typologies))
	for typology, n := range fits {
		require.True(t, n[0] > 20 && n[1] > 5, "%s: %v", typology, n)
	}
}

// TestTypologiesStayWhole: a structure's accounts are all used, and no payment of it is there twice.
func TestTypologiesStayWhole(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, typology := range Typologies {
		for range 50 {
			n, links := typology.draw(rng)
			used, pairs := map[int]bool{}, map[[2]int]bool{}
			for _, l := range links {
				used[l.from], used[l.to], pairs[[2]int{l.from, l.to}] = true, true, true
				require.NotEqual(t, l.from, l.to)
			}
			require.Len(t, used, n)
			require.Len(t, pairs, len(links))
		}
	}
}
