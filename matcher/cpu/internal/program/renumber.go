package program

import (
	"cmp"
	"fmt"
	"slices"

	"motifd/matcher"
	"motifd/matcher/condition"
)

// numbering has the numbers of a plan's vertices and edges in a renumbered order.
type numbering struct{ vertices, edges []int }

func newNumbering(p *matcher.Plan, o *matcher.Order) numbering {
	at := numbering{make([]int, len(p.Query.Vertices)), make([]int, len(p.Query.Edges))}
	n := 1 // behind the anchor
	for i := range o.Steps {
		at.vertices[o.Steps[i].Vertex] = i
		for _, b := range o.Steps[i].Back {
			at.edges[b.Edge] = n
			n++
		}
	}
	return at
}

func (at *numbering) ref(r condition.Ref) condition.Ref {
	if r.Edge {
		r.Index = at.edges[r.Index]
	} else {
		r.Index = at.vertices[r.Index]
	}
	return r
}

func (at *numbering) edgesOf(all []int) {
	for i, e := range all {
		all[i] = at.edges[e]
	}
	slices.Sort(all)
}

// renumber renumbers the vertices, edges and values of a compiled order.
func (t *prefixTree) renumber(o *Order, at numbering) {
	numbers := map[int]int{} // of values
	for i := range o.Steps {
		for _, r := range o.Steps[i].Readings {
			v := value{at.edges[r.Edge], r.Column}
			n, ok := t.values[v]
			if !ok {
				n = len(t.columns)
				t.values[v], t.columns = n, append(t.columns, r.Column)
			}
			numbers[r.Value] = n
		}
	}
	asked := openDifferences(o.Plan.Conditions, o.Plan.Query.Within, len(o.Plan.Query.Edges))
	bounds := map[[2]int]int64{} // by two renumbered values, the first less the second
	for x, row := range asked.most {
		for y, b := range row {
			if b.there {
				vx, vy := asked.values[x], asked.values[y]
				bounds[[2]int{t.values[value{at.edges[vx.edge], vx.column}],
					t.values[value{at.edges[vy.edge], vy.column}]}] = b.by
			}
		}
	}
	o.Anchor = 0
	for i := range o.Steps {
		s := &o.Steps[i]
		s.Vertex = i
		for k := range s.Back {
			b := &s.Back[k]
			b.Edge = at.edges[b.Edge]
			at.edgesOf(b.Earlier)
			at.edgesOf(b.Beside)
		}
		for k := range s.Readings {
			r := &s.Readings[k]
			r.Edge, r.Value = at.edges[r.Edge], numbers[r.Value]
			for _, all := range [2][][]Limit{r.Limits, r.Beside} {
				for _, limits := range all {
					renumberLimits(limits, r.Value, numbers, bounds)
				}
			}
		}
		slices.SortFunc(s.Readings, func(x, y Reading) int {
			return cmp.Or(cmp.Compare(x.Back, y.Back), cmp.Compare(x.Value, y.Value))
		})
	}
}

// renumberLimits renumbers limits of value x, and notes what conditions ask for themselves.
func renumberLimits(limits []Limit, x int, numbers map[int]int, bounds map[[2]int]int64) {
	for i := range limits {
		l := &limits[i]
		switch l.Kind {
		case OfSum:
			for k := range l.Sum.Of {
				l.Sum.Of[k].Value = numbers[l.Sum.Of[k].Value]
			}
			continue
		case Below, Above:
			continue
		}
		l.Value = numbers[l.Value]
		pair := [2]int{x, l.Value}
		if l.Kind == AtLeast {
			pair = [2]int{l.Value, x}
		}
		if by, ok := bounds[pair]; ok && (l.Kind == AtMost || l.Kind == AtLeast) {
			l.asked = by
		} else {
			l.asked = unasked
		}
	}
	slices.SortStableFunc(limits, func(a, b Limit) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Value, b.Value))
	})
}

// unasked is Limit.asked where no condition asks for a bound.
const unasked = 1<<63 - 1

// restOf returns Conditions.Rest, renumbered, and by step a key of it.
func restOf(o *Order, at numbering) (rest [][]*matcher.Condition, keys []string) {
	rest, keys = make([][]*matcher.Condition, len(o.Steps)), make([]string, len(o.Steps))
	if o.Variants == nil {
		return rest, keys
	}
	for i, all := range o.Variants[0].Rest {
		for _, c := range all {
			as := renamed(c, at.ref)
			rest[i] = append(rest[i], &as)
			keys[i] += fmt.Sprintf("%q %v;", c.Key(at.ref), as.Reads)
		}
	}
	return rest, keys
}
