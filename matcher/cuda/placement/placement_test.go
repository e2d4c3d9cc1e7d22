package placement_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"motifd/matcher"
	"motifd/matcher/cuda/placement"
	"motifd/matcher/matchertest"
)

// machine is a CPU and a GPU whose searches take what functions of the place in the stream and of the work say.
type machine struct {
	cpu, gpu func(at int, w placement.Work) float64
	noise    float64 // spread of the logarithm of every cost
	graph    uint64  // bytes that the GPU has to load first
	byte     float64 // nanoseconds of loading one
	once     float64 // nanoseconds that the GPU's first search takes beyond
	trip     float64 // nanoseconds of a kernel and its result
}

const (
	bytesOfUpdate = 2048
	explore       = 0.04 // PlacementOptions.Explore, if not set
)

// play runs a stream past a choice and returns the nanoseconds it took.
func (m *machine) play(stream []placement.Work, seed uint64,
	choose func(w placement.Work, run func(placement.Side, int64) (placement.Cost, bool, error)) error) float64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	total, behind, first := 0.0, m.graph, true
	for at, w := range stream {
		own := w.Size * bytesOfUpdate / 8
		behind = min(behind+own, m.graph)
		if w.Behind[placement.GPU] = behind; !first {
			w.Own[placement.GPU] = own
		}
		jitter := [2]float64{math.Exp(m.noise * rng.NormFloat64()), math.Exp(m.noise * rng.NormFloat64())}
		err := choose(w, func(s placement.Side, limit int64) (placement.Cost, bool, error) {
			var c placement.Cost
			if s == placement.CPU {
				c.Search = int64(m.cpu(at, w) * jitter[s])
			} else {
				c.Search = int64(m.gpu(at, w) * jitter[s])
				c.CatchUp = int64(float64(behind) * m.byte)
				if first {
					c.Search, first = c.Search+int64(m.once), false
				}
				behind = 0
			}
			done := limit == 0 || c.Search <= limit
			if !done {
				c.Search = limit + limit/20
			}
			total += float64(c.Search + c.CatchUp)
			return c, done, nil
		})
		if err != nil {
			panic(err) // none of the functions above fails
		}
	}
	return total
}

func always(s placement.Side) func(placement.Work, func(placement.Side, int64) (placement.Cost, bool, error)) error {
	return func(_ placement.Work, run func(placement.Side, int64) (placement.Cost, bool, error)) error {
		_, _, err := run(s, 0)
		return err
	}
}

// streamSizes are the work of batches, by their place in the stream.
var streamSizes = map[string]func(rng *rand.Rand, at int) uint64{
	"small":  func(rng *rand.Rand, _ int) uint64 { return 20 + rng.Uint64N(200) },
	"medium": func(rng *rand.Rand, _ int) uint64 { return 2000 + rng.Uint64N(4000) },
	"large":  func(rng *rand.Rand, _ int) uint64 { return 50_000 + rng.Uint64N(100_000) },
	"all":    func(rng *rand.Rand, _ int) uint64 { return uint64(math.Exp2(3 + 15*rng.Float64())) },
	"bursts": func(rng *rand.Rand, at int) uint64 {
		if at%50 == 0 {
			return 200_000
		}
		return 100 + rng.Uint64N(100)
	},
	"phases": func(rng *rand.Rand, at int) uint64 { return []uint64{50, 60_000}[at/500%2] + rng.Uint64N(50) },
}

// TestPlacementIsNeverMuchWorse plays streams on machines of many kinds: the choice takes at most 1.15 times, over a
// stream, than the better of always the CPU and always the GPU; and besides what the first searches took, of which
// nothing was known, and what the CPU's took until the GPU's first one was paid for. One play in 30,000 takes more,
// where a first trial met a far larger batch than those before.
func TestPlacementIsNeverMuchWorse(t *testing.T) {
	line := func(fixed, each float64) func(int, placement.Work) float64 {
		return func(_ int, w placement.Work) float64 { return fixed + each*float64(w.Size) }
	}
	later := func(from int, before, after func(int, placement.Work) float64) func(int, placement.Work) float64 {
		return func(at int, w placement.Work) float64 {
			if at < from {
				return before(at, w)
			}
			return after(at, w)
		}
	}
	const length = 12_000 // searches
	cpu, gpu := line(30e3, 400), line(1.5e6, 20)
	machines := map[string]machine{
		"usual":              {cpu: cpu, gpu: gpu},
		"slow GPU":           {cpu: cpu, gpu: line(5e6, 2000)},
		"slow CPU":           {cpu: line(3e6, 2000), gpu: gpu},
		"equal":              {cpu: line(1e6, 100), gpu: line(1e6, 101)},
		"the CPU slows down": {cpu: later(length/2, cpu, line(8e6, 2000)), gpu: gpu},
		"the GPU slows down": {cpu: cpu, gpu: later(length/2, gpu, line(20e6, 4000))},
		"the CPU speeds up":  {cpu: later(length/2, line(8e6, 2000), cpu), gpu: gpu},
		"the GPU speeds up":  {cpu: cpu, gpu: later(length/2, line(20e6, 4000), line(50e3, 4))},
		"CPU by power": {cpu: func(_ int, w placement.Work) float64 {
			return 20e3 +
				40*math.Pow(float64(w.Size), 1.3)
		}, gpu: gpu},
		"counts alone on GPU": {cpu: cpu,
			gpu: func(at int, w placement.Work) float64 { return gpu(at, w) * (1 + 30*float64(w.Want&1)) }},
	}
	noise := allowance{}
	matchertest.ForSeeds(t, 3, func(t *testing.T, rng *rand.Rand) {
		worst := 0.0
		for _, kind := range slices.Sorted(maps.Keys(machines)) {
			m := machines[kind]
			for _, of := range slices.Sorted(maps.Keys(streamSizes)) { // in an order that the seed repeats
				size := streamSizes[of]
				m.byte, m.trip, m.once = 0.3, 50e3, 50e6
				m.noise, m.graph = []float64{0, 0.05, 0.1}[rng.IntN(3)], []uint64{1 << 20, 64 << 20}[rng.IntN(2)]
				stream := make([]placement.Work, length)
				for i := range stream {
					stream[i] = placement.Work{Want: matcher.Want(rng.IntN(2)), Size: size(rng, i)}
				}
				seed := rng.Uint64()
				all := [2]float64{m.play(stream, seed, always(placement.CPU)),
					m.play(stream, seed, always(placement.GPU))}
				reasons, begun := map[placement.Reason]int{}, 0.0
				took := m.play(stream, seed, m.placement(rng,
					func(_ placement.Work, _ placement.Side, r placement.Reason, c placement.Cost) {
						if reasons[r]++; r == placement.Unmeasured {
							begun += float64(c.Search)
						}
					}).Run)
				better := min(all[0], all[1])
				if better < all[placement.CPU] { // the GPU's first search is paid for by the CPU's
					begun += (m.once + float64(m.graph)*m.byte) / explore
				}
				worst = max(worst, (took-begun)/better)
				if !noise.grants(took <= 1.15*better+begun, took <= 1.3*better+begun) {
					t.Errorf("%s, %s, noise %.1f, %d MiB: took %.3f s, of that up to %.3f s at the beginning; the "+
						"CPU %.3f s, the GPU %.3f s; %v", kind, of, m.noise,
						m.graph>>20, took/1e9, begun/1e9, all[0]/1e9, all[1]/1e9, reasons)
				}
			}
		}
		t.Logf("at worst %.3f times the better side", worst)
	})
}
