package matcher

import (
	"slices"

	"motifd/dyngraph"
)

// replan makes plans anew where the staged batch made them wrong (labels that were not known, wildcards that were
// narrowed to another label, labels that got parallel edges) or, when the graph has doubled or halved since, poor
// (DESIGN A4). It returns what restores the present plans.
func (e *Engine) replan(d *dyngraph.Delta) (undo func() error, err error) {
	drift := e.g.Edges() > 2*e.plannedAt+1024 || 2*e.g.Edges()+1024 < e.plannedAt
	if !d.NewTriples && !d.NewParallel && !drift {
		return nil, nil
	}
	old, oldAt := map[*registered]*Plan{}, e.plannedAt
	undo = func() error {
		for r, p := range old {
			r.plan = p
		}
		e.plannedAt = oldAt
		if len(old) == 0 {
			return nil
		}
		return e.prepare()
	}
	fresh := e.freshTriples(d)
	for _, r := range e.active {
		if drift || e.misled(r.plan, fresh) {
			before := r.plan
			if err := e.plan(r); err != nil {
				return undo, err
			}
			old[r] = before
		}
	}
	if drift {
		e.plannedAt = e.g.Edges()
	}
	if len(old) == 0 {
		return undo, nil
	}
	return undo, e.prepare()
}

// freshTriples returns the label combinations that the staged batch brought.
func (e *Engine) freshTriples(d *dyngraph.Delta) []labelTriple {
	inserted := map[labelTriple]int{}
	for i := range d.Net {
		n := &d.Net[i]
		if n.Sign != dyngraph.Inserted || n.Vertex {
			continue
		}
		k := labelTriple{n.Labels[0], n.Label, n.Labels[1]}
		if !e.g.Directed() && k.from > k.to {
			k.from, k.to = k.to, k.from
		}
		inserted[k]++
	}
	var fresh []labelTriple
	for k, n := range inserted {
		if e.g.TripleCount(k.from, k.edge, k.to) == n {
			fresh = append(fresh, k)
		}
	}
	return fresh
}

// misled reports whether some label of the plan's would be resolved to another one, now that there are fresh label
// combinations.
func (e *Engine) misled(p *Plan, fresh []labelTriple) bool {
	if p.Groups != nil {
		return p.Groups.misled(p.Query.Groups, e.g)
	}
	if len(p.Variants) > 0 {
		return slices.ContainsFunc(p.Variants, func(v *Plan) bool { return e.misled(v, fresh) })
	}
	if misledAbsent(p, e.g) {
		return true
	}
	for i, l := range p.VertexLabels {
		if v := &p.Query.Vertices[i]; l != ResolveLabel(e.g, v.Label, v.AnyOf) {
			return true
		}
	}
	for i, q := range p.Query.Edges {
		l, wanted := p.EdgeLabels[i], ResolveLabel(e.g, q.Label, q.AnyOf)
		switch {
		case HasParallel(e.g, l) != p.Several[i]:
			return true
		case l == wanted: // a wildcard that holds for several labels holds for one more
			continue
		case q.Label != "":
			return true
		}
		from, to := p.VertexLabels[q.From], p.VertexLabels[q.To]
		ahead, back := labelTriple{from, wanted, to}, labelTriple{to, wanted, from}
		for _, t := range fresh {
			if !LabelFits(l, t.edge) && (ahead.admits(t) || (q.Either || !p.Directed) && back.admits(t)) {
				return true
			}
		}
	}
	return false
}
