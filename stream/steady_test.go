package stream_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/matchertest"
	"motifd/stream"
	"motifd/stream/codec"
	"motifd/stream/monitor"
	"motifd/stream/tempfile"
)

// steady is an engine and an encoder over a graph that forgets: in each period accounts come, and payments between
// them, and those of the period before go. But for their names all periods are alike.
type steady struct {
	t       *testing.T
	engine  *matcher.Engine
	enc     stream.Encoder
	batch   uint64
	records int
	pays    [][2]int // of each period; the ends are accounts of it
	sizes   []int    // of the batches in which they come
}

const steadyAccounts = 500

func newSteady(t *testing.T, rng *rand.Rand) *steady {
	e, err := monitor.NewEngine(matcher.EngineOptions{
		Backend: cpu.New(cpu.Options{Threads: 1, TempFiles: tempfile.In(t.TempDir())}),
	})
	require.NoError(t, err)
	s := &steady{t: t, engine: e, enc: codec.NewEncoder(codec.EncoderOptions{StreamID: testStream})}
	have := map[[2]int]bool{}
	for len(s.pays) < 4*steadyAccounts {
		p := [2]int{rng.IntN(steadyAccounts), rng.IntN(1 + rng.IntN(steadyAccounts))} // some are paid by many
		if p[0] != p[1] && !have[p] {
			have[p] = true
			s.pays = append(s.pays, p)
		}
	}
	for left := len(s.pays); left > 0; {
		n := min(left, 1+rng.IntN(200))
		s.sizes, left = append(s.sizes, n), left-n
	}
	for i, text := range []string{
		"MATCH (a:A)-[:T]->(b:B)-[:T]->(c:C) RETURN a, b, c",
		"MATCH (a:A)-[:T]->(b:B)-[:T]->(c)-[:T]->(a) RETURN a, b, c",
		"MATCH (a)-[:T]->(b)-[:T]->(c)-[:T]->(d)-[:T]->(a) RETURN a, b, c, d",
	} {
		for mode := range 3 {
			q := query(t, fmt.Sprint("q", i, mode), text)
			q.Emit = []matcher.Emit{matcher.EmitDeltas, matcher.EmitCounts, matcher.EmitExists}[mode]
			s.change(&matcher.QueryChange{Add: q})
		}
	}
	return s
}

func (s *steady) step(b *matcher.Batch) {
	s.batch++
	b.Number = s.batch
	var recs []stream.OutRecord
	_, err := s.engine.Step(s.t.Context(), b, func(ev *matcher.Event) (err error) {
		recs, err = s.enc.Append(recs[:0], ev, 0, ev.Records())
		s.records += len(recs)
		return err
	}, nil)
	require.NoError(s.t, err)
}

func (s *steady) change(ch *matcher.QueryChange) {
	ch, err := s.engine.PrepareChange(ch)
	require.NoError(s.t, err)
	s.step(&matcher.Batch{Change: ch})
}

// period steps over the batches of a period; a query comes and goes meanwhile.
func (s *steady) period(number int) {
	name := func(period, i int) string { return fmt.Sprintf("%06d-%06d", period, i) }
	s.enc = codec.NewEncoder(
		codec.EncoderOptions{StreamID: testStream},
	) // keeps something for queries that are gone, up to a bound
	passing := query(s.t, "passing", "MATCH (a:A)-[:T]->(b:C)-[:T]->(c:B) RETURN a, b, c")
	passing.Emit, passing.Backfill = matcher.EmitCounts, matcher.BackfillFull
	at := 0
	for k, n := range s.sizes {
		var us []dyngraph.Update
		for i, p := range s.pays[at : at+n] {
			us = append(us, dyngraph.Update{
				Op:        dyngraph.InsertEdge,
				From:      name(number, p[0]),
				To:        name(number, p[1]),
				Label:     "T",
				FromLabel: string("ABC"[p[0]%3]),
				ToLabel:   string("ABC"[p[1]%3]),
				Attr: dyngraph.Attr{
					ID:    name(number, at+i),
					TS:    int64(at + i),
					HasTS: true,
					Props: fmt.Appendf(nil, `{"n":%06d}`, at+i),
				},
			})
			if number > 0 {
				us = append(
					us,
					dyngraph.Update{Op: dyngraph.DeleteEdge, From: name(number-1, p[0]), To: name(number-1, p[1]),
						Label: "T"},
				)
			}
		}
		s.updates(us)
		at += n
		switch k {
		case len(s.sizes) / 3:
			s.change(&matcher.QueryChange{Add: passing})
		case 2 * len(s.sizes) / 3:
			s.change(&matcher.QueryChange{Remove: "passing"})
		}
	}
	var old []dyngraph.Update
	for i := range steadyAccounts * min(number, 1) {
		old = append(old, dyngraph.Update{Op: dyngraph.DeleteVertex, Key: name(number-1, i)})
	}
	s.updates(old)
}

func (s *steady) updates(us []dyngraph.Update) {
	var msgs []dyngraph.Message
	for i := range us {
		us[i].Pos.Offset = int64(i)
		msgs = append(msgs, dyngraph.Message{Updates: us[i : i+1]})
	}
	taken, rejects := s.engine.Accept(msgs)
	for _, r := range rejects { // accounts that never paid nor were paid are not there to be deleted
		require.Equal(s.t, dyngraph.DeleteVertex, us[r.Message].Op, r.Err)
	}
	s.step(&matcher.Batch{Updates: taken})
}

// live returns the bytes and the objects that are reachable.
func live() (bytes, objects int64) {
	for range 3 { // what pools and finalizers hold goes with the second and third
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc), int64(m.HeapObjects)
}

// TestP4NothingIsLeftOfAPeriod: where as much goes as comes, nothing is left behind, in 27,000 updates and some 120
// batches: neither a byte for each update nor an object for every other batch.
func TestP4NothingIsLeftOfAPeriod(t *testing.T) {
	matchertest.NotUnderRace(t, "it measures memory")
	matchertest.ForSeeds(t, 1, func(t *testing.T, rng *rand.Rand) {
		s := newSteady(t, rng)
		const half, before = 6, 12
		for n := range before { // until what grows with use has its size
			s.period(n)
		}
		// the least after a period of each half: tables that are made anew at times are larger meanwhile
		var bytes, objects [2]int64
		for h := range bytes {
			bytes[h], objects[h] = math.MaxInt64, math.MaxInt64
			for n := range half {
				s.period(before + h*half + n)
				b, o := live()
				bytes[h], objects[h] = min(bytes[h], b), min(objects[h], o)
			}
		}
		t.Logf(
			"bytes %d, %+d; objects %d, %+d; %d records",
			bytes[0],
			bytes[1]-bytes[0],
			objects[0],
			objects[1]-objects[0],
			s.records,
		)
		require.Positive(t, s.records)
		require.Less(t, bytes[1]-bytes[0], int64(16<<10))
		require.Less(t, objects[1]-objects[0], int64(60))
	})
}
