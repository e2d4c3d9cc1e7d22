package stream_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/matcher/reference"
	"motifd/stream"
	"motifd/stream/checkpoint"
	"motifd/stream/codec"
	"motifd/stream/monitor"
	"motifd/stream/streamtest"
)

// heldMerges is a file system on which the checkpoint's merges wait until free is closed.
type heldMerges struct {
	vfs.FS
	free chan struct{}
}

func (h heldMerges) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if c == "pebble-compaction" {
		<-h.free
	}
	return h.FS.Create(name, c)
}

// TestP4StopWhileTheDiskIsFull stops a daemon whose batches wait for room on the checkpoint's disk, since no merge gets
// on: it stops within its time, and the next start finishes the batch in progress and the rest.
func TestP4StopWhileTheDiskIsFull(t *testing.T) {
	matchertest.NotUnderRace(t, "it writes some hundred MiB")
	const messages, props = 10_000, 32 << 10
	in := streamtest.NewInput(false)
	rng := rand.NewChaCha8([32]byte{31})
	values := make([][]byte, 100)
	for i := range values {
		text := make([]byte, props/2)
		_, _ = rng.Read(text) // never fails; in hexadecimal it does not compress
		values[i] = fmt.Appendf(nil, `{"op":"+","from":"a","to":"b","label":"T","props":{"x":"%x"}}`, text)
	}
	for i := range messages {
		in.Add(stream.Record{Value: values[i%len(values)]})
	}
	fs := heldMerges{vfs.NewMem(), make(chan struct{})}
	out := &streamtest.MemOutput{}
	open := func() (*checkpoint.Store, *stream.Pipeline) {
		store, err := checkpoint.Open("checkpoint", checkpoint.Options{
			FS: fs, Settings: checkpoint.Settings{Directed: true},
			Retention: checkpoint.Retention{Batches: 1 << 40, Bytes: 32 << 20},
		})
		require.NoError(t, err)
		state, err := store.Recover(t.Context())
		require.NoError(t, err)
		w := newWorld(t, out)
		w.in = in
		w.change = func(o *stream.PipelineOptions) {
			o.Store, o.State, o.StopTimeout = store, state, time.Nanosecond
			o.Encoder = codec.NewEncoder(codec.EncoderOptions{StreamID: state.StreamID})
			o.Engine, err = monitor.NewEngine(matcher.EngineOptions{
				Graph: state.Graph, Backend: reference.New(), Decide: store.Decide,
			})
			require.NoError(t, err)
		}
		return store, w.pipeline(nil)
	}
	store, p := open()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	for store.DiskUse().Waiting == 0 {
		runtime.Gosched()
		select {
		case err := <-done:
			t.Fatal(err)
		default:
		}
	}
	stop()
	require.ErrorIs(t, <-done, stream.ErrStopTimeout)
	reached := p.Status().Batch
	require.Positive(t, reached)
	close(fs.free)
	require.NoError(t, store.Close())

	store, p = open()
	require.NoError(t, p.Run(t.Context()))
	require.Greater(t, p.Status().Batch, reached)
	require.EqualValues(t, messages, p.Status().Positions[0])
	require.NoError(t, store.Close())
}
