package stream_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"motifd/matcher"
	"motifd/stream"
	"motifd/stream/checkpoint"
	"motifd/stream/codec"
	"motifd/stream/file"
	"motifd/stream/monitor"
	"motifd/stream/streamtest"
)

// durable is a daemon's state on disks: the checkpoint's, which forgets what was not synced when it crashes, and the
// output's.
type durable struct {
	fs  *vfs.MemFS
	in  *streamtest.Input
	out file.SinkOptions
	qs  []*matcher.Query
	id  string // of the stream, once it is known

	time stream.TimeOptions
}

// run runs the daemon once, over the store and the sink that f lets fail.
func (d *durable) run(t *testing.T, f *streamtest.Faults) error {
	store, err := checkpoint.Open("checkpoint", checkpoint.Options{
		FS: d.fs, Settings: checkpoint.Settings{Directed: true}, Retention: checkpoint.Retention{Batches: 2},
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	state, err := store.Recover(context.Background())
	require.NoError(t, err)
	d.id = state.StreamID
	faulty := f.Store(store)
	e, err := monitor.NewEngine(matcher.EngineOptions{Graph: state.Graph, Decide: faulty.Decide})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	require.NoError(t, e.Restore(t.Context(), state.Queries))
	dec, err := codec.NewDecoder(codec.FormatJSON, codec.DecoderOptions{})
	require.NoError(t, err)
	sink, err := file.NewSink(d.out)
	require.NoError(t, err)
	p, err := stream.NewPipeline(stream.PipelineOptions{
		Source: d.in.Source(0), Decoder: dec, Engine: e, Sink: f.Sink(sink), Store: faulty, State: state,
		Encoder: codec.NewEncoder(codec.EncoderOptions{StreamID: state.StreamID}),
		Batch:   stream.BatcherOptions{MaxUpdates: 8, Linger: -1}, ChunkRecords: 4, Control: true,
		Startup: startup(d.qs...), Time: d.time,
	})
	require.NoError(t, err)
	return p.Run(t.Context())
}

// output returns the content of the output files, without the stream's id, which is random.
func (d *durable) output(t *testing.T) string {
	var all string
	for _, path := range []string{d.out.Output, d.out.DeadLetters, d.out.Control} {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		all += string(data)
	}
	return strings.ReplaceAll(all, d.id, "")
}

// TestS9CheckpointAndFiles crashes a whole daemon, from checkpoint to file output, at every call; the disk of the
// checkpoint loses what was not synced.
func TestS9CheckpointAndFiles(t *testing.T) {
	testCheckpointAndFiles(t, updates(rand.New(rand.NewPCG(21, 22)), 30), stream.TimeOptions{})
}

func testCheckpointAndFiles(t *testing.T, input []stream.Record, time stream.TimeOptions) {
	qs := queries(t)
	begin := func() *durable {
		dir := t.TempDir()
		d := &durable{fs: vfs.NewCrashableMem(), in: streamtest.NewInput(false), qs: qs, time: time}
		d.out = file.SinkOptions{
			Output: filepath.Join(dir, "out"), DeadLetters: filepath.Join(dir, "dead"),
			Control: filepath.Join(dir, "control"),
			NoSync:  true, BufferBytes: 512,
		}
		d.in.Add(input...)
		return d
	}
	whole := begin()
	require.NoError(t, whole.run(t, streamtest.CrashAt(0, streamtest.CrashBefore)))
	want := whole.output(t)
	require.Greater(t, strings.Count(want, "\n"), 60)
	rng := rand.New(rand.NewPCG(23, 24))
	for k := 1; ; k++ {
		d := begin()
		f := streamtest.CrashAt(k, crashPoints[k%3])
		var image *vfs.MemFS
		f.OnCrash = func() { image = d.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: rng}) }
		err := d.run(t, f)
		op, crashed := f.Crashed()
		if !crashed {
			require.NoError(t, err)
			require.Greater(t, k, 20)
			return
		}
		requireCrash(t, err)
		d.fs = image
		require.NoError(t, d.run(t, streamtest.CrashAt(0, streamtest.CrashBefore)), "restart after call %d, %s", k, op)
		require.Equal(t, want, d.output(t), "crash at call %d, %s", k, op)
	}
}
