package pattern

import (
	"errors"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"motifd/matcher"
)

func parseCypher(src string, b *builder) error {
	ast, err := cypherParser.ParseString("", src)
	if err != nil {
		return explain(src, err, b)
	}
	p := &cypherBuilder{
		builder:  b,
		vertexOf: make(map[string]int),
		edgeOf:   make(map[string]position),
		labelAt:  make(map[int]position),
	}
	for _, m := range ast.Matches {
		for _, path := range m.Paths {
			if err := p.path(path); err != nil {
				return err
			}
		}
	}
	if ast.Return == nil {
		return nil
	}
	for _, n := range ast.Return.Names {
		name, err := p.variable(n, inReturn)
		if err != nil {
			return err
		}
		if !p.known(name) {
			return p.fail(at(n.Pos), "RETURN names %s, which no MATCH mentions", short(name))
		}
	}
	return nil
}

// explain turns an error of the parser into one that names what is not supported.
func explain(src string, err error, b *builder) error {
	var unexpected *participle.UnexpectedTokenError
	if !errors.As(err, &unexpected) {
		var parse participle.Error
		if errors.As(err, &parse) {
			return b.fail(at(parse.Position()), "%s", parse.Message())
		}
		return b.fail(position{1, 1}, "%v", err)
	}
	tokens, lexErr := cypherParser.Lex("", strings.NewReader(src))
	if lexErr != nil { // The last rule of the lexer matches anything.
		return b.fail(position{1, 1}, "%v", lexErr)
	}
	i := 0
	for i < len(tokens)-1 && tokens[i].Pos.Offset < unexpected.Unexpected.Pos.Offset {
		i++
	}
	where, msg := unsupported(tokens, i)
	return b.fail(at(where), "%s", msg)
}

func at(p lexer.Position) position { return position{p.Line, p.Column} }

// cypherBuilder gives the variables of a query their vertices and edges.
type cypherBuilder struct {
	*builder
	vertexOf map[string]int
	edgeOf   map[string]position // where the edge was named
	labelAt  map[int]position    // where the vertex got its label
}

func (p *cypherBuilder) known(name string) bool {
	_, edge := p.edgeOf[name]
	_, vertex := p.vertexOf[name]
	return edge || vertex
}

func (p *cypherBuilder) path(path *cypherPath) error {
	from, err := p.node(path.Head)
	if err != nil {
		return err
	}
	for _, hop := range path.Hops {
		to, err := p.node(hop.Node)
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
	label, err := p.label(n.Label)
	if err != nil {
		return 0, err
	}
	name, err := p.variable(n.Name, inNode)
	if err != nil {
		return 0, err
	}
	if first, ok := p.edgeOf[name]; ok {
		return 0, p.fail(
			at(n.Name.Pos),
			"%s is an edge since %d:%d; a vertex needs a name of its own",
			short(name),
			first.line,
			first.col,
		)
	}
	v, again := p.vertexOf[name]
	if !again {
		where := at(n.Pos)
		if n.Name != nil {
			where = at(n.Name.Pos)
		}
		if v, err = p.addVertex(where, name, label); err != nil {
			return 0, err
		}
		if name != "" {
			p.vertexOf[name] = v
		}
	}
	if label == "" {
		return v, nil
	}
	switch had := p.vertices[v].Label; {
	case had == "" || !again:
		p.vertices[v].Label, p.labelAt[v] = label, at(n.Label.Pos)
	case had != label:
		first := p.labelAt[v]
		return 0, p.fail(
			at(n.Label.Pos),
			"vertex %s has the label %s since %d:%d; it cannot have the label %s too: a vertex has one label",
			short(name),
			short(had),
			first.line,
			first.col,
			short(label),
		)
	}
	return v, nil
}

func (p *cypherBuilder) hop(h *cypherHop, from, to int) error {
	e := matcher.QueryEdge{From: from, To: to, Either: h.Left == h.Right}
	switch {
	case h.Left && h.Right:
		return p.fail(at(h.Pos), "an edge with two arrow heads is not supported; write -- for an edge in either "+
			"direction")
	case !e.Either && !p.opt.Directed:
		return p.fail(at(h.Pos), "the edge has a direction, but the graph is undirected; write -- or -[..]-")
	case h.Left:
		e.From, e.To = to, from
	}
	where := at(h.Pos)
	if h.Edge != nil {
		var err error
		if e.Label, err = p.label(h.Edge.Label); err != nil {
			return err
		}
		if e.Name, err = p.variable(h.Edge.Name, inEdge); err != nil {
			return err
		}
		if e.Name != "" {
			where = at(h.Edge.Name.Pos)
		}
		if v, ok := p.vertexOf[e.Name]; ok {
			first := p.vertexAt[v]
			return p.fail(
				where,
				"%s is a vertex since %d:%d; an edge needs a name of its own",
				short(e.Name),
				first.line,
				first.col,
			)
		}
		if first, ok := p.edgeOf[e.Name]; ok {
			return p.fail(where, "the edge %s stands at %d:%d already; every edge has a name of its own, or none",
				short(e.Name), first.line, first.col)
		}
		if e.Name != "" {
			p.edgeOf[e.Name] = where
		}
	}
	return p.addEdge(where, e)
}

// variable returns the name of a vertex or edge, "" for an unnamed one.
func (p *cypherBuilder) variable(n *cypherName, where spot) (string, error) {
	if n == nil {
		return "", nil
	}
	if isReserved(n.Text) {
		return "", p.fail(at(n.Pos), "%s", refuseReserved(n.Text, where))
	}
	return p.unquote(n)
}

func (p *cypherBuilder) label(n *cypherName) (string, error) {
	if n == nil {
		return "", nil
	}
	return p.unquote(n)
}

func (p *cypherBuilder) unquote(n *cypherName) (string, error) {
	if n.Text[0] != '`' {
		return n.Text, nil
	}
	name := strings.ReplaceAll(n.Text[1:len(n.Text)-1], "``", "`")
	if name == "" {
		return "", p.fail(at(n.Pos), "an empty name; leave it out, with its colon, when anything may stand here")
	}
	return name, nil
}
