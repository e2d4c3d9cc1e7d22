//go:build emu && !cuda

package cuda_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"motifd/dyngraph"
	"motifd/kernels"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/cuda"
	"motifd/matcher/cuda/cudatest"
	"motifd/matcher/matchertest"
	"motifd/matcher/plan"
	"motifd/stream/tempfile"
)

// farDevice is a device whose searches see an array of the graph that begins at slot far, or farther, if the array has
// ranges: then each range begins at a leaf of its own. It changes the addresses of the columns, the spans, and the
// ranges, in the parameters of each search.
type farDevice struct {
	kernels.Device
	less [kernels.MostRanges]uint32 // by range: leaves before farther at which it begins
	last int                        // the most slots before a range
}

func newFarDevice(dev kernels.Device, rng *rand.Rand) *farDevice {
	d := &farDevice{Device: dev}
	for i := range d.less {
		d.less[i] = uint32(rng.IntN(1 << 20))
	}
	return d
}

// farOf returns a device whose ranges are farther than a graph of that size has them.
func farOf(dev kernels.Device, rng *rand.Rand) kernels.Device { return newFarDevice(dev, rng) }

// far is a multiple of the slots of a leaf; the sum of two slots from there on does not fit 32 bits.
const far = 1 << 31

// farther are slots before an array with ranges: their number does not fit 32 bits.
const farther = 5<<32 + 7<<20

func (d *farDevice) NewStream() (kernels.Stream, error) {
	s, err := d.Device.NewStream()
	return farStream{s, d}, err
}

func (d *farDevice) Launch(kernel string, blocks, threads int, params []byte) error {
	return d.launch(d.Device, kernel, blocks, threads, params)
}

type farStream struct {
	kernels.Stream
	d *farDevice
}

func (s farStream) Launch(kernel string, blocks, threads int, params []byte) error {
	return s.d.launch(s.Stream, kernel, blocks, threads, params)
}

func (d *farDevice) launch(q kernels.Queue, kernel string, blocks, threads int, params []byte) error {
	if !strings.HasPrefix(kernel, "wbm") {
		return q.Launch(kernel, blocks, threads, params)
	}
	var p kernels.Search
	copy(kernels.BytesOf(&p), params)
	spans := make([]struct{ begin, end, first, last uint32 }, int(p.Memo.Vertices)*int(p.Graph.Dirs))
	if err := q.Read(kernels.Bytes(spans), p.Graph.Span); err != nil {
		return err
	}
	if err := q.Sync(); err != nil {
		return err
	}
	before, more := far, make([]uint32, kernels.MostRanges) // slots: before the array, and by range
	shift := p.Graph.Shift
	if p.Graph.Base == 0 {
		more[0], shift = far, 32
	} else {
		before = farther
		base := make([]uint32, len(more))
		if err := d.Device.Read(kernels.Bytes(base), p.Graph.Base); err != nil {
			return err
		}
		for i := range base {
			more[i] = d.less[i] * kernels.LeafSlots
			base[i] += farther/kernels.LeafSlots - d.less[i]
			d.last = max(d.last, int(base[i])*kernels.LeafSlots)
		}
		at, err := d.Device.Alloc(4 * len(base))
		if err != nil {
			return err
		}
		defer func() { _ = d.Device.Free(at) }()
		if err := d.Device.Write(at, kernels.Bytes(base)); err != nil {
			return err
		}
		p.Graph.Base = at
	}
	for i := range spans {
		if s := &spans[i]; s.begin != s.end {
			n := more[i/int(p.Graph.Dirs)>>shift]
			s.begin, s.end = s.begin+n, s.end+n
		}
	}
	at, err := d.Device.Alloc(max(1, len(spans)*kernels.SpanSize))
	if err != nil {
		return err
	}
	if err := d.Device.Write(at, kernels.Bytes(spans)); err != nil {
		return err
	}
	g := &p.Graph
	g.Span = at
	slots, leaves := kernels.Ptr(before), kernels.Ptr(before/kernels.LeafSlots)
	g.Nbr, g.Ent = g.Nbr-4*slots, g.Ent-4*slots
	g.Count, g.Runs = g.Count-4*leaves, g.Runs-8*leaves
	g.FenceRow, g.FenceNbr = g.FenceRow-8*leaves, g.FenceNbr-4*leaves
	if err := q.Launch(kernel, blocks, threads, kernels.BytesOf(&p)); err != nil {
		return err
	}
	if err := q.Sync(); err != nil {
		return err
	}
	return d.Device.Free(at)
}

// TestP2SlotsBeyond31Bits searches an array that begins at slot 2^31. Rows, counts and witnesses must be those of the
// CPU. It goes on until it has found some.
func TestP2SlotsBeyond31Bits(t *testing.T) {
	found := 0
	matchertest.ForSeedsUntil(t, rounds, func() bool { return found > 20 }, func(t *testing.T, rng *rand.Rand) {
		c := withoutWildcards(rng, matchertest.RandomCase(rng, 3))
		dev := newFarDevice(cudatest.NewDevice(t, rng), rng)
		o := randomOptions(rng)
		o.Ranges = 0
		o.Device, o.CPU = dev, cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())}
		want, got := cpu.New(o.CPU), cuda.New(o)
		defer got.Close()
		bench := matchertest.NewBench(t, c.Directed, plan.New(), c.Queries, want, got)
		for _, batch := range c.Batches {
			delta := bench.Stage(batch)
			for _, sign := range []dyngraph.Sign{dyngraph.Deleted, dyngraph.Inserted} {
				requests := bench.Requests(func(_ int, r *matcher.Request) { randomRequest(rng, r, len(delta.Net)) })
				a := bench.Search(want, sign, requests)
				compareAnswers(t, bench, sign, requests, a, bench.Search(got, sign, requests))
				found += len(a.Rows)
			}
			bench.Commit()
		}
	})
}

// TestA28SlotsBeyond32Bits searches arrays with ranges, each of which begins at a slot whose number does not fit 32
// bits: rows with caps and totals of batches, and whole graphs, with parallel edges and conditions, must be those of
// the CPU.
func TestA28SlotsBeyond32Bits(t *testing.T) {
	var seen compared
	launched, last := map[string]int{}, 0
	all := func() bool {
		return seen.all() && min(launched["wbmranges"], launched["wbmrowsranges"], launched["wbmflatranges"]) > 0 &&
			last > 1<<32
	}
	matchertest.ForSeedsUntil(t, 2*rounds, all, func(t *testing.T, rng *rand.Rand) {
		c := anyCase(rng)
		if rng.IntN(4) == 0 {
			c = manyNeighbors(rng, 100, 200)
		}
		o := randomOptions(rng)
		dev := newFarDevice(cudatest.NewDevice(t, rng), rng)
		o.Ranges, o.Device = 1+rng.IntN(2), watched{dev, func(kernel string) { launched[kernel]++ }}
		o.CPU = cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())}
		want, got := cpu.New(o.CPU), cuda.New(o)
		defer got.Close()
		bench := matchertest.NewBenchOf(t, c.Graph(), plan.New(), c.Queries, want, got)
		playOn(t, rng, &seen, bench, want, got, c.Batches)
		last = max(last, dev.last)
		for k := range launched {
			if strings.HasPrefix(k, "wbm") && !strings.HasSuffix(k, "ranges") {
				t.Errorf("%s was launched in a graph with ranges", k)
			}
		}
	})
}
