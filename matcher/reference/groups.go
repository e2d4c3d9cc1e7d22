package reference

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/condition"
)

// groupRow is an assignment of the keys in a view, with the rows that it has there.
type groupRow struct {
	keys, shown row // shown: keys, then aggregates
	stages      []stageRows
	holds       bool // all stages are true
}

// stageRows are the rows of a stage. A row has all elements of matcher.Groups; those that the stage does not bind are
// unbound.
type stageRows struct {
	rows    []row
	blocked []blockedRow
	holds   bool // there is a row, and the conditions behind WITH are true
}

const unbound = ^uint32(0)

// groupsOf finds, for each of some views, all groups of a query with WITH, by their keys, whether its conditions hold
// or not. It makes all joins of all matches of the clauses of each stage, one by one (DESIGN S24). A later stage is
// evaluated for the keys that the stage before it has in any of the views. The groups are those with a row of the last
// stage in any view.
func groupsOf(ctx context.Context, q *matcher.Query, meter *matcher.Meter, views ...dyngraph.View) (
	[]map[string]*groupRow, uint64, error) {
	g := q.Groups
	var steps uint64
	var keys map[string]row
	found := make([][]map[string]stageRows, len(views)) // by view, stage and the stage's keys
	for s := range g.Stages {
		seeds := keys
		keys = make(map[string]row)
		for v, view := range views {
			rows, blocked, tried, err := stageRowsOf(ctx, view, g, s, seeds, meter)
			steps += tried
			if err != nil {
				return nil, steps, err
			}
			byKeys := make(map[string]stageRows)
			for _, r := range rows {
				own := keysOf(g, &g.Stages[s], r)
				of := byKeys[own.key()]
				of.rows = append(of.rows, r)
				byKeys[own.key()], keys[own.key()] = of, own
			}
			for _, r := range blocked {
				key := keysOf(g, &g.Stages[s], r.row).key()
				of := byKeys[key]
				of.blocked = append(of.blocked, r)
				byKeys[key] = of
			}
			found[v] = append(found[v], byKeys)
		}
	}
	all := make([]map[string]*groupRow, len(views))
	for v, view := range views {
		w, err := newWhere(view, &matcher.Query{Vertices: g.Vertices, Edges: g.Edges})
		if err != nil {
			return nil, steps, err
		}
		all[v] = make(map[string]*groupRow)
		for key, k := range keys {
			x := &groupRow{keys: k}
			for s := range g.Stages {
				x.stages = append(x.stages, found[v][s][keysUpTo(q, s, k).key()])
			}
			if err := x.aggregate(view, q, w); err != nil {
				return nil, steps, err
			}
			all[v][key] = x
		}
	}
	return all, steps, nil
}

// keysUpTo returns the keys of a stage among those of the last one.
func keysUpTo(q *matcher.Query, at int, keys row) row {
	s := &q.Groups.Stages[at]
	return slices.Concat(keys[:len(s.Vertices)], keys[len(q.Vertices):][:len(s.Edges)])
}

// stageRowsOf joins the matches of the clauses of a stage; for a later stage those with the keys of a seed. Joins that
// a negation blocks are left out.
func stageRowsOf(ctx context.Context, view dyngraph.View, g *matcher.Groups, at int, seeds map[string]row,
	meter *matcher.Meter) (rows []row, blocked []blockedRow, steps uint64, err error) {
	stage := &g.Stages[at]
	joined := []row{slices.Repeat(row{unbound}, widthOf(g))}
	if at > 0 {
		joined = seeded(view, g, &g.Stages[at-1], seeds)
	}
	for _, m := range stage.Matches {
		found, tried, err := kinds(ctx, view, clauseQuery(g, m), meter)
		steps += tried
		if err != nil {
			return nil, nil, steps, err
		}
		var next []row
		for _, r := range joined {
			for _, k := range found {
				for _, f := range k.rows {
					if j, ok := join(g, m, r, &k, f); ok {
						next = append(next, j)
					}
				}
			}
		}
		joined = next
	}
	w, err := newWhere(view, &matcher.Query{Vertices: g.Vertices, Edges: g.Edges, Conditions: stage.Conditions,
		Rises: stage.Rises, Spans: stage.Spans})
	if err != nil {
		return nil, nil, steps, err
	}
	joined = slices.DeleteFunc(joined, func(r row) bool { return !(&along{w, edgesOf(g, r)}).holds(r) })
	rows, blocked, err = denied(ctx, view, g, stage, joined)
	return rows, blocked, steps, err
}

// seeded returns, for each of the seeds that the view has, a row in which only the keys of a stage are bound.
func seeded(view dyngraph.View, g *matcher.Groups, stage *matcher.Stage, seeds map[string]row) (rows []row) {
	n := len(g.Vertices)
	for _, keys := range seeds {
		r, there := slices.Repeat(row{unbound}, widthOf(g)), true
		for i, v := range stage.Vertices {
			r[v] = keys[i]
			there = there && view.HasVertex(dyngraph.VertexID(keys[i]))
		}
		for i, e := range stage.Edges {
			d := keys[len(stage.Vertices)+i]
			r[n+e] = d
			there = there && view.Visible(dyngraph.EdgeIndex(d))
		}
		if there {
			rows = append(rows, r)
		}
	}
	return rows
}

// clauseQuery is a MATCH as a pattern of its own.
func clauseQuery(g *matcher.Groups, m matcher.MatchClause) *matcher.Query {
	q := &matcher.Query{}
	for _, v := range m.Vertices {
		q.Vertices = append(q.Vertices, g.Vertices[v])
	}
	for _, e := range m.Edges {
		edge := g.Edges[e]
		edge.From, edge.To = slices.Index(m.Vertices, edge.From), slices.Index(m.Vertices, edge.To)
		q.Edges = append(q.Edges, edge)
	}
	return q
}

// widthOf returns the length of a stage's row: the images of all elements (of a path its first edge), then room for the
// edges of each path.
func widthOf(g *matcher.Groups) int {
	n := len(g.Vertices) + len(g.Edges)
	for _, e := range g.Edges {
		if e.Hops != nil {
			n += e.Hops.Most
		}
	}
	return n
}

// pathAt returns where in a row of a stage the edges of a path are.
func pathAt(g *matcher.Groups, path int) int {
	return widthOf(&matcher.Groups{Vertices: g.Vertices, Edges: g.Edges[:path]}) + len(g.Edges) - path
}

// edgesOf returns the images of the pattern edges in a row of a stage.
func edgesOf(g *matcher.Groups, r row) [][]uint32 {
	all := make([][]uint32, len(g.Edges))
	for e, of := range g.Edges {
		switch {
		case of.Hops == nil:
			all[e] = []uint32{r[len(g.Vertices)+e]}
		default:
			at := pathAt(g, e)
			all[e] = slices.DeleteFunc(slices.Clone(r[at:at+of.Hops.Most]), func(d uint32) bool { return d == unbound })
		}
	}
	return all
}

// join returns a row with a match of a clause, unless they map a vertex differently.
func join(g *matcher.Groups, m matcher.MatchClause, r row, k *kind, found row) (row, bool) {
	j, match := slices.Clone(r), k.named(found)
	for i, v := range m.Vertices {
		if j[v] != unbound && j[v] != match[i] {
			return nil, false
		}
		j[v] = match[i]
	}
	for i, e := range m.Edges {
		j[len(g.Vertices)+e] = match[len(m.Vertices)+i] // no later clause mentions it
		if g.Edges[e].Hops != nil {
			end := len(found)
			if i+1 < len(m.Edges) {
				end = k.first[i+1]
			}
			copy(j[pathAt(g, e):], found[k.first[i]:end])
		}
	}
	return j, true
}

func keysOf(g *matcher.Groups, s *matcher.Stage, r row) (keys row) {
	for _, v := range s.Vertices {
		keys = append(keys, r[v])
	}
	for _, e := range s.Edges {
		keys = append(keys, r[len(g.Vertices)+e])
	}
	return keys
}

// aggregate computes the aggregates of a group from its rows, and asks the conditions behind each WITH.
func (x *groupRow) aggregate(view dyngraph.View, q *matcher.Query, w *where) error {
	x.shown = slices.Clone(x.keys)
	x.holds = true
	having := &where{view: view, bits: condition.WideBits}
	for s := range q.Groups.Stages {
		stage, of := &q.Groups.Stages[s], &x.stages[s]
		having.q = &matcher.Query{Vertices: q.Vertices[:len(stage.Vertices)], Edges: q.Edges[:len(stage.Edges)]}
		for _, a := range stage.Aggregates {
			if a.Function == matcher.Collect {
				list, err := collected(q.Groups, &a, of.rows, w)
				if err != nil {
					return err
				}
				x.shown = matcher.PutList(x.shown, list, a.Most)
				having.aggregates = append(having.aggregates, value{null: true})
				continue
			}
			units, err := aggregate(q.Groups, &a, of.rows, w)
			if err != nil {
				return err
			}
			wide := condition.NewWide(units, a.Type().Scale)
			x.shown = matcher.PutAggregate(x.shown, wide)
			v := value{null: wide.IsNull() || len(of.rows) == 0, kind: a.Type().Kind, decimals: int(a.Type().Scale)}
			v.number = new(big.Rat).SetFrac(units, power(v.decimals))
			having.aggregates = append(having.aggregates, v)
		}
		of.holds = len(of.rows) > 0
		for _, c := range stage.Having {
			n, err := nodeOf(c)
			if err != nil {
				return err
			}
			of.holds = of.holds && having.truth(n, keysUpTo(q, s, x.keys)) == condition.True
		}
		x.holds = x.holds && of.holds
	}
	return nil
}

// aggregate computes one aggregate, in units of its type.
func aggregate(g *matcher.Groups, a *matcher.Aggregate, rows []row, w *where) (*big.Int, error) {
	units := big.NewInt(int64(len(rows)))
	switch a.Function {
	case matcher.CountDistinct:
		at := a.Of.Index
		if a.Of.Edge {
			at += len(g.Vertices)
		}
		seen := make(map[uint32]bool)
		for _, r := range rows {
			seen[r[at]] = true
		}
		units.SetInt64(int64(len(seen)))
	case matcher.Sum:
		n, err := nodeOf(a.Formula)
		if err != nil {
			return nil, err
		}
		units.SetInt64(0)
		for _, r := range rows {
			if v := w.value(n, r); !v.null {
				scaled := new(big.Rat).Mul(v.number, new(big.Rat).SetInt(power(int(a.Type().Scale))))
				if !scaled.IsInt() {
					return nil, errors.New("a sum has more decimals than its type")
				}
				units.Add(units, scaled.Num())
			}
		}
	}
	return units, nil
}

// collected lists the images of an edge in rows: those with the greatest ts first, without ts last, then by identity.
// Edges whose listed value is null are left out.
func collected(g *matcher.Groups, a *matcher.Aggregate, rows []row, w *where) (list []uint32, err error) {
	var n *node
	if a.Formula != nil {
		if n, err = nodeOf(a.Formula); err != nil {
			return nil, err
		}
	}
	at := len(g.Vertices) + a.Of.Index
	for _, r := range rows {
		if (n == nil || !w.value(n, r).null) && !(a.Distinct && slices.Contains(list, r[at])) {
			list = append(list, r[at])
		}
	}
	slices.SortFunc(list, func(e, f uint32) int {
		x, y := dyngraph.EdgeIndex(e), dyngraph.EdgeIndex(f)
		s, t := w.view.Value(x, property.TS), w.view.Value(y, property.TS)
		if s.IsNull() != t.IsNull() {
			return map[bool]int{true: 1, false: -1}[s.IsNull()]
		}
		if !s.IsNull() && s.Whole() != t.Whole() {
			return map[bool]int{true: 1, false: -1}[s.Whole() < t.Whole()]
		}
		return compareEdges(w.view, x, y)
	})
	return list[:min(len(list), a.Most)], nil
}

// compareKeys orders rows of a query with WITH by their keys.
func compareKeys(view dyngraph.View, q *matcher.Query, a, b row) int {
	n := len(q.Vertices) + len(q.Edges)
	return compareRows(view, len(q.Vertices), a[:n], b[:n])
}

// findGroups is find for a query with WITH: its matches are the groups that hold in one view only; of the sign Changed
// those that hold in both and show other values.
func (b *Backend) findGroups(ctx context.Context, sign dyngraph.Sign, req *matcher.Request, a *answer) error {
	q := req.Plan.Query
	groups, steps, err := groupsOf(ctx, q, &a.meter, b.graph.View(dyngraph.Old), b.graph.View(dyngraph.New))
	a.result.Steps = steps
	switch {
	case errors.Is(err, errBudget) && req.Want != matcher.WantRows:
		a.result.Over, a.done = a.meter.Over(), true
		return nil
	case errors.Is(err, errBudget):
		for order := range b.delta.Net {
			if !req.Skips(uint32(order)) {
				a.groups = append(a.groups, group{order: uint32(order), over: a.meter.Over()})
			}
		}
		return nil
	case err != nil:
		return err
	}
	there, here := groups[0], groups[1]
	if sign == dyngraph.Deleted {
		there, here = here, there
	}
	changes, err := b.changesOf(q)
	if err != nil {
		return err
	}
	anchored := make(map[uint32][]row)
	for key, x := range here {
		y := there[key]
		if !x.holds || y.holds != (sign == dyngraph.Changed) {
			continue
		}
		anchor, ok := uint32(0), false
		switch differs, err := changes.differ(q, y, x); {
		case err != nil:
			return err
		case sign != dyngraph.Changed:
			anchor, ok = changes.anchor(sign, q, x, y)
		case differs:
			anchor, ok = changes.changedAt(q, y, x)
		default:
			continue
		}
		if !ok {
			return fmt.Errorf("the group %v is not the same in both graphs, but the batch changed nothing of it",
				x.shown)
		}
		if !req.Skips(anchor) {
			anchored[anchor] = append(anchored[anchor], x.shown)
		}
	}
	view := b.graph.View(dyngraph.New)
	if sign == dyngraph.Deleted {
		view = b.graph.View(dyngraph.Old)
	}
	for order := range b.delta.Net {
		if rows := anchored[uint32(order)]; rows != nil {
			slices.SortFunc(rows, func(a, b row) int { return compareKeys(view, q, a, b) })
			a.groups = append(a.groups, group{order: uint32(order), kinds: []kind{{of: q, rows: rows}}})
		}
	}
	a.sum(req.Want, len(q.Vertices)+len(q.Edges))
	return nil
}
