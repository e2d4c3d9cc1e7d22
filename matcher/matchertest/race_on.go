//go:build race

package matchertest

// slow divides the number of seeds.
const slow = 4
