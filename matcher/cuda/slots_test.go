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

// farDevice is a device whose searches see an array of the graph that begins at slot far. It changes the addresses of
// the columns, and the spans, in the parameters of each search.
type farDevice struct {
	kernels.Device
	g *dyngraph.Graph
}

// far is a multiple of the slots of a leaf; the sum of two slots from there on does not fit 32 bits.
const far = 1 << 31

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
	spans := make([]struct{ begin, end, first, last uint32 }, int(d.g.IDBound())*int(p.Graph.Dirs))
	if err := q.Read(kernels.Bytes(spans), p.Graph.Span); err != nil {
		return err
	}
	if err := q.Sync(); err != nil {
		return err
	}
	for i := range spans {
		if s := &spans[i]; s.begin != s.end {
			s.begin, s.end = s.begin+far, s.end+far
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
	g.Nbr, g.Ent = g.Nbr-4*far, g.Ent-4*far
	const leaves = far / kernels.LeafSlots
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
		dev := &farDevice{Device: cudatest.NewDevice(t, rng)}
		o := randomOptions(rng)
		o.Device, o.CPU = dev, cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())}
		want, got := cpu.New(o.CPU), cuda.New(o)
		defer got.Close()
		bench := matchertest.NewBench(t, c.Directed, plan.New(), c.Queries, want, got)
		dev.g = bench.Graph
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
