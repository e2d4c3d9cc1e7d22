package matchertest

import (
	"math/rand/v2"
	"slices"
	"strings"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/condition"
)

// Where a vertex may have several labels, a Graph keeps each as a truth among its values, under this and its name.
const labelPrefix = "label:"

// Labelled holds the demands of queries on vertices that may have several labels, by name of the query, by pattern
// vertex.
type Labelled map[string][]condition.Labels

// several returns the labels that cases of several labels draw from: at least two.
func several(labels Labels) []string {
	names := slices.DeleteFunc(slices.Clone(labels.Vertex), func(l string) bool { return l == "" })
	for _, l := range []string{"L0", "L1"} {
		if len(names) < 2 && !slices.Contains(names, l) {
			names = append(names, l)
		}
	}
	return names
}

// Relabel gives the vertices in messages several labels in place of one: edges add some, +v sets all, =v adds and
// removes some. Labels are as the graph's options allow them.
func Relabel(rng *rand.Rand, msgs []dyngraph.Message, labels Labels) {
	names := several(labels)
	text := func(signed bool) string {
		var all []string
		for range rng.IntN(3) {
			l := names[rng.IntN(len(names))]
			if signed {
				l = string("+-"[rng.IntN(2)]) + l
			}
			all = append(all, l)
		}
		return property.JoinLabels(all...)
	}
	for i := range msgs {
		for j := range msgs[i].Updates {
			switch u := &msgs[i].Updates[j]; u.Op {
			case dyngraph.InsertEdge:
				u.FromLabel, u.ToLabel = text(false), text(false)
			case dyngraph.InsertVertex:
				u.Label = text(false)
			case dyngraph.ReviseVertex:
				u.Label = text(true)
			}
		}
	}
}

// Demand gives the vertices of a query demands for several labels in place of one; half of the queries demand the same
// of each vertex, so that automorphisms are left.
func (c *Case) Demand(rng *rand.Rand, q *matcher.Query) {
	all := make([]condition.Labels, len(q.Vertices))
	var conditions []*condition.Condition
	uniform, same := rng.IntN(2) == 0, c.randomLabels(rng)
	for i := range q.Vertices {
		if all[i] = same; !uniform {
			all[i] = c.randomLabels(rng)
		}
		q.Vertices[i].Label, q.Vertices[i].AnyOf = "", nil
		if all[i] != nil {
			conditions = append(conditions, condition.Labelled(i, all[i], condition.Pos{}))
		}
	}
	c.Labelled[q.Name], q.Conditions = all, append(conditions, q.Conditions...)
}

// randomLabels draws a demand: none, or one or two alternatives of labels that are there or absent.
func (c *Case) randomLabels(rng *rand.Rand) condition.Labels {
	if rng.IntN(4) == 0 {
		return nil
	}
	names := several(c.Labels)
	var all []condition.Alternative
	for range 1 + rng.IntN(4)/3 {
		var a condition.Alternative
		for _, l := range names {
			switch rng.IntN(4) {
			case 0:
				a.All = append(a.All, l)
			case 1:
				a.None = append(a.None, l)
			}
		}
		if len(a.All)+len(a.None) == 0 {
			a.All = names[:1]
		}
		all = append(all, a)
	}
	return condition.NewLabels(all...)
}

// relabel changes the labels of a vertex that is there.
func (g *Graph) relabel(key, text string, op dyngraph.Op) {
	is := declared{}
	for name, v := range g.values[key] {
		if op != dyngraph.InsertVertex || !strings.HasPrefix(name, labelPrefix) {
			is[name] = v
		}
	}
	for _, l := range strings.Split(text, "\x00") {
		sign := '+'
		if op == dyngraph.ReviseVertex && l != "" {
			sign, l = rune(l[0]), l[1:]
		}
		if delete(is, labelPrefix+l); l != "" && sign == '+' {
			is[labelPrefix+l] = property.Truth(true)
		}
	}
	g.values[key] = is
}

// labels returns the labels among the values of a vertex.
func (d declared) labels() property.Value {
	var all []string
	for name := range d {
		if l, ok := strings.CutPrefix(name, labelPrefix); ok {
			all = append(all, l)
		}
	}
	return property.LabelSet(all...)
}

// value returns what a condition reads.
func (d declared) value(s condition.Slot) property.Value {
	if s.Type.Kind == property.Labels {
		return d.labels()
	}
	return d[s.Property]
}

// labelled reports whether a vertex with these values has what is demanded of its labels.
func (d declared) labelled(labels condition.Labels) bool {
	has := func(l string) bool { _, ok := d[labelPrefix+l]; return ok }
	for _, a := range labels {
		missing := slices.ContainsFunc(a.All, func(l string) bool { return !has(l) })
		if !missing && !slices.ContainsFunc(a.None, has) {
			return true
		}
	}
	return labels == nil
}
