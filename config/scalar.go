package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Size is a number of bytes, written as an integer or with a unit: 512KiB, 8MiB, 1GiB.
type Size int64

// The units of Size.
const (
	KiB Size = 1 << 10
	MiB Size = 1 << 20
	GiB Size = 1 << 30
	TiB Size = 1 << 40
)

var sizeUnits = []struct {
	suffix string
	size   Size
}{{"KiB", KiB}, {"MiB", MiB}, {"GiB", GiB}, {"TiB", TiB}, {"B", 1}}

// UnmarshalText reads a size.
func (s *Size) UnmarshalText(text []byte) error {
	word, unit := strings.TrimSpace(string(text)), Size(1)
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(word, u.suffix); ok {
			word, unit = strings.TrimSpace(rest), u.size
			break
		}
	}
	n, err := strconv.ParseInt(word, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/int64(unit) {
		return fmt.Errorf("%q is not a size; write bytes as an integer, or with a unit: 512KiB, 8MiB, 1GiB", text)
	}
	*s = Size(n) * unit
	return nil
}

// String writes the size with the largest unit that divides it.
func (s Size) String() string {
	for _, u := range []struct {
		suffix string
		size   Size
	}{{"TiB", TiB}, {"GiB", GiB}, {"MiB", MiB}, {"KiB", KiB}} {
		if s != 0 && s%u.size == 0 {
			return fmt.Sprintf("%d%s", s/u.size, u.suffix)
		}
	}
	return strconv.FormatInt(int64(s), 10)
}

// Duration is a span of time, written with a unit: 50ms, 2s, 1m30s.
type Duration time.Duration

// UnmarshalText reads a duration.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(strings.TrimSpace(string(text)))
	if err != nil || v < 0 {
		return fmt.Errorf("%q is not a duration; write a number with a unit: 50ms, 2s, 1m", text)
	}
	*d = Duration(v)
	return nil
}

// Std returns the duration as the standard library has it.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// String writes the duration.
func (d Duration) String() string { return time.Duration(d).String() }
