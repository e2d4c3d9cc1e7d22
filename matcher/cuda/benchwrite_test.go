//go:build cuda || emu

package cuda_test

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var benchWrite = flag.String("motifd.write", "",
	"directory to write a generated graph, its batch and its queries into, in the papers' text, for other systems")

// textFile is a file of lines that begins to fail silently and tells at its end.
type textFile struct {
	f *os.File
	w *bufio.Writer
}

// writeText creates a file of the case that is to be written; the file is nil when there is none.
func writeText(tb testing.TB, name string) *textFile {
	tb.Helper()
	if *benchWrite == "" {
		return nil
	}
	path := filepath.Join(*benchWrite, name)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	f, e := os.Create(path)
	if err = errors.Join(err, e); err != nil {
		tb.Fatal(err)
	}
	return &textFile{f, bufio.NewWriterSize(f, 1<<20)}
}

func (t *textFile) line(format string, args ...any) {
	if t != nil {
		fmt.Fprintf(t.w, format+"\n", args...)
	}
}

func (t *textFile) close(tb testing.TB) {
	tb.Helper()
	if t == nil {
		return
	}
	if err := errors.Join(t.w.Flush(), t.f.Close()); err != nil {
		tb.Fatal(err)
	}
}

// writeRest writes the batch and the queries: insert.txt and queries/NAME.txt.
func (w *world) writeRest(tb testing.TB) {
	t := writeText(tb, "insert.txt")
	for i := range w.batch {
		t.line("e %s %s 0", w.batch[i].From, w.batch[i].To)
	}
	t.close(tb)
	for _, all := range w.queries {
		for _, q := range all {
			t := writeText(tb, filepath.Join("queries", q.Name+".txt"))
			for i, v := range q.Vertices {
				t.line("v %d %s", i, strings.TrimPrefix(v.Label, "L"))
			}
			for _, e := range q.Edges {
				t.line("e %d %d 0", e.From, e.To)
			}
			t.close(tb)
		}
	}
}
