package matcher_test

import (
	"testing"

	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
)

// TestS12ClosedForms counts what a formula tells, as a stream brings it and in the whole graph. What a batch may cost
// is bounded to a fraction of the steps that enumeration takes.
func TestS12ClosedForms(t *testing.T) {
	matchertest.NotUnderRace(t, "it takes 20 seconds of processors")
	t.Parallel()
	for _, f := range matchertest.ClosedForms() {
		t.Run(f.Name, func(t *testing.T) {
			f.Play(t, func() matcher.Backend { return newCPU(t, 2, false) }, plan.New(), 60_000_000)
		})
	}
}
