//go:build cuda || emu

package cuda_test

import (
	"fmt"
	"math/rand/v2"
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

// prompt is a device that is done with everything when it is looked at, as one is to who takes long to look. It counts
// launches.
type prompt struct {
	kernels.Device
	launches, waves int
}

func (d *prompt) NewStream() (kernels.Stream, error) {
	s, err := d.Device.NewStream()
	return promptStream{s, d}, err
}

func (d *prompt) NewEvent() (kernels.Event, error) {
	e, err := d.Device.NewEvent()
	return promptEvent{e}, err
}

type promptStream struct {
	kernels.Stream
	of *prompt
}

func (s promptStream) Launch(kernel string, blocks, threads int, params []byte) error {
	s.of.launches++
	if kernel == "rowgather" { // once a wave
		s.of.waves++
	}
	return s.Stream.Launch(kernel, blocks, threads, params)
}

func (s promptStream) Record(e kernels.Event) error { return s.Stream.Record(e.(promptEvent).Event) }

type promptEvent struct{ kernels.Event }

func (e promptEvent) Done() (bool, error) { return true, e.Sync() }

func (e promptEvent) Since(earlier kernels.Event) (float64, error) {
	return e.Event.Since(earlier.(promptEvent).Event)
}

// paths returns a batch of so many edges among a number of vertices, with many paths, and the pattern of these.
func paths(rng *rand.Rand, among, edges int, vertices ...string) (batch []dyngraph.Message, q *matcher.Query) {
	for len(batch) < edges {
		if from, to := rng.IntN(among), rng.IntN(among); from != to {
			batch = append(batch, dyngraph.Message{
				Updates: []dyngraph.Update{{Op: dyngraph.InsertEdge, From: fmt.Sprint(from), To: fmt.Sprint(to),
					Label:     "e",
					FromLabel: "a", ToLabel: "a", Pos: dyngraph.Position{Offset: int64(len(batch))}}}})
		}
	}
	q = &matcher.Query{Name: "path", Version: 1}
	for i, name := range vertices {
		q.Vertices = append(q.Vertices, matcher.QueryVertex{Name: name, Label: "a"})
		if i > 0 {
			q.Edges = append(q.Edges, matcher.QueryEdge{Name: "to " + name, From: i - 1, To: i, Label: "e",
				Either: true})
		}
	}
	return batch, q
}

// TestWavesGoOnWhileRowsAreTaken has rows of several waves taken from a device whose copies have always arrived: while
// the rows of a wave are handed out, the next ones are searched all the same.
func TestWavesGoOnWhileRowsAreTaken(t *testing.T) {
	matchertest.ForSeeds(t, 3, func(t *testing.T, rng *rand.Rand) {
		batch, q := paths(rng, 60, 400, "x", "y", "z")
		dev := &prompt{Device: cudatest.NewDevice(t, rng)}
		want := cpu.New(cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())})
		got := cuda.New(cuda.Options{Device: dev, CPU: cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())},
			Shape: kernels.Shape{Blocks: 2, BlockWarps: 2}, RowMemory: 1 << 17})
		defer func() { check(t, got.Close()) }()
		bench := matchertest.NewBench(t, false, plan.New(), []*matcher.Query{q}, want, got)
		bench.Stage(batch)
		requests := bench.Requests(func(_ int, r *matcher.Request) { r.Want = matcher.WantRows })
		compareAnswers(t, bench, dyngraph.Inserted, requests, bench.Search(want, dyngraph.Inserted, requests),
			bench.Search(got, dyngraph.Inserted, requests))
		before, seen := dev.waves, map[int]bool{}
		_, err := got.Search(t.Context(), dyngraph.Inserted, requests, func(matcher.Group) error {
			seen[dev.launches] = true
			return nil
		}, nil)
		check(t, err)
		if waves := dev.waves - before; waves < 3 || len(seen) <= waves {
			t.Errorf("%d waves, and the device was asked for something %d times between groups", waves, len(seen)-1)
		}
		bench.Abort()
	})
}
