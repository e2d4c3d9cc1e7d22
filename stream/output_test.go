package stream_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/matcher/matchertest"
	"motifd/stream"
	"motifd/stream/streamtest"
)

// star is a message with n edges of one vertex, whose other ends have longer and longer keys, and one edge more.
func star(op string, n int) stream.Record {
	var all []string
	for i := range n {
		to := fmt.Sprintf("t%d %s", i, strings.Repeat("x", 10*i))
		all = append(all, fmt.Sprintf(`{"op":%q,"from":"hub","to":%q,"label":"T"}`, op, to[:min(len(to), 1000)]))
	}
	all = append(all, fmt.Sprintf(`{"op":%q,"from":"hub","to":"u","label":"U"}`, op))
	return stream.Record{Value: []byte("[" + strings.Join(all, ",") + "]")}
}

// pairs and last ask for pairs of its edges: of any, and of the last one and another.
const (
	pairs = "MATCH (a)<-[:T]-(h)-[:T]->(b)"
	last  = "MATCH (a)<-[:T]-(h)-[:U]->(b)"
)

// TestS11TheLimitOnOutputSurvivesCrashes crashes a run whose queries reach the limit on what they write, at each call:
// a replay of the log, without limits, puts out what the two runs have put out.
func TestS11TheLimitOnOutputSurvivesCrashes(t *testing.T) {
	matchertest.NotUnderRace(t, "TestS9CrashAtEveryCall crashes the same goroutines")
	input := []stream.Record{star("+", 30), star("-", 30)}
	for _, threads := range []int{1, 2} {
		start := func() (*world, *streamtest.MemOutput) {
			w, out := inMemory(t, streamtest.Tracked, input, query(t, "pairs", pairs), query(t, "last", last))
			startup := w.change
			w.change = func(o *stream.PipelineOptions) {
				startup(o)
				o.EncodeThreads = threads
			}
			w.limits.QueryOutput = 10_000
			return w, out
		}
		w, out := start()
		require.NoError(t, w.run(nil))
		want := text(out.Visible(), false)
		all := strings.Join(want, "\n")
		for _, part := range []string{
			`"reason":"skipped","sign":"+","limit":"query_output"`,
			`"reason":"ended","sign":"-","limit":"query_output"`,
		} {
			require.Contains(t, all, part)
		}
		kept := 0
		for _, b := range w.store.Committed() {
			for _, x := range b.Decisions {
				kept += int(x.Kept)
			}
		}
		require.Positive(t, kept, "groups end in the middle")
		require.Equal(t, want, w.replayed())
		for k := 1; ; k++ {
			w, out := start()
			f := streamtest.CrashAt(k, eachPointByTurns(k))
			err := w.run(f)
			op, crashed := f.Crashed()
			if !crashed {
				require.NoError(t, err)
				break
			}
			requireCrash(t, err)
			require.NoError(t, w.run(nil), "restart after a crash at call %d, %s", k, op)
			require.Equal(t, w.replayed(), text(out.Visible(), false), "crash at call %d, %s", k, op)
		}
	}
}

// TestS11OutputIsBoundedAsItIsWritten: however many goroutines encode, a query writes little more than its limit.
func TestS11OutputIsBoundedAsItIsWritten(t *testing.T) {
	matchertest.NotUnderRace(t, "the tests of encoding side by side have the same goroutines")
	const limit = 8 << 20
	for _, threads := range []int{1, 4} {
		out := &streamtest.MemOutput{}
		w := newWorld(t, out)
		w.in.Add(star("+", 300))
		w.limits.QueryOutput = limit
		w.change = func(o *stream.PipelineOptions) {
			o.Startup = startup(query(t, "pairs", pairs))
			o.EncodeThreads, o.ChunkRecords = threads, 1000
		}
		require.NoError(t, w.run(nil))
		size := 0
		for _, r := range text(out.Visible(), false) {
			size += len(r)
		}
		require.Greater(t, size, limit/2)
		require.Less(t, size, limit+limit/2, "%d threads", threads)
		require.Equal(t, text(out.Visible(), false), w.replayed())
	}
}
