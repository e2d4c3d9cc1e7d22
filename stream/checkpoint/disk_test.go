package checkpoint

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"motifd/dyngraph"
	"motifd/matcher/matchertest"
	"motifd/stream"
)

// mergeFS is a file system that calls hooks for the files that merges write.
type mergeFS struct {
	vfs.FS
	create, write func()
}

// Create implements vfs.FS.
func (m *mergeFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if c != mergeCategory {
		return m.FS.Create(name, c)
	}
	m.create()
	f, err := m.FS.Create(name, c)
	return hookedFile{f, m.write}, err
}

type hookedFile struct {
	vfs.File
	write func()
}

// Write implements vfs.File.
func (f hookedFile) Write(p []byte) (int, error) {
	f.write()
	return f.File.Write(p)
}

// heldMerges holds merges until it is released.
type heldMerges struct {
	held, free chan struct{}
	writes     atomic.Int64
}

func newHeldMerges() (*heldMerges, *mergeFS) {
	h := &heldMerges{held: make(chan struct{}, 1), free: make(chan struct{})}
	return h, &mergeFS{FS: vfs.NewMem(), write: func() { h.writes.Add(1) }, create: func() {
		select {
		case h.held <- struct{}{}:
		default:
		}
		<-h.free
	}}
}

// filler renews the edges of a graph of constant size with ids that do not compress, batch after batch.
type filler struct {
	t                 *testing.T
	s                 *Store
	g                 *dyngraph.Graph
	rng               interface{ Uint64() uint64 }
	edges, batch, id  int
	next              *stream.Batch // the batch that is to be written next, nil when it is yet to be made
	effect            *stream.CommitInfo
	logged            bool
	n                 uint64
	written, mostLive int64
}

func newFiller(t *testing.T, s *Store, edges, batch int) *filler {
	g := dyngraph.NewGraph(dyngraph.Options{Directed: true})
	return &filler{t: t, s: s, g: g, rng: newRand(5), edges: edges, batch: batch, id: 100}
}

// fill writes so many bytes of updates more. After an error it goes on where it was.
func (f *filler) fill(ctx context.Context, bytes int64) error {
	for until := f.written + bytes; f.written < until; {
		if f.next == nil {
			f.make()
		}
		if !f.logged {
			if err := f.s.Intent(ctx, f.next); err != nil {
				return err
			}
			f.logged = true
		}
		if err := f.s.Commit(ctx, f.effect); err != nil {
			return err
		}
		live, _ := f.s.live()
		f.mostLive = max(f.mostLive, live)
		f.written += 2 * int64(f.batch*(13+3+f.id)) // intent and effect
		f.next = nil
	}
	return nil
}

// make makes the next batch, and its effect.
func (f *filler) make() {
	f.n++
	us := make([]dyngraph.Update, f.batch)
	id := make([]byte, f.id)
	for i := range us {
		from := int(f.rng.Uint64() % uint64(f.edges))
		for k := range id {
			id[k] = 'a' + byte(f.rng.Uint64()%26)
		}
		us[i] = dyngraph.Update{
			Op: dyngraph.InsertEdge, From: strconv.Itoa(from), To: strconv.Itoa((from + 1) % f.edges), Label: "T",
			Attr: dyngraph.Attr{ID: string(id)},
		}
	}
	b := &stream.Batch{Positions: stream.Positions{0: int64(f.n)}}
	b.Number = f.n
	b.Updates, _ = f.g.Accept([]dyngraph.Message{{Updates: us}})
	mustStage(f.g, b.Updates)
	f.next, f.logged = b, false
	f.effect = &stream.CommitInfo{Batch: f.n, Effect: f.g.Effect(), Positions: b.Positions}
	f.g.Commit()
}

// watchDisk looks at the disk all the time until the function that it returns is called. That returns the most that was
// there: all but the write-ahead log of the tables in memory.
func watchDisk(s *Store) (most func() int64) {
	var n int64
	var done sync.WaitGroup
	end := make(chan struct{})
	done.Go(func() {
		for {
			m := s.db.Metrics()
			n = max(n, int64(m.DiskSpaceUsage()-m.WAL.PhysicalSize))
			select {
			case <-end:
				return
			case <-time.After(time.Millisecond):
			}
		}
	})
	return sync.OnceValue(func() int64 {
		close(end)
		done.Wait()
		return n
	})
}

// testMemTable makes the bound small.
const testMemTable = 1 << 20

func openSmall(t *testing.T, fs vfs.FS) *Store {
	s, err := Open(testDir, Options{FS: fs, Settings: Settings{Directed: true}, memTable: testMemTable,
		Retention: Retention{Batches: 1 << 40, Bytes: 4 << 20}})
	require.NoError(t, err)
	return s
}

// untilWaiting returns when a write waits for room.
func untilWaiting(s *Store) {
	for s.DiskUse().Waiting == 0 {
		runtime.Gosched()
	}
}

// TestP4WritesWaitForMerges holds the merges of a store: its writes come to wait, below the bound, for as long as
// nothing is merged, and give up when they are told to. Released, the store goes on from there.
func TestP4WritesWaitForMerges(t *testing.T) {
	matchertest.NotUnderRace(t, "it takes 20 seconds of processors")
	held, fs := newHeldMerges()
	s := openSmall(t, fs)
	f := newFiller(t, s, 2000, 500)
	most := watchDisk(s)
	stopped := errors.New("stopped")
	for range 2 { // what gave up is written again, and waits again
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan error, 1)
		go func() { done <- f.fill(ctx, 1<<40) }()
		untilWaiting(s)
		cancel(stopped)
		require.ErrorIs(t, <-done, stopped)
		require.Zero(t, s.DiskUse().Waiting)
	}
	<-held.held
	require.Zero(t, held.writes.Load())
	require.Positive(t, s.DiskUse().Waited)
	before := f.n
	close(held.free)
	require.NoError(t, f.fill(t.Context(), 40<<20))
	require.Greater(t, f.n, before)
	bound := 2*f.mostLive + waitingMemTables*testMemTable
	t.Logf("at most %d KiB on disk, %d allowed; writes waited %s", most()>>10, bound>>10, s.DiskUse().Waited)
	require.LessOrEqual(t, most(), bound)
	require.NoError(t, s.Close())
	// All that was committed is there.
	s = openSmall(t, fs)
	state, err := s.Recover(t.Context())
	require.NoError(t, err)
	require.Equal(t, f.n, state.Batch)
	require.Equal(t, f.g.Edges(), state.Graph.Edges())
	require.NoError(t, s.Close())
}

// TestCloseGivesUpMerges closes a store while a merge runs: it writes no more, nobody is told of a failure, and the
// next start merges again.
func TestCloseGivesUpMerges(t *testing.T) {
	held, fs := newHeldMerges()
	s := openSmall(t, fs)
	s.db.fault.log = func(m string) { t.Error(m) }
	f := newFiller(t, s, 2000, 500)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- f.fill(ctx, 1<<40) }()
	<-held.held
	untilWaiting(s)
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	for !s.db.fault.closing.Load() {
		runtime.Gosched()
	}
	close(held.free)
	require.NoError(t, <-closed)
	require.Zero(t, held.writes.Load())
	s = openSmall(t, fs)
	state, err := s.Recover(t.Context())
	require.NoError(t, err)
	require.Equal(t, f.g.Edges(), state.Graph.Edges())
	f.s = s
	require.NoError(t, f.fill(t.Context(), 1<<20))
	require.NoError(t, s.Close())
}

// TestP4SlowMerges has merges take far longer than what they merge took to write: the bound holds all the same.
func TestP4SlowMerges(t *testing.T) {
	matchertest.NotUnderRace(t, "it takes 25 seconds of processors")
	slow := func() { time.Sleep(time.Millisecond) } // waits for nothing: merges are to be slow
	s := openSmall(t, &mergeFS{FS: vfs.NewMem(), create: func() {}, write: slow})
	f := newFiller(t, s, 2000, 500)
	most := watchDisk(s)
	require.NoError(t, f.fill(t.Context(), 60<<20))
	bound := 2*f.mostLive + waitingMemTables*testMemTable
	t.Logf("at most %d KiB on disk, %d allowed; writes waited %s", most()>>10, bound>>10, s.DiskUse().Waited)
	require.LessOrEqual(t, most(), bound)
	require.Positive(t, s.DiskUse().Waited)
	require.NoError(t, s.Close())
}

// TestP4DiskIsBounded writes many times what retention keeps, over a graph of constant size, with tables as large as
// a daemon's: those that retention has emptied do not wait in the topmost level until there are hundreds of them.
func TestP4DiskIsBounded(t *testing.T) {
	matchertest.NotUnderRace(t, "it writes some hundred MiB")
	matchertest.Long(t, "the smaller streams of this file stay within the same bound")
	const edges, retention, record = 60_000, 64 << 20, 13 + 3 + 100
	s, err := Open(testDir, Options{FS: vfs.NewMem(), Settings: Settings{Directed: true},
		Retention: Retention{Batches: 1 << 40, Bytes: retention}})
	require.NoError(t, err)
	most := watchDisk(s)
	require.NoError(t, newFiller(t, s, edges, 10_000).fill(t.Context(), 400<<20))
	const bound = 2*(edges*record+retention) + waitingBytes
	t.Logf("at most %d MiB on disk, %d allowed; writes waited %s", most()>>20, bound>>20, s.DiskUse().Waited)
	require.LessOrEqual(t, most(), int64(bound))
	require.NoError(t, s.Close())
}
