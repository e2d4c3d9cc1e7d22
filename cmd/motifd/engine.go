package main

import (
	"context"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/stream/monitor"
)

// beside runs work on a goroutine of its own; see dyngraph.Options.Background.
func beside(work func()) { go work() }

// timedBackend measures the time that a backend spends searching, less what the receiver of its results takes.
type timedBackend struct {
	matcher.Backend
	threads int
	gpus    *gpus // nil: there are none
	search  time.Duration
	// whole counts the receiver's time, too, which is right for one that discards: workers go on searching while it
	// has a group, so that time without it is less than what they took.
	whole bool
	phase func(batch uint64, p matcher.Phase) // told of the engine's phases; may be nil
}

// Capabilities implements matcher.Backend. To find what a batch concerns is part of the search: it is not looked for
// again. What is rehearsed is no search of the stream's.
func (t *timedBackend) Capabilities() matcher.Capabilities {
	can := t.Backend.Capabilities()
	if concern := can.Concern; concern != nil {
		can.Concern = func(note func(plan int, sign dyngraph.Sign)) {
			begin := time.Now()
			concern(note)
			t.search += time.Since(begin)
		}
	}
	return can
}

// Search implements matcher.Backend.
func (t *timedBackend) Search(ctx context.Context, sign dyngraph.Sign, reqs []matcher.Request,
	emit func(matcher.Group) error, over matcher.Exceeded,
) ([]matcher.Result, error) {
	begin, other := time.Now(), time.Duration(0)
	res, err := t.Backend.Search(ctx, sign, reqs, func(g matcher.Group) error {
		at := time.Now()
		err := emit(g)
		other += time.Since(at)
		return err
	}, over)
	t.took(begin, other)
	return res, err
}

// Enumerate implements matcher.Backend.
func (t *timedBackend) Enumerate(ctx context.Context, which dyngraph.Which, p *matcher.Plan, want matcher.Want,
	limit uint64,
	budget *matcher.Budget, emit func(matcher.Rows) error,
) (matcher.Result, error) {
	begin, other := time.Now(), time.Duration(0)
	res, err := t.Backend.Enumerate(ctx, which, p, want, limit, budget, func(r matcher.Rows) error {
		at := time.Now()
		err := emit(r)
		other += time.Since(at)
		return err
	})
	t.took(begin, other)
	return res, err
}

// took adds a search, of which the receiver took a part.
func (t *timedBackend) took(begin time.Time, receiver time.Duration) {
	if t.search += time.Since(begin); !t.whole {
		t.search -= receiver
	}
}

// rehearsal returns what is done before the first batch: a backend that chooses between CPU and GPU compares them.
func rehearsal(e *matcher.Engine, log zerolog.Logger) func(context.Context) error {
	return func(ctx context.Context) error {
		begin := time.Now()
		n, err := e.Rehearse(ctx)
		if err != nil {
			return fmt.Errorf("comparing CPU and GPU: %w", err)
		}
		if n > 0 {
			log.Info().Int("batches", n).Stringer("took", time.Since(begin).Round(time.Millisecond)).
				Msg("warm-up benchmark of CPU and GPU is done; the graph is unchanged")
		}
		return nil
	}
}

// newEngine returns an engine over a graph. Of the options, the caller gives those that differ between commands.
func newEngine(g *dyngraph.Graph, b *timedBackend, opt matcher.EngineOptions) (*matcher.Engine, error) {
	opt.Graph, opt.Backend, opt.Phase = g, b, b.phase
	return monitor.NewEngine(opt)
}

// total is a sum of counts without bound.
type total struct{ n matcher.Count }

// IsZero reports whether it is 0.
func (t *total) IsZero() bool { return t.n.IsZero() }

func (t *total) add(c matcher.Count) { t.n = t.n.Add(c) }

// MarshalJSON writes the number, however long.
func (t *total) MarshalJSON() ([]byte, error) { return []byte(t.n.String()), nil }

func (t *total) String() string { return t.n.String() }
