package main

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"motifd/cmd/motifd/internal/command"
	"motifd/config"
	"motifd/matcher"
)

func addOf(name, source string) *matcher.QueryChange {
	return &matcher.QueryChange{Add: &matcher.Query{Name: name, Source: source}}
}

func noRoom() error { return nil }

// TestAChangeThatWaitsIsPending: the API answers while the engine is busy, lists the change, and withdraws it.
func TestAChangeThatWaitsIsPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pending
		busy := func(ctx context.Context, _ *matcher.QueryChange) (uint64, uint64, error) {
			<-ctx.Done()
			return 0, 0, context.Cause(ctx)
		}
		request, gone := context.WithCancel(t.Context())
		got, err := p.change(request, addOf("fan10", "x"), false, noRoom, busy, zerolog.Nop())
		require.NoError(t, err)
		require.Equal(t, changed{Pending: true}, got)
		gone() // the client's end is not the change's
		synctest.Wait()
		list := p.list()
		require.Len(t, list, 1)
		require.Equal(t, "add", list[0].Op)
		require.Equal(t, "fan10", list[0].Query)
		require.Equal(t, "waiting", list[0].State)
		require.EqualValues(t, 0.5, list[0].Seconds)
		_, err = p.change(t.Context(), &matcher.QueryChange{Remove: "fan10"}, false, noRoom, busy, zerolog.Nop())
		require.ErrorIs(t, err, errPending)
		withdrawn, err := p.withdraw(t.Context(), "other")
		require.NoError(t, err)
		require.False(t, withdrawn)
		withdrawn, err = p.withdraw(t.Context(), "fan10")
		require.NoError(t, err)
		require.True(t, withdrawn)
		require.Empty(t, p.list())
		for range 2 { // a removal that is asked for again stays one
			withdrawn, err = p.withdraw(t.Context(), "fan10")
			require.NoError(t, err)
			require.False(t, withdrawn)
			got, err = p.change(t.Context(), &matcher.QueryChange{Remove: "fan10"}, false, noRoom, busy, zerolog.Nop())
			require.NoError(t, err)
			require.Equal(t, changed{Pending: true}, got)
		}
		require.Len(t, p.list(), 1)
		_, err = p.change(t.Context(), addOf("fan10", "x"), false, noRoom, busy, zerolog.Nop())
		require.ErrorIs(t, err, errRemoval)
		p.changes[0].cancel(errCancelled)
	})
}

// TestTheSameChangeAgainIsTheSame: a request that is made again while the change waits is answered like the first;
// another one of the same name is refused.
func TestTheSameChangeAgainIsTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pending
		release := make(chan struct{})
		begun := 0
		begin := func(context.Context, *matcher.QueryChange) (uint64, uint64, error) {
			begun++
			<-release
			return 3, 1, nil
		}
		for range 2 {
			got, err := p.change(t.Context(), addOf("q", "x"), false, noRoom, begin, zerolog.Nop())
			require.NoError(t, err)
			require.Equal(t, changed{Pending: true}, got)
		}
		other := addOf("q", "x")
		other.Add.Emit = matcher.EmitCounts
		_, err := p.change(t.Context(), other, false, noRoom, begin, zerolog.Nop())
		require.ErrorIs(t, err, errPending)
		answered := make(chan changed)
		go func() {
			got, err := p.change(t.Context(), addOf("q", "x"), false, noRoom, begin, zerolog.Nop())
			require.NoError(t, err)
			answered <- got
		}()
		synctest.Wait()
		close(release)
		require.Equal(t, changed{Batch: 3, Version: 1}, <-answered)
		require.Equal(t, 1, begun)
	})
}

// TestACountIsWaitedFor: while the matches of a registration are counted the API does not answer that the change is
// pending, so that a refusal and the result of a dry run reach who asked; a dry run that never comes to it is
// withdrawn.
func TestACountIsWaitedFor(t *testing.T) {
	for _, dry := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var p pending
			begin := func(context.Context, *matcher.QueryChange) (uint64, uint64, error) {
				require.Equal(t, dry, p.dry("q"))
				p.count("q", "", true)
				time.Sleep(10 * time.Second)
				require.Equal(t, "counting", p.list()[0].State)
				p.count("q", "75", false)
				if dry {
					return 0, 0, errDryRun
				}
				return 0, 0, errBackfill
			}
			got, err := p.change(t.Context(), addOf("q", "x"), dry, noRoom, begin, zerolog.Nop())
			if dry {
				require.NoError(t, err)
				require.Equal(t, changed{Backfill: "75", DryRun: true}, got)
			} else {
				require.ErrorIs(t, err, errBackfill)
			}
			require.Empty(t, p.list())
		})
	}
	synctest.Test(t, func(t *testing.T) {
		var p pending
		busy := func(ctx context.Context, _ *matcher.QueryChange) (uint64, uint64, error) {
			<-ctx.Done()
			return 0, 0, context.Cause(ctx)
		}
		_, err := p.change(t.Context(), addOf("q", "x"), true, noRoom, busy, zerolog.Nop())
		require.ErrorIs(t, err, errNotReady)
		synctest.Wait()
		require.Empty(t, p.list(), "it is withdrawn")
		gone, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		_, err = p.change(gone, addOf("q", "x"), true, noRoom, busy, zerolog.Nop())
		require.ErrorIs(t, err, context.DeadlineExceeded)
		synctest.Wait()
		require.Empty(t, p.list(), "nobody waits for it any more")
	})
}

// TestAStoredNameStays: names that are not allowed any more are refused for new queries of the configuration, not for
// stored ones.
func TestAStoredNameStays(t *testing.T) {
	q := &matcher.Query{Name: "x/y", Version: 3, Origin: "config"}
	again := &matcher.Query{Name: "x/y", Emit: matcher.EmitCounts}
	for _, stored := range [][]matcher.QueryState{{{Query: q}}, {{Query: q, Suspended: true}}} {
		require.NoError(t, newNames(startup(stored, []*matcher.Query{again})))
		require.NoError(t, newNames(startup(stored, nil)))
	}
	for _, stored := range [][]matcher.QueryState{nil, {{Query: q, Removed: true}}} {
		err := newNames(startup(stored, []*matcher.Query{again}))
		require.ErrorIs(t, err, matcher.ErrQuery)
		var bad command.Refused
		require.ErrorAs(t, err, &bad)
	}
}

// TestAChangeThatIsBegunIsNotWithdrawn: what the engine has begun takes effect.
func TestAChangeThatIsBegunIsNotWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pending
		release := make(chan struct{})
		got, err := p.change(
			t.Context(),
			addOf("q", "x"),
			false,
			noRoom,
			func(context.Context, *matcher.QueryChange) (uint64, uint64, error) {
				<-release
				return 3, 1, nil
			},
			zerolog.Nop(),
		)
		require.NoError(t, err)
		require.True(t, got.Pending)
		request, gone := context.WithTimeout(t.Context(), time.Second)
		defer gone()
		_, err = p.withdraw(request, "q")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Len(t, p.list(), 1)
		close(release)
		withdrawn, err := p.withdraw(t.Context(), "q")
		require.NoError(t, err)
		require.False(t, withdrawn)
		synctest.Wait()
		require.Empty(t, p.list())
	})
}

// TestQueriesAreBounded: pending queries count, and one that is replaced counts once.
func TestQueriesAreBounded(t *testing.T) {
	s := &service{cfg: &config.Config{Admin: config.Admin{MaxQueries: 2, MaxPatternBytes: 10}}}
	s.pending.changes = []*pendingChange{{Query: "a", add: addOf("a", "1234").Add}}
	require.NoError(t, s.room(addOf("b", "123456")))
	require.NoError(t, s.room(addOf("a", "1234567890")))
	require.NoError(t, s.room(&matcher.QueryChange{Remove: "c"}))
	err := s.room(addOf("b", "1234567"))
	require.ErrorIs(t, err, errTooMany)
	require.ErrorContains(t, err, "11 bytes; admin.max_pattern_bytes is 10")
	s.pending.changes = append(s.pending.changes, &pendingChange{Query: "b", add: addOf("b", "").Add})
	err = s.room(addOf("c", ""))
	require.ErrorIs(t, err, errTooMany)
	require.ErrorContains(t, err, "3 queries; admin.max_queries is 2")
	require.Equal(t, 409, ask(adminOf(config.Admin{}, &fakeDaemon{err: err}), "POST", "/api/v1/queries",
		`{"name":"q","cypher":"MATCH (a)-->(b)"}`, nil).Code)
}

// TestRequestsAreBounded: the API answers changes with 429; what only reads, probes and metrics go on.
func TestRequestsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // its clock stands still
		a := adminOf(config.Admin{MaxRequestsPerSecond: 2}, &fakeDaemon{})
		for range 2 {
			require.NotEqual(t, 429, ask(a, "DELETE", "/api/v1/queries/x", "", nil).Code)
		}
		got := ask(a, "DELETE", "/api/v1/queries/x", "", nil)
		require.Equal(t, 429, got.Code)
		require.Equal(t, "1", got.Header().Get("Retry-After"))
		require.True(t, strings.Contains(got.Body.String(), "admin.max_requests_per_second"), got.Body.String())
		require.Equal(t, 200, ask(a, "GET", "/api/v1/queries", "", nil).Code)
		require.Equal(t, 200, ask(a, "GET", "/readyz", "", nil).Code)
	})
}
