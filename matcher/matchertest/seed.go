package matchertest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// SeedVariable names the environment variable that sets the first seed of ForSeeds.
const SeedVariable = "MOTIFD_TEST_SEED"

// ForSeeds runs f as a subtest for n consecutive seeds. The first is random, or what SeedVariable says; each seed is
// the name of its subtest, so a failure says how to run it again.
func ForSeeds(t *testing.T, n int, f func(t *testing.T, rng *rand.Rand)) {
	t.Helper()
	first := uint64(rand.Uint32())
	if v := os.Getenv(SeedVariable); v != "" {
		var err error
		if first, err = strconv.ParseUint(v, 10, 64); err != nil {
			t.Fatalf("%s: %v", SeedVariable, err)
		}
	}
	for i := range uint64(n) {
		seed := first + i
		ok := t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { f(t, rand.New(rand.NewPCG(seed, 0))) })
		if !ok {
			t.Fatalf("again with %s=%d", SeedVariable, seed)
		}
	}
}
