//go:build race

package matchertest

// UnderRace is set under the race detector, where tests that take seconds take a minute, and several times the memory.
const UnderRace = true

// slow divides the number of seeds.
const slow = 8
