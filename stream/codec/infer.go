package codec

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"motifd/dyngraph"
	"motifd/dyngraph/property"
)

// Inference finds what the properties of updates may be declared as: by label and name the narrowest type that all
// values have. The updates are those of a decoder with DecoderOptions.KeepProps.
type Inference struct {
	// SeveralLabels declares what vertices have for all of them, as they may have several labels.
	SeveralLabels bool

	edges    sideInference
	vertices sideInference
	times    map[string]bool // labels of edges that have ts
	s        scanner
	skipped  []byte // scratch
}

// sideInference has the properties that were seen, of edges or of vertices: label -> property.
type sideInference map[string]map[string]*property.Guess

// NewInference returns an Inference that has seen nothing.
func NewInference() *Inference {
	return &Inference{edges: sideInference{}, vertices: sideInference{}, times: map[string]bool{},
		s: scanner{maxDepth: maxDepth}}
}

// Add notes what an update in a format has.
func (in *Inference) Add(u *dyngraph.Update, format string) error {
	side, label := in.edges, u.Label
	if u.Op.OfVertex() {
		if side = in.vertices; in.SeveralLabels {
			label = ""
		}
	} else if u.Attr.HasTS {
		in.times[u.Label] = true
	}
	if len(u.Attr.Props) == 0 {
		return nil
	}
	s := &in.s
	s.reset(u.Attr.Props)
	s.i++
	for first := true; ; first = false {
		name, _, more, err := s.member(first)
		if err != nil {
			return err
		}
		if !more {
			return nil
		}
		g := side.guess(label, string(name))
		start := s.i
		if in.skipped, err = s.value(in.skipped[:0], 1); err != nil {
			return err
		}
		raw := u.Attr.Props[start:s.i]
		if format != FormatCSV {
			g.AddJSON(raw)
			continue
		}
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return fmt.Errorf("a cell as JSON: %w", err)
		}
		g.AddText(text)
	}
}

func (s sideInference) guess(label, name string) *property.Guess {
	of := s[label]
	if of == nil {
		of = make(map[string]*property.Guess)
		s[label] = of
	}
	g := of[name]
	if g == nil {
		g = new(property.Guess)
		of[name] = g
	}
	return g
}

// Schema returns the declarations, nil if there is nothing to declare, and why some properties have none. What updates
// without a label have is declared for every label.
func (in *Inference) Schema() (schema *property.Schema, undeclared []string) {
	schema = &property.Schema{}
	schema.Edges, undeclared = in.edges.declarations("edges")
	var more []string
	schema.Vertices, more = in.vertices.declarations("vertices")
	declareTimes(schema, in.times)
	if len(schema.Edges) == 0 && len(schema.Vertices) == 0 {
		schema = nil
	}
	return schema, append(undeclared, more...)
}

// declareTimes declares ts for the labels of edges that have it.
func declareTimes(schema *property.Schema, labels map[string]bool) {
	if labels[""] {
		labels = map[string]bool{property.Any: true}
	}
	for label := range labels {
		if schema.Edges[label] == nil {
			schema.Edges[label] = make(map[string]property.Type)
		}
		schema.Edges[label][property.TimeName] = property.Type{Kind: property.Timestamp}
	}
}

func (s sideInference) declarations(what string) (d property.Declarations, undeclared []string) {
	s.mergeUnlabelled()
	d = property.Declarations{}
	for _, label := range slices.Sorted(maps.Keys(s)) {
		for _, name := range slices.Sorted(maps.Keys(s[label])) {
			t, why := s[label][name].Type()
			switch {
			case name == property.TimeName:
				why = "the name is that of the time of edges"
			case name == "":
				why = "its name is empty"
			case t.Kind != property.Null:
				if d[label] == nil {
					d[label] = make(map[string]property.Type)
				}
				d[label][name] = t
			}
			if why != "" {
				undeclared = append(undeclared, fmt.Sprintf("%s.%s.%s: %s", what, label, name, why))
			}
		}
	}
	return d, undeclared
}

// mergeUnlabelled sees what updates without a label have as a property of every label, and of none alone: two
// declarations of a name would have to agree.
func (s sideInference) mergeUnlabelled() {
	for name := range s[""] {
		all := s.guess(property.Any, name)
		for label, of := range s {
			if g := of[name]; g != nil && label != property.Any {
				all.Merge(g)
				if delete(of, name); len(of) == 0 && label != "" {
					delete(s, label)
				}
			}
		}
	}
	delete(s, "")
}
