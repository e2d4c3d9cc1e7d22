package encode

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"motifd/matcher"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// text makes a record of each row, some of them large.
func text(recs []string, ev *matcher.Event, i, j int) ([]string, error) {
	for k := i; k < j; k++ {
		row := ev.Rows.Slice(k, k+1).Data
		recs = append(recs, fmt.Sprint(ev.Batch, ev.FirstIndex+uint64(k), row, strings.Repeat("x", int(row[0]))))
	}
	return recs, nil
}

// TestOrderIsThatOfTheEvents compares what a stage sends of random events with the records made one after the other.
func TestOrderIsThatOfTheEvents(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	for threads := 1; threads <= 4; threads++ {
		var got, want []string
		var mu sync.Mutex
		spans := 0
		var s *Stage[string]
		s = New(Options[string]{
			Append: text, Cost: func(r *string) int64 { return int64(len(*r)) },
			Send: func(_ context.Context, _ uint64, chunk *[]string, _ int64) error {
				require.LessOrEqual(t, len(*chunk), 300)
				got = append(got, *chunk...)
				s.Free(chunk)
				return nil
			},
			Span:    func(Span) { mu.Lock(); defer mu.Unlock(); spans++ },
			Threads: threads, ChunkRecords: 300,
		})
		for batch := range uint64(3) {
			b := s.Begin(t.Context(), batch)
			index := uint64(0)
			for range 30 {
				ev := matcher.Event{Batch: batch, Kind: matcher.EventMatches, Query: &matcher.Query{Name: "q"},
					FirstIndex: index}
				ev.Rows.Vertices = 2
				rows := 1 << rng.IntN(11)
				for range 2 * rows {
					ev.Rows.Data = append(ev.Rows.Data, uint32(1)<<rng.IntN(1+rng.IntN(11)))
				}
				first := rng.IntN(rows)
				want, _ = text(want, &ev, first, rows) // never fails
				require.NoError(t, b.Emit(&ev, first))
				clear(ev.Rows.Data) // it is the search's
				index += uint64(rows)
			}
			require.NoError(t, b.Finish(nil))
			b.Close()
		}
		require.Equal(t, want, got, "%d threads", threads)
		require.Positive(t, spans)
	}
}

// TestErrorEndsTheBatch: an error of an encoder names the query, ends the context of the search, and is returned by
// Finish.
func TestErrorEndsTheBatch(t *testing.T) {
	broken := errors.New("broken")
	for threads := 1; threads <= 2; threads++ {
		s := New(Options[string]{
			Append:  func([]string, *matcher.Event, int, int) ([]string, error) { return nil, broken },
			Cost:    func(*string) int64 { return 1 },
			Send:    func(ctx context.Context, _ uint64, _ *[]string, _ int64) error { return context.Cause(ctx) },
			Span:    func(Span) {},
			Threads: threads, ChunkRecords: 300,
		})
		b := s.Begin(t.Context(), 1)
		ev := matcher.Event{Kind: matcher.EventMatches, Query: &matcher.Query{Name: "ring"}}
		ev.Rows.Vertices, ev.Rows.Data = 1, make([]uint32, 1000)
		err := b.Finish(b.Emit(&ev, 0))
		require.ErrorIs(t, err, broken)
		require.ErrorContains(t, err, `encode results of query "ring"`)
		require.Error(t, b.Context().Err())
		b.Close()
	}
}
