package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"motifd/cmd/motifd/internal/command"
	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu"
	"motifd/matcher/groups"
	"motifd/matcher/plan"
)

// explainCmd prints plans.
type explainCmd struct {
	Query   []string `arg:"" help:"Pattern file or directory." placeholder:"FILE_OR_DIR"`
	Graph   string   `help:"Graph file whose label statistics the plan is made from." placeholder:"FILE"`
	Analyze string   `help:"${analyze_help}" placeholder:"FILE"`
	Levels  bool     `help:"${levels_help}"`

	sampleFlags `embed:""`
	graphFlags  `embed:""`
}

func (explainCmd) Help() string {
	return `Without --graph the plan is that for an empty graph, where every label is unknown: matching orders are
then chosen by the pattern alone. A daemon plans again as labels appear and statistics drift.

--analyze plays the end of a stream of updates behind the graph, as motifd query validate --updates does. The plan is
then that for the graph behind it, and the tables below it tell what the query costs.

--levels searches, and tells what happened at each step of each matching order: the whole graph of --graph, or with
--analyze the updates of the sample, in batches.

  candidates  data vertices that can be the image of the step's vertex, where a candidate space was made
  tried       search steps: candidates that were tried at the step
  partial     partial matches up to the step; behind the last one the matches
  jumps       times that the candidates that were left were passed over, since they would have failed in the same way

A search of a whole graph that takes long is begun again with a candidate space: both searches are shown. A count that
multiplies components of the pattern has no steps: it shows how many counts of components were looked up, and known.

Examples:
  motifd explain ring.cypher
  motifd explain ring.cypher --graph=payments.jsonl.zst
  motifd explain ring.cypher --emit=counts                # what is multiplied, and what is counted one by one
  motifd explain ring.cypher --analyze=payments.jsonl --properties=properties.yaml --last=50000
  motifd explain queries/ --graph=graph.txt --undirected
  motifd explain ring.cypher --graph=payments.jsonl --levels`
}

// Run prints the plan of each query.
func (c *explainCmd) Run(a *app) error {
	if err := c.check("--analyze", c.Analyze); err != nil {
		return err
	}
	if c.Levels && c.Graph == "" && c.Analyze == "" {
		return command.Refuse(errors.New("--levels needs --graph, or updates with --analyze, to search"))
	}
	var levels *cpu.Profile
	if c.Levels {
		var err error
		if levels, err = c.profiled(); err != nil {
			return err
		}
	}
	s, err := c.ofFiles(a, &c.graphFlags, c.Query, c.Graph, c.Analyze)
	if err != nil {
		return err
	}
	if c.Analyze == "" {
		g, err := s.loaded(a)
		if err != nil {
			return err
		}
		if err := printPlans(a, s.queries, g); err != nil || !c.Levels {
			return err
		}
		if err := s.searchGraph(a, g); err != nil {
			return err
		}
		return printLevels(a.stdout, levels)
	}
	report, err := s.estimate(a, func(g *dyngraph.Graph) error { return printPlans(a, s.queries, g) })
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(a.stdout); err != nil {
		return err
	}
	if err := report.Print(a.stdout); err != nil || !c.Levels {
		return err
	}
	return printLevels(a.stdout, levels)
}

// printPlans prints the plans of queries on a graph.
func printPlans(a *app, queries []*matcher.Query, g *dyngraph.Graph) error {
	planner := plan.New()
	for i, q := range queries {
		p, err := planner.Plan(q, g)
		if err != nil {
			return err
		}
		text := p.String()
		if q.Groups != nil {
			text += groups.Explain(p, groups.Options{})
		}
		text = strings.TrimRight(text, "\n") + "\n"
		if i > 0 {
			text = "\n" + text
		}
		if _, err := io.WriteString(a.stdout, text); err != nil {
			return err
		}
	}
	return nil
}
