package checkpoint

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// The bound on the disk holds by backpressure. A write waits until the following sum fits below the bound:
//
//   - the tables on disk,
//   - what will become tables: the tables in memory, and the writes on their way to them,
//   - the output of the running merge, or of the next one, since its input is removed only afterwards. One merge runs
//     at a time; it writes at most its input, and at most what is live.
//
// The bound is twice what is live, the keys and values of the graph and the batch log before compression, and
// waitingBytes. Where the sum does not fit and nothing runs that could change it, the write has everything merged.

// waitingBytes is the space that a checkpoint may take on disk besides twice the graph and the batch log, and besides
// the write-ahead log of the tables in memory: tables that wait to be merged, and files of the write-ahead log that
// Pebble keeps to use them again.
const (
	waitingBytes     = waitingMemTables * memTableSize
	waitingMemTables = 8
	recycledLogs     = 3 // of at most a memTable each
)

const (
	// recordOverhead is the most that a table adds to a key and its value.
	recordOverhead = 16
	// roomInterval is the interval at which a write that waits checks for room.
	roomInterval = 5 * time.Millisecond
)

// room admits writes while the disk has room for them.
type room struct {
	memTable  int64
	admission chan struct{} // held by the write that waits for room; other writes wait for it
	writing   atomic.Int64  // bytes of the writes that are admitted and not yet in a table in memory
	live      atomic.Int64  // maximum size of the tables of live data, as of the last hasRoom
	// excess is by how much the tables exceeded live after everything was merged. It should be 0. If it were not and
	// the limit did not include it, each write would merge everything in vain. Guarded by admission.
	excess int64

	mu     sync.Mutex    // taken with Pebble's lock held
	merges map[int]int64 // the maximum that a running merge writes, by job

	disk, limit   atomic.Int64 // size and limit including the write-ahead log, as of the last hasRoom
	content       atomic.Int64 // bytes of the graph and the batch log, as of the last hasRoom
	since, waited atomic.Int64 // start of the current wait, and total of earlier waits, in nanoseconds
}

func newRoom(memTable uint64) *room {
	return &room{memTable: int64(memTable), admission: make(chan struct{}, 1), merges: make(map[int]int64)}
}

// listen has Pebble tell of its merges.
func (r *room) listen(l *pebble.EventListener) {
	l.CompactionBegin = func(info pebble.CompactionInfo) {
		in := int64(0)
		for _, level := range info.Input {
			for i := range level.Tables {
				in += int64(level.Tables[i].Size)
			}
		}
		if live := r.live.Load(); live > 0 {
			in = min(in, live)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.merges[info.JobID] = in
	}
	l.CompactionEnd = func(info pebble.CompactionInfo) {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.merges, info.JobID)
	}
}

// merging returns the most that the running merges write.
func (r *room) merging() (n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, out := range r.merges {
		n += out
	}
	return n
}

// DiskUse is the disk space of a checkpoint, and how writes wait for room there.
type DiskUse struct {
	Bytes, Limit int64         // as of the last write
	Live         int64         // keys and values of graph and batch log before compression, as of the last write
	Waiting      time.Duration // how long the write that waits now has waited, 0 when none does
	Waited       time.Duration // how long writes have waited in all, that one included
}

// DiskUse returns what the checkpoint takes on disk. It is safe to call from any goroutine, and waits for nothing.
func (s *Store) DiskUse() DiskUse {
	r := s.db.room
	u := DiskUse{Bytes: r.disk.Load(), Limit: r.limit.Load(), Live: r.content.Load(),
		Waited: time.Duration(r.waited.Load())}
	if since := r.since.Load(); since != 0 {
		u.Waiting = time.Since(time.Unix(0, since))
		u.Waited += u.Waiting
	}
	return u
}

// live returns the bytes of the graph and the batch log, and the most that their tables take.
func (s *Store) live() (bytes, tables int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := &s.state.digests
	bytes = int64(d.labels.bytes+d.vertices.bytes+d.edges.bytes) + s.log.bytes
	for i := range s.log.open {
		bytes += s.log.open[i].bytes
	}
	bytes = max(bytes, 0) // the graph of a store that was not recovered counts from 0
	return bytes, bytes + recordOverhead*int64(d.labels.count+d.vertices.count+d.edges.count)
}

// apply writes a batch, synced, once the disk has room for it. It gives up waiting with the cause of ctx.
func (s *Store) apply(ctx context.Context, b *pebble.Batch) error {
	size := int64(b.Len())
	if err := s.admit(ctx, size); err != nil {
		return err
	}
	defer s.db.room.writing.Add(-size)
	return s.db.apply(b)
}

// admit waits for room for a write, and adds it to those that are on their way.
func (s *Store) admit(ctx context.Context, size int64) error {
	r := s.db.room
	select {
	case r.admission <- struct{}{}:
		defer func() { <-r.admission }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	for merged := false; ; {
		if err := s.db.broken(); err != nil {
			return err
		}
		fits, busy := s.hasRoom(size)
		if fits || merged && !busy { // a single write larger than the bound does not fit ever
			break
		}
		if r.since.Load() == 0 {
			begin := time.Now()
			r.since.Store(begin.UnixNano())
			defer func() {
				r.since.Store(0)
				r.waited.Add(int64(time.Since(begin)))
			}()
		}
		if !busy {
			if err := s.mergeAll(ctx); err != nil {
				return err
			}
			merged = true
			continue
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(roomInterval):
		}
	}
	r.writing.Add(size)
	return nil
}

// hasRoom reports whether a write of a size fits, and whether a merge or flush is running that may make room.
func (s *Store) hasRoom(size int64) (fits, busy bool) {
	r := s.db.room
	bytes, live := s.live()
	r.content.Store(bytes)
	bytes, live = bytes+r.excess, live+r.excess
	r.live.Store(live)
	merging := r.merging() // before the tables are summed: a merge that ends in between counts twice, not never
	m := s.db.Metrics()
	bound := 2*bytes + waitingMemTables*r.memTable
	r.disk.Store(int64(m.DiskSpaceUsage()))
	r.limit.Store(bound + 2*r.memTable)
	tables := int64(m.DiskSpaceUsage()-m.WAL.PhysicalSize-m.WAL.ObsoletePhysicalSize) - m.Compact.InProgressBytes
	pending := int64(m.MemTable.Size) + r.writing.Load() + size
	// The largest merge is that of the topmost level with the one below it.
	next := m.Levels[0].AggregateSize() + pending
	for i := range m.Levels[1:] {
		if n := m.Levels[1+i].AggregateSize(); n > 0 {
			next += n
			break
		}
	}
	fits = tables+pending+max(merging, min(next, live)) <= bound-recycledLogs*r.memTable
	busy = m.Compact.NumInProgress > 0 || m.Flush.NumInProgress > 0 || m.Table.ObsoleteSize > 0
	return fits, busy
}

// mergeAll merges everything.
func (s *Store) mergeAll(ctx context.Context) error {
	if err := s.db.Compact(ctx, []byte{spaceMeta}, []byte{spaceLog + 1}, false); err != nil {
		if broken := s.db.broken(); broken != nil {
			return broken
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("checkpoint %s: merge: %w", s.db.dir, err)
	}
	_, live := s.live()
	s.db.room.excess = max(0, int64(s.db.Metrics().Table.Local.LiveSize)-live)
	return nil
}
