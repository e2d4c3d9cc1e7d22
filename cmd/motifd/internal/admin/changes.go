package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"motifd/cmd/motifd/internal/command"
	"motifd/config"
	"motifd/matcher"
	"motifd/stream"
)

// changeWait is the time that the API waits for the engine to begin a change before it answers that the change is
// pending.
const changeWait = 500 * time.Millisecond

// dryWait is the time that a dry run waits for the engine.
const dryWait = time.Minute

// Errors of changes.
var (
	// ErrNotReady is wrapped by errors of a daemon that does not take changes at present.
	ErrNotReady = errors.New("the daemon is not ready")
	// ErrVertices is wrapped when vertices to load are refused.
	ErrVertices = errors.New("the vertices are refused")
	// ErrBackfill is wrapped when a registration is refused because it would emit too many matches.
	ErrBackfill = errors.New("too many matches")
	// ErrDryRun ends a dry run.
	ErrDryRun = errors.New("nothing was to be changed")

	errPending   = errors.New("a change of this query is pending; DELETE withdraws it")
	errRemoval   = errors.New("a removal of this query is pending")
	errCancelled = errors.New("the change was withdrawn")
	errTooMany   = errors.New("too many queries")
)

// change is a PendingChange under way.
type change struct {
	PendingChange
	dry bool // only counts
	// counting: the engine counts the matches. counted is when it last ended. Changes.mu guards both.
	counting bool
	counted  time.Time
	returns  []string       // of ChangeResult.Warnings: what the next start does
	warnings []string       // the others of them; guarded by Changes.mu
	add      *matcher.Query // nil for a removal
	since    time.Time
	cancel   context.CancelCauseFunc
	done     chan struct{} // closed when it is begun, refused or withdrawn
	result   ChangeResult  // with err: valid then
	err      error
}

// Changes are the query changes that wait for the engine. Their methods are safe for concurrent use.
type Changes struct {
	maxQueries, maxPatternBytes int // 0 is no bound
	log                         zerolog.Logger

	mu         sync.Mutex
	configured []*matcher.Query // those of the configuration
	changes    []*change
	counts     [2]string // the query that was counted last, and its matches
}

// NewChanges returns Changes that keep to the bounds on queries of the configuration.
func NewChanges(cfg *config.Admin, log zerolog.Logger) *Changes {
	return &Changes{maxQueries: cfg.MaxQueries, maxPatternBytes: int(cfg.MaxPatternBytes), log: log}
}

// Make makes a change with begin, which returns its batch and the query's version, and waits for it for a while. With
// dry, begin only counts, and returns ErrDryRun. A change that exceeds a bound, the registered queries and the pending
// changes counted, is refused; registered is called with a lock held.
func (p *Changes) Make(ctx context.Context, ch *matcher.QueryChange, dry bool, registered func() []Query,
	begin func(context.Context, *matcher.QueryChange) (batch, version uint64, err error),
) (ChangeResult, error) {
	c := &change{
		PendingChange: PendingChange{Op: "remove", Query: ch.Remove, State: "waiting"},
		dry:           dry,
		add:           ch.Add,
		since:         time.Now(),
		done:          make(chan struct{}),
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
			return ChangeResult{}, fmt.Errorf("query %q: %w", c.Query, errRemoval)
		}
		return ChangeResult{}, fmt.Errorf("query %q: %w", c.Query, errPending)
	}
	if err := p.room(ch, registered()); err != nil {
		p.mu.Unlock()
		return ChangeResult{}, err
	}
	c.returns = p.returns(c.Query, ch.Add)
	// The change outlives the request that asked for it.
	var waiting context.Context
	waiting, c.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	p.changes = append(p.changes, c)
	p.mu.Unlock()
	go func() {
		defer c.cancel(nil)
		batch, version, err := begin(waiting, ch)
		if errors.Is(err, stream.ErrStopped) {
			err = fmt.Errorf("%w: %w", ErrNotReady, err)
		}
		p.mu.Lock()
		c.result = ChangeResult{Batch: batch, Version: version, Backfill: c.Backfill, DryRun: dry,
			Warnings: slices.Concat(c.returns, c.warnings)}
		if errors.Is(err, ErrDryRun) {
			err = nil
		}
		c.err = err
		p.changes = slices.DeleteFunc(p.changes, func(x *change) bool { return x == c })
		p.mu.Unlock()
		if waited := time.Since(c.since); waited >= changeWait && err != nil {
			p.log.Warn().Str("query", c.Query).Str("change", c.Op).Err(err).Msg("a pending query change was not made")
		}
		close(c.done)
	}()
	return c.wait(ctx, p)
}

// same tells whether a request asks for what c does.
func (c *change) same(ch *matcher.QueryChange, dry bool) bool {
	if ch.Add == nil || c.add == nil {
		return ch.Add == nil && c.add == nil
	}
	return dry == c.dry && matcher.SameDefinition(ch.Add, c.add)
}

// wait waits for the change: for changeWait, while its matches are counted, which is bounded, and for changeWait after
// that, since what comes of the count is known at once. A dry run has nothing to tell but its result: it is waited for
// dryWait, and then withdrawn.
func (c *change) wait(ctx context.Context, p *Changes) (ChangeResult, error) {
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
			return ChangeResult{}, context.Cause(ctx)
		case <-timer.C:
		}
		left := p.patience(c)
		switch {
		case left > 0:
			timer.Reset(left)
		case c.dry:
			c.cancel(errCancelled)
			return ChangeResult{}, fmt.Errorf("%w: the engine has been busy for %s", ErrNotReady, dryWait)
		default:
			return ChangeResult{Pending: true, Warnings: c.returns}, nil
		}
	}
}

// patience returns how long a change is waited for beyond the first wait, for what comes of its count; 0 when it is
// not.
func (p *Changes) patience(c *change) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.counting {
		return changeWait
	}
	return changeWait - time.Since(c.counted)
}

// Configured notes the queries of the configuration. The next start registers them again, whatever changes are made.
func (p *Changes) Configured(queries []*matcher.Query) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.configured = queries
}

// returns warns that the configuration has a query which is removed, or replaced by another (add). p.mu is held.
func (p *Changes) returns(name string, add *matcher.Query) []string {
	i := slices.IndexFunc(p.configured, func(q *matcher.Query) bool { return q.Name == name })
	switch {
	case i < 0 || add != nil && matcher.SameDefinition(add, p.configured[i]):
		return nil
	case add == nil:
		return []string{"the configuration has it, so that it returns with the next start"}
	}
	return []string{"the configuration has another query of this name, which returns with the next start; change it " +
		"there, too, or register this one under another name"}
}

// find returns the pending change of a query, or nil. p.mu is held.
func (p *Changes) find(name string) *change {
	for _, c := range p.changes {
		if c.Query == name {
			return c
		}
	}
	return nil
}

// Dry reports whether the pending change of a query is a dry run.
func (p *Changes) Dry(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.find(name)
	return c != nil && c.dry
}

// Warn notes why a query that is being registered cannot match.
func (p *Changes) Warn(name string, warnings []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.find(name); c != nil {
		c.warnings = warnings
	}
}

// Count notes that the matches of a query that is being registered are being counted, or were counted.
func (p *Changes) Count(name, matches string, counting bool) {
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

// Expected returns the number of matches of the query that is being registered, "" where they were not counted.
func (p *Changes) Expected(name string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.counts[0] == name {
		return p.counts[1]
	}
	return ""
}

// room returns nil, or which bound a change would exceed. p.mu is held.
func (p *Changes) room(ch *matcher.QueryChange, registered []Query) error {
	if ch.Add == nil {
		return nil
	}
	size := map[string]int{}
	for _, q := range registered {
		size[q.Query.Name] = len(q.Query.Source)
	}
	for _, c := range p.changes {
		if c.add != nil {
			size[c.add.Name] = len(c.add.Source)
		}
	}
	size[ch.Add.Name] = len(ch.Add.Source)
	total := 0
	for _, n := range size {
		total += n
	}
	switch {
	case p.maxQueries > 0 && len(size) > p.maxQueries:
		return fmt.Errorf("%w: there would be %d queries; admin.max_queries is %d", errTooMany, len(size), p.maxQueries)
	case p.maxPatternBytes > 0 && total > p.maxPatternBytes:
		return fmt.Errorf("%w: the patterns would have %d bytes; admin.max_pattern_bytes is %d", errTooMany, total,
			p.maxPatternBytes)
	}
	return nil
}

// List returns the changes, in the order in which they came.
func (p *Changes) List() (out []PendingChange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.changes {
		out = append(
			out,
			PendingChange{Op: c.Op, Query: c.Query, State: c.State, Seconds: command.Rounded(time.Since(c.since)),
				Backfill: c.Backfill},
		)
	}
	return out
}

// Withdraw withdraws the registration of a query that is pending. It reports whether there was one that the engine had
// not begun.
func (p *Changes) Withdraw(ctx context.Context, name string) (bool, error) {
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
