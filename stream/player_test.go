package stream_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/stream"
	"motifd/stream/codec"
	"motifd/stream/monitor"
	"motifd/stream/streamtest"
)

// player is an engine that emits events of a test's choice in place of a search's.
type player struct {
	*matcher.Engine
	edges  []dyngraph.EdgeIndex
	events []matcher.Event
	// then is called when all are emitted; may be nil.
	then func(ctx context.Context) error
	lent []uint32
	// settled is the error with which the step ended.
	settled error
}

// anySize is a size of properties: of most a few bytes, of some many.
func anySize(rng *rand.Rand) func() int { return func() int { return 1 << rng.IntN(13) } }

// newPlayer returns a player over a graph of payments between a few accounts, with properties of such sizes.
func newPlayer(t testing.TB, rng *rand.Rand, size func() int) *player {
	t.Helper()
	g := dyngraph.NewGraph(dyngraph.Options{Directed: true})
	var us []dyngraph.Update
	for i := range 40 {
		u := dyngraph.Update{
			Op:    dyngraph.InsertEdge,
			From:  fmt.Sprint("a", rng.IntN(8)),
			To:    fmt.Sprint("b", rng.IntN(8)),
			Label: "T",
		}
		u.Attr = dyngraph.Attr{
			ID:    fmt.Sprint(i),
			TS:    int64(i),
			HasTS: true,
			Props: fmt.Appendf(nil, `{"n":%q}`, strings.Repeat("x", size())),
		}
		us = append(us, u)
	}
	_, err := g.Stage(us)
	require.NoError(t, err)
	g.Commit()
	e, err := monitor.NewEngine(matcher.EngineOptions{Graph: g})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return &player{Engine: e, edges: slices.Collect(g.View(dyngraph.New).EdgesSeq())}
}

// group adds an event with random matches; rows is their number, and the query has one edge.
func (p *player) group(rng *rand.Rand, q *matcher.Query, rows int) {
	ev := matcher.Event{
		Query: q,
		Sign:  dyngraph.Inserted,
		View:  p.Graph().View(dyngraph.New),
		Rows:  matcher.Rows{Vertices: 2, Edges: 1},
	}
	for range rows {
		x := p.edges[rng.IntN(len(p.edges))]
		from, to, _ := ev.View.Edge(x)
		ev.Rows.Data = append(ev.Rows.Data, uint32(from), uint32(to), uint32(x))
	}
	ev.Anchor = &dyngraph.Update{Op: dyngraph.InsertEdge, Pos: dyngraph.Position{Offset: int64(len(p.events))}}
	p.add(ev)
}

// total adds the number of a query's matches.
func (p *player) total(q *matcher.Query, n uint64) {
	p.add(
		matcher.Event{
			Kind:  matcher.EventCount,
			Query: q,
			Sign:  dyngraph.Deleted,
			View:  p.Graph().View(dyngraph.New),
			Count: matcher.CountOf(n),
		},
	)
}

func (p *player) add(ev matcher.Event) {
	ev.Batch = 1
	if n := len(p.events); n > 0 {
		last := &p.events[n-1]
		ev.FirstIndex = last.FirstIndex + uint64(last.Records())
	}
	p.events = append(p.events, ev)
}

// records returns how many records the events stand for.
func (p *player) records() (n int) {
	for i := range p.events {
		n += p.events[i].Records()
	}
	return n
}

// plain encodes the events one after the other, on one goroutine.
func (p *player) plain(t testing.TB, enc stream.Encoder) (recs []stream.OutRecord) {
	t.Helper()
	for i := range p.events {
		var err error
		recs, err = enc.Append(recs, &p.events[i], 0, p.events[i].Records())
		require.NoError(t, err)
	}
	return recs
}

// Step implements stream.Engine. What it lends to emit it overwrites afterwards, and what it lends until settle then.
func (p *player) Step(
	ctx context.Context,
	b *matcher.Batch,
	emit func(*matcher.Event) error,
	settle func(error) error,
) (*matcher.Summary, error) {
	sum := &matcher.Summary{Number: b.Number, Records: uint64(p.records())}
	err := p.play(ctx, emit)
	p.settled = settle(err)
	for i := range p.events {
		if a := p.events[i].Anchor; a != nil {
			a.Pos.Offset = -1
		}
	}
	return sum, p.settled
}

func (p *player) play(ctx context.Context, emit func(*matcher.Event) error) error {
	for i := range p.events {
		lent := p.events[i]
		p.lent = append(p.lent[:0], lent.Rows.Data...)
		lent.Rows.Data = p.lent
		if err := emit(&lent); err != nil {
			return err
		}
		for k := range lent.Rows.Data {
			lent.Rows.Data[k] = 1 << 31
		}
		lent = matcher.Event{}
	}
	if p.then != nil {
		return p.then(ctx)
	}
	return nil
}

// pipeline has the events played in one batch.
func (p *player) pipeline(
	t testing.TB,
	enc stream.Encoder,
	sink stream.Sink,
	change func(*stream.PipelineOptions),
) *stream.Pipeline {
	t.Helper()
	in := streamtest.NewInput(false)
	in.Add(edge("x", "y"))
	dec, err := codec.NewDecoder(codec.FormatJSON, codec.DecoderOptions{})
	require.NoError(t, err)
	opt := stream.PipelineOptions{
		Source:  in.Source(1),
		Decoder: dec,
		Engine:  p,
		Encoder: enc,
		Sink:    sink,
		Batch:   stream.BatcherOptions{Linger: -1},
	}
	change(&opt)
	made, err := stream.NewPipeline(opt)
	require.NoError(t, err)
	return made
}

func edgeQueries(t testing.TB) []*matcher.Query {
	return []*matcher.Query{
		query(t, "one", "MATCH (a)-[:T]->(b) RETURN a, b"),
		query(t, "two", "MATCH (x)-[e:T]->(y) RETURN x, y"),
	}
}

func playEncoder() stream.Encoder {
	return codec.NewEncoder(codec.EncoderOptions{StreamID: testStream, EchoProps: true})
}
