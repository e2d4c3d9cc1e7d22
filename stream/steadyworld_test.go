package stream_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/pattern"
	"motifd/stream"
	"motifd/stream/checkpoint"
	"motifd/stream/codec"
	"motifd/stream/eventtime"
	"motifd/stream/file"
	"motifd/stream/monitor"
	"motifd/stream/tempfile"
)

// steadyWorld is a pipeline on files for the payments of a day, which have ids and declared times and amounts. It
// searches a chain with conditions, and counts pairs.
type steadyWorld struct {
	t      testing.TB
	store  stream.Store
	kept   *checkpoint.Store // the store; nil where nothing is kept
	state  *stream.State
	engine *matcher.Engine
	schema *property.Schema
	out    string
}

func newSteadyWorld(t testing.TB, durable bool) *steadyWorld {
	w := &steadyWorld{t: t, store: stream.NopStore{}, schema: &property.Schema{Edges: property.Declarations{
		property.Any: {"amount": {Kind: property.Decimal, Scale: 2}, "ts": {Kind: property.Timestamp}}}}}
	dir := t.TempDir()
	w.out = filepath.Join(dir, "out.jsonl")
	var err error
	if durable {
		w.kept, err = checkpoint.Open(filepath.Join(dir, "state"), checkpoint.Options{
			Settings:  checkpoint.Settings{Directed: true, EdgeIDs: true, Properties: w.schema},
			Retention: checkpoint.Retention{Batches: steadyBatches}})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, w.kept.Close()) })
		w.store = w.kept
	}
	w.state, err = w.store.Recover(t.Context())
	require.NoError(t, err)
	if w.state.Graph == nil {
		w.state.Graph = dyngraph.NewGraph(dyngraph.Options{Directed: true, EdgeIDs: true, Schema: w.schema})
	}
	// Each thread has room of its own in caches, whatever the graph's size.
	backend := cpu.New(cpu.Options{Threads: 2, TempFiles: tempfile.In(dir)})
	w.engine, err = monitor.NewEngine(matcher.EngineOptions{Graph: w.state.Graph, Backend: backend,
		Decide: w.store.Decide})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.engine.Close()) })
	return w
}

// run plays a day in 480 batches of as many payments. Without updates that delete them, payments expire after an hour.
func (w *steadyWorld) run(d *day, o stream.Observer) {
	t := w.t
	dec, err := codec.NewDecoder(codec.FormatJSON, codec.DecoderOptions{EdgeIDs: true, Schema: w.schema})
	require.NoError(t, err)
	sink, err := file.NewSink(file.SinkOptions{Output: w.out, NoSync: true})
	require.NoError(t, err)
	chain, err := pattern.Parse(pattern.Cypher, []byte("MATCH (a)-[t:T]->(b)-[u:T]->(c)-[v:T]->(d) "+
		"WHERE t.ts < u.ts < v.ts AND t.amount > u.amount > v.amount"),
		pattern.Options{Name: "chain", Directed: true, Declared: pattern.Declared{Schema: w.schema}})
	require.NoError(t, err)
	count := query(t, "count", "MATCH (a)-[t:T]->(b)<-[u:T]-(c)")
	count.Emit = matcher.EmitCounts
	batch, times := d.perHour/steadyBatches, stream.TimeOptions{Isolated: true}
	if d.deletes {
		batch *= 2
	} else {
		times.Retention = eventtime.Retention{{Label: property.Any, For: 3_600_000}}
	}
	p, err := stream.NewPipeline(stream.PipelineOptions{
		Source: d, Decoder: dec, Engine: w.engine, Sink: sink, Store: w.store, State: w.state,
		Encoder:      codec.NewEncoder(codec.EncoderOptions{StreamID: w.state.StreamID}),
		Batch:        stream.BatcherOptions{MaxUpdates: batch, Linger: time.Hour},
		QueueRecords: batch, Startup: startup(chain, count), Observer: o, Time: times,
	})
	require.NoError(t, err)
	require.NoError(t, p.Run(t.Context()))
	info, err := os.Stat(w.out)
	require.NoError(t, err)
	require.Greater(t, info.Size(), int64(d.perHour), "nothing was found")
}
