package main

import (
	"fmt"

	"motifd/matcher/plan"
)

// explainCmd prints plans.
type explainCmd struct {
	Query      []string `arg:"" help:"Pattern file or directory." placeholder:"FILE_OR_DIR"`
	Graph      string   `help:"Graph file whose label statistics the plan is made from." placeholder:"FILE"`
	Unit       string   `help:"${unit_help}" enum:"embeddings,subgraphs" default:"embeddings"`
	graphFlags `embed:""`
}

func (explainCmd) Help() string {
	return `Without --graph the plan is that for an empty graph, where every label is unknown: matching orders are
then chosen by the pattern alone. A daemon plans again as labels appear and statistics drift.

Examples:
  motifd explain ring.cypher
  motifd explain ring.cypher --graph=payments.jsonl.zst
  motifd explain queries/ --graph=graph.txt --undirected`
}

// Run prints the plan of each query.
func (c *explainCmd) Run(a *app) error {
	queries, g, err := c.queriesAndGraph(a, c.Query, c.Graph)
	if err != nil {
		return err
	}
	planner := plan.New()
	for i, q := range queries {
		setUnit(q, c.Unit)
		p, err := planner.Plan(q, g)
		if err != nil {
			return err
		}
		text := p.String()
		if i > 0 {
			text = "\n" + text
		}
		if _, err := fmt.Fprintln(a.stdout, text); err != nil {
			return err
		}
	}
	return nil
}
