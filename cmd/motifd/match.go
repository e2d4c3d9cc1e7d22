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
	"motifd/stream"
	"motifd/stream/codec"
	"motifd/stream/monitor"
)

// matchCmd finds the matches in a static graph.
type matchCmd struct {
	Graph      string   `help:"${graph_help}" required:"" placeholder:"FILE"`
	Query      []string `help:"${patterns_help}" required:"" placeholder:"FILE_OR_DIR" sep:"none"`
	Unit       string   `help:"${unit_help}" enum:"embeddings,subgraphs" default:"embeddings"`
	Out        string   `help:"${match_out_help}" placeholder:"FILE"`
	Summary    string   `help:"Write the summary as JSON to a file." placeholder:"FILE"`
	graphFlags `embed:""`

	backendFlags `embed:""`
}

func (matchCmd) Help() string {
	return `The matches are counted exactly; --out writes each of them as well. A query is named after its file,
without the extension.

The first interrupt or SIGTERM ends the search, with status 1; the output has what was found. A second one ends the
process at once.

Examples:
  motifd match --graph=graph.txt --query=queries/ --undirected
  motifd match --graph=payments.csv.gz --csv=from=SRC,to=DST,label=KIND --query=ring.cypher
  motifd match --graph=graph.txt --query=triangle.txt --undirected --unit=subgraphs --out=matches.jsonl
  motifd match --graph=payments.jsonl --properties=infer --within=24h --query=large.cypher
  motifd match --graph=payments.jsonl --properties='edges: {TRANSFER: {amount: decimal(2)}}' --query=large.cypher`
}

// Run loads the graph and enumerates the queries one by one.
func (c *matchCmd) Run(a *app) (err error) {
	defer func() {
		if errors.Is(err, context.Canceled) && a.ctx.Err() != nil {
			err = errors.New("stopped by a signal before all matches were found")
		}
	}()
	begin := time.Now()
	if err := c.infer(a, updateFile{c.Graph, ""}); err != nil {
		return err
	}
	queries, err := c.queries(c.Query)
	if err != nil {
		return err
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
	mon, err := monitor.Open(monitor.Options{Graph: g, Backend: backend})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mon.Close()) }()
	s := &matchSummary{LoadS: command.Rounded(load), Backend: backend.Name(), Threads: backend.threads}
	enc := codec.NewEncoder(codec.EncoderOptions{StreamID: "match"})
	var apply time.Duration // planning, filters, writing
	for _, q := range queries {
		q.Emit, q.Backfill = matcher.EmitCounts, matcher.BackfillFull
		if out != nil {
			q.Emit = matcher.EmitDeltas
		}
		setUnit(q, c.Unit)
		at, searched := time.Now(), backend.search
		m, err := matchOne(a.ctx, mon, backend, q, enc, out)
		if err != nil {
			return err
		}
		s.Queries = append(s.Queries, m)
		apply += time.Since(at) - (backend.search - searched)
	}
	s.ApplyS, s.MatchS = command.Rounded(apply), command.Rounded(backend.search)
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

// matchOne registers a query with a full backfill, which finds its matches, and removes it again.
func matchOne(ctx context.Context, m *monitor.Monitor, b *timedBackend, q *matcher.Query, enc stream.Encoder,
	out io.Writer,
) (matchQuery, error) {
	result := matchQuery{Name: q.Name}
	before := b.search
	var recs []stream.OutRecord
	sum, err := m.Add(ctx, q, func(ev *matcher.Event) (err error) {
		if out == nil {
			return nil
		}
		recs, err = enc.Append(recs[:0], ev, 0, ev.Records())
		if err != nil {
			return err
		}
		for i := range recs {
			if _, err := out.Write(append(recs[i].Value, '\n')); err != nil {
				return fmt.Errorf("writing matches: %w", err)
			}
		}
		return nil
	})
	if err != nil {
		return result, err
	}
	result.MatchS = command.Rounded(b.search - before)
	for i := range sum.Queries {
		result.Matches.add(sum.Queries[i].Positive)
	}
	_, err = m.Remove(ctx, q.Name)
	return result, err
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
