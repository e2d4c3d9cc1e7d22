package admin

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"motifd/config"
	"motifd/matcher"
)

func addOf(name, source string) *matcher.QueryChange {
	return &matcher.QueryChange{Add: &matcher.Query{Name: name, Source: source}}
}

func noQueries() []Query { return nil }

// unbounded returns Changes without bounds.
func unbounded() *Changes { return NewChanges(&config.Admin{}, zerolog.Nop()) }

// TestAChangeThatWaitsIsPending: the API answers while the engine is busy, lists the change, and withdraws it.
func TestAChangeThatWaitsIsPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := unbounded()
		busy := func(ctx context.Context, _ *matcher.QueryChange) (uint64, uint64, error) {
			<-ctx.Done()
			return 0, 0, context.Cause(ctx)
		}
		request, gone := context.WithCancel(t.Context())
		got, err := p.Make(request, addOf("fan10", "x"), false, noQueries, busy)
		require.NoError(t, err)
		require.Equal(t, ChangeResult{Pending: true}, got)
		gone() // the client's end is not the change's
		synctest.Wait()
		list := p.List()
		require.Len(t, list, 1)
		require.Equal(t, "add", list[0].Op)
		require.Equal(t, "fan10", list[0].Query)
		require.Equal(t, "waiting", list[0].State)
		require.EqualValues(t, 0.5, list[0].Seconds)
		_, err = p.Make(t.Context(), &matcher.QueryChange{Remove: "fan10"}, false, noQueries, busy)
		require.ErrorIs(t, err, errPending)
		withdrawn, err := p.Withdraw(t.Context(), "other")
		require.NoError(t, err)
		require.False(t, withdrawn)
		withdrawn, err = p.Withdraw(t.Context(), "fan10")
		require.NoError(t, err)
		require.True(t, withdrawn)
		require.Empty(t, p.List())
		for range 2 { // a removal that is asked for again stays one
			withdrawn, err = p.Withdraw(t.Context(), "fan10")
			require.NoError(t, err)
			require.False(t, withdrawn)
			got, err = p.Make(t.Context(), &matcher.QueryChange{Remove: "fan10"}, false, noQueries, busy)
			require.NoError(t, err)
			require.Equal(t, ChangeResult{Pending: true}, got)
		}
		require.Len(t, p.List(), 1)
		_, err = p.Make(t.Context(), addOf("fan10", "x"), false, noQueries, busy)
		require.ErrorIs(t, err, errRemoval)
		p.changes[0].cancel(errCancelled)
	})
}

// TestTheSameChangeAgainIsTheSame: a request that is made again while the change waits is answered like the first;
// another one of the same name is refused.
func TestTheSameChangeAgainIsTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := unbounded()
		release := make(chan struct{})
		begun := 0
		begin := func(context.Context, *matcher.QueryChange) (uint64, uint64, error) {
			begun++
			<-release
			return 3, 1, nil
		}
		for range 2 {
			got, err := p.Make(t.Context(), addOf("q", "x"), false, noQueries, begin)
			require.NoError(t, err)
			require.Equal(t, ChangeResult{Pending: true}, got)
		}
		other := addOf("q", "x")
		other.Add.Emit = matcher.EmitCounts
		_, err := p.Make(t.Context(), other, false, noQueries, begin)
		require.ErrorIs(t, err, errPending)
		answered := make(chan ChangeResult)
		go func() {
			got, err := p.Make(t.Context(), addOf("q", "x"), false, noQueries, begin)
			require.NoError(t, err)
			answered <- got
		}()
		synctest.Wait()
		close(release)
		require.Equal(t, ChangeResult{Batch: 3, Version: 1}, <-answered)
		require.Equal(t, 1, begun)
	})
}

// TestACountIsWaitedFor: while the matches of a registration are counted the API does not answer that the change is
// pending, so that a refusal and the result of a dry run reach who asked; a dry run that never comes to it is
// withdrawn.
func TestACountIsWaitedFor(t *testing.T) {
	for _, dry := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p := unbounded()
			begin := func(context.Context, *matcher.QueryChange) (uint64, uint64, error) {
				require.Equal(t, dry, p.Dry("q"))
				p.Count("q", "", true)
				time.Sleep(10 * time.Second) // by the bubble's clock: the count takes so long
				require.Equal(t, "counting", p.List()[0].State)
				p.Count("q", "75", false)
				if dry {
					return 0, 0, ErrDryRun
				}
				return 0, 0, ErrBackfill
			}
			got, err := p.Make(t.Context(), addOf("q", "x"), dry, noQueries, begin)
			if dry {
				require.NoError(t, err)
				require.Equal(t, ChangeResult{Backfill: "75", DryRun: true}, got)
			} else {
				require.ErrorIs(t, err, ErrBackfill)
			}
			require.Empty(t, p.List())
		})
	}
	synctest.Test(t, func(t *testing.T) {
		p := unbounded()
		busy := func(ctx context.Context, _ *matcher.QueryChange) (uint64, uint64, error) {
			<-ctx.Done()
			return 0, 0, context.Cause(ctx)
		}
		_, err := p.Make(t.Context(), addOf("q", "x"), true, noQueries, busy)
		require.ErrorIs(t, err, ErrNotReady)
		synctest.Wait()
		require.Empty(t, p.List(), "it is withdrawn")
		gone, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		_, err = p.Make(gone, addOf("q", "x"), true, noQueries, busy)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		synctest.Wait()
		require.Empty(t, p.List(), "nobody waits for it any more")
	})
}

// TestAChangeThatIsBegunIsNotWithdrawn: what the engine has begun takes effect.
func TestAChangeThatIsBegunIsNotWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := unbounded()
		release := make(chan struct{})
		got, err := p.Make(
			t.Context(),
			addOf("q", "x"),
			false,
			noQueries,
			func(context.Context, *matcher.QueryChange) (uint64, uint64, error) {
				<-release
				return 3, 1, nil
			},
		)
		require.NoError(t, err)
		require.True(t, got.Pending)
		request, gone := context.WithTimeout(t.Context(), time.Second)
		defer gone()
		_, err = p.Withdraw(request, "q")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Len(t, p.List(), 1)
		close(release)
		withdrawn, err := p.Withdraw(t.Context(), "q")
		require.NoError(t, err)
		require.False(t, withdrawn)
		synctest.Wait()
		require.Empty(t, p.List())
	})
}

// TestQueriesAreBounded: pending queries count, and one that is replaced counts once.
func TestQueriesAreBounded(t *testing.T) {
	p := NewChanges(&config.Admin{MaxQueries: 2, MaxPatternBytes: 10}, zerolog.Nop())
	p.changes = []*change{{add: addOf("a", "1234").Add}}
	require.NoError(t, p.room(addOf("b", "123456"), nil))
	require.NoError(t, p.room(addOf("a", "1234567890"), nil))
	require.NoError(t, p.room(&matcher.QueryChange{Remove: "c"}, nil))
	err := p.room(addOf("b", "1234567"), nil)
	require.ErrorIs(t, err, errTooMany)
	require.ErrorContains(t, err, "11 bytes; admin.max_pattern_bytes is 10")
	registered := []Query{{QueryState: matcher.QueryState{Query: addOf("b", "").Add}}}
	err = p.room(addOf("c", ""), registered)
	require.ErrorIs(t, err, errTooMany)
	require.ErrorContains(t, err, "3 queries; admin.max_queries is 2")
	require.NoError(t, p.room(addOf("b", ""), registered))
	_, err = p.Make(t.Context(), addOf("c", ""), false, func() []Query { return registered }, nil)
	require.ErrorIs(t, err, errTooMany)
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

// TestAChangeOfAConfiguredQueryWarns: the next start undoes it, unless it is what the configuration has. The answer
// says so, also while the change is pending.
func TestAChangeOfAConfiguredQueryWarns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := unbounded()
		p.Configured([]*matcher.Query{{Name: "ring", Source: "x"}})
		warn := func(name string) func() { return func() { p.Warn(name, []string{"no label"}) } }
		returns := "the configuration has another query of this name, which returns with the next start; change it " +
			"there, too, or register this one under another name"
		made := func(ch *matcher.QueryChange, begin func()) ChangeResult {
			got, err := p.Make(t.Context(), ch, false, noQueries,
				func(context.Context, *matcher.QueryChange) (uint64, uint64, error) {
					begin()
					return 7, 2, nil
				})
			require.NoError(t, err)
			return got
		}
		other := &matcher.QueryChange{Remove: "ring", Add: &matcher.Query{Name: "ring", Emit: matcher.EmitCounts}}
		require.Equal(t, []string{returns, "no label"}, made(other, warn("ring")).Warnings)
		require.Equal(t, ChangeResult{Batch: 7, Version: 2, Warnings: []string{"no label"}},
			made(addOf("other", "x"), warn("other")))
		same := &matcher.QueryChange{Remove: "ring", Add: &matcher.Query{Name: "ring"}}
		require.Empty(t, made(same, func() {}).Warnings, "it is what the configuration has")
		require.Equal(t, []string{"the configuration has it, so that it returns with the next start"},
			made(&matcher.QueryChange{Remove: "ring"}, func() {}).Warnings, "whoever registered what there is")
		require.Equal(t, ChangeResult{Pending: true, Warnings: []string{returns}},
			made(other, func() { time.Sleep(time.Second) }))
		time.Sleep(time.Second) // by the bubble's clock: until the change is made
	})
}
