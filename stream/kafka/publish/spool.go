package publish

import (
	"fmt"
	"os"
	"slices"
	"sync"

	"motifd/stream/tempfile"
)

// spool keeps the finished batches of the open transaction until its end is known: in memory up to a limit, the others
// in a temporary file. It may be used by several goroutines.
type spool struct {
	dir     string
	limit   int
	buffers *buffers // takes those of batches that are forgotten

	mu   sync.Mutex // guards what follows
	mem  int
	kept []pendingBatch
	file *os.File
	end  int64
}

// add keeps a batch. It stays usable with its raw bytes, until reset.
func (s *spool) add(p pendingBatch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mem+p.size <= s.limit {
		s.mem += p.size
		s.kept = append(s.kept, p)
		return nil
	}
	if s.file == nil {
		f, err := tempfile.Open(s.dir, "transaction")
		if err != nil {
			return fmt.Errorf("kafka: spool of the open transaction: %w", err)
		}
		s.file = f
	}
	if _, err := s.file.WriteAt(p.raw, s.end); err != nil {
		return fmt.Errorf("kafka: spool of the open transaction: %w", err)
	}
	p.raw, p.spool, p.off = nil, s, s.end
	s.end += int64(p.size)
	s.kept = append(s.kept, p)
	return nil
}

// read returns the bytes of a batch from the file.
func (s *spool) read(off int64, size int) ([]byte, error) {
	s.mu.Lock()
	f := s.file
	s.mu.Unlock()
	raw := make([]byte, size)
	if _, err := f.ReadAt(raw, off); err != nil {
		return nil, fmt.Errorf("kafka: spool of the open transaction: %w", err)
	}
	return raw, nil
}

// all returns the batches that are kept, to be sent again.
func (s *spool) all() []pendingBatch {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.kept {
		s.kept[i].sent = true
	}
	return slices.Clone(s.kept)
}

// reset forgets everything. The file is emptied; it goes with close.
func (s *spool) reset() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.kept {
		s.buffers.put(p.raw)
	}
	s.buffers.settled()
	clear(s.kept)
	s.kept, s.mem = s.kept[:0], 0
	if s.end == 0 {
		return nil
	}
	s.end = 0
	if err := s.file.Truncate(0); err != nil {
		return fmt.Errorf("kafka: spool of the open transaction: %w", err)
	}
	return nil
}

func (s *spool) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	f := s.file
	s.file = nil
	return f.Close()
}
