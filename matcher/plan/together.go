package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/condition"
)

// The variants of a query with paths repeat each other: what a path of two edges does before its last one, a path of
// three does, too. Their orders are therefore chosen a second time, together, as a prefix tree (DESIGN A23): at each of
// its nodes the orders that can go on with a step of the same kind do. After multi-query optimisation (Sellis, TODS
// 1988, for relational plans; Ren and Wang, PVLDB 10(3), 2016, for subgraph isomorphism).

// joining is an order of a variant that grows in the tree.
type joining struct {
	*builder
	own  [2][]string // marks of the conditions on one element: of vertices, and of edges
	edge []int       // numbers of the pattern edges that are mapped, in the order of the steps; -1 for others
	// mapped is the number of edges that are mapped.
	mapped int
	last   bool // all vertices are mapped
	to     *matcher.Order
}

// option is a step with which an order may go on.
type option struct {
	vertex int
	key    string // equal for steps of the same kind
	leaf   bool
	back   int
	fan    float64
	in     bool // against the edge's direction
	of     int  // how many orders may go on with the key
}

// together fills in Plan.Together of the variants of a query. It returns how many steps the orders have behind their
// anchors, and how many of these fall together with one of another order.
func together(variants []*matcher.Plan, st *statistics) (steps, common int) {
	var all []*joining
	for _, p := range variants {
		o := newOrderer(p, st)
		for _, v := range p.Query.PathEnds() {
			o.leaf[v] = false
		}
		own := ownConditions(p.Query)
		vertices := make([]string, len(p.Query.Vertices))
		for v := range vertices {
			vertices[v] = fmt.Sprintf("%d %q", p.VertexLabels[v], mark(own, condition.Ref{Index: v}))
		}
		p.Together = make([]matcher.Order, len(p.Anchored))
		for i := range p.Anchored {
			a := &p.Anchored[i]
			b := newBuilder(o)
			b.begin(a.Edge, a.Steps[0].Vertex, a.Steps[1].Vertex)
			p.Together[i] = matcher.Order{Edge: a.Edge, Reversed: a.Reversed}
			j := &joining{builder: b, own: [2][]string{vertices, marks(p.Query, own)}, to: &p.Together[i],
				edge: slices.Repeat([]int{-1}, len(p.Query.Edges))}
			j.edge[a.Edge], j.mapped = 0, 1
			all = append(all, j)
		}
		steps += len(p.Anchored) * (len(p.Query.Vertices) - 2)
	}
	common = steps
	for _, of := range sameKind(all, (*joining).rootKey) {
		common -= join(of)
	}
	for _, j := range all {
		j.to.Steps = j.steps
	}
	return steps, common
}

// sameKind divides orders by a key, in the order in which they come.
func sameKind(all []*joining, key func(*joining) string) (parts [][]*joining) {
	at := map[string]int{}
	for _, j := range all {
		k := key(j)
		i, ok := at[k]
		if !ok {
			i = len(parts)
			at[k], parts = i, append(parts, nil)
		}
		parts[i] = append(parts[i], j)
	}
	return parts
}

// join lets orders that have the same steps so far grow to the end, and returns how many steps of different kinds these
// make.
func join(all []*joining) (nodes int) {
	for {
		best, some := commonest(all)
		if !some {
			return nodes
		}
		var same []*joining
		for _, j := range all {
			if !j.last {
				if i := slices.IndexFunc(j.options(), func(o option) bool { return o.key == best.key }); i >= 0 {
					j.addVertex(j.options()[i].vertex)
					same = append(same, j)
				}
			}
		}
		nodes += 1 + join(same)
	}
}

// commonest returns the option to go on with: vertices of one neighbour last, as they multiply what is behind them;
// then that with most back edges (DESIGN A4); then that of most orders; then that of the smallest expected fan-out,
// along edges rather than against them.
func commonest(all []*joining) (best option, some bool) {
	var options []option
	for _, j := range all {
		seen := map[string]bool{}
		for _, o := range j.options() {
			if seen[o.key] {
				continue
			}
			seen[o.key] = true
			if i := slices.IndexFunc(options, func(x option) bool { return x.key == o.key }); i >= 0 {
				options[i].of++
			} else {
				o.of = 1
				options = append(options, o)
			}
		}
	}
	if len(options) == 0 {
		return best, false
	}
	return slices.MinFunc(options, func(x, y option) int {
		return cmp.Or(after(x.leaf, y.leaf), y.back-x.back, y.of-x.of, cmp.Compare(x.fan, y.fan), after(x.in, y.in),
			strings.Compare(x.key, y.key))
	}), true
}

// after orders false before true.
func after(x, y bool) int {
	switch {
	case x == y:
		return 0
	case x:
		return 1
	}
	return -1
}

// options returns the steps with which the order may go on.
func (j *joining) options() (all []option) {
	j.last = true
	for v := range j.at {
		if j.step[v] >= 0 {
			continue
		}
		j.last = false
		o := option{vertex: v, leaf: j.leaf[v], fan: math.Inf(1)}
		var keys []string
		var edges []int
		for _, i := range j.at[v] {
			e := j.p.Query.Edges[i]
			at := j.step[e.From+e.To-v]
			if j.used[i] || at < 0 {
				continue
			}
			fan, in := j.fanout[i][0], e.From == v
			if in {
				fan = j.fanout[i][1]
			}
			o.back++
			o.in = o.in || in
			o.fan = min(o.fan, fan)
			keys, edges = append(keys, j.backKey(at, i, in && j.p.Directed)), append(edges, i)
		}
		if o.back > 0 {
			slices.Sort(keys)
			o.key = fmt.Sprint(j.own[0][v], keys, j.completed(v, edges))
			all = append(all, o)
		}
	}
	return all
}

// backKey is equal for back edges of the same kind.
func (j *joining) backKey(step, edge int, in bool) string {
	return fmt.Sprintf("%2d %d %v %v %q", step, j.p.EdgeLabels[edge], in, j.p.Query.Edges[edge].Either, j.own[1][edge])
}

// completed returns keys of the conditions on several elements of which a step would map the last: a vertex, and edges
// to those before.
func (j *joining) completed(v int, edges []int) (keys []string) {
	for i := range j.p.Conditions {
		c := &j.p.Conditions[i]
		whole, here := true, false
		for _, e := range c.Elements {
			mapped, last := false, false
			if e.Edge {
				mapped, last = j.edge[e.Index] >= 0, slices.Contains(edges, e.Index)
			} else {
				mapped, last = j.step[e.Index] >= 0, e.Index == v
			}
			whole, here = whole && (mapped || last), here || last
		}
		if !c.Own() && whole && here {
			keys = append(keys, c.Key(func(r condition.Ref) condition.Ref {
				if r.Edge {
					r.Index = j.edge[r.Index] // -1 is one that the step maps
				} else {
					r.Index = j.step[r.Index]
				}
				return r
			}))
		}
	}
	slices.Sort(keys)
	return keys
}

// addVertex appends a step that maps vertex v. Its back edges are in the order of their kinds.
func (j *joining) addVertex(v int) {
	j.add(v)
	back := j.steps[len(j.steps)-1].Back
	slices.SortStableFunc(back, func(x, y matcher.BackEdge) int {
		return strings.Compare(j.backKey(x.Step, x.Edge, x.Dir == dyngraph.In),
			j.backKey(y.Step, y.Edge, y.Dir == dyngraph.In))
	})
	for _, b := range back {
		j.edge[b.Edge] = j.mapped
		j.mapped++
	}
}

// rootKey is equal for orders whose first two steps are of the same kind.
func (j *joining) rootKey() string {
	key := ""
	for i := range j.steps {
		key += j.own[0][j.steps[i].Vertex]
		for _, b := range j.steps[i].Back {
			key += fmt.Sprintf(" %d %v %v %q", b.Label, b.Dir, b.Either, j.own[1][b.Edge])
		}
	}
	e := j.to.Edge
	return key + fmt.Sprintf(" %d %v %q", j.p.EdgeLabels[e], j.to.Reversed, j.own[1][e])
}
