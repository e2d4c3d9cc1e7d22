package monitor

import (
	"encoding/hex"
	"fmt"
	"slices"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
	"motifd/matcher"
	"motifd/matcher/condition"
	"motifd/stream/codec"
)

// Delta is one result: a record of docs/formats.md as a value. It shares no memory with the Monitor.
type Delta struct {
	Batch    uint64 // of the Monitor: 1, 2, ...
	Index    uint64 // in the batch
	Query    string
	Version  uint64
	Sign     dyngraph.Sign // whether it appears, disappears or goes on with other values
	Snapshot bool          // a result of Add; it has no Anchor
	// ID names the match: what appears and disappears under one ID is the same match (DESIGN S6). It is "" where there
	// is no match: in counts, in transitions of an exists query, and in notices.
	ID       string
	Vertices []Vertex // of the match, in the order of the pattern
	Edges    []Edge   // likewise
	// Fields are the values that RETURN lists, elements under another name left out.
	Fields []Field
	// Anchor is the update that completed or broke the match (DESIGN A2).
	Anchor *dyngraph.Update
	Count  matcher.Count // of a query that emits counts
	// Notice tells what a limit left out, in place of a result (DESIGN S11); nil in results.
	Notice *matcher.Notice
	// LossySince is the batch since which some matches of the query were left out, 0 for none. A match that disappears
	// may be one that was never reported.
	LossySince uint64
}

// Vertex is a vertex of a match.
type Vertex struct {
	Name       string // in the pattern; t#0, t#1, ... of the inner vertices of a path t
	Key, Label string
	// Labels are those of a vertex that may have several, ascending; Label is "" then.
	Labels []string
	Values []property.Value // of the declared properties, by column (dyngraph.Graph.VertexColumns)
}

// Edge is an edge of a match. In an undirected graph From is the lower key.
type Edge struct {
	Name            string // in the pattern; t[0], t[1], ... of the edges of a path t
	From, To, Label string // keys of the ends, and the label
	Attr            dyngraph.Attr
}

// Field is a value that RETURN lists.
type Field struct {
	Name  string
	Value property.Value // null where it is an exact number beyond 64 bits, which a query with WITH can have
	// Wide is the value of a field of a query with WITH.
	Wide condition.Wide
	// Of collect(x)[..N]: the edges, without names; of collect(x.p)[..N] the values.
	Edges  []Edge
	Values []property.Value
}

// Op returns "+" of what appears, "-" of what disappears, "~" of what goes on with other values, and "!" of a notice.
func (d Delta) Op() string {
	if d.Notice != nil {
		return "!"
	}
	return d.Sign.String()
}

// Key returns the key of the data vertex that a pattern vertex is mapped to, "" if there is none of that name.
func (d Delta) Key(name string) string {
	for i := range d.Vertices {
		if d.Vertices[i].Name == name {
			return d.Vertices[i].Key
		}
	}
	return ""
}

// Each returns a receiver for Add and Apply that calls f with each result.
func Each(f func(Delta) error) func(*matcher.Event) error {
	return func(ev *matcher.Event) error {
		d := Delta{Batch: ev.Batch, Query: ev.Query.Name, Version: ev.Query.Version, Sign: ev.Sign,
			Snapshot: ev.Snapshot, Count: ev.Count, LossySince: ev.LossySince}
		if ev.Anchor != nil {
			anchor := *ev.Anchor
			d.Anchor = &anchor
		}
		if ev.Kind == matcher.EventNotice {
			notice := ev.Notice
			d.Notice = &notice
		}
		for i := range ev.Records() {
			d.Index = ev.FirstIndex + uint64(i)
			if ev.Kind == matcher.EventMatches {
				if err := d.resolve(ev, i); err != nil {
					return err
				}
			}
			if err := f(d); err != nil {
				return err
			}
		}
		return nil
	}
}

// declaredValues returns the values of a vertex by column, without its labels.
func declaredValues(view dyngraph.View, v dyngraph.VertexID) []property.Value {
	values := view.VertexValues(v)
	if column, ok := view.Graph().VertexColumns().Labels(); ok && column < len(values) {
		values[column] = property.Value{}
	}
	return property.WithoutNulls(values)
}

// edgeOf returns an edge without a name.
func edgeOf(view dyngraph.View, e dyngraph.EdgeIndex) Edge {
	v, w, label := view.Edge(e)
	from, to := view.Key(v), view.Key(w)
	if !view.Graph().Directed() && from > to {
		from, to = to, from
	}
	return Edge{From: from, To: to, Label: view.LabelName(label), Attr: view.Attr(e)}
}

// resolve sets the match to that of a row.
func (d *Delta) resolve(ev *matcher.Event, row int) error {
	q, view := ev.Pattern(), ev.View
	id, err := codec.MatchID(q, view, ev.Rows.Row(row))
	if err != nil {
		return fmt.Errorf("query %q: %w", q.Name, err)
	}
	d.ID = hex.EncodeToString(id[:])
	d.Vertices, d.Edges = make([]Vertex, len(q.Vertices)), make([]Edge, len(q.Edges))
	for i := range q.Vertices {
		v := ev.Rows.Vertex(row, i)
		d.Vertices[i] = Vertex{Name: q.Vertices[i].Name, Key: view.Key(v), Label: view.LabelName(view.Label(v)),
			Labels: slices.Collect(view.Labels(v).EachLabel()), Values: declaredValues(view, v)}
	}
	for i := range q.Edges {
		d.Edges[i] = edgeOf(view, ev.Rows.Edge(row, i))
		d.Edges[i].Name = q.Edges[i].Name
	}
	d.Fields = nil
	if q.Groups != nil {
		for i, w := range codec.WideValues(q, view, ev.Rows.Row(row)) {
			f := &q.Fields[i]
			if f.Formula == nil && !f.Element.Aggregate {
				continue
			}
			field := Field{Name: f.Name, Value: w.Narrow(), Wide: w}
			if at := f.Element.Index; f.Element.Aggregate && q.Groups.Aggregate(at).IsList() {
				row := ev.Rows.Row(row)
				if field.Values = codec.ListedValues(q, view, row, at); field.Values == nil {
					for _, e := range q.ListOf(row, at) {
						field.Edges = append(field.Edges, edgeOf(view, dyngraph.EdgeIndex(e)))
					}
				}
			}
			d.Fields = append(d.Fields, field)
		}
	} else if len(q.Fields) > 0 {
		for i, v := range codec.FieldValues(q, view, ev.Rows.Row(row)) {
			if q.Fields[i].Formula != nil {
				d.Fields = append(d.Fields, Field{Name: q.Fields[i].Name, Value: v})
			}
		}
	}
	return nil
}
