//go:build emu || (cuda && gpu)

package kernels_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"motifd/kernels"
)

// TestRowsAgainstStableSort puts rows in order on the device and on the host: of one group and of many, of one width
// and of two, with few bits that differ and with more than a key has.
func TestRowsAgainstStableSort(t *testing.T) {
	rng := seeded(t)
	d := newDevice(t, rng)
	for range 8 {
		orderRows(t, rng, d, []int{1, 2, 100, 4096, 5000}[rng.IntN(5)])
	}
}

func orderRows(t *testing.T, rng *rand.Rand, d kernels.Device, n int) {
	t.Helper()
	groups, columns := 1+rng.IntN(40), 1+rng.IntN(8)
	widths := make([]int, groups)
	for g := range widths {
		widths[g] = columns + 3
		if rng.IntN(2) == 0 && n%2 == 0 {
			widths[g] = columns
		}
	}
	stride := columns + 4
	limit := []uint32{2, 300, 1 << 31}[rng.IntN(3)]
	base := rng.Uint32() &^ (1<<31 - 1)
	rows := make([][]uint32, n)
	var flat []uint32
	uniform := true
	for i := range rows {
		rows[i] = make([]uint32, stride)
		rows[i][0] = rng.Uint32N(uint32(groups))
		for c := range widths[rows[i][0]] {
			rows[i][1+c] = base | rng.Uint32N(limit)
		}
		uniform = uniform && widths[rows[i][0]] == widths[rows[0][0]]
		flat = append(flat, rows[i]...)
	}
	var want []uint32
	first := slices.Repeat([]uint32{kernels.None}, groups)
	destinations := make([]kernels.Destination, groups)
	// Rows with the same columns keep their order.
	slices.SortStableFunc(rows, func(a, b []uint32) int { return slices.Compare(a[:1+columns], b[:1+columns]) })
	for i, row := range rows {
		g := row[0]
		if first[g] == kernels.None {
			first[g] = uint32(i)
			destinations[g] = kernels.Destination{Word: uint64(len(want)), First: uint32(i), Width: uint32(widths[g])}
		}
		want = append(want, row[1:1+widths[g]]...)
	}

	var taken []kernels.Ptr
	memory := func(bytes int) kernels.Ptr {
		taken = append(taken, alloc(t, d, bytes))
		return taken[len(taken)-1]
	}
	r := kernels.Rows{Rows: memory(4 * len(flat)), N: n, Stride: stride, Columns: columns, Bits: memory(4 * stride),
		Sort: kernels.Sort{Work: memory(kernels.SortWork(d.Info()))}}
	for i := range 2 {
		r.Sort.Keys[i], r.Sort.Values[i] = memory(8*n), memory(4*n)
	}
	out, at, where := memory(4*len(flat)), memory(4*groups), memory(16*groups)
	must(t, d.Write(r.Rows, kernels.Bytes(flat)))
	must(t, d.Write(at, kernels.Bytes(slices.Repeat([]uint32{kernels.None}, groups))))
	must(t, d.Write(where, kernels.Bytes(destinations)))
	q := newStream(t, d)
	must(t, kernels.RunRowBits(q, r))
	must(t, q.Sync())
	differ := make([]uint32, stride)
	must(t, d.Read(kernels.Bytes(differ), r.Bits))
	order, err := kernels.RunRowOrder(q, r, differ, flat[0])
	must(t, err)
	must(t, kernels.RunRowBounds(q, r, order, at))
	width := 0
	if uniform {
		width, where = widths[flat[0]], 0
	}
	must(t, kernels.RunRowGather(q, r, order, out, width, where))
	must(t, q.Sync())
	got, gotFirst := make([]uint32, len(want)), make([]uint32, groups)
	must(t, d.Read(kernels.Bytes(got), out))
	must(t, d.Read(kernels.Bytes(gotFirst), at))
	if !slices.Equal(gotFirst, first) {
		t.Fatalf("%d rows: groups begin at %v, not %v", n, gotFirst, first)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%d rows of %d groups, %d columns of %d: other rows, or another order", n, groups, columns, stride)
	}
	for _, p := range taken {
		must(t, d.Free(p))
	}
}
