package placement_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"motifd/matcher"
	"motifd/matcher/cuda/placement"
	"motifd/matcher/matchertest"
)

// logUniform draws between two positive numbers, every order of magnitude alike.
func logUniform(rng *rand.Rand, from, to float64) float64 {
	return math.Exp(math.Log(from) + rng.Float64()*math.Log(to/from))
}

// randomMachine draws a machine: round trips of tens of microseconds, tens of them in a search, a CPU that takes 50 to
// 5,000 ns for a unit of work, a GPU that takes 5 to 500.
func randomMachine(rng *rand.Rand) (m machine, name string) {
	trip := logUniform(rng, 8e3, 60e3)
	cpuFixed, cpuEach := logUniform(rng, 10e3, 100e3), logUniform(rng, 50, 5000)
	gpuFixed, gpuEach := trip*(8+30*rng.Float64()), logUniform(rng, 5, 500)
	m = machine{
		cpu:   func(_ int, w placement.Work) float64 { return cpuFixed + cpuEach*float64(w.Size) },
		gpu:   func(_ int, w placement.Work) float64 { return gpuFixed + gpuEach*float64(w.Size) },
		noise: 0.2 * rng.Float64(),
		graph: uint64(logUniform(rng, 1<<20, 256<<20)),
		byte:  logUniform(rng, 0.03, 0.3),
		once:  5e6 * rng.Float64(),
		trip:  trip,
	}
	return m, fmt.Sprintf("CPU %.0f+%.0f, GPU %.0f+%.0f, noise %.2f, %d MiB at %.2f, once %.1f ms", cpuFixed, cpuEach,
		gpuFixed, gpuEach, m.noise,
		m.graph>>20, m.byte, m.once/1e6)
}

// placement returns a Placement for the machine, which was measured with some error.
func (m *machine) placement(rng *rand.Rand,
	placed func(placement.Work, placement.Side, placement.Reason, placement.Cost)) *placement.Placement {
	return placement.New(placement.Options{Placed: placed,
		Device: placement.Calibration{RoundTrip: m.trip * logUniform(rng, 0.7, 1.4),
			Byte: m.byte * logUniform(rng, 0.7, 1.4)}})
}

// allowance counts plays that noise may mislead: among very many random plays, few break a rule that holds but for
// noise, and not by much.
type allowance struct{ plays, misled int }

// grants reports whether one more play is as it should be, or may be misled: two of a run's plays may, and one in
// 20,000 of very many, if they nearly are.
func (a *allowance) grants(is, nearly bool) bool {
	if a.plays++; is {
		return true
	}
	a.misled++
	return nearly && a.misled <= 2+a.plays/20_000
}

// TestPlacementPaysForTrials plays short streams: however short one is, the choice takes at most a tenth more than the
// CPU by itself. What it loses against the GPU where that is better is told: a stream may be over before a trial is
// paid for. A trial whose batch is large in a short stream of very different ones, or that noise called for, may take
// more (about once in 200,000 plays, and then less than 1.2 of the CPU's time).
func TestPlacementPaysForTrials(t *testing.T) {
	against, noise := [2][]float64{}, allowance{}
	matchertest.ForSeeds(t, 200, func(t *testing.T, rng *rand.Rand) {
		m, name := randomMachine(rng)
		for _, of := range slices.Sorted(maps.Keys(streamSizes)) { // in an order that the seed repeats
			size := streamSizes[of]
			stream := make([]placement.Work, []int{50, 100, 200, 400}[rng.IntN(4)])
			wants := 1 + rng.IntN(2)
			for i := range stream {
				stream[i] = placement.Work{Want: matcher.Want(rng.IntN(wants)), Size: size(rng, i)}
			}
			seed := rng.Uint64()
			all := [2]float64{m.play(stream, seed, always(placement.CPU)), m.play(stream, seed, always(placement.GPU))}
			reasons := map[string]int{}
			took := m.play(stream, seed, m.placement(rng,
				func(_ placement.Work, s placement.Side, r placement.Reason, _ placement.Cost) {
					reasons[s.String()+" "+string(r)]++
				}).Run)
			better := placement.CPU
			if all[placement.GPU] < all[placement.CPU] {
				better = placement.GPU
			}
			against[better] = append(against[better], took/all[better])
			if !noise.grants(took <= 1.1*all[placement.CPU], took <= 1.3*all[placement.CPU]) {
				t.Errorf("%s, %d batches: %s: took %.2f ms, the CPU %.2f ms, the GPU %.2f ms; %v", of, len(stream),
					name, took/1e6, all[placement.CPU]/1e6,
					all[placement.GPU]/1e6, reasons)
			}
		}
	})
	for better, ratios := range against {
		if slices.Sort(ratios); len(ratios) > 0 {
			t.Logf("where the %s is better: %d streams; by its time: median %.3f, a tenth above %.3f, at worst %.3f",
				placement.Side(better), len(ratios),
				ratios[len(ratios)/2], ratios[len(ratios)*9/10], ratios[len(ratios)-1])
		}
	}
}

// TestPlacementTakesAVeryLargeBatchToTheGPUAtOnce: it does not wait for the CPU to be measured.
func TestPlacementTakesAVeryLargeBatchToTheGPUAtOnce(t *testing.T) {
	p := placement.New(placement.Options{})
	var sides []placement.Side
	err := p.Run(placement.Work{Want: matcher.WantCount, Size: 3_000_000, Behind: [2]uint64{placement.GPU: 1 << 30}},
		func(s placement.Side, limit int64) (placement.Cost, bool, error) {
			sides = append(sides, s)
			return placement.Cost{Search: 100e6, CatchUp: 200e6}, limit == 0 || limit >= 100e6, nil
		})
	if err != nil || !slices.Equal(sides, []placement.Side{placement.GPU}) {
		t.Errorf("ran on %v, %v", sides, err)
	}
}
