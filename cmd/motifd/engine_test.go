package main

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/pattern"
	"motifd/matcher/reference"
)

// TestTimedBackendHidesNothing: the engine finds out what a backend can do beyond matcher.Backend, although it is
// timed.
func TestTimedBackendHidesNothing(t *testing.T) {
	for _, b := range []matcher.Backend{cpu.New(cpu.Options{Threads: 1}), reference.New()} {
		seen := (&timedBackend{Backend: b}).Capabilities()
		_, is := b.(*cpu.Backend)
		require.Equal(t, is, seen.Concern != nil, b.Name())
		require.Equal(t, is, seen.TellProgress != nil, b.Name())
		require.NoError(t, b.Close())
	}
}

// TestATimedBackendTellsItsProgress: the daemon's engine knows how many anchors a search has.
func TestATimedBackendTellsItsProgress(t *testing.T) {
	b := &timedBackend{Backend: cpu.New(cpu.Options{Threads: 1}), threads: 1}
	e, err := newEngine(dyngraph.NewGraph(dyngraph.Options{Directed: true}), b, matcher.EngineOptions{})
	require.NoError(t, err)
	defer e.Close()
	q, err := pattern.Parse(pattern.Cypher, []byte("MATCH (a)-[:T]->(b)"), pattern.Options{Name: "q", Directed: true})
	require.NoError(t, err)
	ch, err := e.PrepareChange(&matcher.QueryChange{Add: q})
	require.NoError(t, err)
	anchors := uint64(0)
	for i, x := range []*matcher.Batch{{Change: ch}, {Updates: []dyngraph.Update{
		{Op: dyngraph.InsertEdge, From: "a", To: "b", Label: "T"},
		{Op: dyngraph.InsertEdge, From: "a", To: "c", Label: "T"},
	}}} {
		x.Number = uint64(i) + 1
		_, err := e.Step(t.Context(), x, func(*matcher.Event) error {
			_, anchors = e.Anchors()
			return nil
		}, nil)
		require.NoError(t, err)
	}
	require.EqualValues(t, 2, anchors)
}

// slowBackend searches for three seconds, and calls its receiver in between. It is used in a synctest bubble, where
// sleeping takes no time.
type slowBackend struct{ matcher.Backend }

func (slowBackend) Search(_ context.Context, _ dyngraph.Sign, _ []matcher.Request, emit func(matcher.Group) error,
	_ matcher.Exceeded) ([]matcher.Result, error) {
	time.Sleep(time.Second) // of the bubble's clock: it takes no time
	err := emit(matcher.Group{})
	time.Sleep(2 * time.Second) // of the bubble's clock
	return nil, err
}

func (slowBackend) Enumerate(_ context.Context, _ dyngraph.Which, _ *matcher.Plan, _ matcher.Want, _ uint64,
	_ *matcher.Budget, emit func(matcher.Rows) error) (matcher.Result, error) {
	time.Sleep(3 * time.Second) // of the bubble's clock
	return matcher.Result{}, emit(matcher.Rows{})
}

// TestTimedBackend: what the receiver takes is no search, unless it is to be counted with it. The clock is that of a
// bubble, which waits for nothing.
func TestTimedBackend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, x := range []struct {
			whole bool
			want  time.Duration
		}{{false, 3 * time.Second}, {true, 8 * time.Second}} {
			b := &timedBackend{Backend: slowBackend{}, whole: x.whole}
			receive := func() error { time.Sleep(5 * time.Second); return nil } // of the bubble's clock
			_, err := b.Search(t.Context(), dyngraph.Inserted, nil,
				func(matcher.Group) error { return receive() }, nil)
			require.NoError(t, err)
			require.Equal(t, x.want, b.search)
			_, err = b.Enumerate(t.Context(), dyngraph.New, nil, matcher.WantRows, 0, nil,
				func(matcher.Rows) error { return receive() })
			require.NoError(t, err)
			require.Equal(t, 2*x.want, b.search)
		}
	})
}
