package checkpoint

import (
	"context"
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/matchertest"
	"motifd/stream"
)

// TestHistory opens the checkpoint anew after every step.
func TestHistory(t *testing.T) {
	matchertest.NotUnderRace(t, "TestConcurrentCalls and TestCrashAtEveryWrite have the same goroutines")
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			rng := newRand(seed)
			h := newHistory(rng, 12, seed%2 == 1)
			opt := testOptions(h, vfs.NewMem())
			opt.Retention = Retention{Batches: rng.Uint64N(6)}
			requireSame(t, h.start, recovered(t, opt))
			for _, st := range h.steps {
				s, err := Open(testDir, opt)
				require.NoError(t, err, st.name)
				require.NoError(t, st.do(s), st.name)
				require.NoError(t, s.Close())
				requireSame(t, st.after, recovered(t, opt), st.name)
			}
		})
	}
}

func TestStreamIDIsKept(t *testing.T) {
	h := newHistory(newRand(1), 1, false)
	opt := testOptions(h, vfs.NewMem())
	ids := map[string]bool{}
	for range 3 {
		s, err := Open(testDir, opt)
		require.NoError(t, err)
		ids[s.StreamID()] = true
		require.NoError(t, s.Close())
	}
	require.Len(t, ids, 1)
	opt.FS = vfs.NewMem()
	s, err := Open(testDir, opt)
	require.NoError(t, err)
	require.NotContains(t, ids, s.StreamID())
	require.NoError(t, s.Close())
}

// TestInputFilesAreKept: names of files outlive the process, also one that crashes, and are as they were given.
func TestInputFilesAreKept(t *testing.T) {
	h := newHistory(newRand(3), 2, false)
	mem := vfs.NewCrashableMem()
	opt := testOptions(h, mem)
	s, err := Open(testDir, opt)
	require.NoError(t, err)
	require.Nil(t, s.InputFiles())
	require.NoError(t, s.KeepInputFiles(nil))
	require.NoError(t, s.Intent(t.Context(), &h.batches[0]))
	for _, names := range [][]string{{"b"}, {"b", "a \xff\n", ""}} {
		require.NoError(t, s.KeepInputFiles(names))
		crashed := opt
		crashed.FS = mem.CrashClone(vfs.CrashCloneCfg{})
		after, err := Open(testDir, crashed)
		require.NoError(t, err)
		require.Equal(t, names, after.InputFiles())
		require.NoError(t, after.Close())
		info, err := Info(testDir, crashed.FS)
		require.NoError(t, err)
		require.Equal(t, names, info.InputFiles)
		v, err := Verify(t.Context(), testDir, crashed.FS, nil)
		require.NoError(t, err)
		require.Empty(t, v.Problems)
	}
	require.NoError(t, s.Close())
	opt.ReadOnly = true
	s, err = Open(testDir, opt)
	require.NoError(t, err)
	require.ErrorIs(t, s.KeepInputFiles([]string{"c"}), errReadOnly)
	require.NoError(t, s.Close())
}

// TestEndsAreKept: what is known of input and output outlives a crash.
func TestEndsAreKept(t *testing.T) {
	mem := vfs.NewCrashableMem()
	opt := testOptions(newHistory(newRand(3), 1, false), mem)
	s, err := Open(testDir, opt)
	require.NoError(t, err)
	check := func(s *Store, topic, mode string, epochs stream.Epochs) {
		t.Helper()
		gotTopic, err := s.InputTopicID()
		require.NoError(t, err)
		gotMode, err := s.OutputMode()
		require.NoError(t, err)
		gotEpochs, err := s.InputEpochs()
		require.NoError(t, err)
		require.Equal(t, topic, gotTopic)
		require.Equal(t, mode, gotMode)
		require.Equal(t, epochs, gotEpochs)
	}
	check(s, "", "", nil)
	epochs := stream.Epochs{0: {{Epoch: 3, Start: 0}, {Epoch: 7, Start: 1 << 40}}, 12: {{Epoch: 0, Start: 5}}}
	require.NoError(t, s.KeepInputTopicID("0a0b"))
	require.NoError(t, s.KeepOutputMode("on"))
	require.NoError(t, s.KeepInputEpochs(epochs))
	opt.FS = mem.CrashClone(vfs.CrashCloneCfg{})
	require.NoError(t, s.Close())
	opt.ReadOnly = true
	s, err = Open(testDir, opt)
	require.NoError(t, err)
	check(s, "0a0b", "on", epochs)
	require.ErrorIs(t, s.KeepInputEpochs(nil), errReadOnly)
	require.NoError(t, s.Close())
	v, err := Verify(t.Context(), testDir, opt.FS, nil)
	require.NoError(t, err)
	require.Empty(t, v.Problems)
}

// TestCallsOutOfOrder: what would break the log is refused and changes nothing.
func TestCallsOutOfOrder(t *testing.T) {
	h := newHistory(newRand(2), 3, false)
	s, err := Open(testDir, testOptions(h, vfs.NewMem()))
	require.NoError(t, err)
	defer s.Close()
	b := h.batches[0]
	require.ErrorContains(t, s.Commit(t.Context(), h.infos[0]), "no open intent")
	require.ErrorContains(t, s.Decide(1, matcher.Decision{Sign: dyngraph.Inserted}), "no open intent")
	b.Number = 2
	require.ErrorContains(t, s.Intent(t.Context(), &b), "1 is next")
	require.NoError(t, s.Intent(t.Context(), &h.batches[0]))
	require.ErrorContains(t, s.Intent(t.Context(), &h.batches[0]), "2 is next")
	require.NoError(t, s.Intent(t.Context(), &h.batches[1]))
	require.ErrorContains(t, s.Commit(t.Context(), h.infos[1]), "not the oldest")
	bad := *h.infos[0]
	bad.Effect.LabelsBefore = 17
	require.ErrorContains(t, s.Commit(t.Context(), &bad), "17 labels")
	bad = *h.infos[0]
	bad.Effect.Released = []dyngraph.VertexID{4}
	require.ErrorContains(t, s.Commit(t.Context(), &bad), "released 1 ids")
	require.ErrorContains(t, s.Bootstrap(context.Background(),
		dyngraph.NewGraph(h.options())), "holds batches")
	require.NoError(t, s.Commit(t.Context(), h.infos[0]))
	require.NoError(t, s.Commit(t.Context(), h.infos[1]))
	_, err = s.Recover(context.Background())
	require.NoError(t, err)
	_, err = s.Recover(context.Background())
	require.ErrorContains(t, err, "twice")
}

// TestConcurrentCalls runs intents ahead of commits from two goroutines, as the pipeline does.
func TestConcurrentCalls(t *testing.T) {
	h := newHistory(newRand(3), 40, false)
	opt := testOptions(h, vfs.NewMem())
	opt.Retention.Batches = 5
	s, err := Open(testDir, opt)
	require.NoError(t, err)
	intended := make(chan int, 3)
	failed := make(chan error, 1)
	go func() {
		defer close(intended)
		for i := range h.batches {
			b := h.batches[i]
			b.Decisions = nil
			if err := s.Intent(t.Context(), &b); err != nil {
				failed <- err
				return
			}
			for _, u := range h.batches[i].Decisions {
				if err := s.Decide(b.Number, u); err != nil {
					failed <- err
					return
				}
			}
			intended <- i
		}
		failed <- nil
	}()
	for i := range intended {
		require.NoError(t, s.Commit(t.Context(), h.infos[i]))
	}
	require.NoError(t, <-failed)
	require.NoError(t, s.Close())
	requireSame(t, h.steps[len(h.steps)-1].after, recovered(t, opt))
	requireSound(t, opt.FS)
}

// requireSound verifies the checkpoint.
func requireSound(t testing.TB, fs vfs.FS) {
	t.Helper()
	v, err := Verify(context.Background(), testDir, fs, nil)
	require.NoError(t, err)
	require.Empty(t, v.Problems)
}

func TestRecoverStopsWithItsContext(t *testing.T) {
	fs := vfs.NewMem()
	s, err := Open(testDir, Options{FS: fs})
	require.NoError(t, err)
	g := dyngraph.NewGraph(dyngraph.Options{})
	var us []dyngraph.Update
	for i := range 3 * ctxEvery {
		us = append(us, dyngraph.Update{Op: dyngraph.InsertVertex, Key: fmt.Sprint(i)})
	}
	mustStage(g, us)
	g.Commit()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, s.Bootstrap(ctx, g), context.Canceled)
	require.NoError(t, s.Bootstrap(context.Background(), g))
	_, err = s.Recover(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, s.Close())
	var _ stream.Store = s
}
