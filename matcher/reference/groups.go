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
	shown row   // keys, then aggregates
	rows  []row // of the stage: all elements of matcher.Groups; what the stage does not bind is unbound
	holds bool
}

const unbound = ^uint32(0)

// groupsOf finds all groups of a query with WITH in a view, whether its conditions hold or not, by the keys: all joins
// of all matches of the clauses, one by one (DESIGN S24).
func groupsOf(ctx context.Context, view dyngraph.View, q *matcher.Query, meter *matcher.Meter) (map[string]*groupRow,
	uint64, error) {
	g := q.Groups
	stage := &g.Stages[0]
	n := len(g.Vertices)
	joined := []row{slices.Repeat(row{unbound}, n+len(g.Edges))}
	var steps uint64
	for _, m := range stage.Matches {
		found, tried, err := matches(ctx, view, clauseQuery(g, m), meter)
		steps += tried
		if err != nil {
			return nil, steps, err
		}
		var next []row
		for _, r := range joined {
			for _, f := range found {
				if j, ok := join(g, m, r, f); ok {
					next = append(next, j)
				}
			}
		}
		joined = next
	}
	w, err := newWhere(view, &matcher.Query{Vertices: g.Vertices, Edges: g.Edges, Conditions: stage.Conditions})
	if err != nil {
		return nil, steps, err
	}
	groups := make(map[string]*groupRow)
	for _, r := range joined {
		if !w.holds(r) {
			continue
		}
		keys := keysOf(g, stage, r)
		key := keys.key()
		if groups[key] == nil {
			groups[key] = &groupRow{shown: keys}
		}
		groups[key].rows = append(groups[key].rows, r)
	}
	for _, x := range groups {
		if err := x.aggregate(view, q, w); err != nil {
			return nil, steps, err
		}
	}
	return groups, steps, nil
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

// join returns a row with a match of a clause, unless they map a vertex differently.
func join(g *matcher.Groups, m matcher.MatchClause, r, match row) (row, bool) {
	j := slices.Clone(r)
	for i, v := range m.Vertices {
		if j[v] != unbound && j[v] != match[i] {
			return nil, false
		}
		j[v] = match[i]
	}
	for i, e := range m.Edges {
		j[len(g.Vertices)+e] = match[len(m.Vertices)+i]
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

// aggregate computes the aggregates of a group from its rows, and asks the conditions behind WITH.
func (x *groupRow) aggregate(view dyngraph.View, q *matcher.Query, w *where) error {
	keys := slices.Clone(x.shown)
	having := &where{view: view, q: q, bits: condition.WideBits}
	for _, a := range q.Groups.Aggregates() {
		units := big.NewInt(int64(len(x.rows)))
		switch a.Function {
		case matcher.CountDistinct:
			at := a.Of.Index
			if a.Of.Edge {
				at += len(q.Groups.Vertices)
			}
			seen := make(map[uint32]bool)
			for _, r := range x.rows {
				seen[r[at]] = true
			}
			units.SetInt64(int64(len(seen)))
		case matcher.Sum:
			n, err := nodeOf(a.Formula)
			if err != nil {
				return err
			}
			units.SetInt64(0)
			for _, r := range x.rows {
				if v := w.value(n, r); !v.null {
					scaled := new(big.Rat).Mul(v.number, new(big.Rat).SetInt(power(int(a.Type().Scale))))
					if !scaled.IsInt() {
						return errors.New("a sum has more decimals than its type")
					}
					units.Add(units, scaled.Num())
				}
			}
		}
		wide := condition.NewWide(units, a.Type().Scale)
		x.shown = matcher.PutAggregate(x.shown, wide)
		v := value{null: wide.IsNull(), kind: a.Type().Kind, decimals: int(a.Type().Scale)}
		v.number = new(big.Rat).SetFrac(units, power(v.decimals))
		having.aggregates = append(having.aggregates, v)
	}
	x.holds = true
	for _, c := range q.Groups.Stages[0].Having {
		n, err := nodeOf(c)
		if err != nil {
			return err
		}
		x.holds = x.holds && having.truth(n, keys) == condition.True
	}
	return nil
}

// compareKeys orders rows of a query with WITH by their keys.
func compareKeys(view dyngraph.View, q *matcher.Query, a, b row) int {
	n := len(q.Vertices) + len(q.Edges)
	return compareRows(view, len(q.Vertices), a[:n], b[:n])
}

// findGroups is find for a query with WITH: its matches are the groups that hold in one view only.
func (b *Backend) findGroups(ctx context.Context, sign dyngraph.Sign, req *matcher.Request, a *answer) error {
	q := req.Plan.Query
	before, steps, err := groupsOf(ctx, b.graph.View(dyngraph.Old), q, &a.meter)
	a.result.Steps = steps
	after := before
	if err == nil {
		after, steps, err = groupsOf(ctx, b.graph.View(dyngraph.New), q, &a.meter)
		a.result.Steps += steps
	}
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
	here, there := after, before
	if sign == dyngraph.Deleted {
		here, there = before, after
	}
	changes, err := b.changesOf(q)
	if err != nil {
		return err
	}
	anchored := make(map[uint32][]row)
	for key, x := range here {
		y := there[key]
		if !x.holds || y != nil && y.holds {
			continue
		}
		var others []row
		if y != nil {
			others = y.rows
		}
		anchor, ok := changes.anchor(sign, q, x, others)
		if !ok {
			return fmt.Errorf("the group %v holds in one graph only, but the batch changed nothing of it", x.shown)
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
			a.groups = append(a.groups, group{order: uint32(order), kinds: []kind{{q, rows}}})
		}
	}
	a.sum(req.Want, len(q.Vertices)+len(q.Edges))
	return nil
}

// groupChanges are the net elements of a batch as a query with WITH sees them.
type groupChanges struct {
	edges, vertices [2]map[uint32]uint32 // orders by side: of edges by index, of revised vertices by id
	before, after   *where
	nodes           []*node // all conditions and formulas, of the elements of matcher.Groups
	sums            int     // how many of the last of them are formulas, of which a value that differs matters
}

// side is the index of a sign.
func side(sign dyngraph.Sign) int {
	if sign == dyngraph.Deleted {
		return 0
	}
	return 1
}

func (b *Backend) changesOf(q *matcher.Query) (*groupChanges, error) {
	g := q.Groups
	c := &groupChanges{}
	for s := range 2 {
		c.edges[s], c.vertices[s] = make(map[uint32]uint32), make(map[uint32]uint32)
	}
	for order, n := range b.delta.Net {
		switch {
		case n.Revised:
			c.vertices[side(n.Sign)][uint32(n.From)] = uint32(order)
		case !n.Vertex:
			c.edges[side(n.Sign)][uint32(n.Edge)] = uint32(order)
		}
	}
	stage := &g.Stages[0]
	add := func(n *node, err error) error {
		c.nodes = append(c.nodes, n)
		return err
	}
	for _, x := range stage.Conditions {
		if err := add(nodeOf(x)); err != nil {
			return nil, err
		}
	}
	for _, x := range stage.Having {
		n, err := nodeOf(x)
		if err != nil {
			return nil, err
		}
		c.nodes = append(c.nodes, n.ofGroups(stage))
	}
	for _, a := range stage.Aggregates {
		if a.Formula != nil {
			c.sums++
			if err := add(nodeOf(a.Formula)); err != nil {
				return nil, err
			}
		}
	}
	union := &matcher.Query{Vertices: g.Vertices, Edges: g.Edges}
	var err error
	if c.before, err = newWhere(b.graph.View(dyngraph.Old), union); err != nil {
		return nil, err
	}
	c.after, err = newWhere(b.graph.View(dyngraph.New), union)
	return c, err
}

// ofGroups returns a condition on keys as one on the elements of matcher.Groups.
func (n *node) ofGroups(s *matcher.Stage) *node {
	m := *n
	if m.Op == "read" || m.Op == "labelled" {
		switch {
		case m.Element.Aggregate:
		case m.Element.Edge:
			m.Element.Index = s.Edges[m.Element.Index]
		default:
			m.Element.Index = s.Vertices[m.Element.Index]
		}
	}
	m.Args = nil
	for _, a := range n.Args {
		m.Args = append(m.Args, a.ofGroups(s))
	}
	return &m
}

// matters reports whether the revision of the vertex that a row maps pattern vertex u to matters there (DESIGN S16).
func (c *groupChanges) matters(u int, r row) bool {
	held, holds := true, true
	for i, n := range c.nodes {
		reads, others := n.reads(condition.Ref{Index: u})
		if len(reads) == 0 {
			continue
		}
		if !others && i < len(c.nodes)-c.sums {
			held = held && c.before.truth(n, r) == condition.True
			holds = holds && c.after.truth(n, r) == condition.True
			continue
		}
		for _, read := range reads {
			if c.valueOf(c.before, read, r) != c.valueOf(c.after, read, r) {
				return true
			}
		}
	}
	return held != holds
}

func (c *groupChanges) valueOf(w *where, n *node, r row) property.Value {
	if n.Op == "labelled" {
		return w.view.Labels(dyngraph.VertexID(r[n.Element.Index]))
	}
	return w.read(n, r)
}

// anchor returns the order of what began or ended a group (DESIGN S24): its own changes or, without any, the changes of
// its rows in either view.
func (c *groupChanges) anchor(sign dyngraph.Sign, q *matcher.Query, x *groupRow, others []row) (anchor uint32,
	found bool) {
	take := func(order uint32, ok bool) {
		if ok && (!found || (sign == dyngraph.Inserted) == (order > anchor)) {
			anchor, found = order, true
		}
	}
	stage := &q.Groups.Stages[0]
	n := len(q.Groups.Vertices)
	vertex := func(s dyngraph.Sign, u int, r row) {
		if order, ok := c.vertices[side(s)][r[u]]; ok && c.matters(u, r) {
			take(order, true)
		}
	}
	edge := func(s dyngraph.Sign, e int, r row) {
		order, ok := c.edges[side(s)][r[n+e]]
		take(order, ok)
	}
	for _, u := range stage.Vertices {
		vertex(sign, u, x.rows[0])
	}
	for _, e := range stage.Edges {
		edge(sign, e, x.rows[0])
	}
	if found {
		return anchor, true
	}
	for s, rows := range map[dyngraph.Sign][]row{sign: x.rows, -sign: others} {
		for _, r := range rows {
			for u := range q.Groups.Vertices {
				vertex(s, u, r)
			}
			for e := range q.Groups.Edges {
				edge(s, e, r)
			}
		}
	}
	return anchor, found
}
