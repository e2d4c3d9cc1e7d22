package main

import (
	"errors"
	"slices"
	"time"

	"motifd/cmd/motifd/internal/command"
	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/stream"
	"motifd/stream/codec"
	"motifd/stream/file"
)

// mostReadAhead is the most records of one batch that wait for the engine, for each of two batches, where several
// threads search.
const mostReadAhead = 1 << 15

func (c *replayCmd) replayFiles(a *app) (err error) {
	r := &replay{cmd: c, app: a, begin: time.Now()}
	sources := []updateFile{{c.Updates, c.Format}}
	if c.Graph != "" {
		sources = append(sources, updateFile{c.Graph, ""})
	}
	if err := c.infer(a, sources...); err != nil {
		return err
	}
	queries, err := c.queries(c.Query)
	if err != nil {
		return err
	}
	if err := c.queryFlags.apply(queries, !c.Undirected); err != nil {
		return err
	}
	in, err := c.input(c.Updates, c.Format)
	if err != nil {
		return err
	}
	times, err := c.timeFlags.options()
	if err != nil {
		return err
	}
	if r.trace, err = c.timeline(); err != nil {
		return err
	}
	if r.backend, err = c.make(a.log, r.trace, false); err != nil {
		return err
	}
	in.onDamage = file.OnDamage(c.OnDamage)
	src, err := in.open(a.stdin)
	if err != nil {
		return err
	}
	graph, err := c.graphFlags.options()
	if err != nil {
		return errors.Join(err, src.Close())
	}
	g := dyngraph.NewGraph(graph)
	if err := r.load(g); err != nil {
		return errors.Join(err, src.Close())
	}
	engine, err := newEngine(g, r.backend, matcher.EngineOptions{Limits: c.limits()})
	if err != nil {
		return errors.Join(err, src.Close())
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	opt := stream.PipelineOptions{
		Source: src, Decoder: in.dec, Engine: engine, Observer: r,
		State: &stream.State{StreamID: "replay", Fresh: true, Positions: stream.Positions{}},
		Batch: stream.BatcherOptions{MaxUpdates: c.Batch, MaxBytes: 1 << 40, Linger: -1},
		Time:  times,
		Startup: func([]matcher.QueryState) ([]*matcher.QueryChange, error) {
			return additions(queries), nil
		},
		Ready: rehearsal(engine, a.log),
	}
	if r.backend.threads > 1 {
		// What is read ahead takes a processor from the search. So it is little, and comes while the engine stages a
		// batch, which takes one.
		opt.QueueRecords = 2 * min(c.Batch, mostReadAhead)
	}
	r.progress = command.NewProgress(a.stderr, "replaying "+c.Updates, "updates")
	r.src = src
	for _, q := range queries {
		r.query(q.Name)
	}
	defer func() {
		if err == nil {
			a.warn(slices.DeleteFunc(queries, func(q *matcher.Query) bool { return r.query(q.Name).matched() }), g)
			a.warnRetention(times.Retention, g)
		}
	}()
	return r.run(
		&opt,
		codec.NewEncoder(codec.EncoderOptions{StreamID: "replay", EchoProps: c.EchoProps}),
		file.SinkOptions{},
	)
}

// additions registers queries.
func additions(queries []*matcher.Query) []*matcher.QueryChange {
	out := make([]*matcher.QueryChange, len(queries))
	for i, q := range queries {
		out[i] = &matcher.QueryChange{Add: q}
	}
	return out
}

// load loads the initial graph, if any.
func (r *replay) load(g *dyngraph.Graph) error {
	if r.cmd.Graph == "" {
		return nil
	}
	in, err := r.cmd.input(r.cmd.Graph, "")
	if err != nil {
		return err
	}
	took, err := loadGraph(r.app, g, in)
	r.sum.LoadS = command.Rounded(took)
	return err
}
