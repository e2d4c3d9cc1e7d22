package publish

import (
	"context"
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/pattern"
	"motifd/stream"
	"motifd/stream/checkpoint"
	"motifd/stream/codec"
	"motifd/stream/kafka"
	"motifd/stream/kafka/internal/kafkatest"
	"motifd/stream/monitor"
	"motifd/stream/streamtest"
)

// copies are daemons over copies of one checkpoint, with one output.
type copies struct {
	opt  TxnSinkOptions
	hide bool // the store tells no digests, as older versions did
}

func (c *copies) store(t *testing.T, fs vfs.FS) *checkpoint.Store {
	s, err := checkpoint.Open("checkpoint", checkpoint.Options{FS: fs, Settings: checkpoint.Settings{Directed: true}})
	require.NoError(t, err)
	return s
}

// run runs a daemon until it has published the edges, the first one included.
func (c *copies) run(t *testing.T, fs vfs.FS, edges ...string) error {
	store := c.store(t, fs)
	defer func() { require.NoError(t, store.Close()) }()
	state, err := store.Recover(t.Context())
	require.NoError(t, err)
	e, err := monitor.NewEngine(matcher.EngineOptions{Graph: state.Graph})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	require.NoError(t, e.Restore(t.Context(), state.Queries))
	q, err := pattern.Parse(
		pattern.Cypher,
		[]byte("MATCH (a)-[:T]->(b) RETURN a, b"),
		pattern.Options{Name: "edge", Directed: true},
	)
	require.NoError(t, err)
	q.Origin = "config"
	dec, err := codec.NewDecoder(codec.FormatJSON, codec.DecoderOptions{})
	require.NoError(t, err)
	in := streamtest.NewInput(false)
	for _, to := range edges {
		in.Add(stream.Record{Value: fmt.Appendf(nil, `{"op":"+","from":"a","to":%q,"label":"T"}`, to)})
	}
	sink, err := NewTxnSink(c.opt)
	require.NoError(t, err)
	opt := stream.PipelineOptions{
		Source: in.Source(0), Decoder: dec, Engine: e, Sink: sink, Store: store, State: state,
		Encoder: codec.NewEncoder(codec.EncoderOptions{StreamID: state.StreamID}),
		Batch:   stream.BatcherOptions{MaxUpdates: 1, Linger: -1}, Control: true,
		Startup: func([]matcher.QueryState) ([]*matcher.QueryChange, error) {
			return []*matcher.QueryChange{{Add: q}}, nil
		},
	}
	if c.hide {
		opt.Store = struct{ stream.Store }{store}
	}
	p, err := stream.NewPipeline(opt)
	require.NoError(t, err)
	return p.Run(t.Context())
}

// die logs the intents of batches from a number on, one edge each, and does no more of them.
func (c *copies) die(t *testing.T, fs vfs.FS, first uint64, edges ...string) {
	store := c.store(t, fs)
	defer func() { require.NoError(t, store.Close()) }()
	_, err := store.Recover(t.Context())
	require.NoError(t, err)
	for i, to := range edges {
		b := stream.Batch{Positions: stream.Positions{0: int64(i) + 2}, Messages: 1, OutputPartitions: 2}
		b.Number = first + uint64(i)
		b.Updates = []dyngraph.Update{
			{Op: dyngraph.InsertEdge, From: "a", To: to, Label: "T", Pos: dyngraph.Position{Offset: int64(i) + 1}},
		}
		require.NoError(t, store.Intent(t.Context(), &b))
	}
}

// twoCopies lets two copies of a checkpoint cut different batches of one number. The one that did not publish is
// refused, before it has taken the output over.
func twoCopies(t *testing.T, e *kafkatest.Cluster) {
	begin := func() (*copies, func() vfs.FS) {
		c := &copies{opt: txnOutput(t, e, 2)}
		fs := vfs.NewCrashableMem()
		require.NoError(t, c.run(t, fs, "first")) // batch 1 is the query, batch 2 the edge
		return c, func() vfs.FS { return fs.CrashClone(vfs.CrashCloneCfg{}) }
	}
	progress := func(c *copies) progressRecord {
		opt := c.opt.ClientOptions
		require.NoError(t, opt.SetDefaults())
		cl, err := kafka.NewClient(opt)
		require.NoError(t, err)
		defer cl.Close()
		rec, _, err := readProgress(context.Background(), cl, c.opt.Progress, "motifd-"+c.opt.Topic, -1, true)
		require.NoError(t, err)
		return *rec
	}
	t.Run("Other", func(t *testing.T) {
		c, cp := begin()
		a, b := cp(), cp()
		c.die(t, a, 3, "of-a")
		require.NoError(t, c.run(t, b, "first", "of-b"))
		was := progress(c)
		require.Equal(t, publishPosition{4, 0}, was.at())
		require.NotEmpty(t, was.Digest)
		require.ErrorIs(t, c.run(t, a, "first", "of-a"), stream.ErrDiverged)
		require.Equal(t, was, progress(c), "the one that was refused has not taken the output over")
		require.NoError(t, c.run(t, b, "first", "of-b", "more"))
	})
	t.Run("Further", func(t *testing.T) {
		c, cp := begin()
		a, b := cp(), cp()
		c.die(t, a, 3, "of-a", "same")
		require.NoError(t, c.run(t, b, "first", "of-b", "same"))
		require.ErrorIs(t, c.run(t, a, "first"), stream.ErrDiverged, "batches that are equal follow different ones")
	})
	t.Run("Same", func(t *testing.T) {
		c, cp := begin()
		a := cp()
		c.die(t, a, 3, "next", "after")
		require.NoError(t, c.run(t, a, "first", "next", "after", "last"), "its own intents")
		require.Equal(t, publishPosition{6, 0}, progress(c).at())
		require.NoError(t, c.run(t, a, "first", "next", "after", "last"))
		require.NotEmpty(t, progress(c).Digest, "a start writes the digest anew")
	})
	t.Run("Unknown", func(t *testing.T) {
		c, cp := begin()
		a, b := cp(), cp()
		c.die(t, a, 3, "of-a")
		c.hide = true
		require.NoError(t, c.run(t, b, "first", "of-b"))
		c.hide = false
		require.Empty(t, progress(c).Digest)
		require.NoError(t, c.run(t, a, "first", "of-a"), "a record of an older version is taken as it is")
	})
}

func TestP3TwoCopies(t *testing.T) { twoCopies(t, kafkatest.Embedded(t)) }
