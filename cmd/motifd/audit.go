package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"motifd/cmd/motifd/internal/audit"
	"motifd/cmd/motifd/internal/command"
	"motifd/dyngraph"
	"motifd/matcher"
)

// auditCmd compares counts in the graph with what was emitted.
type auditCmd struct {
	Dir   string   `arg:"" help:"Directory of the checkpoint." type:"existingdir"`
	Query []string `help:"Only the query of this name; repeatable." placeholder:"NAME" sep:"none"`
	JSON  bool     `help:"Print JSON."`

	backendFlags `embed:""`
}

func (auditCmd) Help() string {
	return `The matches of each query are counted in the graph of the checkpoint, and in the graph before the first
batch of its batch log. The first count must be the second plus the matches that the log says appeared, less those that
it says disappeared. A query that was registered later begins with its backfill or, without one, with a count in the
graph of that moment.

While a daemon uses the checkpoint, a copy of the present moment is read, which the daemon makes; a backup is as good.
Kills and restarts do not matter: what a batch emitted is stored with what it changed. How far back the log goes is
checkpoint.retention, 24 hours by default. Audits at shorter intervals cover everything.

Left out by name are queries whose matches cannot be added up: suspended, sampled and lossy ones, and those with once or
on_expiry: silent. The exit status is 1 if a query differs.

Examples:
  motifd audit /var/lib/motifd
  motifd audit /backup/motifd-monday --query=ring --json`
}

// Run compares the queries and prints what was found.
func (c *auditCmd) Run(a *app) (err error) {
	if err := c.check(); err != nil {
		return err
	}
	log, done, err := openBatchLog(a.ctx, c.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	report, err := audit.Run(a.ctx, log, c.Query, c.counting(a))
	if errors.Is(err, matcher.ErrNoQuery) {
		return command.Refuse(fmt.Errorf("--query: %w", err))
	}
	if err != nil {
		return fmt.Errorf("checkpoint %s: %w", c.Dir, err)
	}
	if c.JSON {
		err = command.PrintJSON(a.stdout, report)
	} else {
		err = report.Print(a.stdout)
	}
	if err != nil {
		return err
	}
	var differ []string
	for _, q := range report.Differ() {
		differ = append(differ, fmt.Sprintf("%s: expected %s, found %s", q.Name, q.Expected, q.Found))
	}
	if len(differ) > 0 {
		return fmt.Errorf("matches of the graph are not what was emitted: %s", strings.Join(differ, "; "))
	}
	return nil
}

// counting returns what counts queries in a graph, with a backend of its own.
func (c *auditCmd) counting(a *app) audit.Count {
	return func(ctx context.Context, batch uint64, g *dyngraph.Graph, queries []*matcher.Query) (
		counts []matcher.Count, err error) {
		a.log.Info().Uint64("batch", batch).Int("queries", len(queries)).Msg("counting in the graph after a batch")
		backend, err := c.make(a.log, nil, true)
		if err != nil {
			return nil, err
		}
		engine, err := newEngine(g, backend, matcher.EngineOptions{})
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, engine.Close()) }()
		for _, q := range queries {
			n, err := countStatic(ctx, a, engine, q)
			if err != nil {
				return nil, fmt.Errorf("query %q: %w", q.Name, err)
			}
			counts = append(counts, n)
		}
		return counts, nil
	}
}

// countStatic counts the matches of a query in the graph of an engine: of one for existence 1 or 0.
func countStatic(ctx context.Context, a *app, engine *matcher.Engine, q *matcher.Query) (matcher.Count, error) {
	static, err := prepared(engine, q)
	if err != nil {
		return matcher.Count{}, err
	}
	want := matcher.WantCount
	if q.Emit == matcher.EmitExists {
		want = matcher.WantAny
	}
	defer watchSearch(a, "counting "+q.Name, engine)()
	res, err := static.Search(ctx, want, 0, nil, nil)
	return res.Count, err
}
