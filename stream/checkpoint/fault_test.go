package checkpoint

import (
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"motifd/matcher/matchertest"
	"motifd/stream"
)

// failing fails the write operations from one on, or only that one.
type failing struct {
	at   int64 // number of the write that fails first, 0 for none
	only bool
	n    atomic.Int64
	skip func(op errorfs.Op) bool
}

func (f *failing) String() string { return "failing" }

func (f *failing) MaybeError(op errorfs.Op) error {
	if op.Kind.ReadOrWrite() != errorfs.OpIsWrite || f.skip != nil && f.skip(op) {
		return nil
	}
	n := f.n.Add(1)
	if f.at > 0 && (n == f.at || n > f.at && !f.only) {
		return syscall.ENOSPC
	}
	return nil
}

// TestDiskFullAtEveryWrite: the first write that fails is answered with an error by the call that it belongs to or a
// later one; nothing panics or exits; every later call fails; and what was acknowledged is there when the directory is
// opened again.
func TestDiskFullAtEveryWrite(t *testing.T) {
	matchertest.NotUnderRace(t, "TestCrashAtEveryWrite has the same goroutines")
	h := newHistory(newRand(11), 4, true)
	live := func(f *failing) (fs vfs.FS, step int, err error) {
		mem := vfs.NewMem()
		opt := testOptions(h, errorfs.Wrap(mem, f))
		opt.Retention = Retention{Batches: 2}
		s, err := Open(testDir, opt)
		if err != nil {
			return mem, -1, err
		}
		for i, st := range h.steps {
			if err = st.do(s); err != nil {
				for _, st := range h.steps[i:] {
					again := st.do(s)
					require.Error(t, again, st.name)
				}
				if errors.Is(err, ErrBroken) {
					require.ErrorIs(t, s.Close(), ErrBroken)
				} else {
					_ = s.Close()
				}
				return mem, i, err
			}
		}
		return mem, len(h.steps), s.Close()
	}
	var count failing
	_, steps, err := live(&count)
	require.NoError(t, err)
	require.Equal(t, len(h.steps), steps)
	total := count.n.Load()
	require.Greater(t, total, int64(2*len(h.steps)))
	failed := 0
	for at := int64(1); at <= total; at++ {
		for _, only := range []bool{false, true} {
			name := fmt.Sprintf("write %d, only %v", at, only)
			fs, step, err := live(&failing{at: at, only: only})
			if err == nil {
				continue // a failure that does no harm: removing an obsolete file, say
			}
			failed++
			require.ErrorIs(t, err, syscall.ENOSPC, name)
			if step < 0 {
				continue
			}
			states := []string{h.start}
			for _, st := range h.steps {
				states = append(states, st.after)
			}
			got := recovered(t, testOptions(h, fs))
			if step < len(h.steps) && got == states[step+1] {
				continue
			}
			requireSame(t, states[step], got, name)
		}
	}
	require.Greater(t, failed, int(total), "hardly any failure was noticed")
}

// TestSyncFailure: a log that cannot be synced is an error of the call, and the process lives on.
func TestSyncFailure(t *testing.T) {
	h := newHistory(newRand(12), 3, false)
	var on errorfs.Toggle
	on.Injector = errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData {
			return syscall.EIO
		}
		return nil
	})
	var said []string
	opt := testOptions(h, errorfs.Wrap(vfs.NewMem(), &on))
	opt.Logger = func(m string) { said = append(said, m) }
	s, err := Open(testDir, opt)
	require.NoError(t, err)
	require.NoError(t, s.Intent(t.Context(), &h.batches[0]))
	on.On()
	err = s.Commit(t.Context(), h.infos[0])
	require.ErrorIs(t, err, ErrBroken)
	require.ErrorIs(t, err, syscall.EIO)
	on.Off()
	require.ErrorIs(t, s.Commit(t.Context(), h.infos[0]), ErrBroken)
	require.ErrorIs(t, s.Intent(t.Context(), &h.batches[1]), ErrBroken)
	require.ErrorIs(t, s.Close(), ErrBroken)
	require.NotEmpty(t, said)
}

// TestRotationFailure: the write-ahead log cannot be closed, or a new one cannot be created, while a large intent is
// written.
func TestRotationFailure(t *testing.T) {
	matchertest.NotUnderRace(t, "TestCrashAtEveryWrite has the same goroutines")
	const memTable = 1 << 20
	skip := func(op errorfs.Op) bool { return op.Kind == errorfs.OpFileWrite }
	large := func(n uint64) *stream.Batch {
		b := &stream.Batch{DeadLetters: []stream.DeadLetter{{Value: make([]byte, memTable/2)}}}
		b.Number = n
		return b
	}
	live := func(f *failing) (acknowledged uint64, err error) {
		fs := vfs.NewMem()
		s, err := Open(testDir, Options{FS: errorfs.Wrap(fs, f), memTable: memTable})
		if err != nil {
			return 0, err
		}
		for err == nil && acknowledged < 3 {
			if err = s.Intent(t.Context(), large(acknowledged+1)); err == nil {
				acknowledged++
			}
		}
		if cerr := s.Close(); err == nil {
			err = cerr
		}
		c, ierr := Info(testDir, fs)
		require.NoError(t, ierr)
		require.GreaterOrEqual(t, uint64(len(c.Open)), acknowledged)
		return acknowledged, err
	}
	f := &failing{skip: skip}
	s, err := Open(testDir, Options{FS: errorfs.Wrap(vfs.NewMem(), f), memTable: memTable})
	require.NoError(t, err)
	opened := f.n.Load()
	require.NoError(t, s.Close())
	for at := opened + 1; ; at++ {
		n, err := live(&failing{at: at, skip: skip})
		if err == nil {
			require.Equal(t, uint64(3), n)
			require.Greater(t, at, opened+5)
			break
		}
		require.ErrorIs(t, err, ErrBroken)
		require.ErrorIs(t, err, syscall.ENOSPC)
	}
}
