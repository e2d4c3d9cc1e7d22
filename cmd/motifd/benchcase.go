package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"motifd/matcher/pattern"
)

// A case in a directory, in the papers' text, which motifd and the peers read:
//
//	graph.txt             the initial graph
//	insert.txt, mixed.txt the stream, by its kind
//	queries/NAME.txt      a pattern each
//
// Every edge has the label 0, which the peers ask for.

// write writes the case into a directory, which is made.
func (c *benchCase) write(dir, stream string) error {
	if err := os.MkdirAll(filepath.Join(dir, "queries"), 0o755); err != nil {
		return fmt.Errorf("writing the case: %w", err)
	}
	errs := []error{
		writeLines(filepath.Join(dir, "graph.txt"), func(w io.Writer) {
			writeBenchGraph(w, c.Labels, c.Graph)
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
			writeBenchGraph(w, q.Labels, q.Edges)
		}))
	}
	return errors.Join(errs...)
}

func writeBenchGraph(w io.Writer, labels []uint32, edges []benchEdge) {
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

// benchInput is a case on disk, ready to be run.
type benchInput struct {
	graph, stream string // files
	queries       []benchPattern
}

// benchPattern is a pattern of it.
type benchPattern struct {
	name, path, class string
	vertices, edges   int
}

// openBenchCase reads what a directory holds. The class of a pattern is told by its edges; patterns are ordered by
// class, size and name.
func openBenchCase(dir, stream string) (*benchInput, error) {
	in := &benchInput{graph: filepath.Join(dir, "graph.txt"), stream: filepath.Join(dir, stream+".txt")}
	for _, path := range []string{in.graph, in.stream} {
		if _, err := os.Stat(path); err != nil {
			return nil, refused{fmt.Errorf("a case holds graph.txt, %s.txt and queries/: %w", stream, err)}
		}
	}
	queries, err := pattern.Load(filepath.Join(dir, "queries"), false)
	if err != nil {
		return nil, refused{err}
	}
	for _, q := range queries {
		p := benchPattern{name: q.Name, vertices: len(q.Vertices), edges: len(q.Edges)}
		p.class = benchClass(p.vertices, p.edges)
		for _, ext := range []string{".txt", ".graph"} {
			if path := filepath.Join(dir, "queries", q.Name+ext); exists(path) {
				p.path = path
			}
		}
		if p.path == "" {
			return nil, refused{fmt.Errorf("query %s: a case's patterns are in the papers' text, .txt or .graph",
				q.Name)}
		}
		in.queries = append(in.queries, p)
	}
	slices.SortStableFunc(in.queries, func(x, y benchPattern) int {
		return cmp.Or(
			cmp.Compare(slices.Index(benchClasses, x.class), slices.Index(benchClasses, y.class)),
			cmp.Compare(x.vertices, y.vertices), cmp.Compare(len(x.name), len(y.name)), // Q_9 before Q_10
		)
	})
	return in, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
