package matchertest

import (
	"math/rand/v2"
	"slices"
	"strings"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
)

// types are the properties that RandomSchema draws from, with the types that one may have.
var types = []struct {
	name  string
	types []property.Type
}{
	{"n", []property.Type{{Kind: property.Int64}}},
	{"amount", []property.Type{{Kind: property.Decimal, Scale: 2}, {Kind: property.Int64}}},
	{"rate", []property.Type{{Kind: property.Float64}}},
	{"code", []property.Type{{Kind: property.String}}},
	{"flag", []property.Type{{Kind: property.Bool}, {Kind: property.String}}},
	{"ts", []property.Type{{Kind: property.Timestamp}}},
}

// RandomSchema declares properties of edges: some for every label, some for single ones.
func RandomSchema(rng *rand.Rand, labels Labels) *property.Schema {
	s := &property.Schema{Edges: property.Declarations{}}
	for _, p := range types {
		t := p.types[rng.IntN(len(p.types))]
		if rng.IntN(2) == 0 {
			declare(s, property.Any, p.name, t)
			continue
		}
		for _, label := range labels.Edge {
			if label != "" && rng.IntN(4) > 0 {
				declare(s, label, p.name, p.types[rng.IntN(len(p.types))])
			}
		}
	}
	return s
}

func declare(s *property.Schema, label, name string, t property.Type) {
	if s.Edges[label] == nil {
		s.Edges[label] = map[string]property.Type{}
	}
	s.Edges[label][name] = t
}

// randomValue draws one of few values of a type, or null, so that equal ones and changes to and fro are frequent.
func randomValue(rng *rand.Rand, t property.Type) property.Value {
	if rng.IntN(6) == 0 {
		return property.Value{}
	}
	whole := int64(rng.IntN(4))
	if rng.IntN(12) == 0 {
		whole += 1 << 53
	}
	switch t.Kind {
	case property.Int64:
		return property.Int(whole)
	case property.Decimal:
		return property.Units(50*whole, t.Scale)
	case property.Timestamp:
		return property.Time(whole)
	case property.Bool:
		return property.Truth(whole > 1)
	case property.String:
		return property.Text([]string{"", "a", "ab", "b"}[whole%4])
	}
	v, err := property.Float([]float64{0, 0.5, 1, 1 << 53}[whole%4])
	if err != nil {
		panic("matchertest: " + err.Error()) // all are finite
	}
	return v
}

// SetValues draws what the insertions of messages say of declared properties.
func SetValues(rng *rand.Rand, msgs []dyngraph.Message, columns *property.Columns) {
	for i := range msgs {
		for j := range msgs[i].Updates {
			u := &msgs[i].Updates[j]
			if u.Op != dyngraph.InsertEdge {
				continue
			}
			if columns.Declares(u.Label, property.TS) {
				v := randomValue(rng, property.Type{Kind: property.Timestamp})
				u.Attr.TS, u.Attr.HasTS = v.Whole(), !v.IsNull()
			}
			u.Attr.Values = nil
			for _, at := range columns.Under(u.Label) {
				for len(u.Attr.Values) <= at {
					u.Attr.Values = append(u.Attr.Values, property.Value{})
				}
				u.Attr.Values[at] = randomValue(rng, columns.All()[at].Type)
			}
		}
	}
}

// declared is what a graph keeps of an edge's declared properties, by name.
type declared map[string]property.Value

// declaredOf returns the declared values of an edge with a label; value gives that of a column.
func declaredOf(columns *property.Columns, label string, value func(column int) property.Value) declared {
	if columns == nil {
		return nil
	}
	d := declared{}
	if columns.Declares(label, property.TS) {
		d["ts"] = value(property.TS)
	}
	for _, at := range columns.Under(label) {
		d[columns.All()[at].Name] = value(at)
	}
	return d
}

// version names what an edge's declared values are; "" without any.
func (d declared) version() string {
	var all []string
	for name, v := range d {
		if !v.IsNull() {
			all = append(all, name+"="+v.String())
		}
	}
	slices.Sort(all)
	return strings.Join(all, ",")
}
