//go:build cuda || emu

package cuda_test

import (
	"math/rand/v2"
	"testing"

	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/negation"
	"motifd/matcher/plan"
	"motifd/matcher/reference"
	"motifd/stream/tempfile"
)

// open is a backend that the test closes, and not the engine.
type open struct{ matcher.Backend }

func (open) Close() error { return nil }

// TestS25CoreOnTheDevice: where a device searches the cores of queries with negations, the output is that of
// recomputation: units, modes, caps, replaced edges, revised vertices and expiry.
func TestS25CoreOnTheDevice(t *testing.T) {
	var seen struct{ batches, records, turned int }
	enough := func() bool { return seen.records > 50 && seen.turned > 5 }
	matchertest.ForSeedsUntil(t, max(2, rounds/4), enough, func(t *testing.T, rng *rand.Rand) {
		c := withoutWildcards(rng, matchertest.RandomCaseOfAny(rng, 4))
		c = c.Denied(rng).With(func(q *matcher.Query) {
			q.Emit = []matcher.Emit{matcher.EmitDeltas, matcher.EmitDeltas, matcher.EmitCounts,
				matcher.EmitExists}[rng.IntN(4)]
			q.SilentChange = rng.IntN(3) == 0
			if q.Emit == matcher.EmitDeltas && rng.IntN(2) == 0 {
				q.MaxMatches = 1 + rng.Uint64N(8)
			}
		})
		kept := matchertest.Retention(rng)
		run := func(be matcher.Backend) *matchertest.Driver {
			d := matchertest.NewDriverWith(t, matcher.EngineOptions{Graph: c.Graph(), Backend: be, Planner: plan.New()})
			d.Expire(kept)
			for _, q := range c.Queries {
				d.Register(q)
			}
			for _, batch := range c.Batches {
				d.Batch(batch)
			}
			return d
		}
		slow := run(reference.New())
		fast := run(negation.New(open{newBackend(t, rng)}, negation.Options{TempFiles: tempfile.In(t.TempDir())}))
		if diff := matchertest.Diff(slow.Transcript(), fast.Transcript()); diff != "" {
			t.Fatalf("reference against the device: %s", diff)
		}
		for _, out := range slow.Batches {
			seen.batches++
			for i := range out.Records {
				seen.records++
				seen.turned += count(out.Records[i].Turned)
			}
		}
	})
	t.Logf("%+v", seen)
}
