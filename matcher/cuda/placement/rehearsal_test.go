package placement_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"motifd/matcher"
	"motifd/matcher/cuda/placement"
	"motifd/matcher/matchertest"
)

// rehearse has a choice compare the sides as matcher.Rehearse does, on net edges that fit as many orders as a batch's.
func (m *batchMachine) rehearse(p *placement.Placement, rng *rand.Rand, b simBatch) {
	fits := float64(b.work[0]+b.work[1]) / float64(b.net)
	for net := 8.0; net <= 1<<15 && net <= float64(m.whole[placement.GPU])/160; net *= 4 {
		for range 3 {
			began := p.RehearsalLeft()
			for s := range m.search {
				own, jitter := []float64{4, 40}[s]*net, math.Exp(m.noise*rng.NormFloat64())
				c := placement.Cost{Search: int64(m.search[s](fits*net/2) * 2 * jitter),
					CatchUp: int64(own * m.each[s] * jitter)}
				left := p.RehearsalLeft()
				done := c.Search+c.CatchUp <= left
				if !done {
					c = placement.Cost{Search: left}
				}
				w := placement.Work{Want: matcher.WantCount, Size: uint64(fits * net)}
				w.Behind[s], w.Own[s] = uint64(own), uint64(own)
				if p.Rehearsed(w, placement.Side(s), c, done); !done {
					return
				}
			}
			if !p.GoOn(began - p.RehearsalLeft()) {
				return
			}
		}
	}
}

// TestPlacementAfterARehearsal plays streams of batches on random machines where the sides were compared before: from
// the first batch on, the choice takes at most a tenth more than the better side, nearly always. What it compares is
// noisy, and a side that is not surely better is not taken at any price: see Placement.
func TestPlacementAfterARehearsal(t *testing.T) {
	byLength := map[int][]float64{}
	lengths := []int{50, 200, 5000}
	matchertest.ForSeeds(t, 200, func(t *testing.T, rng *rand.Rand) {
		for _, n := range lengths {
			m, batches, name := randomBatchMachine(rng, n)
			m.warm = true
			seed, reasons := rng.Uint64(), map[string]int{}
			p := placement.New(placement.Options{Rehearse: 500e6,
				Device: placement.Calibration{RoundTrip: m.trip * logUniform(rng, 0.7, 1.4),
					Byte: m.each[placement.GPU] * logUniform(rng, 0.7, 1.4)},
				Placed: func(_ placement.Work, s placement.Side, r placement.Reason, _ placement.Cost) {
					reasons[s.String()+" "+string(r)]++
				}})
			m.rehearse(p, rng, batches[0])
			better := min(m.play(batches, seed, nil, placement.CPU), m.play(batches, seed, nil, placement.GPU))
			took := m.play(batches, seed, p, 0) / better
			if byLength[n] = append(byLength[n], took); took > 1.1 {
				t.Logf("%.3f of the better side: %d batches of %d: %s: %v", took, n, batches[0].net, name, reasons)
			}
		}
	})
	for _, n := range lengths {
		r := byLength[n]
		slices.Sort(r)
		t.Logf("%d batches, by the better side: median %.3f, one in a hundred above %.3f, at worst %.3f", n,
			r[len(r)/2], r[len(r)*99/100], r[len(r)-1])
		// Of 8,000 streams of either length, 140, 51 and 2 took more than a tenth more: that 20 of 200 do is not luck.
		if most := r[len(r)*9/10]; len(r) >= 200 && most > 1.1 {
			t.Errorf("of streams of %d batches, one in ten takes %.3f of the better side or more", n, most)
		}
	}
}

// TestRehearsalsAreBounded: what a rehearsal takes is counted, and one that takes too long is the last; it tells that
// the side takes more than that.
func TestRehearsalsAreBounded(t *testing.T) {
	p := placement.New(placement.Options{Rehearse: 1100})
	w := placement.Work{Want: matcher.WantCount, Size: 100}
	rehearse := func(s placement.Side, took int64, done bool) { p.Rehearsed(w, s, placement.Cost{Search: took}, done) }
	rehearse(placement.CPU, 100, true)
	rehearse(placement.GPU, 800, true) // the first time
	if left := p.RehearsalLeft(); left != 200 || !p.GoOn(900) {
		t.Fatalf("%d left", left)
	}
	rehearse(placement.CPU, 40, true)
	rehearse(placement.GPU, 5, true)
	if left := p.RehearsalLeft(); left != 155 || !p.GoOn(19) || p.GoOn(20) {
		t.Fatalf("%d left", left)
	}
	w.Size = 10_000
	rehearse(placement.CPU, 155, false)
	if left := p.RehearsalLeft(); left != 0 || p.GoOn(1) {
		t.Fatalf("%d left", left)
	}
	// What it takes to catch up with the graph is not counted.
	q := placement.New(placement.Options{Rehearse: 1000})
	w = placement.Work{Want: matcher.WantCount, Size: 100, Behind: [2]uint64{placement.CPU: 1000},
		Own: [2]uint64{placement.CPU: 0}}
	if q.Rehearsed(w, placement.CPU, placement.Cost{Search: 100, CatchUp: 5000}, true); q.RehearsalLeft() != 900 {
		t.Fatalf("%d left", q.RehearsalLeft())
	}
	// The CPU took 70 for 100, and more than 155 for 10,000; the GPU took 5 for 100, and what it takes for more was not
	// seen.
	side := func(size uint64) (was placement.Side) {
		err := p.Run(placement.Work{Want: matcher.WantCount, Size: size},
			func(s placement.Side, _ int64) (placement.Cost, bool, error) {
				was = s
				return placement.Cost{Search: 5}, true, nil
			})
		if err != nil {
			t.Fatal(err)
		}
		return was
	}
	for _, size := range []uint64{100, 200, 20_000} {
		if s := side(size); s != placement.GPU {
			t.Errorf("work of %d is the %s's", size, s)
		}
	}
}
