package reference

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/condition"
)

// node is a resolved condition in its stored form (condition.Condition.MarshalJSON), which is evaluated here with big
// rationals: the twin of condition.Condition.Eval.
type node struct {
	Op       string           `json:"op"`
	Relation string           `json:"relation"`
	Element  condition.Ref    `json:"element"`
	Property string           `json:"property"`
	Value    property.Value   `json:"value"`
	Members  []property.Value `json:"members"`
	Null     bool             `json:"null"`
	Truth    string           `json:"truth"`
	Labels   condition.Labels `json:"labels"`
	Args     []*node          `json:"args"`
}

// where evaluates the conditions of a query on rows, in a view.
type where struct {
	view       dyngraph.View
	q          *matcher.Query
	conditions []*node
	// aggregates are those of a group, where conditions behind WITH are asked; they compute in more bits.
	aggregates []value
	bits       uint
}

func newWhere(view dyngraph.View, q *matcher.Query) (*where, error) {
	w := &where{view: view, q: q, bits: 64}
	for _, c := range q.Conditions {
		n, err := nodeOf(c)
		if err != nil {
			return nil, err
		}
		w.conditions = append(w.conditions, n)
	}
	return w, nil
}

// nodeOf returns a condition, or a formula, as it is stored.
func nodeOf(c json.Marshaler) (*node, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("a condition cannot be stored: %w", err)
	}
	n := new(node)
	if err := json.Unmarshal(text, n); err != nil {
		return nil, fmt.Errorf("reading a stored condition: %w", err)
	}
	return n, nil
}

// holds reports whether a whole match meets all conditions, and its window.
func (w *where) holds(r row) bool {
	for _, n := range w.conditions {
		if w.truth(n, r) != condition.True {
			return false
		}
	}
	if w.q.Within == 0 {
		return true
	}
	least, most := int64(math.MaxInt64), int64(math.MinInt64)
	for _, e := range r[len(w.q.Vertices):] {
		t := w.view.Value(dyngraph.EdgeIndex(e), property.TS)
		if t.IsNull() {
			return false
		}
		least, most = min(least, t.Whole()), max(most, t.Whole())
	}
	span := new(big.Int).Sub(big.NewInt(most), big.NewInt(least))
	return span.Cmp(big.NewInt(w.q.Within)) <= 0
}

// read returns the value of a property of the data edge or vertex that an element is mapped to, by its own label.
func (w *where) read(n *node, r row) property.Value {
	if !n.Element.Edge {
		v := dyngraph.VertexID(r[n.Element.Index])
		column, ok := w.view.Graph().VertexColumns().Of(w.view.LabelName(w.view.Label(v)), n.Property)
		if !ok {
			return property.Value{}
		}
		return w.view.VertexValue(v, column)
	}
	e := dyngraph.EdgeIndex(r[len(w.q.Vertices)+n.Element.Index])
	_, _, label := w.view.Edge(e)
	column, ok := w.view.Graph().Columns().Of(w.view.LabelName(label), n.Property)
	if !ok {
		return property.Value{}
	}
	return w.view.Value(e, column)
}

// labelled reports whether a vertex meets some alternative: it has all of its labels, and none of those that must be
// absent.
func (w *where) labelled(labels condition.Labels, v dyngraph.VertexID) bool {
	has := slices.Collect(w.view.Labels(v).EachLabel())
	return slices.ContainsFunc(labels, func(a condition.Alternative) bool {
		there := 0
		for _, l := range a.All {
			if slices.Contains(has, l) {
				there++
			}
		}
		absent := func(l string) bool { return !slices.Contains(has, l) }
		return there == len(a.All) && len(slices.DeleteFunc(slices.Clone(a.None), absent)) == 0
	})
}

var relations = map[string]condition.Relation{"=": condition.Eq, "<>": condition.Ne, "<": condition.Lt,
	"<=": condition.Le, ">": condition.Gt, ">=": condition.Ge}

func (w *where) truth(n *node, r row) condition.Truth {
	switch n.Op {
	case "truth":
		return map[string]condition.Truth{"TRUE": condition.True, "FALSE": condition.False,
			"UNKNOWN": condition.Unknown}[n.Truth]
	case "true":
		v := w.value(n.Args[0], r)
		if v.null {
			return condition.Unknown
		}
		return condition.Of(v.number.Sign() != 0)
	case "compare":
		return related(w.value(n.Args[0], r), relations[n.Relation], w.value(n.Args[1], r))
	case "in":
		var all []value
		for _, m := range n.Members {
			all = append(all, valueOf(m))
		}
		if n.Null {
			all = append(all, value{null: true})
		}
		return member(w.value(n.Args[0], r), all)
	case "starts with":
		s, prefix := w.value(n.Args[0], r), w.value(n.Args[1], r)
		if s.null || prefix.null {
			return condition.Unknown
		}
		return condition.Of(strings.HasPrefix(s.text, prefix.text))
	case "labelled":
		return condition.Of(w.labelled(n.Labels, dyngraph.VertexID(r[n.Element.Index])))
	case "is null":
		return condition.Of(w.value(n.Args[0], r).null)
	case "not":
		return notTable[w.truth(n.Args[0], r)]
	}
	table, ok := map[string]*[3][3]condition.Truth{"and": &andTable, "xor": &xorTable, "or": &orTable}[n.Op]
	if !ok {
		panic("reference: a condition with the operation " + n.Op) // condition stores no other
	}
	t := w.truth(n.Args[0], r)
	for _, a := range n.Args[1:] {
		t = table[t][w.truth(a, r)]
	}
	return t
}

func (w *where) value(n *node, r row) value {
	ops := map[string]condition.Op{"add": condition.OpAdd, "sub": condition.OpSub, "mul": condition.OpMul}
	switch op, ok := ops[n.Op]; {
	case ok:
		return computed(op, w.value(n.Args[0], r), w.value(n.Args[1], r), w.bits)
	case n.Op == "neg":
		v := w.value(n.Args[0], r)
		if !v.null {
			v.number = new(big.Rat).Neg(v.number)
		}
		return fitting(v, w.bits)
	case n.Op == "read" && n.Element.Aggregate:
		return w.aggregates[n.Element.Index]
	case n.Op == "read":
		return valueOf(w.read(n, r))
	}
	return valueOf(n.Value)
}

// only keeps the rows that meet the query's conditions in the view.
func only(view dyngraph.View, q *matcher.Query, rows []row) ([]row, error) {
	if !q.Conditioned() {
		return rows, nil
	}
	w, err := newWhere(view, q)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(rows, func(r row) bool { return !w.holds(r) }), nil
}
