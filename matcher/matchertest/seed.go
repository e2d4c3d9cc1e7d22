package matchertest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// SeedVariable names the environment variable that sets the first seed of ForSeeds, CountVariable the one that sets
// the number of seeds, for a search that is longer than a test.
const (
	SeedVariable  = "MOTIFD_TEST_SEED"
	CountVariable = "MOTIFD_TEST_SEEDS"
)

// ForSeeds runs f as a subtest for n consecutive seeds. The first is random, or what SeedVariable says; each seed is
// the name of its subtest, so a failure says how to run it again.
func ForSeeds(t *testing.T, n int, f func(t *testing.T, rng *rand.Rand)) {
	t.Helper()
	first := variable(t, SeedVariable, uint64(rand.Uint32()))
	for i := range variable(t, CountVariable, uint64(n)) {
		seed := first + i
		ok := t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { f(t, rand.New(rand.NewPCG(seed, 0))) })
		if !ok {
			t.Fatalf("again with %s=%d", SeedVariable, seed)
		}
	}
}

// mostDraws is more than any test needs to see what it must.
const mostDraws = 2000

// Until calls f, which draws a case and checks it, at least once and until seen reports that the cases had all that the test is about: what one case has by
// luck, enough of them have surely.
func Until(t *testing.T, seen func() bool, f func()) {
	t.Helper()
	for range mostDraws {
		if f(); seen() {
			return
		}
	}
	t.Fatalf("%d cases without what they are drawn for", mostDraws)
}

func variable(t *testing.T, name string, unset uint64) uint64 {
	v := os.Getenv(name)
	if v == "" {
		return unset
	}
	n, err := strconv.ParseUint(v, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}
