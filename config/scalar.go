package config

import (
	"fmt"
	"math"
	"os"
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
		return fmt.Errorf("%q is no size; write bytes as an integer, or with a unit: 512KiB, 8MiB, 1GiB", text)
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
		return fmt.Errorf("%q is no duration; write a number with a unit: 50ms, 2s, 1m", text)
	}
	*d = Duration(v)
	return nil
}

// Std returns the duration as the standard library has it.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// String writes the duration.
func (d Duration) String() string { return time.Duration(d).String() }

// Secret names where a secret is: a file or an environment variable, never the secret itself. It prints as ***
// (DESIGN P7).
type Secret struct {
	File string `yaml:"file"`
	Env  string `yaml:"env"`

	value string
}

// Set reports whether the secret is named.
func (s Secret) Set() bool { return s.File != "" || s.Env != "" }

// Reveal returns the secret as Load read it.
func (s Secret) Reveal() string { return s.value }

// String returns *** in place of the secret, so that no log shows it.
func (s Secret) String() string { return "***" }

// GoString is String.
func (s Secret) GoString() string { return "***" }

// MarshalJSON writes "***".
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"***"`), nil }

// resolve reads the secret. getenv looks up the environment.
func (s *Secret) resolve(getenv func(string) (string, bool)) error {
	switch {
	case s.File != "" && s.Env != "":
		return fmt.Errorf("both file and env are set; one of them names the secret")
	case s.File != "":
		text, err := os.ReadFile(s.File)
		if err != nil {
			return fmt.Errorf("reading the secret: %w", err)
		}
		s.value = strings.TrimRight(string(text), "\r\n")
	case s.Env != "":
		value, ok := getenv(s.Env)
		if !ok {
			return fmt.Errorf("the environment variable %s, which holds the secret, is not set", s.Env)
		}
		s.value = value
	default:
		return nil
	}
	if s.value == "" {
		return fmt.Errorf("the secret is empty")
	}
	return nil
}
