package condition_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher/condition"
)

// TestLengthsOfTimeAreWrittenAsDurations holds what Format prints, and that it says the same: parsed again it has the
// same key.
func TestLengthsOfTimeAreWrittenAsDurations(test *testing.T) {
	for where, want := range map[string]string{
		"b.ts - a.ts <= 86400000":            "(b.ts - a.ts) <= duration('P1D')",
		"3600000 > b.ts - a.ts":              "duration('PT1H') > (b.ts - a.ts)",
		"b.ts <= a.ts + duration('PT36H')":   "b.ts <= (a.ts + duration('P1DT12H'))",
		"b.ts - 500 > a.ts":                  "(b.ts - duration('PT0.5S')) > a.ts",
		"b.ts - a.ts + 1000 < 90000":         "((b.ts - a.ts) + duration('PT1S')) < duration('PT1M30S')",
		"0 <= b.ts - a.ts":                   "0 <= (b.ts - a.ts)",
		"-5 <= b.ts - a.ts":                  "-5 <= (b.ts - a.ts)",
		"a.ts > 1700000000000":               "a.ts > 1700000000000",
		"b.ts - a.ts <= a.i":                 "(b.ts - a.ts) <= a.i",
		"a.i + 3600000 < b.i":                "(a.i + 3600000) < b.i",
		"b.ts - a.ts > 86400000 OR a.i > 86": "((b.ts - a.ts) > duration('P1D')) OR (a.i > 86)",
	} {
		all := parse(test, where)
		require.Len(test, all, 1, where)
		names := map[int]string{0: "a", 1: "b"}
		text := all[0].Format(func(r condition.Ref) string { return names[r.Index] })
		require.Equal(test, want, text, where)
		again := parse(test, text)
		require.Len(test, again, 1, text)
		require.Equal(test, all[0].Key(nil), again[0].Key(nil), text)
	}
}

// TestLengthsOfTimeThatTimesAreComparedWithAreTold: what is a time, or a difference of times, is not.
func TestLengthsOfTimeThatTimesAreComparedWithAreTold(test *testing.T) {
	names := map[int]string{0: "a", 1: "b"}
	for where, want := range map[string]string{
		"a.ts <= duration('PT1H')":       "a.ts <= 3600000 compares a time with 1970-01-01T01:00:00Z",
		"a.i = 3 OR NOT 86400000 < b.ts": "86400000 < b.ts compares a time with 1970-01-02T00:00:00Z",
		"a.ts - 1000 > 500":              "(a.ts - 1000) > 500 compares a time with 1970-01-01T00:00:00.5Z",
		"a.ts > 0":                       "",
		"a.ts > -5":                      "",
		"a.ts > 1700000000000":           "",
		"b.ts - a.ts <= 3600000":         "",
		"a.ts < b.ts AND b.ts <= a.ts + duration('P1D')": "",
		"a.i < 3600000": "",
	} {
		var got []string
		for _, c := range parse(test, where) {
			got = append(got, c.EarlyTimes(func(r condition.Ref) string { return names[r.Index] })...)
		}
		if want == "" {
			require.Empty(test, got, where)
			continue
		}
		require.Len(test, got, 1, where)
		require.Contains(test, got[0], want+"; a length of time is compared with a difference of times, as in "+
			"u.ts - t.ts <= duration('P", where)
	}
}

// TestDurationsAreReadAsWritten plays lengths up to the greatest that has thousandths of a second.
func TestDurationsAreReadAsWritten(test *testing.T) {
	for ms := int64(1); ms > 0 && ms <= math.MaxInt64/1000; ms = ms*3 + ms%7 {
		for _, n := range []int64{ms, ms / 1000 * 1000, ms / 3_600_000 * 3_600_000, ms / 86_400_000 * 86_400_000} {
			if n == 0 {
				continue
			}
			got, err := condition.ParseDuration(condition.FormatDuration(n))
			require.NoError(test, err, n)
			require.Equal(test, n, got)
		}
	}
}
