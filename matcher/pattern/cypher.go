package pattern

import (
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"

	"motifd/matcher"
	"motifd/matcher/condition"
)

// readCypher parses a source.
func readCypher(src string, b *builder) (*cypherBuilder, *cypherQuery, error) {
	tokens, err := cypherTokens(src, b)
	if err != nil {
		return nil, nil, err
	}
	ast, err := (&parser{builder: b, tokens: tokens}).query()
	return &cypherBuilder{
		builder:  b,
		vertexOf: make(map[string]int),
		edgeOf:   make(map[string]int),
		labelAt:  make(map[int]position),
	}, ast, err
}

func at(p lexer.Position) position { return position{p.Line, p.Column} }

// cypherBuilder gives the variables of a query their vertices and edges.
type cypherBuilder struct {
	*builder
	vertexOf map[string]int
	edgeOf   map[string]int
	labelAt  map[int]position // where the vertex got its labels

	several      bool // a vertex may have several labels
	vertexLabels []condition.Labels
	edgeLabels   []condition.Labels
	maps         []elementMap
	denied       []pendingNegation
	expression   error  // the error of the first label expression that is more than a label
	timing       timing // the demands of WHERE on the ts of edges and paths
	within       string // the variable of the all(..) in hand

	clause matcher.MatchClause // the variables that the current MATCH mentions
}

// elementMap is a property map with its element.
type elementMap struct {
	of      condition.Ref
	entries []*cypherEntry
}

func (p *cypherBuilder) match(m *cypherMatch) error {
	p.clause = matcher.MatchClause{}
	for _, path := range m.paths {
		if err := p.path(path); err != nil {
			return err
		}
	}
	return nil
}

// returns checks the names that RETURN lists.
func (p *cypherBuilder) returns(r *cypherReturn) error {
	if r == nil {
		return nil
	}
	for _, item := range r.items {
		if item.element == nil {
			continue
		}
		name, err := p.variable(item.element, inReturn)
		if err != nil {
			return err
		}
		if !p.known(name) {
			return p.fail(at(item.element.pos), "RETURN names %s, which no MATCH mentions", short(name))
		}
	}
	return nil
}

func (p *cypherBuilder) known(name string) bool {
	_, edge := p.edgeOf[name]
	_, vertex := p.vertexOf[name]
	return edge || vertex
}

func (p *cypherBuilder) path(path *cypherPath) error {
	from, err := p.node(path.head)
	if err != nil {
		return err
	}
	for _, hop := range path.hops {
		to, err := p.node(hop.node)
		if err != nil {
			return err
		}
		if err := p.hop(hop, from, to); err != nil {
			return err
		}
		from = to
	}
	return nil
}

func (p *cypherBuilder) node(n *cypherNode) (int, error) {
	labels, err := p.labels(n.labels, false)
	if err != nil {
		return 0, err
	}
	name, err := p.variable(n.name, inNode)
	if err != nil {
		return 0, err
	}
	if e, ok := p.edgeOf[name]; ok {
		first := p.edgeAt[e]
		return 0, p.fail(
			at(n.name.pos),
			"%s is an edge since %d:%d; a vertex needs a name of its own",
			short(name),
			first.line,
			first.col,
		)
	}
	v, again := p.vertexOf[name]
	if !again {
		where := at(n.pos)
		if n.name != nil {
			where = at(n.name.pos)
		}
		if v, err = p.addVertex(where, name, ""); err != nil {
			return 0, err
		}
		p.vertexLabels = append(p.vertexLabels, nil)
		if name != "" {
			p.vertexOf[name] = v
		}
	}
	p.addMap(condition.Ref{Index: v}, n.props)
	if !slices.Contains(p.clause.Vertices, v) {
		p.clause.Vertices = append(p.clause.Vertices, v)
	}
	if labels == nil {
		return v, nil
	}
	label, anyOf := "", []string(nil)
	if !p.several {
		label, anyOf = p.alternatives(n.labels, labels, false)
	}
	switch had := p.vertexLabels[v]; {
	case had == nil:
		p.vertices[v].Label, p.vertices[v].AnyOf = label, anyOf
		p.vertexLabels[v], p.labelAt[v] = labels, at(n.labels.pos)
	case !reflect.DeepEqual(had, labels):
		return 0, p.otherLabels(n, v, labels)
	}
	return v, nil
}

// otherLabels refuses a second mention of a vertex with labels that the first one does not have.
func (p *cypherBuilder) otherLabels(n *cypherNode, v int, labels condition.Labels) error {
	plain := func(s string) string { return s }
	why := "a vertex has one label"
	if p.several {
		why = "write all its labels at one mention, as in (a:X:Y)"
	}
	return p.fail(
		at(n.labels.pos),
		"vertex %s has the label %s since %d:%d; it cannot have the label %s too: %s",
		short(p.vertices[v].Name),
		short(p.vertexLabels[v].Format(plain)),
		p.labelAt[v].line,
		p.labelAt[v].col,
		short(labels.Format(plain)),
		why,
	)
}

// alternatives returns a label expression as a query stores it: one label, or alternatives. It notes the first
// expression that is more than that.
func (p *cypherBuilder) alternatives(l *cypherLabels, labels condition.Labels, edge bool) (label string,
	anyOf []string) {
	if label, ok := labels.Single(); ok {
		return label, nil
	}
	for _, a := range labels {
		if len(a.All) != 1 || len(a.None) > 0 {
			if p.expression == nil {
				why := "! is for vertices that may have several labels (graph.vertex_labels: several)"
				if edge {
					why = "! in the label of an edge is not supported"
				}
				p.expression = p.fail(at(l.pos), "%s; write one label, or alternatives as in A|B", why)
			}
			return "", nil
		}
		anyOf = append(anyOf, a.All[0])
	}
	return "", anyOf
}

// labelConditions returns the conditions on the labels of vertices, where vertices may have several.
func (p *cypherBuilder) labelConditions() (all []*condition.Condition) {
	for v, labels := range p.vertexLabels {
		if p.several && labels != nil {
			at := p.labelAt[v]
			all = append(all, condition.Labelled(v, labels, condition.Pos{Line: at.line, Col: at.col}))
		}
	}
	return all
}

func (p *cypherBuilder) addMap(of condition.Ref, entries []*cypherEntry) {
	if len(entries) > 0 {
		p.maps = append(p.maps, elementMap{of, entries})
	}
}

func (p *cypherBuilder) hop(h *cypherHop, from, to int) error {
	e := matcher.QueryEdge{From: from, To: to, Either: h.left == h.right}
	switch {
	case h.left && h.right:
		return p.fail(at(h.pos), "an edge with two arrow heads is not supported; write -- for an edge in either "+
			"direction")
	case !e.Either && !p.opt.Directed:
		return p.fail(at(h.pos), "the edge has a direction, but the graph is undirected; write -- or -[..]-")
	case h.left:
		e.From, e.To = to, from
	}
	where := at(h.pos)
	var labels condition.Labels
	if h.edge != nil {
		var err error
		if labels, err = p.labels(h.edge.labels, true); err != nil {
			return err
		}
		e.Label, e.AnyOf = p.alternatives(h.edge.labels, labels, true)
		e.Hops = h.edge.hops
		if e.Name, err = p.variable(h.edge.name, inEdge); err != nil {
			return err
		}
		if e.Name != "" {
			where = at(h.edge.name.pos)
		}
		if err := p.newEdge(where, e.Name); err != nil {
			return err
		}
		p.addMap(condition.Ref{Edge: true, Index: len(p.edges)}, h.edge.props)
	}
	p.edgeLabels = append(p.edgeLabels, labels)
	p.clause.Edges = append(p.clause.Edges, len(p.edges))
	return p.addEdge(where, e)
}

// newEdge checks that the name of a new edge is free, and gives it to the edge.
func (p *cypherBuilder) newEdge(where position, name string) error {
	if v, ok := p.vertexOf[name]; ok {
		first := p.vertexAt[v]
		return p.fail(
			where,
			"%s is a vertex since %d:%d; an edge needs a name of its own",
			short(name),
			first.line,
			first.col,
		)
	}
	if e, ok := p.edgeOf[name]; ok {
		first := p.edgeAt[e]
		return p.fail(where, "the edge %s stands at %d:%d already; every edge has a name of its own, or none",
			short(name), first.line, first.col)
	}
	if name != "" {
		p.edgeOf[name] = len(p.edges)
	}
	return nil
}

// variable returns the name of a vertex or edge, "" for an unnamed one.
func (b *builder) variable(n *cypherName, where spot) (string, error) {
	if n == nil {
		return "", nil
	}
	if isReserved(n.text) {
		return "", b.fail(at(n.pos), "%s", refuseReserved(n.text, where))
	}
	return b.unquote(n)
}

// labels returns the demand on the labels of a vertex or an edge, nil for none.
func (p *cypherBuilder) labels(l *cypherLabels, edge bool) (condition.Labels, error) {
	labels, err := l.resolve(p.unquote)
	if err != nil {
		return nil, err
	}
	if a, ok := labels.Impossible(p.several && !edge); ok {
		return nil, p.fail(at(l.pos), "%s can never hold: %s", short(condition.Labels{a}.Format(
			func(s string) string { return s })), p.impossible(a, edge))
	}
	return labels, nil
}

func (p *cypherBuilder) impossible(a condition.Alternative, edge bool) string {
	switch {
	case len(a.All) < 2 || p.several && !edge:
		return "the same label is there and absent"
	case edge:
		return "an edge has one label; write X|Y for either"
	}
	return "a vertex has one label, unless graph.vertex_labels is several; write X|Y for either"
}

func (b *builder) unquote(n *cypherName) (string, error) {
	if n.text[0] != '`' {
		return n.text, nil
	}
	name := strings.ReplaceAll(n.text[1:len(n.text)-1], "``", "`")
	if name == "" {
		return "", b.fail(at(n.pos), "an empty name; leave it out, with its colon, when anything may stand here")
	}
	return name, nil
}
