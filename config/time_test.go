package config

import (
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/stream"
	"motifd/stream/eventtime"
)

func TestS20TimeOptions(t *testing.T) {
	c, err := load(t, sound+`
graph: {edge_identity: ends, retention: {TRANSFER: 30d, "*": 1d12h}, vertex_expiry: isolated}
time: {lateness: 1h, idle: 0s, max_expired: 7, late: report, max_ahead: 0}
`, nil)
	require.NoError(t, err)
	require.Equal(t, stream.TimeOptions{
		Retention: eventtime.Retention{{Label: "*", For: 129_600_000}, {Label: "TRANSFER", For: 2_592_000_000}},
		Lateness:  3_600_000, Idle: 1, MaxExpired: 7, ReportLate: true, Isolated: true,
	}, c.PipelineOptions().Time)

	c, err = load(t, sound, nil)
	require.NoError(t, err)
	o := c.PipelineOptions().Time
	require.Empty(t, o.Retention)
	require.Zero(t, o.MaxAhead, "where no edge expires, no time is refused")
}

func TestParseRetention(t *testing.T) {
	r, err := ParseRetention("TRANSFER=30d, *=1h")
	require.NoError(t, err)
	require.Equal(t, eventtime.Retention{{Label: "*", For: 3_600_000}, {Label: "TRANSFER", For: 2_592_000_000}}, r)
	for text, want := range map[string]string{
		"":        `"" is not LABEL=SPAN`,
		"30d":     `"30d" is not LABEL=SPAN`,
		"=30d":    `"=30d" is not LABEL=SPAN`,
		"A=0s":    `label "A": "0s" is not a span of time`,
		"A=1,B=2": `label "A": "1" is not a span of time`,
		"A=1d,":   `"" is not LABEL=SPAN`,
		"A=1,A=2": `label "A"`,
	} {
		_, err := ParseRetention(text)
		require.ErrorContains(t, err, want, text)
	}
	_, err = ParseRetention("A=1d,A=2d")
	require.EqualError(t, err, `the label "A" is given twice`)
}
