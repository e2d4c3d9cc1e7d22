package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"motifd/dyngraph/property"
	"motifd/matcher/condition"
	"motifd/matcher/pattern"
)

// Properties declares properties: label, or * for every label, then name, then type.
type Properties struct {
	Edges    property.Declarations `yaml:"edges"`
	Vertices property.Declarations `yaml:"vertices"`
}

// What graph.edge_identity says an edge is.
const (
	EdgeIdentityEnds = "ends" // its ends and its label
	EdgeIdentityID   = "id"   // these and its id
)

// Schema returns the declared properties, and whether a vertex may have several labels; nil for neither.
func (g *Graph) Schema() *property.Schema {
	schema := &property.Schema{Edges: someDeclared(g.Properties.Edges), Vertices: someDeclared(g.Properties.Vertices),
		SeveralLabels: g.VertexLabels == VertexLabelsSeveral}
	if !declares(schema) && !schema.SeveralLabels {
		return nil
	}
	return schema
}

// declares tells whether a schema declares a property.
func declares(s *property.Schema) bool { return s.Edges != nil || s.Vertices != nil }

// someDeclared returns the labels that declare something, nil for none.
func someDeclared(all property.Declarations) (some property.Declarations) {
	for label, props := range all {
		if len(props) == 0 {
			continue
		}
		if some == nil {
			some = make(property.Declarations)
		}
		some[label] = props
	}
	return some
}

// EdgeIDs tells whether ids identify edges: graph.edge_identity, whose default is id where properties are declared or
// edges expire.
func (g *Graph) EdgeIDs() bool {
	schema := g.Schema()
	return g.EdgeIdentity == EdgeIdentityID ||
		g.EdgeIdentity == "" && (schema != nil && declares(schema) || len(g.Retention) > 0)
}

// properties checks what graph declares.
func (v *validator) properties() {
	g := &v.c.Graph
	schema := g.Schema()
	if schema != nil {
		if err := (&property.Schema{Edges: schema.Edges}).Validate(); err != nil {
			v.fail("graph.properties.edges", "%v", err)
		}
		vertices := &property.Schema{Vertices: schema.Vertices, SeveralLabels: schema.SeveralLabels}
		if err := vertices.Validate(); err != nil {
			v.fail("graph.properties.vertices", "%v", err)
		}
	}
	if g.VertexLabels != "" {
		v.oneOf("graph.vertex_labels", g.VertexLabels, VertexLabelsOne, VertexLabelsSeveral)
	}
	if g.EdgeIdentity != "" {
		v.oneOf("graph.edge_identity", g.EdgeIdentity, EdgeIdentityEnds, EdgeIdentityID)
	}
}

// ParseProperties reads a declaration of properties as graph.properties has it, in YAML or JSON. name stands for the
// text in errors.
func ParseProperties(name string, text []byte) (*property.Schema, error) {
	p := &Properties{}
	if errs := bindText(p, name, text); len(errs) > 0 {
		return nil, errs
	}
	schema := (&Graph{Properties: *p}).Schema()
	if schema == nil {
		return nil, fmt.Errorf("%s: no property is declared; write edges: {LABEL: {NAME: TYPE}}, or vertices", name)
	}
	if err := schema.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return schema, nil
}

// FormatProperties writes what ParseProperties reads, in a line.
func FormatProperties(s *property.Schema) string {
	var sides []string
	for _, side := range []struct {
		name string
		all  property.Declarations
	}{{"edges", s.EdgeDeclarations()}, {"vertices", s.VertexDeclarations()}} {
		var labels []string
		for _, label := range slices.Sorted(maps.Keys(side.all)) {
			var props []string
			for _, name := range slices.Sorted(maps.Keys(side.all[label])) {
				props = append(props, plainOrQuoted(name)+": "+side.all[label][name].String())
			}
			labels = append(labels, plainOrQuoted(label)+": {"+strings.Join(props, ", ")+"}")
		}
		if len(labels) > 0 {
			sides = append(sides, side.name+": {"+strings.Join(labels, ", ")+"}")
		}
	}
	return "{" + strings.Join(sides, ", ") + "}"
}

// plainName matches names that YAML reads as a string without quotes, except for words like true and null.
var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func plainOrQuoted(name string) string {
	switch strings.ToLower(name) {
	case "null", "true", "false", "yes", "no", "on", "off", "y", "n":
	default:
		if plainName.MatchString(name) {
			return name
		}
	}
	quoted, _ := json.Marshal(name) // a string has JSON
	return string(quoted)
}

// Span is a time between events, in milliseconds, written with units: 90s, 24h, 7d, 1d12h.
type Span int64

// How a span is written, and the greatest number of days that spanOf takes.
const (
	spanForm     = "numbers with the units d, h, m, s and ms, such as 500ms, 90s, 7d or 1d12h"
	greatestSpan = "106751991166d"
)

// UnmarshalText reads a span.
func (s *Span) UnmarshalText(text []byte) error {
	ms, ok := spanOf(strings.TrimSpace(string(text)))
	if !ok || ms <= 0 {
		return fmt.Errorf("%q is not a span of time; write %s, from 1ms to %s", text, spanForm, greatestSpan)
	}
	*s = Span(ms)
	return nil
}

// String writes the span: 24h, 1h30m.
func (s Span) String() string { return condition.FormatSpan(int64(s)) }

// spanOf reads days before what a Duration takes.
func spanOf(text string) (ms int64, ok bool) {
	days, rest, found := strings.Cut(text, "d")
	if !found {
		days, rest = "0", text
	}
	n, err := strconv.ParseInt(days, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/(24*time.Hour).Milliseconds()-1 {
		return 0, false
	}
	ms = n * (24 * time.Hour).Milliseconds()
	if rest != "" {
		d, err := time.ParseDuration(rest)
		if err != nil || d < 0 || d%time.Millisecond != 0 {
			return 0, false
		}
		if ms += d.Milliseconds(); ms < 0 {
			return 0, false
		}
	}
	return ms, text != ""
}

// Param is the value of a pattern's parameter: a number, true or false, a string, a span of time (24h, 7d; in
// milliseconds), or a list of these.
type Param struct{ condition.Parameter }

// Params holds the values of a pattern's parameters by name.
type Params map[string]Param

// UnmarshalJSON reads an object, in which no name stands twice.
func (p *Params) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.New("it is no object")
	}
	all := make(Params)
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string) // the decoder takes nothing else for a name
		var param Param
		if err := d.Decode(&param); err != nil {
			return fmt.Errorf("%q: %w", name, err)
		}
		if _, twice := all[name]; twice {
			return fmt.Errorf("the parameter %q is given twice", name)
		}
		all[name] = param
	}
	*p = all
	return nil
}

// plain reads a value that stands without quotes.
func plain(text string) (property.Value, error) {
	if text == "true" || text == "false" {
		return property.Truth(text == "true"), nil
	}
	if v, err := property.Number(text); err == nil {
		return v, nil
	}
	if text != "" && text[0] >= '0' && text[0] <= '9' {
		if ms, ok := spanOf(text); ok {
			return property.Int(ms), nil
		}
		return property.Value{}, fmt.Errorf("%q is neither a number nor a span of time; a string that begins with a "+
			"digit stands in quotes", text)
	}
	return property.FromText(property.Type{Kind: property.String}, text)
}

// bindNode implements nodeBinder.
func (p *Param) bindNode(n ast.Node) error {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		v, err := nodeValue(n)
		p.Parameter = condition.Parameter{Values: []property.Value{v}}
		return err
	}
	p.Parameter = condition.Parameter{List: true}
	for _, item := range seq.Values {
		v, err := nodeValue(item)
		if err != nil {
			return err
		}
		p.Values = append(p.Values, v)
	}
	return nil
}

func nodeValue(n ast.Node) (property.Value, error) {
	text, ok := scalarText(n)
	if !ok {
		return property.Value{}, fmt.Errorf("expected a number, true or false, a string, a span such as 24h, or a "+
			"list of these, not %s", nodeName(n))
	}
	if s, ok := n.(*ast.StringNode); ok && s.Token.Type != token.SingleQuoteType &&
		s.Token.Type != token.DoubleQuoteType {
		return plain(text)
	}
	switch n.(type) {
	case *ast.StringNode, *ast.LiteralNode:
		return property.FromText(property.Type{Kind: property.String}, text)
	}
	return plain(text)
}

// UnmarshalJSON reads a JSON number, boolean, string, or list of these. A string is a string: write a span in
// milliseconds.
func (p *Param) UnmarshalJSON(text []byte) error {
	var list []json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil || list == nil {
		v, err := jsonValue(text)
		p.Parameter = condition.Parameter{Values: []property.Value{v}}
		return err
	}
	p.Parameter = condition.Parameter{List: true}
	for _, item := range list {
		v, err := jsonValue(item)
		if err != nil {
			return err
		}
		p.Values = append(p.Values, v)
	}
	return nil
}

func jsonValue(text []byte) (property.Value, error) {
	switch {
	case len(text) > 0 && text[0] == '"':
		return property.FromJSON(property.Type{Kind: property.String}, text)
	case string(text) == "true" || string(text) == "false":
		return property.Truth(string(text) == "true"), nil
	}
	v, err := property.Number(string(text))
	if err != nil {
		return v, fmt.Errorf("a parameter is a number, true or false, a string, or a list of these: %w", err)
	}
	return v, nil
}

// MarshalJSON implements json.Marshaler: the inverse of UnmarshalJSON.
func (p Param) MarshalJSON() ([]byte, error) {
	values := make([]any, len(p.Values))
	for i, v := range p.Values {
		switch v.Type().Kind {
		case property.String:
			values[i] = v.Str()
		case property.Bool:
			values[i] = v.True()
		default:
			values[i] = json.Number(v.String())
		}
	}
	if p.List || len(values) != 1 {
		return json.Marshal(values)
	}
	return json.Marshal(values[0])
}

// ParseParam reads what a parameter is bound to as the configuration has it: 100.00, 24h, "text", [1, 2].
func ParseParam(text string) (Param, error) {
	var section struct {
		Value Param `yaml:"value"`
	}
	if errs := bindText(&section, "", []byte("value: "+text)); len(errs) > 0 {
		if bad := (*Error)(nil); errors.As(errs[0], &bad) {
			return Param{}, errors.New(bad.Msg)
		}
		return Param{}, errs[0]
	}
	if len(section.Value.Values) == 0 && !section.Value.List {
		return Param{}, errors.New("the value is empty; a string that is empty stands in quotes")
	}
	return section.Value, nil
}

// Declared returns what the text of a pattern is resolved against.
func Declared(schema *property.Schema, params Params) pattern.Declared {
	d := pattern.Declared{Schema: schema}
	if len(params) > 0 {
		d.Parameters = make(map[string]condition.Parameter, len(params))
		for name, p := range params {
			d.Parameters[name] = p.Parameter
		}
	}
	return d
}
