package main

import (
	"errors"
	"fmt"
	"io"

	"motifd/cmd/motifd/internal/command"
	"motifd/config"
	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/stream/codec"
)

// queryValidateCmd checks patterns, and plays a sample against them.
type queryValidateCmd struct {
	Files   []string `arg:"" optional:"" help:"Pattern files or directories of them." type:"existingpath"`
	Config  string   `short:"c" help:"${validate_config_help}" placeholder:"FILE"`
	Graph   string   `help:"${labels_graph_help}" placeholder:"FILE"`
	Updates string   `help:"${sample_updates_help}" placeholder:"FILE"`
	JSON    bool     `help:"Print JSON."`

	sampleFlags `embed:""`
	graphFlags  `embed:""`
}

func (queryValidateCmd) Help() string {
	return `Without --updates the patterns are checked: syntax, types of properties, what can never match; with
--graph also whether the graph has their labels.

With --updates their cost is estimated. All of --graph and --updates is loaded but for the last --last records. These
are played twice with the engine that motifd run has: one by one, and in batches. The tables tell, query by query:

  share             how many of the updates concern the query; others cost it nothing
  steps             candidates tried by the search; the same on each machine
  us, ms            search time on this machine, summed over threads
  +, - and ~        matches that appear, disappear, and show another value (WITH)

Below them are the costliest update and vertex, the memory of the state that is kept of hubs (thresholds), and the
limits that were met: engine.limits with their defaults, or those of the configuration. Queries come in the order of
their steps, the most expensive one first.

Examples:
  motifd query validate ring.cypher
  motifd query validate --undirected queries/
  motifd query validate --graph=payments.jsonl.zst queries/
  motifd query validate --properties=properties.yaml --param=hour=1h pass_on.cypher
  motifd query validate --updates=payments.jsonl --properties=properties.yaml queries/
  motifd query validate -c motifd.yaml --graph=graph.jsonl.zst --updates=yesterday.jsonl --last=50000
  motifd query validate -c motifd.yaml --updates=yesterday.jsonl --json`
}

// validated is the JSON of a query in `query validate --json`, without a sample.
type validated struct {
	Name     string   `json:"name"`
	Warnings []string `json:"warnings"`
}

// Run checks the patterns, and plays the sample if there is one.
func (c *queryValidateCmd) Run(a *app) error {
	s, err := c.read(a)
	if err != nil {
		return err
	}
	if c.Updates == "" {
		return c.check(a, s)
	}
	report, err := s.estimate(a, func(*dyngraph.Graph) error { return nil })
	if err != nil {
		return err
	}
	if c.JSON {
		return command.PrintJSON(a.stdout, report)
	}
	return report.Print(a.stdout)
}

// check prints the queries with their warnings.
func (c *queryValidateCmd) check(a *app, s *sampling) error {
	g, err := s.loaded(a)
	if err != nil {
		return err
	}
	list := make([]validated, 0, len(s.queries))
	for _, q := range s.queries {
		if !c.JSON {
			if err := describe(a.stdout, q, g); err != nil {
				return err
			}
			continue
		}
		v := validated{q.Name, matcher.Warnings(q, g.Options(), g)}
		if v.Warnings == nil {
			v.Warnings = []string{}
		}
		list = append(list, v)
	}
	if c.JSON {
		return command.PrintJSON(a.stdout, map[string][]validated{"queries": list})
	}
	return nil
}

// read reads the queries, and what the sample is played with.
func (c *queryValidateCmd) read(a *app) (*sampling, error) {
	if err := c.sampleFlags.check("--updates", c.Updates); err != nil {
		return nil, err
	}
	switch {
	case c.Config != "" && len(c.Files) > 0:
		return nil, command.Refuse(errors.New("pattern files do not go with --config, which names the queries"))
	case c.Config != "":
		return c.configured(a)
	case len(c.Files) == 0:
		return nil, command.Refuse(errors.New("there is nothing to check: name pattern files, or a configuration " +
			"with --config"))
	}
	return c.ofFiles(a, &c.graphFlags, c.Files, c.Graph, c.Updates)
}

// configured is read for a configuration.
func (c *queryValidateCmd) configured(a *app) (*sampling, error) {
	for name, set := range map[string]bool{
		"--properties": c.Properties != "", "--param": len(c.Param) > 0, "--within": c.Within > 0,
		"--match-mode": c.MatchMode != matcher.Isomorphism.String(),
		"--csv":        c.CSV != "", "--undirected": c.Undirected, "--edge-identity": c.EdgeIdentity != "",
		"--vertex-labels": c.VertexLabels != config.VertexLabelsOne, "--retention": c.Retention != "",
		"--lateness": c.Lateness > 0, "--late": c.Late != config.LateDrop, "--max-expired": c.MaxExpired != nil,
		"--vertex-expiry": c.Vertices != config.VertexExpiryNone,
	} {
		if set {
			return nil, command.Refuse(fmt.Errorf("%s does not go with --config, which says it", name))
		}
	}
	if c.queryFlags.set() {
		return nil, command.Refuse(errors.New("flags of queries, such as --emit, do not go with --config, which says " +
			"what each query emits"))
	}
	cfg, err := (&runCmd{Config: c.Config}).load(a)
	if err != nil {
		return nil, err
	}
	s := &sampling{last: c.Last, batch: c.Batch, limits: cfg.MatcherLimits(), backend: c.backendFlags,
		graph: cfg.GraphOptions(), time: cfg.PipelineOptions().Time, labels: int(cfg.Graph.MaxVertexLabels),
		encoding: codec.EncoderOptions{EchoProps: cfg.Output.EchoProps}}
	s.graph.Background = beside
	if s.batch == 0 {
		s.batch = cfg.Batch.MaxUpdates
	}
	if s.backend.Backend == "auto" {
		s.backend.Backend, s.backend.Device = cfg.Engine.Backend, cfg.Engine.Device
	}
	if s.backend.Threads == 0 {
		s.backend.Threads = cfg.Engine.Threads
	}
	if s.queries, err = cfg.BuildQueries(); err != nil {
		return nil, command.Refuse(err)
	}
	if c.Graph != "" {
		if s.load, err = configuredInput(cfg, c.Graph, ""); err != nil {
			return nil, err
		}
	}
	if c.Updates != "" {
		s.updates, err = configuredInput(cfg, c.Updates, c.Format)
	}
	return s, err
}

func describe(w io.Writer, q *matcher.Query, g *dyngraph.Graph) error {
	shape, what := q, ""
	if q.Groups != nil {
		shape, what = &matcher.Query{Vertices: q.Groups.Vertices, Edges: q.Groups.Edges}, ", grouped"
	}
	edges := ""
	if n := len(shape.Edges) - len(shape.Paths()); n > 0 || len(shape.Paths()) == 0 {
		edges = ", " + plural(n, "edge")
	}
	for _, p := range shape.Paths() {
		e := &shape.Edges[p]
		length := plural(e.Hops.Most, "edge")
		if e.Hops.Least < e.Hops.Most {
			length = fmt.Sprintf("%d to %s", e.Hops.Least, length)
		}
		edges += fmt.Sprintf(", a path %s of %s", e.Name, length)
	}
	denied := len(q.Negations)
	if q.Groups != nil {
		denied = q.Groups.Negations()
	}
	if denied > 0 {
		what += ", " + plural(denied, "negation")
	}
	_, err := fmt.Fprintf(w, "%s: %s%s%s\n", q.Name, plural(len(shape.Vertices), "vertex"), edges, what)
	if err != nil {
		return err
	}
	return printWarnings(w, "  ", matcher.Warnings(q, g.Options(), g))
}
