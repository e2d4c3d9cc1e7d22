package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"motifd/cmd/motifd/internal/command"
	"motifd/matcher"
	"motifd/stream"
)

// changeWait is how long the API waits for the engine to begin a change before it answers that the change is pending.
const changeWait = 500 * time.Millisecond

// dryWait is how long a dry run waits for the engine.
const dryWait = time.Minute

// Errors of changes.
var (
	errPending   = errors.New("a change of this query is pending; DELETE withdraws it")
	errRemoval   = errors.New("a removal of this query is pending")
	errCancelled = errors.New("the change was withdrawn")
	errTooMany   = errors.New("too many queries")
	errBackfill  = errors.New("too many matches")
	errDryRun    = errors.New("nothing was to be changed") // the end of a dry run
)

// pendingChange is a query change that is not in effect yet.
type pendingChange struct {
	Op      string  `json:"op"` // add, replace or remove
	Query   string  `json:"query"`
	State   string  `json:"state"` // waiting, counting (its matches) or running
	Seconds float64 `json:"seconds"`
	// Batch, Found and Records are of a running change: its batch, the matches that it has found, and the records
	// that it has emitted, which begins when all are found.
	Batch   uint64 `json:"batch,omitempty"`
	Found   uint64 `json:"found,omitempty"`
	Records uint64 `json:"records,omitempty"`

	// Backfill is the number of matches in the graph, or "unknown"; "" before it is counted.
	Backfill string `json:"backfill,omitempty"`

	dry bool // only counts
	// counting: the engine counts the matches. counted is when it last ended. pending.mu guards both.
	counting bool
	counted  time.Time
	warnings []string       // why the query cannot match; guarded by pending.mu
	add      *matcher.Query // nil for a removal
	since    time.Time
	cancel   context.CancelCauseFunc
	done     chan struct{} // closed when it is begun, refused or withdrawn
	result   changed       // with err: valid then
	err      error
}

// pending are the changes that wait for the engine.
type pending struct {
	mu      sync.Mutex
	changes []*pendingChange
	counts  [2]string // the query that was counted last, and its matches
}

// change makes a change with begin, or with dry only counts, and waits for it for a while. room, called with p.mu held,
// may refuse it.
func (p *pending) change(ctx context.Context, ch *matcher.QueryChange, dry bool, room func() error,
	begin func(context.Context, *matcher.QueryChange) (uint64, uint64, error), log zerolog.Logger,
) (changed, error) {
	c := &pendingChange{
		dry:   dry,
		Op:    "remove",
		Query: ch.Remove,
		State: "waiting",
		add:   ch.Add,
		since: time.Now(),
		done:  make(chan struct{}),
	}
	if ch.Add != nil {
		c.Op, c.Query = "add", ch.Add.Name
		if ch.Remove != "" {
			c.Op = "replace"
		}
		if dry {
			c.Op = "count"
		}
	}
	p.mu.Lock()
	if other := p.find(c.Query); other != nil {
		p.mu.Unlock()
		switch {
		case other.same(ch, dry):
			return other.wait(ctx, p)
		case other.add == nil:
			return changed{}, fmt.Errorf("query %q: %w", c.Query, errRemoval)
		}
		return changed{}, fmt.Errorf("query %q: %w", c.Query, errPending)
	}
	if err := room(); err != nil {
		p.mu.Unlock()
		return changed{}, err
	}
	// The change outlives the request that asked for it.
	var waiting context.Context
	waiting, c.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	p.changes = append(p.changes, c)
	p.mu.Unlock()
	go func() {
		defer c.cancel(nil)
		batch, version, err := begin(waiting, ch)
		if errors.Is(err, stream.ErrStopped) {
			err = fmt.Errorf("%w: %w", errNotReady, err)
		}
		p.mu.Lock()
		c.result = changed{Batch: batch, Version: version, Backfill: c.Backfill, DryRun: dry, Warnings: c.warnings}
		if errors.Is(err, errDryRun) {
			err = nil
		}
		c.err = err
		p.changes = slices.DeleteFunc(p.changes, func(x *pendingChange) bool { return x == c })
		p.mu.Unlock()
		if waited := time.Since(c.since); waited >= changeWait && err != nil {
			log.Warn().Str("query", c.Query).Str("change", c.Op).Err(err).Msg("a pending query change was not made")
		}
		close(c.done)
	}()
	return c.wait(ctx, p)
}

// same tells whether a request asks for what c does.
func (c *pendingChange) same(ch *matcher.QueryChange, dry bool) bool {
	if ch.Add == nil || c.add == nil {
		return ch.Add == nil && c.add == nil
	}
	return dry == c.dry && definition(ch.Add) == definition(c.add)
}

// wait waits for the change: for changeWait, while its matches are counted, which is bounded, and for changeWait after
// that, since what comes of the count is known at once. A dry run has nothing to tell but its result: it is waited for
// dryWait, and then withdrawn.
func (c *pendingChange) wait(ctx context.Context, p *pending) (changed, error) {
	patience := changeWait
	if c.dry {
		patience = dryWait
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		select {
		case <-c.done:
			return c.result, c.err
		case <-ctx.Done():
			if c.dry {
				c.cancel(errCancelled)
			}
			return changed{}, context.Cause(ctx)
		case <-timer.C:
		}
		left := p.patience(c)
		switch {
		case left > 0:
			timer.Reset(left)
		case c.dry:
			c.cancel(errCancelled)
			return changed{}, fmt.Errorf("%w: the engine has been busy for %s", errNotReady, dryWait)
		default:
			return changed{Pending: true}, nil
		}
	}
}

// patience returns how long a change is waited for beyond the first wait, for what comes of its count; 0 when it is
// not.
func (p *pending) patience(c *pendingChange) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.counting {
		return changeWait
	}
	return changeWait - time.Since(c.counted)
}

// find returns the pending change of a query, or nil. p.mu is held.
func (p *pending) find(name string) *pendingChange {
	for _, c := range p.changes {
		if c.Query == name {
			return c
		}
	}
	return nil
}

// dry reports whether the change of a query only counts.
func (p *pending) dry(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.find(name)
	return c != nil && c.dry
}

// warn notes why a query that is being registered cannot match.
func (p *pending) warn(name string, warnings []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.find(name); c != nil {
		c.warnings = warnings
	}
}

// count notes that the matches of a query that is being registered are being counted, or were counted.
func (p *pending) count(name, matches string, counting bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts = [2]string{name, matches}
	if c := p.find(name); c != nil {
		c.Backfill, c.counting = matches, counting
		if c.State = "waiting"; counting {
			c.State = "counting"
		} else {
			c.counted = time.Now()
		}
	}
}

// expected returns the number of matches of the query that is being registered, "" where they were not counted.
func (p *pending) expected(name string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.counts[0] == name {
		return p.counts[1]
	}
	return ""
}

// adds returns the queries that wait to be registered. p.mu is held.
func (p *pending) adds() (out []*matcher.Query) {
	for _, c := range p.changes {
		if c.add != nil {
			out = append(out, c.add)
		}
	}
	return out
}

// list returns the changes, in the order in which they came.
func (p *pending) list() (out []pendingChange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.changes {
		out = append(
			out,
			pendingChange{Op: c.Op, Query: c.Query, State: c.State, Seconds: command.Rounded(time.Since(c.since)),
				Backfill: c.Backfill},
		)
	}
	return out
}

// withdraw withdraws the registration of a query that is pending. It reports whether there was one that the engine had
// not begun.
func (p *pending) withdraw(ctx context.Context, name string) (bool, error) {
	p.mu.Lock()
	c := p.find(name)
	p.mu.Unlock()
	if c == nil || c.add == nil {
		return false, nil
	}
	c.cancel(errCancelled)
	select {
	case <-c.done:
		return errors.Is(c.err, errCancelled), nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}
