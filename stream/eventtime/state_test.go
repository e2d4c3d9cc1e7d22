package eventtime

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
)

// model keeps everything that was accepted, and computes watermark and horizons anew from the contract.
type model struct {
	accepted  []dyngraph.Update
	watermark Watermark
	horizons  map[string]int64 // by label of an edge, not of the retention
}

// watermarkOf follows DESIGN S20 word by word.
func (m *model) watermarkOf(reading map[int32]bool, lateness int64) Watermark {
	greatest := func(of func(p int32) bool) (ts int64, ok bool) {
		for _, u := range m.accepted {
			if of(u.Pos.Partition) && u.Attr.HasTS && (!ok || u.Attr.TS > ts) {
				ts, ok = u.Attr.TS, true
			}
		}
		return ts, ok
	}
	var counted []int64
	for p, idle := range reading {
		if idle {
			continue
		}
		if !slices.ContainsFunc(m.accepted, func(u dyngraph.Update) bool { return u.Pos.Partition == p }) {
			return m.watermark
		}
		if ts, ok := greatest(func(q int32) bool { return p == q }); ok {
			counted = append(counted, ts)
		}
	}
	if len(counted) == 0 {
		if ts, ok := greatest(func(int32) bool { return true }); ok {
			counted = append(counted, ts)
		}
	}
	if len(counted) == 0 {
		return m.watermark
	}
	w := slices.Min(counted)
	if w < math.MinInt64+lateness {
		w = math.MinInt64
	} else {
		w -= lateness
	}
	if m.watermark.Known {
		w = max(w, m.watermark.TS)
	}
	return Watermark{true, w}
}

var modelLabels = []string{"A", "B", "C", ""}

func retention(rng *rand.Rand) (r Retention) {
	for _, l := range []string{"*", "A", "B"} {
		if rng.IntN(2) == 0 {
			r = append(r, Keep{l, 1 + rng.Int64N(100)})
		}
	}
	return r
}

// TestS20Model plays random partitions, of which some are idle now and then, lack times, or come late, and random
// retentions, against the model.
func TestS20Model(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 20))
		s, m := &State{}, &model{horizons: map[string]int64{}}
		for _, l := range modelLabels {
			m.horizons[l] = math.MinInt64
		}
		lateness := []int64{0, 7, math.MaxInt64}[rng.IntN(3)]
		timeless := int32(rng.IntN(6)) // a partition without times
		now, partitions := int64(0), int32(1+rng.IntN(4))
		for step := range 60 {
			var updates []dyngraph.Update
			if step == 0 || rng.IntN(15) == 0 {
				r := retention(rng)
				cut, hs := s.Change(r)
				s.Take(cut, hs, nil, nil)
				require.Equal(t, r, s.Retention)
			}
			reading := map[int32]bool{}
			for p := range partitions {
				reading[p] = rng.IntN(3) == 0
			}
			if rng.IntN(10) == 0 {
				reading = nil
			}
			w := s.Next(reading, lateness)
			require.Equal(t, m.watermarkOf(reading, lateness), w, "seed %d", seed)
			for n := rng.IntN(5); len(updates) < n; {
				now += rng.Int64N(20)
				u := dyngraph.Update{Pos: dyngraph.Position{Partition: rng.Int32N(partitions)}}
				if u.Pos.Partition != timeless && rng.IntN(4) > 0 {
					u.Attr = dyngraph.Attr{HasTS: true, TS: now - rng.Int64N(50)}
				}
				updates = append(updates, u)
			}
			hs := s.Reach(w)
			s.Take(&Cut{Watermark: w}, hs, updates, func(u *dyngraph.Update) int32 { return u.Pos.Partition })
			m.watermark = w
			m.accepted = append(m.accepted, updates...)
			for _, l := range modelLabels {
				keep, ok := s.Retention.Of(l)
				got := s.before(l)
				if !ok {
					m.horizons[l] = got // nothing expires; what the horizon was is forgotten
					continue
				}
				if w.Known && w.TS >= math.MinInt64+keep {
					m.horizons[l] = max(m.horizons[l], w.TS-keep)
				}
				require.Equal(t, m.horizons[l], got, "seed %d, step %d, label %q, %+v", seed, step, l, s)
			}
			require.True(t, slices.IsSortedFunc(s.Horizons, func(a, b dyngraph.Horizon) int {
				if a.Label < b.Label {
					return -1
				}
				return 1
			}))
		}
	}
}

// TestS20HoldsBack: a partition holds the watermark back until its first update, whatever others have seen.
func TestS20HoldsBack(t *testing.T) {
	s := &State{}
	cut, hs := s.Change(Retention{{"*", 10}})
	s.Take(cut, hs, nil, nil)
	take := func(p int32, a dyngraph.Attr) {
		s.Take(&Cut{Watermark: s.Watermark}, s.Horizons, []dyngraph.Update{{Attr: a}},
			func(*dyngraph.Update) int32 { return p })
	}
	busy, idle := map[int32]bool{0: false, 1: false}, map[int32]bool{0: false, 1: true}
	take(0, dyngraph.Attr{HasTS: true, TS: 100})
	require.Equal(t, Watermark{}, s.Next(busy, 0))
	require.Equal(t, Watermark{true, 100}, s.Next(idle, 0))
	take(1, dyngraph.Attr{})
	require.Equal(t, Watermark{true, 100}, s.Next(busy, 0), "a partition without times is not counted")
	take(1, dyngraph.Attr{HasTS: true, TS: 40})
	require.Equal(t, Watermark{true, 40}, s.Next(busy, 0))
	require.Equal(t, Watermark{true, 100}, s.Next(map[int32]bool{0: true, 1: true}, 0), "all are idle")
	require.Equal(t, Watermark{true, 93}, s.Next(nil, 7))
}

func TestExtremes(t *testing.T) {
	s := &State{}
	cut, hs := s.Change(Retention{{"*", math.MaxInt64}})
	s.Take(cut, hs, nil, nil)
	require.Equal(t, int64(math.MinInt64), s.Reach(Watermark{true, math.MinInt64})[0].Before)
	require.Equal(t, int64(0), s.Reach(Watermark{true, math.MaxInt64})[0].Before)
	require.Equal(t, int64(math.MinInt64), s.Reach(Watermark{})[0].Before)
}
