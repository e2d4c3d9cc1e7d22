//go:build emu || (cuda && gpu)

package kernels_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"motifd/kernels"
)

// TestStreamsReadAnySize reads pieces of a device's memory over a stream: few bytes and many, at any place, whole
// words and not. What lies beside a piece is left as it was. The kernel that reads small pieces of a GPU's copies
// words within the device, too: the emulator's streams read without it.
func TestStreamsReadAnySize(t *testing.T) {
	rng := seeded(t)
	d := newDevice(t, rng)
	fetchWords(t, d, rng)
	q := newStream(t, d)
	const size = 3 << 20
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	at := alloc(t, d, size)
	defer func() { must(t, d.Free(at)) }()
	must(t, d.Write(at, data))
	host := hostMemory(t, d, size)
	for range 60 {
		n := 1 + rng.IntN(1<<(1+rng.IntN(21)))
		from, to := rng.IntN(size-n), 1+rng.IntN(size-n-1)
		if rng.IntN(2) == 0 {
			n, from, to = (n+3)&^3, from&^3, (to+3)&^3
			n, to = min(n, size-from, size-4), min(to, size-4-n)
		}
		before, after := host[to-1], host[to+n]
		must(t, q.Read(host[to:to+n], at+kernels.Ptr(from)))
		must(t, q.Sync())
		if !slices.Equal(host[to:to+n], data[from:from+n]) {
			t.Fatalf("%d bytes from %d on are others", n, from)
		}
		if host[to-1] != before || host[to+n] != after {
			t.Fatalf("%d bytes to %d: something beside them was written", n, to)
		}
	}
}

// fetchWords has the kernel that reads copy words from one place of the device's memory to another.
func fetchWords(t *testing.T, d kernels.Device, rng *rand.Rand) {
	t.Helper()
	const words = 10000
	data := make([]uint32, words)
	for i := range data {
		data[i] = rng.Uint32()
	}
	a, b := alloc(t, d, 4*words), alloc(t, d, 4*words)
	defer func() { must(t, d.Free(a)); must(t, d.Free(b)) }()
	must(t, d.Write(a, kernels.Bytes(data)))
	for _, n := range []int{1, 2, 31, 256, 257, 2047, 2048, 2049, words - 1, words, 1 + rng.IntN(words)} {
		from, to := rng.IntN(words-n+1), rng.IntN(words-n+1)
		must(t, d.Clear(b, 4*words))
		must(t, kernels.RunFetch(d, b+kernels.Ptr(4*to), a+kernels.Ptr(4*from), n))
		must(t, d.Sync())
		got := make([]uint32, words)
		must(t, d.Read(kernels.Bytes(got), b))
		want := make([]uint32, words)
		copy(want[to:], data[from:from+n])
		if !slices.Equal(got, want) {
			t.Fatalf("%d words from %d to %d are others", n, from, to)
		}
	}
}
