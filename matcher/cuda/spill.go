//go:build cuda || emu

package cuda

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"motifd/kernels"
	"motifd/matcher"
)

// spill keeps rows that are too many for memory in a temporary file until they are merged (DESIGN P4).
type spill struct {
	dir    string
	memory int             // bytes that reading takes, about
	budget *matcher.Budget // that the file counts against

	file *os.File
	out  *bufio.Writer // to it: groups may be small
	end  int64
}

// part is rows in order, run by run, in a spill.
type part struct {
	at   int64
	runs []run
}

// begin begins a part: what is written from here on.
func (s *spill) begin() (*part, error) {
	if s.file == nil {
		f, err := matcher.TempFile(s.dir, "rows")
		if err != nil {
			return nil, fmt.Errorf("spilling matches for merging: %w", err)
		}
		s.file, s.out = f, bufio.NewWriterSize(f, 1<<20)
	}
	return &part{at: s.end}, nil
}

// write adds rows of a group to a part, the last that was begun.
func (s *spill) write(p *part, group, width int, rows []uint32) error {
	if len(rows) == 0 {
		return nil
	}
	if _, err := s.out.Write(kernels.Bytes(rows)); err != nil {
		return fmt.Errorf("spilling matches for merging: %w", err)
	}
	s.end += int64(4 * len(rows))
	if !s.budget.Spill(int64(4 * len(rows))) {
		return errOver
	}
	if n := len(p.runs); n == 0 || p.runs[n-1].group != group {
		p.runs = append(p.runs, run{group: group, width: width})
	}
	p.runs[len(p.runs)-1].rows += len(rows) / width
	return nil
}

// read reads words that were written, and flushed.
func (s *spill) read(words []uint32, at int64) error {
	if n, err := s.file.ReadAt(kernels.Bytes(words), at); n < 4*len(words) {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("reading spilled matches: %w", err)
	}
	return nil
}

// flush has all that was written in the file.
func (s *spill) flush() error {
	if s.file == nil {
		return nil
	}
	if err := s.out.Flush(); err != nil {
		return fmt.Errorf("spilling matches for merging: %w", err)
	}
	return nil
}

// close drops all that was written.
func (s *spill) close() {
	if s.file != nil {
		s.file.Close()
	}
	s.budget.Spill(-s.end)
	s.file, s.out, s.end = nil, nil, 0
}
