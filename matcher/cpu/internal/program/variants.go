package program

import (
	"slices"
	"strings"

	"motifd/matcher"
	"motifd/matcher/condition"
)

// Where an automorphism of the pattern does not map its conditions between elements onto one another, the anchored
// orders that it maps to one another are searched together all the same (DESIGN A6). Let the automorphism map x to
// s(x). A match f of the one order, conditions between elements aside, stands for exactly one match g of the other:
// g(s(x)) = f(x). It has the same data edges at the same steps, so that what a search knows of it in any view is the
// same: visibility, injectivity, labels and conditions on one element alone, which s maps onto one another. Only the
// conditions between elements differ: g meets one of y and z if and only if f meets it of the elements that s maps to y
// and z. So each is told of f, with other elements, and the search keeps track of the images that are left.

// sharers are the match itself and its images, or some of them, which are to meet the same conditions.
type sharers struct {
	conditions []matcher.Condition // as told of the match
	asked      []matcher.Asked
	forms      []Form
}

// sharers divides the rows that a match yields by the conditions on them. The first holds the match itself.
func (o *Order) sharers(p *matcher.Plan, m *matcher.Member) (all []sharers) {
	all = append(all, sharers{conditions: p.Conditions, asked: p.Asked, forms: []Form{o.formOf(nil)}})
	index := map[string]int{keyOf(p.Conditions, nil): 0}
	for _, image := range m.Images {
		from := preimage(image)
		key := keyOf(p.Conditions, from)
		at, ok := index[key]
		if !ok {
			at = len(all)
			index[key] = at
			s := sharers{asked: make([]matcher.Asked, len(p.Asked))}
			for i := range p.Conditions {
				s.conditions = append(s.conditions, renamed(&p.Conditions[i], from))
			}
			for v, w := range image.Vertices {
				s.asked[v] = p.Asked[w]
			}
			all = append(all, s)
		}
		all[at].forms = append(all[at].forms, o.formOf(o.imageColumns(image)))
	}
	return all
}

// preimage returns the inverse of an image's automorphism.
func preimage(image matcher.Image) func(condition.Ref) condition.Ref {
	return func(r condition.Ref) condition.Ref {
		if r.Edge {
			r.Index = slices.Index(image.Edges, r.Index)
		} else {
			r.Index = slices.Index(image.Vertices, r.Index)
		}
		return r
	}
}

// renamed returns a condition with each element replaced by its image. It is evaluated alone: its key is that of c.
func renamed(c *matcher.Condition, image func(condition.Ref) condition.Ref) matcher.Condition {
	of := *c.Condition
	of.Elements = slices.Clone(c.Elements)
	for i, r := range of.Elements {
		of.Elements[i] = image(r)
	}
	reads := slices.Clone(c.Reads)
	for i := range reads {
		reads[i].Element = image(reads[i].Element)
	}
	return matcher.Condition{Condition: &of, Reads: reads}
}

// keyOf is equal for equal sets of conditions, each with its elements renamed.
func keyOf(conditions []matcher.Condition, rename func(condition.Ref) condition.Ref) string {
	var keys []string
	for i := range conditions {
		keys = append(keys, conditions[i].Key(rename))
	}
	slices.Sort(keys)
	return strings.Join(slices.Compact(keys), " AND ")
}

// conditionsBuilder adds Conditions to an order.
type conditionsBuilder struct {
	o                *Order
	p                *matcher.Plan
	edgeAt, vertexAt []int   // steps, by pattern edge and vertex
	values           []value // by number
}

// add adds the conditions of some sharers.
func (b *conditionsBuilder) add(s sharers) *Conditions {
	o, number := b.o, len(b.o.Variants)
	c := &Conditions{Within: b.p.Query.Within, Between: make([][]*matcher.Condition, len(o.Steps)),
		Rest: make([][]*matcher.Condition, len(o.Steps)), Forms: s.forms}
	o.Variants = append(o.Variants, c)
	d := newDifferences(s.conditions, b.p.Query.Within, len(b.p.Query.Edges))
	for i := range s.conditions {
		x := &s.conditions[i]
		if x.Own() {
			continue
		}
		last := x.Last(b.vertexAt, b.edgeAt)
		c.Between[last] = append(c.Between[last], x)
		if d.rest[i] {
			c.Rest[last] = append(c.Rest[last], x)
		}
	}
	for i := range o.Steps {
		for _, r := range d.readings(o, i, b.edgeAt) {
			b.reading(&o.Steps[i], number, d, r)
		}
	}
	return c
}

// reading makes a reading of one of the order's Conditions part of a step's.
func (b *conditionsBuilder) reading(st *Step, number int, d *differences, r reading) {
	x := b.number(d.values[r.value])
	at := slices.IndexFunc(st.Readings, func(o Reading) bool { return o.Value == x })
	if at < 0 {
		at = len(st.Readings)
		v := d.values[r.value]
		st.Readings = append(st.Readings, Reading{Value: x, Edge: v.edge, Back: r.back, Column: v.column})
	}
	to := &st.Readings[at]
	to.Of |= 1 << number
	to.Limits = b.put(to.Limits, number, d, r.limits)
	if r.beside != nil {
		to.Beside = b.put(to.Beside, number, d, r.beside)
	}
}

// put makes limits those of one of the order's Conditions.
func (b *conditionsBuilder) put(all [][]Limit, number int, d *differences, limits []Limit) [][]Limit {
	all = append(all, make([][]Limit, number+1-len(all))...)
	for _, l := range limits {
		switch l.Kind {
		case OfSum:
			l.Sum.number(b, d)
		case Below, Above: // they read no other value
		default:
			l.Value = b.number(d.values[l.Value])
		}
		all[number] = append(all[number], l)
	}
	return all
}

// number numbers the values that the order reads.
func (b *conditionsBuilder) number(v value) int {
	at := slices.Index(b.values, v)
	if at < 0 {
		at = len(b.values)
		b.values = append(b.values, v)
		b.o.Columns = append(b.o.Columns, v.column)
	}
	return at
}
