//go:build emu

package mirror

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/kernels"
	"motifd/matcher/cuda/device"
	"motifd/matcher/matchertest"
)

// TestHeatBySlot compares the heat of leaves, sides and vertices with what is read slot by slot, and the hottest pieces
// with the best of all.
func TestHeatBySlot(t *testing.T) {
	matchertest.ForSeeds(t, 30, func(t *testing.T, rng *rand.Rand) {
		dirs, n := 1+rng.IntN(2), 1+rng.IntN(40)
		spans := make([]span, n*dirs)
		at, base := uint32(0), make([]int, n)
		for i := range spans {
			at += uint32(rng.IntN(20))
			spans[i] = span{begin: at, end: at + uint32(rng.IntN(200))}
			at = spans[i].end
			if i%dirs == 0 {
				base[i/dirs] = rng.IntN(int(spans[i].begin)/kernels.LeafSlots + 1)
			}
			from := uint32(base[i/dirs] * kernels.LeafSlots)
			spans[i].begin, spans[i].end = spans[i].begin-from, spans[i].end-from
		}
		count := int(at)/kernels.LeafSlots + 1 + rng.IntN(3)
		leaf, side, vertex := make([]float64, count), make([]float64, len(spans)), make([]float64, n)
		for i, s := range spans {
			for slot := s.begin; slot < s.end; slot++ {
				leaf[base[i/dirs]+int(slot/kernels.LeafSlots)] += float64(s.end-s.begin) / lineSlots
				side[i]++
				vertex[i/dirs]++
			}
		}
		leaves, sides, vertices := heatOf(spans, count, dirs, func(v int) int { return base[v] })
		for _, c := range []struct {
			want []float64
			got  heat
		}{{leaf, leaves}, {side, sides}, {vertex, vertices}} {
			from := rng.IntN(len(c.want) + 1)
			to := from + rng.IntN(len(c.want)+3-from)
			sum := 0.0
			for _, x := range c.want[from:min(to, len(c.want))] {
				sum += x
			}
			require.InDelta(t, sum, c.got(from, to), 1e-6*(1+sum))
		}

		const size = 256
		columns := []column{
			{&device.Buffer{Size: 256 * count}, 4 * kernels.LeafSlots, leaves, 1},
			{&device.Buffer{Size: kernels.SpanSize * len(spans)}, kernels.SpanSize, sides, 0.5},
		}
		var all []float64
		of := func(c *column, k int) float64 {
			return c.weight * c.heat(k*size/c.each, ((k+1)*size-1)/c.each+1)
		}
		for i := range columns {
			for k := 0; k*size < columns[i].buffer.Size; k++ {
				all = append(all, of(&columns[i], k))
			}
		}
		slices.Sort(all)
		slices.Reverse(all)
		most, best, got, chosen := rng.IntN(len(all)+2), 0.0, 0.0, 0
		for _, x := range all[:min(most, len(all))] {
			best += x
		}
		for _, r := range hottest(columns, size, most) {
			for k := r.from; k < r.to; k++ {
				got += of(&columns[r.column], k)
				chosen++
			}
		}
		require.LessOrEqual(t, chosen, most)
		require.InDelta(t, best, got, 1e-6*(1+best))
	})
}
