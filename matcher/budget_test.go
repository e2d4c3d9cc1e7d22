package matcher_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/matcher"
)

// TestS11OneHubLeavesTimeToOthers: a hub with thousands of groups that never end takes twice the time of its query,
// little more, however many there are. A small group of the same query is still found, and so is the next query.
func TestS11OneHubLeavesTimeToOthers(t *testing.T) {
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
