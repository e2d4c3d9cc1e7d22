package rowsort

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"motifd/matcher"
	"motifd/stream/tempfile"
)

// filledSorter returns a sorter that holds n rows, in many runs on disk.
func filledSorter(t *testing.T, n uint32, stop *atomic.Bool) (*Sorter, *File) {
	t.Helper()
	file := &File{Open: tempfile.In(t.TempDir())}
	s := &Sorter{Memory: 16, Stop: stop}
	s.Begin(testOrder(2), 0, file)
	t.Cleanup(func() { s.Drop(); file.Close() })
	for i := range n {
		if !s.Add([]uint32{i * 7 % n, i, i}) {
			t.Fatal(s.err)
		}
	}
	return s, file
}

// TestStopEndsSortingAndSpilling: after the stop, rows that fill the buffer are neither sorted nor packed nor written.
func TestStopEndsSortingAndSpilling(t *testing.T) {
	var stop atomic.Bool
	s, file := filledSorter(t, 10_000, &stop)
	runs, end := len(s.runs), file.end
	if runs < 2 || end == 0 {
		t.Fatalf("%d runs and %d bytes on disk before the stop", runs, end)
	}
	stop.Store(true)
	added := 0
	for added < 1_000_000 && s.Add([]uint32{1, 2, 3}) {
		added++
	}
	if added > s.room {
		t.Errorf("%d rows were added after the stop, the buffer has %d words", added, s.room)
	}
	if !errors.Is(s.err, ErrStopped) || len(s.runs) != runs || file.end != end {
		t.Errorf("after the stop: %v, %d runs of %d, %d bytes on disk of %d", s.err, len(s.runs), runs, file.end, end)
	}
}

// TestStopEndsCompaction: merging the runs of a level ends before the next block.
func TestStopEndsCompaction(t *testing.T) {
	var stop atomic.Bool
	s, file := filledSorter(t, 10_000, &stop)
	end := file.end
	stop.Store(true)
	s.compact(0)
	if !errors.Is(s.err, ErrStopped) || file.end != end {
		t.Errorf("after the stop: %v, %d bytes on disk of %d", s.err, file.end, end)
	}
}

// TestStopEndsTheMergeOfAGroup: no block is handed on after the context is done.
func TestStopEndsTheMergeOfAGroup(t *testing.T) {
	s, file := filledSorter(t, 200_000, nil)
	rows := s.Finish(nil)
	rows.File = file
	if len(rows.runs) < 2 {
		t.Fatalf("%d runs are to be merged", len(rows.runs))
	}
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	err := rows.Each(ctx, 0, func(matcher.Rows) error {
		calls++
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("%v after %d blocks", err, calls)
	}
}

// TestAReasonComesBeforeAStop: a full disk stops the other workers; the error that is told is the disk's.
func TestAReasonComesBeforeAStop(t *testing.T) {
	full := errors.New("disk full")
	for _, errs := range [][2]error{{full, ErrStopped}, {ErrStopped, full}} {
		var all Sorted
		all.Join(Sorted{Err: errs[0]})
		all.Join(Sorted{Err: errs[1]})
		if !errors.Is(all.Err, full) {
			t.Errorf("%v, then %v: %v is told", errs[0], errs[1], all.Err)
		}
	}
}
