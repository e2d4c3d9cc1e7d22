//go:build emu || (cuda && gpu)

package kernels_test

import (
	"cmp"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"motifd/kernels"
	"motifd/matcher/cuda/cudatest"
)

// seeded returns a generator; MOTIFD_TEST_SEED repeats one.
func seeded(t testing.TB) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("MOTIFD_TEST_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("MOTIFD_TEST_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// must fails the test on an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newDevice(t testing.TB, rng *rand.Rand) kernels.Device {
	t.Helper()
	d := cudatest.NewDevice(t, rng)
	t.Cleanup(func() { must(t, d.Close()) })
	return d
}

func alloc(t testing.TB, d kernels.Device, bytes int) kernels.Ptr {
	t.Helper()
	p, err := d.Alloc(bytes)
	must(t, err)
	return p
}

func hostMemory(t testing.TB, d kernels.Device, bytes int) []byte {
	t.Helper()
	b, err := d.AllocHost(bytes)
	must(t, err)
	t.Cleanup(func() { must(t, d.FreeHost(b)) })
	return b
}

func newStream(t testing.TB, d kernels.Device) kernels.Stream {
	t.Helper()
	s, err := d.NewStream()
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

func newEvent(t testing.TB, d kernels.Device) kernels.Event {
	t.Helper()
	e, err := d.NewEvent()
	must(t, err)
	t.Cleanup(func() { must(t, e.Close()) })
	return e
}

type pair struct {
	key   uint64
	value uint32
}

// TestSortAgainstStableSort sorts pairs on the device and on the host: none, one, odd numbers, one tile and some
// more, few distinct keys and many, with bits above those that count.
func TestSortAgainstStableSort(t *testing.T) {
	rng := seeded(t)
	d := newDevice(t, rng)
	sizes := []int{0, 1, 2, 31, 33, 4095, 4096, 4097, 8192 + 5, 40_001}
	for range 3 {
		sizes = append(sizes, rng.IntN(30_000))
	}
	for _, n := range sizes {
		bits := []int{1, 7, 8, 9, 40, 64}[rng.IntN(6)]
		mask := ^uint64(0)
		if rng.IntN(2) == 0 {
			mask = rng.Uint64() & rng.Uint64() & rng.Uint64()
		}
		pairs := make([]pair, n)
		keys, values := make([]uint64, n), make([]uint32, n)
		for i := range pairs {
			keys[i], values[i] = rng.Uint64()&mask, rng.Uint32()
			pairs[i] = pair{keys[i], values[i]}
		}
		s := kernels.Sort{Work: alloc(t, d, kernels.SortWork(d.Info())), N: n, Bits: bits}
		for i := range 2 {
			s.Keys[i], s.Values[i] = alloc(t, d, 8*n+8), alloc(t, d, 4*n+4)
		}
		must(t, d.Write(s.Keys[0], kernels.Bytes(keys)))
		must(t, d.Write(s.Values[0], kernels.Bytes(values)))
		var q kernels.Queue = d
		if rng.IntN(2) == 0 {
			q = newStream(t, d)
		}
		at, err := kernels.RunSort(q, s)
		must(t, err)
		must(t, q.Sync())
		must(t, d.Read(kernels.Bytes(keys), s.Keys[at]))
		must(t, d.Read(kernels.Bytes(values), s.Values[at]))
		low := ^uint64(0) >> (64 - bits)
		slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(a.key&low, b.key&low) })
		for i, p := range pairs {
			if keys[i] != p.key || values[i] != p.value {
				t.Fatalf("%d pairs by %d bits: pair %d is %x %x, not %x %x", n, bits, i, keys[i], values[i], p.key,
					p.value)
			}
		}
		for _, p := range []kernels.Ptr{s.Work, s.Keys[0], s.Keys[1], s.Values[0], s.Values[1]} {
			must(t, d.Free(p))
		}
	}
}

// TestStreamsKeepOrder has data go over two streams, in chunks: up, through a kernel, down. Events alone keep what
// must be after another.
func TestStreamsKeepOrder(t *testing.T) {
	rng := seeded(t)
	d := newDevice(t, rng)
	const n = 1000
	up, down := newStream(t, d), newStream(t, d)
	at := make([]uint32, n)
	a, b, where := alloc(t, d, 4*n), alloc(t, d, 4*n), alloc(t, d, 4*n)
	for i := range at {
		at[i] = uint32((i + 1) % n)
	}
	must(t, d.Write(where, kernels.Bytes(at)))
	var in, out, want [2][]byte
	var written, read [2]kernels.Event
	for k := range 2 {
		in[k], out[k] = hostMemory(t, d, 4*n), hostMemory(t, d, 4*n)
		written[k], read[k] = newEvent(t, d), newEvent(t, d)
	}
	patched := newEvent(t, d)
	check := func(k int) {
		must(t, read[k].Sync())
		if !slices.Equal(out[k], want[k]) {
			t.Fatal("other data came back")
		}
	}
	for i := range 20 {
		k := i % 2
		if i >= 2 {
			check(k)
		}
		for j := range in[k] {
			in[k][j] = byte(rng.Uint32())
		}
		want[k] = append(append([]byte{}, in[k][4*n-4:]...), in[k][:4*n-4]...)
		must(t, patched.Sync()) // before a changes
		must(t, up.Write(a, in[k]))
		must(t, up.Record(written[k]))
		must(t, written[k].Sync())
		must(t, kernels.RunPatch(down, kernels.Patch{Dst: b, Src: a, At: where, Records: n, Words: 1}))
		must(t, down.Record(patched))
		must(t, down.Read(out[k], b))
		must(t, down.Record(read[k]))
	}
	check(0)
	check(1)
	must(t, up.Sync())
	must(t, down.Sync())
	for _, p := range []kernels.Ptr{a, b, where} {
		must(t, d.Free(p))
	}
	if ms, err := read[1].Since(read[0]); err != nil || ms < 0 {
		t.Errorf("%f ms, %v", ms, err)
	}
}
