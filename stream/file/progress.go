package file

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strings"
)

// progressSuffix follows the name of a regular main output in the name of its progress file.
const progressSuffix = ".progress"

// progressSlot is the length of each of the two records of a progress file, a sector of a disk. Batches write them by
// turns, so that one is whole whatever a crash does to the other.
const progressSlot = 512

// progress is the file that names the last batch begun in a main output, and its stream. A checkpoint that does not
// know the batch is an old copy. The file is locked with the output. It is not synced: after a loss of power it may
// name an earlier batch, which refuses nothing.
type progress struct {
	f      *os.File // nil: there is none
	stream string   // of the last record; "" without one
	batch  uint64
	digest string // of the batch's intent; "" is not known
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// open reads the file beside a main output, and creates it when it does not exist.
func (p *progress) open(output string) error {
	path := output + progressSuffix
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("progress file: %w", err)
	}
	*p = progress{f: f}
	for slot := range int64(2) {
		buf := make([]byte, progressSlot)
		n, err := f.ReadAt(buf, slot*progressSlot)
		if err != nil && !errors.Is(err, io.EOF) {
			return errors.Join(fmt.Errorf("progress file: %w", err), p.close())
		}
		if r, ok := parseProgress(string(buf[:n])); ok && (p.stream == "" || r.batch > p.batch) {
			p.stream, p.batch, p.digest = r.stream, r.batch, r.digest
		}
	}
	return nil
}

func parseProgress(s string) (p progress, ok bool) {
	line, _, whole := strings.Cut(s, "\n")
	var sum uint32
	if n, err := fmt.Sscanf(
		line,
		"motifd 1 %s %d %s %08x",
		&p.stream,
		&p.batch,
		&p.digest,
		&sum,
	); !whole || n != 4 ||
		err != nil {
		return progress{}, false
	}
	ok = sum == crc32.Checksum([]byte(fmt.Sprintf("%s %d %s", p.stream, p.batch, p.digest)), castagnoli)
	if p.digest == noDigest {
		p.digest = ""
	}
	return p, ok
}

// noDigest stands for a digest that is not known.
const noDigest = "-"

// forget drops what the file says of a former output.
func (p *progress) forget() error {
	if p.f == nil {
		return nil
	}
	p.stream, p.batch, p.digest = "", 0, ""
	if err := p.f.Truncate(0); err != nil {
		return fmt.Errorf("progress file: %w", err)
	}
	return nil
}

// begin takes note of a batch before its first record is written.
func (p *progress) begin(stream string, batch uint64, digest string) error {
	if p.f == nil || p.stream == stream && p.batch == batch && p.digest == digest {
		return nil
	}
	written := digest
	if written == "" {
		written = noDigest
	}
	content := fmt.Sprintf("%s %d %s", stream, batch, written)
	slot := make([]byte, progressSlot)
	line := fmt.Sprintf("motifd 1 %s %08x\n", content, crc32.Checksum([]byte(content), castagnoli))
	if len(line) > len(slot) {
		return fmt.Errorf("progress file: the stream id has %d bytes", len(stream))
	}
	copy(slot, line)
	if _, err := p.f.WriteAt(slot, int64(batch%2)*progressSlot); err != nil {
		return fmt.Errorf("progress file: %w", err)
	}
	p.stream, p.batch, p.digest = stream, batch, digest
	return nil
}

func (p *progress) close() error {
	if p.f == nil {
		return nil
	}
	f := p.f
	p.f = nil
	return f.Close()
}
