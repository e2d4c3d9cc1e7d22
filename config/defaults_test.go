package config

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/matcher"
)

func TestDefaultsAreSound(t *testing.T) {
	c, err := load(t, sound, nil)
	require.NoError(t, err)
	require.True(t, c.Graph.Directed)
	require.Equal(t, "json", c.Input.Format)
	require.Equal(t, "127.0.0.1:7475", c.Admin.Listen)
	require.False(t, c.Admin.PProf)
}

// TestProtectionIsOnByDefault holds that what keeps one query, one account, or one mistake from stopping the daemon or
// losing data is there without configuration.
func TestProtectionIsOnByDefault(t *testing.T) {
	c, err := Load(LoadOptions{Set: []string{"input.kafka.brokers=k:1", "input.kafka.topic=in",
		"output.kafka.topic=out", "checkpoint.dir=d"}})
	require.NoError(t, err)
	l := c.Engine.Limits
	require.Positive(t, l.GroupMatches)
	require.Positive(t, l.QueryMatches)
	require.Positive(t, l.QueryOutput)
	require.Positive(t, l.QueryTime)
	require.Positive(t, l.BatchTime)
	require.Positive(t, l.SpillBytes)
	q, err := (&Query{Name: "q", Cypher: "MATCH (a)-->(b)"}).Build(true, "changelog", nil)
	require.NoError(t, err)
	require.Equal(t, matcher.SkipGroup, q.OverBudget)
	require.False(t, q.Shadow)
	a := c.Admin
	for _, bound := range []int64{int64(a.StepTimeout), int64(a.MaxQueries), int64(a.MaxPatternBytes),
		int64(a.MaxRequestsPerSecond), int64(a.MaxBackfill), int64(a.CountTime), int64(c.StopTimeout)} {
		require.Positive(t, bound)
	}
	require.Equal(t, "on", c.Output.Kafka.Transactions)
	require.Equal(t, "timestamp", c.Input.Kafka.Merge)
	require.Equal(t, "stop", c.Input.Kafka.OnDataLoss)
	require.Equal(t, 24*time.Hour, c.Checkpoint.Retention.Time.Std())
	require.Equal(t, OnMaxEdgesPause, c.Graph.OnMaxEdges)
	require.Positive(t, c.Input.Limits.MaxExpansion)
	file, err := load(t, sound, nil)
	require.NoError(t, err)
	require.Equal(t, "stop", file.Input.File.OnDamage)
}

// TestZeroIsNoDefault holds that a field that is set to 0 does not get the default of what it configures.
func TestZeroIsNoDefault(t *testing.T) {
	c, err := load(t, sound+"batch: {linger: 0s}\nstop_timeout: 0s\n", nil, "input.limits.max_dead_letter_bytes=0")
	require.NoError(t, err)
	o := c.PipelineOptions()
	o.EnsureDefaults()
	require.Less(t, o.Batch.Linger, time.Millisecond)
	require.Negative(t, o.StopTimeout)
	require.Negative(t, o.DeadLetterBytes)
}
