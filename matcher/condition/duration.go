package condition

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"motifd/dyngraph/property"
)

var errDuration = errors.New("is not a duration of fixed length as ISO 8601 writes it, such as PT24H, P30D or " +
	"PT1M30.5S")

// ParseDuration reads an ISO 8601 duration in weeks, days, hours, minutes and seconds, and returns milliseconds. A day
// has 24 hours. Years and months are refused, since their lengths differ. The last number may have a fraction; the
// whole must be a whole number of milliseconds.
func ParseDuration(s string) (int64, error) {
	bad := func() error { return fmt.Errorf("%s %w", short(s), errDuration) }
	rest, ok := strings.CutPrefix(s, "P")
	if !ok || rest == "" {
		return 0, bad()
	}
	total := property.Int(0)
	units, inTime := "WD", false
	lengths := map[byte]int64{'W': 604_800_000, 'D': 86_400_000, 'H': 3_600_000, 'M': 60_000, 'S': 1000}
	for fraction := false; rest != ""; {
		if rest[0] == 'T' && !inTime {
			rest, units, inTime = rest[1:], "HMS", true
			if rest == "" {
				return 0, bad()
			}
			continue
		}
		n := strings.IndexFunc(rest, func(c rune) bool { return (c < '0' || c > '9') && c != '.' })
		if n <= 0 || fraction || strings.IndexByte(units, rest[n]) < 0 {
			if n > 0 && !inTime && (rest[n] == 'Y' || rest[n] == 'M') {
				return 0, fmt.Errorf("%s is in years or months, whose lengths differ; write days: P30D", short(s))
			}
			return 0, bad()
		}
		number, unit := rest[:n], rest[n]
		fraction = strings.Contains(number, ".")
		units, rest = units[strings.IndexByte(units, unit)+1:], rest[n+1:]
		// Leading zeros are usual in ISO 8601 (PT08H), and no numbers of JSON.
		if trimmed := strings.TrimLeft(number, "0"); trimmed == "" || trimmed[0] == '.' {
			number = "0" + trimmed
		} else {
			number = trimmed
		}
		v, err := property.Number(number)
		if err != nil || !v.Type().Exact() {
			return 0, bad()
		}
		if total = property.Add(total, property.Mul(v, property.Int(lengths[unit]))); total.IsNull() {
			return 0, fmt.Errorf("%s is beyond 64 bits of milliseconds", short(s))
		}
	}
	whole, err := property.FromText(property.Type{Kind: property.Int64}, total.String())
	if err != nil {
		return 0, fmt.Errorf("%s is not a whole number of milliseconds", short(s))
	}
	return whole.Whole(), nil
}

// FormatSpan writes a span of milliseconds as a configuration reads it: 24h, 1h30m, 30d. Whole days from two on are
// written as days. Days stand in front, too, where a time.Duration, which ends after 292 years, does not hold it.
func FormatSpan(ms int64) string {
	const day = int64(24 * time.Hour / time.Millisecond)
	if ms >= 2*day && ms%day == 0 {
		return fmt.Sprintf("%dd", ms/day)
	}
	days := ""
	if ms > int64(math.MaxInt64/time.Millisecond) {
		days, ms = fmt.Sprintf("%dd", ms/day), ms%day
	}
	text := (time.Duration(ms) * time.Millisecond).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return days + text
}
