package stream_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher/matchertest"
	"motifd/stream"
	"motifd/stream/streamtest"
)

// TestS20AgainstDeletions compares a stream whose edges expire with the same one that deletes them by updates, at the
// recorded horizons, and has no late updates: the same matches come and go in each batch.
func TestS20AgainstDeletions(t *testing.T) {
	matchertest.NotUnderRace(t, "the crash tests have the same goroutines")
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 21))
		time := keep(1+rng.Int64N(200), 1+rng.Int64N(200))
		time.Lateness, time.MaxExpired = rng.Int64N(60), 1+rng.IntN(30)
		w, out := expiring(t, timed(rng, 100, rng.IntN(250)), time)
		require.NoError(t, w.run(nil))
		log, expired, late := w.store.Committed(), 0, 0
		for i := range log {
			e, l := deleteByUpdates(&log[i], edgesAfter(log[:i]))
			expired, late = expired+e, late+l
		}
		require.Positive(t, expired, "seed %d", seed)
		again := replayed(t, log)
		require.Equal(t, matches(t, out), matches(t, again), "seed %d", seed)
		t.Logf("seed %d: %d edges expired, %d updates were late", seed, expired, late)
	}
}

type edgeOf struct{ from, to, label string }

// edgesAfter plays batches, whose edges are deleted by updates alone, and returns the times of the edges they leave.
func edgesAfter(log []stream.Batch) map[edgeOf]*int64 {
	edges := map[edgeOf]*int64{}
	for i := range log {
		for _, u := range log[i].Updates {
			e := edgeOf{u.From, u.To, u.Label}
			switch {
			case u.Op == dyngraph.DeleteEdge:
				delete(edges, e)
			case u.Attr.HasTS:
				edges[e] = &u.Attr.TS
			default:
				edges[e] = nil
			}
		}
	}
	return edges
}

// deleteByUpdates gives a batch deletions in place of its horizons, and takes its late updates away.
func deleteByUpdates(b *stream.Batch, edges map[edgeOf]*int64) (expired, late int) {
	horizons := map[string]int64{}
	for _, h := range b.Horizons {
		horizons[h.Label] = h.Before
	}
	gone := func(label string, ts int64) bool {
		at, ok := horizons[label]
		if !ok {
			at, ok = horizons["*"]
		}
		return ok && ts < at
	}
	var us []dyngraph.Update
	for e, ts := range edges {
		if ts != nil && gone(e.label, *ts) {
			us = append(us, dyngraph.Update{Op: dyngraph.DeleteEdge, From: e.from, To: e.to, Label: e.label})
		}
	}
	expired = len(us)
	for _, u := range b.Updates {
		if u.Op == dyngraph.InsertEdge && u.Attr.HasTS && gone(u.Label, u.Attr.TS) {
			late++
			continue
		}
		us = append(us, u)
	}
	b.Updates, b.Horizons, b.Time = us, nil, nil
	return expired, late
}

// matches are the records of an output without what tells of anchors, by batch.
func matches(t *testing.T, out *streamtest.MemOutput) map[uint64][]string {
	t.Helper()
	all := map[uint64][]string{}
	for _, r := range out.Visible().Main {
		var fields map[string]any
		require.NoError(t, json.Unmarshal(r.Value, &fields))
		for _, name := range []string{"anchor", "reason", "index"} {
			delete(fields, name)
		}
		text, err := json.Marshal(fields)
		require.NoError(t, err)
		all[r.Batch] = append(all[r.Batch], string(text))
	}
	for _, list := range all {
		slices.Sort(list)
	}
	return all
}
