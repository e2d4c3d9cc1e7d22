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

// RandomSeveral is RandomSchema where a vertex may have several labels: what is declared for vertices is so for all.
func RandomSeveral(rng *rand.Rand, labels Labels) *property.Schema {
	s := RandomSchema(rng, Labels{Edge: labels.Edge})
	s.SeveralLabels = true
	return s
}

// RandomSchema declares properties of edges: some for every label, some for single ones. Half of the schemas declare
// properties of vertices as well.
func RandomSchema(rng *rand.Rand, labels Labels) *property.Schema {
	s := &property.Schema{Edges: randomDeclarations(rng, labels.Edge)}
	if rng.IntN(2) == 0 {
		s.Vertices = randomDeclarations(rng, labels.Vertex)
		for _, props := range s.Vertices {
			delete(props, "ts") // it is the time of edges
		}
	}
	return s
}

func randomDeclarations(rng *rand.Rand, labels []string) property.Declarations {
	d := property.Declarations{}
	declare := func(label, name string, t property.Type) {
		if d[label] == nil {
			d[label] = map[string]property.Type{}
		}
		d[label][name] = t
	}
	for _, p := range types {
		t := p.types[rng.IntN(len(p.types))]
		if rng.IntN(2) == 0 {
			declare(property.Any, p.name, t)
			continue
		}
		for _, label := range labels {
			if label != "" && rng.IntN(4) > 0 {
				declare(label, p.name, p.types[rng.IntN(len(p.types))])
			}
		}
	}
	return d
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

// ReviseVertices adds to messages operations that give vertices values, of the keys that the messages name: most that
// were not there come in messages of their own.
func ReviseVertices(rng *rand.Rand, msgs []dyngraph.Message, columns *property.Columns) []dyngraph.Message {
	var keys []string
	seen := map[string]bool{}
	var all []dyngraph.Message
	for _, m := range msgs {
		for i := range m.Updates {
			u := &m.Updates[i]
			for _, key := range []string{u.From, u.To, u.Key} {
				if key != "" && !seen[key] {
					keys, seen[key] = append(keys, key), true
				}
			}
			if u.Op == dyngraph.InsertVertex {
				setVertexValues(rng, u, columns)
			}
		}
		all = append(all, m)
		for range rng.IntN(2) * rng.IntN(3) * min(1, len(keys)) {
			u := dyngraph.Update{Op: dyngraph.ReviseVertex, Key: keys[rng.IntN(len(keys))]}
			setVertexValues(rng, &u, columns)
			if rng.IntN(4) == 0 {
				u.Op, u.Named = dyngraph.InsertVertex, nil // without a label: it has the one that it has
			}
			all = append(all, dyngraph.Message{Updates: []dyngraph.Update{u}})
		}
	}
	for i := range all {
		for j := range all[i].Updates {
			all[i].Updates[j].Pos = dyngraph.Position{Offset: int64(i), Element: int32(j)}
		}
	}
	return all
}

// setVertexValues draws a value of each column, whatever the vertex's label declares, and which of them are named.
func setVertexValues(rng *rand.Rand, u *dyngraph.Update, columns *property.Columns) {
	u.Attr.Values, u.Named = nil, nil
	for at, c := range columns.All() {
		if c.Type.Kind == property.Labels { // they are in the label of an update
			u.Attr.Values = append(u.Attr.Values, property.Value{})
			continue
		}
		u.Attr.Values = append(u.Attr.Values, randomValue(rng, c.Type))
		if u.Op == dyngraph.ReviseVertex && rng.IntN(2) == 0 {
			u.Named = append(u.Named, at)
		}
	}
}

// SetValues draws what the insertions of messages say of declared properties.
func SetValues(rng *rand.Rand, msgs []dyngraph.Message, columns *property.Columns) {
	for i := range msgs {
		for j := range msgs[i].Updates {
			u := &msgs[i].Updates[j]
			if u.Op != dyngraph.InsertEdge {
				continue
			}
			under := columns.Under(u.Label)
			if under.Has(property.TS) {
				v := randomValue(rng, property.Type{Kind: property.Timestamp})
				u.Attr.TS, u.Attr.HasTS = v.Whole(), !v.IsNull()
			}
			u.Attr.Values = nil
			for _, at := range under.All() {
				for len(u.Attr.Values) <= at {
					u.Attr.Values = append(u.Attr.Values, property.Value{})
				}
				u.Attr.Values[at] = randomValue(rng, columns.All()[at].Type)
			}
		}
	}
}

// declared holds the declared properties that a graph keeps of an edge, by name.
type declared map[string]property.Value

// declaredOf returns the declared values of an edge with a label; value gives that of a column.
func declaredOf(columns *property.Columns, label string, value func(column int) property.Value) declared {
	if columns == nil {
		return nil
	}
	d := declared{}
	under := columns.Under(label)
	if under.Has(property.TS) {
		d["ts"] = value(property.TS)
	}
	for _, at := range under.All() {
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
