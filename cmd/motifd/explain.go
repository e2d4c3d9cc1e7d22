package main

import (
	"fmt"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/groups"
	"motifd/matcher/plan"
)

// explainCmd prints plans.
type explainCmd struct {
	Query   []string `arg:"" help:"Pattern file or directory." placeholder:"FILE_OR_DIR"`
	Graph   string   `help:"Graph file whose label statistics the plan is made from." placeholder:"FILE"`
	Analyze string   `help:"${analyze_help}" placeholder:"FILE"`

	sampleFlags `embed:""`
	graphFlags  `embed:""`
}

func (explainCmd) Help() string {
	return `Without --graph the plan is that for an empty graph, where every label is unknown: matching orders are
then chosen by the pattern alone. A daemon plans again as labels appear and statistics drift.

--analyze plays the end of a stream of updates behind the graph, as motifd query validate --updates does. The plan is
then that for the graph behind it, and the tables below it tell what the query costs.

Examples:
  motifd explain ring.cypher
  motifd explain ring.cypher --graph=payments.jsonl.zst
  motifd explain ring.cypher --emit=counts                # what is multiplied, and what is counted one by one
  motifd explain ring.cypher --analyze=payments.jsonl --properties=properties.yaml --last=50000
  motifd explain queries/ --graph=graph.txt --undirected`
}

// Run prints the plan of each query.
func (c *explainCmd) Run(a *app) error {
	if err := c.check("--analyze", c.Analyze); err != nil {
		return err
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
		return printPlans(a, s.queries, g)
	}
	report, err := s.estimate(a, func(g *dyngraph.Graph) error { return printPlans(a, s.queries, g) })
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(a.stdout); err != nil {
		return err
	}
	return report.Print(a.stdout)
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
		if i > 0 {
			text = "\n" + text
		}
		if _, err := fmt.Fprintln(a.stdout, text); err != nil {
			return err
		}
	}
	return nil
}
