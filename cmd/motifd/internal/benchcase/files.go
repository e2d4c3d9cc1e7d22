package benchcase

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"motifd/cmd/motifd/internal/command"
	"motifd/matcher/pattern"
)

// Write writes the case into a directory, which is made. The stream is insert or mixed, as in its Sizes.
func (c *Case) Write(dir, stream string) error {
	if err := os.MkdirAll(filepath.Join(dir, "queries"), 0o755); err != nil {
		return fmt.Errorf("writing the case: %w", err)
	}
	errs := []error{
		writeLines(filepath.Join(dir, "graph.txt"), func(w io.Writer) {
			writeGraph(w, c.Labels, c.Graph)
		}),
		writeLines(filepath.Join(dir, stream+".txt"), func(w io.Writer) {
			for _, op := range c.Stream {
				sign := ""
				if op.Delete {
					sign = "-"
				}
				fmt.Fprintf(w, "%se %d %d 0\n", sign, op.Edge[0], op.Edge[1])
			}
		}),
	}
	for i := range c.Queries {
		q := &c.Queries[i]
		errs = append(errs, writeLines(filepath.Join(dir, "queries", q.Name+".txt"), func(w io.Writer) {
			writeGraph(w, q.Labels, q.Edges)
		}))
	}
	return errors.Join(errs...)
}

func writeGraph(w io.Writer, labels []uint32, edges []Edge) {
	for v, l := range labels {
		fmt.Fprintf(w, "v %d %d\n", v, l)
	}
	for _, e := range edges {
		fmt.Fprintf(w, "e %d %d 0\n", e[0], e[1])
	}
}

// writeLines writes a file.
func writeLines(path string, write func(io.Writer)) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("writing the case: %w", err)
	}
	w := bufio.NewWriterSize(f, 1<<16)
	write(w)
	return errors.Join(w.Flush(), f.Close()) // the writer keeps its first error
}

// Input is a case on disk, ready to be run.
type Input struct {
	Graph, Stream string // files
	Queries       []Pattern
}

// Pattern is a pattern of a case on disk.
type Pattern struct {
	Name, Path, Class string
	Vertices, Edges   int
}

// Open reads what a directory holds. The class of a pattern is told by its edges; patterns are ordered by
// class, size and name.
func Open(dir, stream string) (*Input, error) {
	in := &Input{Graph: filepath.Join(dir, "graph.txt"), Stream: filepath.Join(dir, stream+".txt")}
	for _, path := range []string{in.Graph, in.Stream} {
		if _, err := os.Stat(path); err != nil {
			return nil, command.Refuse(fmt.Errorf("a case holds graph.txt, %s.txt and queries/: %w", stream, err))
		}
	}
	queries, err := pattern.Load(filepath.Join(dir, "queries"), pattern.Options{})
	if err != nil {
		return nil, command.Refuse(err)
	}
	for _, q := range queries {
		p := Pattern{Name: q.Name, Vertices: len(q.Vertices), Edges: len(q.Edges)}
		p.Class = classOf(p.Vertices, p.Edges)
		for _, ext := range []string{".txt", ".graph"} {
			if path := filepath.Join(dir, "queries", q.Name+ext); exists(path) {
				p.Path = path
			}
		}
		if p.Path == "" {
			return nil, command.Refuse(fmt.Errorf("query %s: a case's patterns are in the papers' text, .txt or .graph",
				q.Name))
		}
		in.Queries = append(in.Queries, p)
	}
	slices.SortStableFunc(in.Queries, func(x, y Pattern) int {
		return cmp.Or(
			cmp.Compare(slices.Index(Classes, x.Class), slices.Index(Classes, y.Class)),
			cmp.Compare(x.Vertices, y.Vertices), cmp.Compare(len(x.Name), len(y.Name)), // Q_9 before Q_10
		)
	})
	return in, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
