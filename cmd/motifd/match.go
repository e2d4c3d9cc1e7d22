package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"motifd/cmd/motifd/internal/command"
	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/stream/codec"
)

// matchCmd finds the matches in a static graph.
type matchCmd struct {
	Graph      string   `help:"${graph_help}" required:"" placeholder:"FILE"`
	Query      []string `help:"${patterns_help}" required:"" placeholder:"FILE_OR_DIR" sep:"none"`
	Unit       string   `help:"${unit_help}" enum:"embeddings,subgraphs" default:"embeddings"`
	Out        string   `help:"${match_out_help}" placeholder:"FILE"`
	Limit      uint64   `help:"${match_limit_help}" placeholder:"N"`
	Exists     bool     `help:"Only find out whether each query has a match."`
	Summary    string   `help:"Write the summary as JSON to a file." placeholder:"FILE"`
	graphFlags `embed:""`

	backendFlags `embed:""`
}

func (matchCmd) Help() string {
	return `The matches are counted exactly; --out writes each of them as well, by vertex ids, in the order of a
backfill. A query is named after its file, without the extension.

The graph is loaded once. Queries that differ in names alone are counted once. The table tells where the time of each
query went:

  filter s    which vertices each vertex of the pattern can be mapped to (the candidate space)
  order s     planning, and the matching order that is chosen by the candidate space
  search s    the search

On a terminal, a search that takes long shows how many of the vertices that a match can begin with are done, and an
estimate of the time that is left.

The first interrupt or SIGTERM ends the search, with status 1; the output has what was found. A second one ends the
process at once.

Examples:
  motifd match --graph=graph.txt --query=queries/ --undirected
  motifd match --graph=payments.csv.gz --csv=from=SRC,to=DST,label=KIND --query=ring.cypher
  motifd match --graph=graph.txt --query=triangle.txt --undirected --unit=subgraphs --out=matches.jsonl
  motifd match --graph=graph.txt --query=triangle.txt --out=- --limit=10
  motifd match --graph=graph.txt --query=queries/ --exists
  motifd match --graph=payments.jsonl --properties=infer --within=24h --query=large.cypher
  motifd match --graph=payments.jsonl --properties='edges: {TRANSFER: {amount: decimal(2)}}' --query=large.cypher`
}

// writes reports whether matches are written.
func (c *matchCmd) writes() bool { return c.Out != "" && c.Out != "none" }

// check refuses flags that do not go together.
func (c *matchCmd) check() error {
	switch {
	case c.Exists && c.Limit > 0:
		return command.Refuse(errors.New("--exists stops at the first match: leave --limit out"))
	case c.Limit > 0 && !c.writes():
		return command.Refuse(errors.New("--limit bounds the matches that are written: it goes with --out"))
	case c.Exists && c.writes():
		return command.Refuse(errors.New("--exists writes no matches: it does not go with --out"))
	}
	return nil
}

// Run loads the graph and searches the queries one by one.
func (c *matchCmd) Run(a *app) (err error) {
	defer func() {
		if errors.Is(err, context.Canceled) && a.ctx.Err() != nil {
			err = errors.New("stopped by a signal before all matches were found")
		}
	}()
	begin := time.Now()
	if err := c.check(); err != nil {
		return err
	}
	if err := c.infer(a, updateFile{c.Graph, ""}); err != nil {
		return err
	}
	queries, err := c.queries(c.Query)
	if err != nil {
		return err
	}
	want, emit := matcher.WantCount, matcher.EmitCounts
	switch {
	case c.writes():
		want, emit = matcher.WantRows, matcher.EmitDeltas
	case c.Exists:
		want, emit = matcher.WantAny, matcher.EmitExists
	}
	for _, q := range queries {
		setUnit(q, c.Unit)
		q.Version, q.Emit = 1, emit
		if err := q.Validate(!c.Undirected); err != nil {
			return command.Refuse(err)
		}
	}
	in, err := c.input(c.Graph, "")
	if err != nil {
		return err
	}
	backend, err := c.make(a.log, nil, true)
	if err != nil {
		return err
	}
	out, closeOut, err := openMatches(c.Out, a.stdout)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeOut()) }()
	opt, err := c.options()
	if err != nil {
		return err
	}
	g := dyngraph.NewGraph(opt)
	load, err := loadGraph(a, g, in)
	if err != nil {
		return err
	}
	a.warn(queries, g)
	engine, err := newEngine(g, backend, matcher.EngineOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	m := &match{app: a, engine: engine, backend: backend, out: out, limit: c.Limit, want: want,
		enc: codec.NewEncoder(codec.EncoderOptions{StreamID: "match"}), known: map[string]*matchQuery{}}
	s := &m.sum
	s.Backend, s.Threads, s.LoadS = backend.Name(), backend.threads, command.Rounded(load)
	at := time.Now()
	if err := m.all(queries); err != nil {
		return err
	}
	s.ApplyS, s.MatchS = command.Rounded(time.Since(at)-backend.search), command.Rounded(backend.search)
	s.WallS, s.PeakRSSMiB = command.Rounded(time.Since(begin)), command.PeakRSS()
	if err := command.WriteSummary(c.Summary, s); err != nil {
		return err
	}
	w := a.stdout
	if c.Out == "-" {
		w = a.stderr
	}
	return s.print(w)
}

// openMatches returns where matches go: nil for nowhere.
func openMatches(path string, stdout io.Writer) (io.Writer, func() error, error) {
	switch path {
	case "", "none":
		return nil, func() error { return nil }, nil
	case "-":
		w := bufio.NewWriter(stdout)
		return w, w.Flush, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, nil, command.Refuse(fmt.Errorf("--out: %w", err))
	}
	w := bufio.NewWriterSize(f, 1<<16)
	return w, func() error { return errors.Join(w.Flush(), f.Close()) }, nil
}
