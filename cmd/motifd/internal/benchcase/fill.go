package benchcase

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Fill returns the case that exists is measured on. With the case's own stream nothing would be: its queries have a
// match from the beginning on, and only a match that goes makes work. Here the graph begins with the vertices alone,
// and the stream inserts its edges and then deletes them, in the order of the file: until a query's first match is
// there every edge is searched, and whenever the match that is known loses an edge another is sought, until there is
// none.
func (in *Input) Fill(dir string) (_ *Input, err error) {
	fail := func(err error) (*Input, error) { return nil, fmt.Errorf("a case for exists: %w", err) }
	f, err := os.Open(in.Graph)
	if err != nil {
		return fail(err)
	}
	defer f.Close() // opened for reading: closing it can lose nothing
	var vertices, edges []string
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) == 0:
		case fields[0] == "e":
			edges = append(edges, strings.Join(fields, " "))
		default: // vertices, comments, a header
			vertices = append(vertices, strings.Join(fields, " "))
		}
	}
	if err := lines.Err(); err != nil {
		return fail(err)
	}
	out := &Input{Graph: filepath.Join(dir, "vertices.txt"), Stream: filepath.Join(dir, "fill.txt"),
		Queries: in.Queries}
	err = errors.Join(
		writeLines(out.Graph, func(w io.Writer) {
			for _, v := range vertices {
				fmt.Fprintln(w, v)
			}
		}),
		writeLines(out.Stream, func(w io.Writer) {
			for _, sign := range []string{"", "-"} {
				for _, e := range edges {
					fmt.Fprintln(w, sign+e)
				}
			}
		}),
	)
	return out, err
}
