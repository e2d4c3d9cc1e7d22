package condition

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"motifd/dyngraph/property"
)

// text prints a term as format does, with lengths of time as durations: duration('P1D') in place of 86400000. The forms
// that Key compares have numbers.
func (t *term) text(name func(Slot) string) string { return t.withSpans().format(name) }

// withSpans returns a copy in which constants that are lengths of time are marked: what is added to a time or a length
// of time, subtracted from one, or compared with a length.
func (t *term) withSpans() *term {
	c := *t
	c.args = make([]*term, len(t.args))
	for i, a := range t.args {
		c.args[i] = a.withSpans()
	}
	mark := func(i int, beside bool) {
		a := c.args[i]
		a.span = beside && a.isConstant() && a.value.Type().Kind == property.Int64 && IsDuration(a.value.Whole())
	}
	switch t.code {
	case add:
		mark(0, c.args[1].isTime() || c.args[1].isSpan())
		mark(1, c.args[0].isTime() || c.args[0].isSpan())
	case sub:
		mark(1, c.args[0].isTime() || c.args[0].isSpan())
	case compare:
		mark(0, c.args[1].isSpan())
		mark(1, c.args[0].isSpan())
	}
	return &c
}

// isTime reports whether a value is a point in time.
func (t *term) isTime() bool { return t.code < isTrue && t.typ.Kind == property.Timestamp }

// isSpan reports whether a value is a length of time.
func (t *term) isSpan() bool {
	switch t.code {
	case constant:
		return t.span
	case add:
		return t.args[0].isSpan() || t.args[1].isSpan()
	case sub:
		return t.args[0].isTime() && t.args[1].isTime() || t.args[0].isSpan()
	}
	return false
}

// early is 1980-01-01. A constant below it that a time is compared with was hardly meant to be a time.
const early = 3652 * 86_400_000

// EarlyTimes tells of each comparison of a time with a constant between the start of 1970 and that of 1980: as a rule a
// length of time, which wants a difference of times beside it. name names an element.
func (c *Condition) EarlyTimes(name func(Ref) string) []string {
	return c.root.earlyTimes(named(name), nil)
}

func (t *term) earlyTimes(name func(Slot) string, all []string) []string {
	for _, a := range t.args {
		all = a.earlyTimes(name, all)
	}
	if t.code != compare {
		return all
	}
	for _, a := range t.args {
		if !a.isConstant() || !a.isTime() {
			continue
		}
		if ms := a.value.Whole(); ms > 0 && ms < early {
			all = append(all, fmt.Sprintf("%s compares a time with %s; a length of time is compared with a "+
				"difference of times, as in u.ts - t.ts <= duration('%s')", t.format(name),
				time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.999Z"), FormatDuration(ms)))
		}
	}
	return all
}

// IsDuration reports whether FormatDuration writes a length of time: from 1 ms on, as long as ParseDuration counts it
// in thousandths of a millisecond.
func IsDuration(ms int64) bool { return ms > 0 && ms <= math.MaxInt64/1000 }

// FormatDuration writes such a length as ParseDuration reads it: P1D, PT1H30M, PT0.5S.
func FormatDuration(ms int64) string {
	var b strings.Builder
	b.WriteByte('P')
	part := func(length int64, unit byte) {
		if n := ms / length; n > 0 {
			b.WriteString(strconv.FormatInt(n, 10))
			b.WriteByte(unit)
		}
		ms %= length
	}
	part(86_400_000, 'D')
	if ms == 0 {
		return b.String()
	}
	b.WriteByte('T')
	part(3_600_000, 'H')
	part(60_000, 'M')
	if ms > 0 {
		b.WriteString(strconv.FormatFloat(float64(ms)/1000, 'f', -1, 64))
		b.WriteByte('S')
	}
	return b.String()
}
