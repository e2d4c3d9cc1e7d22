package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
	"time"

	"motifd/cmd/motifd/internal/command"
	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/cpu"
)

// profiled returns a profile that the backends of the flags add to. It is the CPU's.
func (f *backendFlags) profiled() (*cpu.Profile, error) {
	switch f.Backend {
	case "auto", "cpu":
	default:
		return nil, command.Refuse(fmt.Errorf("--levels tells what the CPU's searches do; it does not go with "+
			"--backend=%s", f.Backend))
	}
	f.Backend, f.profile = "cpu", new(cpu.Profile)
	return f.profile, nil
}

// searchGraph searches each query in a graph, as it emits: for its matches, their number, or one of them. It prints
// what was found and what that took.
func (s *sampling) searchGraph(a *app, g *dyngraph.Graph) (err error) {
	backend, err := s.backend.make(a.log, nil, true)
	if err != nil {
		return err
	}
	engine, err := newEngine(g, backend, matcher.EngineOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	for _, q := range s.queries {
		static, err := prepared(engine, q)
		if err != nil {
			return err
		}
		want, what := matcher.WantRows, "matches"
		switch q.Emit {
		case matcher.EmitCounts:
			want, what = matcher.WantCount, "matches, counted"
		case matcher.EmitExists:
			want, what = matcher.WantAny, "matches looked for, one at most"
		}
		stop := watchSearch(a, "searching "+q.Name, engine)
		before := backend.search
		res, err := static.Search(a.ctx, want, 0, nil, func(matcher.Rows) error { return nil })
		stop()
		if err != nil {
			return fmt.Errorf("query %q: %w", q.Name, err)
		}
		filter, order := time.Duration(res.FilterNS), time.Duration(res.OrderNS)
		_, err = fmt.Fprintf(a.stdout, "%s in the graph: %s %s, %d steps; candidate space %.3f s, its order %.3f s, "+
			"search %.3f s\n", q.Name, res.Count, what, res.Steps, filter.Seconds(), order.Seconds(),
			(backend.search - before - filter - order).Seconds())
		if err != nil {
			return err
		}
	}
	return nil
}

// prepared returns what searches the graph of an engine for a query.
func prepared(e *matcher.Engine, q *matcher.Query) (*matcher.Static, error) {
	s, err := e.Static(q)
	if err != nil {
		return nil, err
	}
	return s, s.Prepare()
}

// printLevels prints what searches did, step by step.
func printLevels(w io.Writer, p *cpu.Profile) error {
	orders, counts := p.Orders(), p.Counts()
	for i := range orders {
		if err := printOrder(w, &orders[i]); err != nil {
			return err
		}
	}
	for i := range counts {
		c := &counts[i]
		_, err := fmt.Fprintf(w, "\n%s, counted by components%s: %s added, %d steps; of %d counts of components "+
			"looked up, %d were known\n", c.Query.Name, bySpace(c.Space), plural(c.Terms, "term"), c.Steps, c.Asked,
			c.Known)
		if err != nil {
			return err
		}
	}
	if len(orders)+len(counts) > 0 {
		return nil
	}
	_, err := fmt.Fprintln(w, "\nnothing was searched: no update fits, or the counts are kept from batch to batch")
	return err
}

func bySpace(space bool) string {
	if space {
		return ", with a candidate space"
	}
	return ""
}

// printOrder prints one order. Steps that the anchor maps, or that another order has, have nothing.
func printOrder(w io.Writer, o *cpu.OrderProfile) error {
	q := o.Query
	from := "from vertices"
	if o.Anchor >= 0 {
		e := &q.Edges[o.Anchor]
		from = fmt.Sprintf("from updates of %s (%s, %s)", e.Name, q.Vertices[o.Levels[0].Vertex].Name,
			q.Vertices[o.Levels[min(1, len(o.Levels)-1)].Vertex].Name)
	}
	if o.Shared {
		from += ", steps in common with others"
	}
	if _, err := fmt.Fprintf(w, "\n%s, %s%s: %d tried\n", q.Name, from, bySpace(o.Space), o.Starts); err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "step\tvertex\tcandidates\ttried\tpartial\tjumps\t")
	for d := range o.Levels {
		l := &o.Levels[d]
		fit := "-"
		if l.Fit >= 0 {
			fit = strconv.Itoa(l.Fit)
		}
		fmt.Fprintf(t, "%d\t%s\t%s\t%d\t%d\t%d\t\n", d, q.Vertices[l.Vertex].Name, fit, l.Tried, l.Mapped, l.Jumps)
	}
	return t.Flush()
}
