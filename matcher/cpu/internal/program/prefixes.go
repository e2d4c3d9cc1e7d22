package program

import (
	"fmt"
	"reflect"
	"slices"

	"motifd/dyngraph"
	"motifd/matcher"
	"motifd/matcher/internal/candidates"
	"motifd/matcher/internal/truths"
)

// A prefix tree holds orders of several plans, the variants of one query (DESIGN A23). Orders that begin with equal
// steps share these: a partial match of them is found once, and each branch goes on from it.
//
// Orders are renumbered so that they can be compared: step i maps vertex i, the anchor is edge 0, and the other edges
// are numbered as they are mapped. A row has the plan's number, then the images of its vertices, then those of its
// edges. All plans have rows of one width: that of the plan with most vertices and edges.

// prefixTree is a tree that is being made.
type prefixTree struct {
	most    *matcher.Plan // the plan with most vertices and edges
	keys    *ListKeys
	wide    int
	values  map[value]int // of renumbered edges
	columns []int         // by number of a value
	slots   int
	all     []*Order
}

// First is an order of a plan.
type First struct {
	Plan  *matcher.Plan
	Order *matcher.Order
}

// anchorLabel returns the label of the pattern edge that updates are tried against.
func (f *First) anchorLabel() dyngraph.LabelID { return f.Plan.EdgeLabels[f.Order.Edge] }

// prefixNode is a node of the tree: the steps from..to-1 that its orders share, with their tests, the matches that end
// here, and the branches that go on.
type prefixNode struct {
	first    *First
	of       *Order                 // the first order, renumbered; the node's own once the tree is finished
	from, to int                    // the steps
	rest     [][]*matcher.Condition // of the steps
	restKeys []string
	filters  []stepFilter // by step
	ends     []Form
	branches []*prefixNode
}

// stepFilter is the test of a step's candidates: their label, the conditions on them alone, and the neighbourhood that
// any one of the node's orders asks for. That is safe: the later steps of an order find whether its own is there.
type stepFilter struct {
	label   dyngraph.LabelID
	own     string
	classes []int
	tests   []candidates.Test
}

// JoinsRows reports whether the rows of some plans fit one layout; see CompileTogether.
func JoinsRows(plans []*matcher.Plan) bool {
	most := mostOf(plans)
	return len(most.Query.Vertices) < matcher.MaxVertices && len(most.Query.Edges) < matcher.MaxEdges
}

// CompileTogether compiles the orders Plan.Together of some plans, variants of one query, as prefix trees. The result
// is by plan and by order: the root of a tree for the tree's first order, nil for its other orders.
func CompileTogether(plans []*matcher.Plan, f candidates.Source, keys *ListKeys) [][]*Order {
	most := mostOf(plans)
	t := &prefixTree{most: most, keys: keys, wide: 1 + len(most.Query.Vertices) + len(most.Query.Edges),
		values: map[value]int{}}
	var roots []*prefixNode
	first := make([][]*prefixNode, len(plans))
	for tag, p := range plans {
		first[tag] = make([]*prefixNode, len(p.Together))
		for i := range p.Together {
			path := t.pathOf(tag, p, &p.Together[i], f, keys)
			n := len(roots)
			roots = insert(roots, path)
			if len(roots) > n {
				first[tag][i] = roots[n]
			}
		}
	}
	for _, r := range roots {
		t.finish(r, nil)
	}
	for _, o := range t.all {
		o.Slots, o.Columns = t.slots, t.columns
	}
	orders := make([][]*Order, len(plans))
	for tag := range first {
		for _, n := range first[tag] {
			var root *Order
			if n != nil {
				root = n.of
			}
			orders[tag] = append(orders[tag], root)
		}
	}
	return orders
}

// mostOf returns the plan with most vertices and edges among variants of one query.
func mostOf(plans []*matcher.Plan) *matcher.Plan {
	return slices.MaxFunc(plans, func(a, b *matcher.Plan) int { return len(a.Query.Edges) - len(b.Query.Edges) })
}

// pathOf compiles an order, renumbered, as a path of nodes: the first holds the two steps of the anchor, each other one
// step.
func (t *prefixTree) pathOf(tag int, p *matcher.Plan, order *matcher.Order, f candidates.Source,
	keys *ListKeys) []*prefixNode {
	o := compile(p, &matcher.Member{Order: *order}, f, keys, false, false)
	at := newNumbering(p, order)
	t.renumber(o, at)
	form := Form{Tag: tag, Columns: make([]int, t.wide)}
	vertices := len(t.most.Query.Vertices)
	for i := range form.Columns { // a column without an element of the plan repeats the anchor, which all rows share
		form.Columns[i] = vertices + o.Anchor
	}
	for v, step := range at.vertices {
		form.Columns[1+v] = step
	}
	for e, n := range at.edges {
		form.Columns[1+vertices+e] = vertices + n
	}
	rest, restKeys := restOf(o, at)
	var fits []stepFilter
	for i := range order.Steps {
		v := order.Steps[i].Vertex
		fits = append(fits, stepFilter{p.VertexLabels[v], f.VertexTest(p, v).Key(), []int{f.Class(p, v)},
			[]candidates.Test{f.Test(p, v)}})
	}
	var path []*prefixNode
	first := &First{p, order}
	for from, to := 0, 2; from < len(o.Steps); from, to = to, to+1 {
		path = append(path, &prefixNode{first: first, of: o, from: from, to: to, rest: rest[from:to],
			restKeys: restKeys[from:to], filters: fits[from:to]})
	}
	path[len(path)-1].ends = []Form{form}
	return path
}

// insert adds a path to sibling nodes: its first node is merged into one of them, or becomes another sibling.
func insert(among []*prefixNode, path []*prefixNode) []*prefixNode {
	n := path[0]
	i := slices.IndexFunc(among, func(x *prefixNode) bool { return x.merge(n) })
	if i < 0 {
		i = len(among)
		among = append(among, n)
	} else {
		among[i].ends = append(among[i].ends, n.ends...)
	}
	if len(path) > 1 {
		among[i].branches = insert(among[i].branches, path[1:])
	}
	return among
}

// merge lets a node stand for another one, too, if their steps are equal except for derived bounds: those that follow
// from other bounds. Of two such bounds the weaker remains. No match is wrong for that: the bounds that conditions
// state themselves all stay, and they suffice.
func (n *prefixNode) merge(with *prefixNode) bool {
	a, b := n.of, with.of
	if n.to != with.to || !slices.Equal(n.restKeys, with.restKeys) || (a.Variants == nil) != (b.Variants == nil) ||
		n.from == 0 && (n.first.anchorLabel() != with.first.anchorLabel() || !sameTest(a.AnchorTest, b.AnchorTest)) {
		return false
	}
	for i := n.from; i < n.to; i++ {
		x, y := &n.filters[i-n.from], &with.filters[i-n.from]
		if x.label != y.label || x.own != y.own || !equalSteps(a.Steps[i], b.Steps[i]) {
			return false
		}
	}
	for i := n.from; i < n.to; i++ {
		weaken(a.Steps[i].Readings, b.Steps[i].Readings)
		n.filters[i-n.from].add(&with.filters[i-n.from])
	}
	return true
}

// add widens the filter by that of the same step of another order.
func (x *stepFilter) add(y *stepFilter) {
	for k, c := range y.classes {
		if !slices.Contains(x.classes, c) {
			x.classes, x.tests = append(x.classes, c), append(x.tests, y.tests[k])
		}
	}
}

// widen sets the test and the list keys of a step to those of its filter, if that has several classes.
func (n *prefixNode) widen(x *stepFilter, s *Step, keys *ListKeys) {
	if len(x.classes) == 1 {
		return
	}
	s.Test, s.OrTests = x.tests[0], x.tests[1:]
	classes := slices.Clone(x.classes)
	slices.Sort(classes)
	s.Back = slices.Clone(s.Back)
	for k := range s.Back {
		b := &s.Back[k]
		key := ListKey{Dir: b.Dir, Label: b.Label, Class: classes[0], Others: fmt.Sprint(classes[1:]),
			Test: b.Test.Key()}
		b.ListKey, b.Epoch = keys.Number(key, n.first.Plan.VertexLabels[n.first.Order.Steps[b.Step].Vertex],
			b.NeighborLabel, classes...)
	}
}

func sameTest(a, b *truths.Test) bool { return a.Key() == b.Key() }

// equalSteps reports whether two steps are equal but for bounds that may be the weaker of two.
func equalSteps(a, b Step) bool {
	if len(a.Back) != len(b.Back) || !slices.EqualFunc(a.Readings, b.Readings, equalReadings) {
		return false
	}
	a.Readings, b.Readings, a.Test, b.Test = nil, nil, candidates.Test{}, candidates.Test{}
	a.Back, b.Back = slices.Clone(a.Back), slices.Clone(b.Back)
	for k := range a.Back {
		if !sameTest(a.Back[k].Test, b.Back[k].Test) {
			return false
		}
		for _, e := range [2]*BackEdge{&a.Back[k], &b.Back[k]} {
			e.Test, e.ListKey, e.Epoch = nil, 0, EpochKey{}
		}
	}
	return reflect.DeepEqual(a, b)
}

func equalReadings(a, b Reading) bool {
	return a.Value == b.Value && a.Edge == b.Edge && a.Back == b.Back && a.Column == b.Column && a.Of == b.Of &&
		slices.EqualFunc(a.Limits, b.Limits, equalLimits) && slices.EqualFunc(a.Beside, b.Beside, equalLimits)
}

func equalLimits(a, b []Limit) bool {
	return slices.EqualFunc(a, b, func(x, y Limit) bool {
		if x.Kind != y.Kind || x.Value != y.Value || !reflect.DeepEqual(x.Sum, y.Sum) {
			return false
		}
		if x.Kind == AtMost || x.Kind == AtLeast {
			return max(x.By, y.By) <= min(x.asked, y.asked)
		}
		return x.By == y.By
	})
}

// weaken sets the bounds in a to the weaker of those in a and b: values that either order accepts are accepted.
func weaken(a, b []Reading) {
	for i := range a {
		for _, all := range [2][2][][]Limit{{a[i].Limits, b[i].Limits}, {a[i].Beside, b[i].Beside}} {
			for v, limits := range all[0] {
				for k := range limits {
					x, y := &limits[k], &all[1][v][k]
					x.asked = min(x.asked, y.asked)
					if x.Kind == AtMost || x.Kind == AtLeast {
						x.By = max(x.By, y.By)
					}
				}
			}
		}
	}
}

// finish makes the Order of a node from that of its parent and the node's steps, and then those of its branches.
func (t *prefixTree) finish(n *prefixNode, parent *Order) {
	o := &Order{Plan: t.most, AnchorTest: n.of.AnchorTest, Parent: parent, Wide: t.wide, First: n.first}
	var rest [][]*matcher.Condition
	if parent != nil {
		o.Steps = slices.Clone(parent.Steps)
		if parent.Variants != nil {
			rest = slices.Clone(parent.Variants[0].Rest)
		}
	}
	for i, s := range n.of.Steps[n.from:n.to] {
		n.widen(&n.filters[i], &s, t.keys)
		s.Slot = t.slots
		t.slots++
		o.Steps = append(o.Steps, s)
	}
	if last := &o.Steps[len(o.Steps)-1]; last.Tested {
		o.Last = len(o.Steps)
	} else {
		o.Last = last.Prior
	}
	for _, f := range n.ends {
		of := o.formOf(f.Columns)
		of.Tag = f.Tag
		o.Forms = append(o.Forms, of)
	}
	if n.of.Variants != nil {
		o.Variants = []*Conditions{{Rest: append(rest, n.rest...), Within: t.most.Query.Within, Forms: o.Forms}}
	}
	n.of = o
	t.all = append(t.all, o)
	for _, b := range n.branches {
		t.finish(b, o)
		o.Branches = append(o.Branches, b.of)
	}
}
