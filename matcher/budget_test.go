package matcher_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/matcher"
	"motifd/matcher/matchertest"
)

// TestS11OneHubLeavesTimeToOthers: a hub with thousands of groups that never end takes twice the time of its query,
// little more, however many there are. A small group of the same query is still found, and so is the next query.
func TestS11OneHubLeavesTimeToOthers(t *testing.T) {
	matchertest.NotUnderRace(t, "it has one goroutine")
	limits := matcher.Limits{QueryTime: time.Minute, BatchTime: 5 * time.Minute}
	batch := matcher.NewBatchBudget(limits)
	batch.Arm()
	hub := matcher.NewBudget(limits, 0, batch)
	const poll = int64(100 * time.Microsecond)
	var m matcher.Meter
	spent := time.Duration(0)
	for range 5000 {
		require.Equal(t, matcher.NoCause, m.Begin(hub, false))
		for more := true; more; spent += time.Duration(poll) {
			more = m.Spend(1, 1, poll)
		}
		require.Equal(t, matcher.CauseTime, m.Over())
	}
	require.Less(t, spent, 5*limits.QueryTime/2)
	for _, b := range []*matcher.Budget{hub, matcher.NewBudget(limits, 0, batch)} {
		require.Equal(t, matcher.NoCause, m.Begin(b, false))
		require.True(t, m.Spend(1, 1, poll))
		require.GreaterOrEqual(t, b.Patience(), time.Duration(poll))
	}
}

// TestS11OneHubLeavesRoomToOthers: a hub whose groups have many matches gets twice its query's matches, little more,
// however many groups there are. Its small groups are still found, and so is the next query; a cap bounds otherwise.
func TestS11OneHubLeavesRoomToOthers(t *testing.T) {
	matchertest.NotUnderRace(t, "it has one goroutine")
	limits := matcher.Limits{Matches: 50_000, QueryMatches: 1_000_000}
	batch := matcher.NewBatchBudget(limits)
	batch.Arm()
	hub, other := matcher.NewBudget(limits, 0, batch), matcher.NewBudget(limits, 0, batch)
	var m matcher.Meter
	written, skipped := 0, 0
	for range 5000 {
		require.Equal(t, matcher.NoCause, m.Begin(hub, false))
		found := 0
		for found < 40_000 && m.Spend(1, 10, 1) {
			found += 10
		}
		if m.Over() == matcher.NoCause {
			written += found
		} else {
			require.Equal(t, matcher.CauseQuery, m.Over())
			skipped++
		}
	}
	require.Positive(t, skipped)
	require.Equal(t, 1_000_000, written)
	require.Equal(t, matcher.CauseQuery, hub.Beyond(40_000))
	require.Equal(t, matcher.NoCause, other.Beyond(40_000))
	require.Equal(t, matcher.CauseMatches, other.Beyond(50_001))
	for _, b := range []*matcher.Budget{hub, other} {
		require.Equal(t, matcher.NoCause, m.Begin(b, false))
		require.True(t, m.Spend(1, 10, 1))
	}
	require.Equal(t, matcher.NoCause, m.Begin(hub, true))
	require.True(t, m.Spend(1, 40_000, 1), "a group with a cap")
	other.AddMatches(1_000_000)
	require.Equal(t, matcher.CauseQuery, other.Beyond(40_000), "what a device has found is counted, too")
}
