package matchertest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

// SeedVariable names the environment variable that sets the first seed of ForSeeds, CountVariable the one that sets
// the number of seeds, TimesVariable the one that multiplies it: 10 for a longer run, 1/2 for a shorter one.
const (
	SeedVariable  = "MOTIFD_TEST_SEED"
	CountVariable = "MOTIFD_TEST_SEEDS"
	TimesVariable = "MOTIFD_TEST_TIMES"
)

// ForSeeds runs f as a subtest for n consecutive seeds; for an eighth as many under the race detector, which takes ten
// times as long and looks for other things: what the tests play without it. The first is random, or what SeedVariable
// says; each seed is the name of its subtest, so a failure says how to run it again.
func ForSeeds(t *testing.T, n int, f func(t *testing.T, rng *rand.Rand)) {
	t.Helper()
	ForSeedsUntil(t, n, func() bool { return true }, f)
}

// mostMore bounds how many times more seeds than it is asked for ForSeedsUntil goes through.
const mostMore = 50

// ForSeedsUntil is ForSeeds that goes on with more seeds until seen reports that the cases had all that the test is
// about: what some cases have by luck, enough of them have for certain. Where Quick reports true it does not go on: the
// next run has other seeds.
func ForSeedsUntil(t *testing.T, n int, seen func() bool, f func(t *testing.T, rng *rand.Rand)) {
	t.Helper()
	first, asked := variable(t, SeedVariable, uint64(rand.Uint32())), variable(t, CountVariable, uint64(n+slow-1)/slow)
	asked = timed(t, asked)
	most := asked + mostMore*uint64(n)
	for i := uint64(0); i < asked || !Quick(t) && !seen(); i++ {
		if i == most {
			t.Fatalf("%d seeds, from %d on, without what the test is about", most, first)
		}
		seed := first + i
		ok := t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { f(t, rand.New(rand.NewPCG(seed, 0))) })
		if !ok {
			t.Fatalf("again with %s=%d", SeedVariable, seed)
		}
	}
}

// hidden are the variables that HideVariables took.
var hidden = make(map[string]string)

// Retention draws how long edges stay, for Driver.Expire. Either none expires, or those whose times are declared and
// small, or those with times of the stream.
func Retention(rng *rand.Rand) int64 {
	return []int64{0, 1 + rng.Int64N(3), 1000 * (1 + rng.Int64N(30))}[rng.IntN(3)]
}

// HideVariables takes the variables of this package out of the environment, before any test: motifd refuses variables
// with its prefix that are no settings, and tests start it. ForSeeds goes by them still.
func HideVariables() error {
	for _, name := range []string{SeedVariable, CountVariable, TimesVariable} {
		if v, ok := os.LookupEnv(name); ok {
			hidden[name] = v
			if err := os.Unsetenv(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// setting returns the value of a variable, or an empty string.
func setting(name string) string {
	if v, ok := hidden[name]; ok {
		return v
	}
	return os.Getenv(name)
}

// timed multiplies a number of seeds by TimesVariable: by 10, or by 1/2. One seed is the least.
func timed(t testing.TB, seeds uint64) uint64 {
	v := setting(TimesVariable)
	if v == "" {
		return seeds
	}
	by, divisor, fraction := strings.Cut(v, "/")
	n, err := strconv.ParseUint(by, 10, 64)
	d := uint64(1)
	if err == nil && fraction {
		d, err = strconv.ParseUint(divisor, 10, 64)
	}
	if err != nil || d == 0 {
		t.Fatalf("%s is %q; it is a number such as 10, or a fraction such as 1/2", TimesVariable, v)
	}
	return max(1, seeds*n/d)
}

func variable(t *testing.T, name string, unset uint64) uint64 {
	v := setting(name)
	if v == "" {
		return unset
	}
	n, err := strconv.ParseUint(v, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// Quick reports whether fewer random cases than usual are asked for, as .ci/run does: TimesVariable is below 1.
func Quick(t testing.TB) bool {
	t.Helper()
	return timed(t, 2) < 2
}

// Long leaves a test out where Quick reports true. The reason says why it takes long, and what is left that looks for
// the same faults. `make test` and `make ci-full` run it.
func Long(t testing.TB, reason string) {
	t.Helper()
	if Quick(t) {
		t.Skip("long: " + reason)
	}
}

// NotUnderRace leaves a test out of `make race`, which runs with -short: the race detector would find nothing in it, or
// not enough for the time that it takes. The reason says which. `make test` runs it.
func NotUnderRace(t testing.TB, reason string) {
	t.Helper()
	if UnderRace && testing.Short() {
		t.Skip("not under the race detector: " + reason)
	}
}
