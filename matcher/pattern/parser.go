package pattern

import (
	"strings"

	"github.com/alecthomas/participle/v2/lexer"

	"motifd/matcher"
	"motifd/matcher/condition"
)

// parser reads tokens from left to right. One token decides what comes, two where a name may be a variable or the
// beginning of a property, so that an error stands where it is.
type parser struct {
	*builder
	tokens []lexer.Token
	i      int
	depth  int // of the expression in hand
	// negations are those that were read, by the expressions that stand for them.
	negations map[*condition.Expr]*cypherNegation
	// The current MATCH has colons between labels, or other signs.
	colons, signs bool
	aggregates    map[string]bool // that WITH has named so far
}

// cypherQuery is a source as written.
type cypherQuery struct {
	stages  []*cypherStage // those that end with a WITH
	matches []*cypherMatch // behind the last WITH
	fields  *cypherReturn  // nil without RETURN
}

type cypherMatch struct {
	paths []*cypherPath
	where *condition.Expr // nil without WHERE
	// negations are operands of the top-level ANDs of WHERE, which where does not have.
	negations []*cypherNegation
}

type cypherPath struct {
	head *cypherNode
	hops []*cypherHop
}

type cypherNode struct {
	pos    lexer.Position
	name   *cypherName
	labels *cypherLabels
	props  []*cypherEntry
}

type cypherHop struct {
	pos         lexer.Position
	left, right bool
	edge        *cypherEdge
	node        *cypherNode
}

type cypherEdge struct {
	name   *cypherName
	labels *cypherLabels
	hops   *matcher.Hops // nil of one edge
	props  []*cypherEntry
}

// cypherEntry is an entry of a property map.
type cypherEntry struct {
	key   *cypherName
	value *condition.Expr
}

type cypherName struct {
	pos  lexer.Position
	text string // as written
}

type cypherReturn struct {
	star  bool
	items []*cypherItem
}

// cypherItem is a field of RETURN: an element, or a value.
type cypherItem struct {
	pos     lexer.Position
	element *cypherName
	value   *condition.Expr
	as      *cypherName
}

func (p *parser) token() lexer.Token { return p.tokens[p.i] }

func (p *parser) after() lexer.Token { return p.tokens[min(p.i+1, len(p.tokens)-1)] }

// next takes the token.
func (p *parser) next() lexer.Token {
	t := p.tokens[p.i]
	p.i = min(p.i+1, len(p.tokens)-1)
	return t
}

// accept takes the token if it is this sign.
func (p *parser) accept(sign string) bool {
	if p.token().Value != sign || p.token().EOF() {
		return false
	}
	p.next()
	return true
}

func isKeyword(t lexer.Token, word string) bool {
	return t.Type == wordToken && strings.EqualFold(t.Value, word)
}

// keyword takes the token if it is this word.
func (p *parser) keyword(word string) bool {
	if !isKeyword(p.token(), word) {
		return false
	}
	p.next()
	return true
}

// unexpected returns the error of a token at which the parser cannot go on.
func (p *parser) unexpected() error {
	where, msg := unsupported(p.tokens, p.i)
	return p.fail(at(where), "%s", msg)
}

func (p *parser) expect(sign string) error {
	if !p.accept(sign) {
		return p.unexpected()
	}
	return nil
}

func isName(t lexer.Token) bool { return t.Type == wordToken || t.Type == quotedToken }

// name takes a name, or returns nil.
func (p *parser) name() *cypherName {
	if !isName(p.token()) {
		return nil
	}
	t := p.next()
	return &cypherName{t.Pos, t.Value}
}

func (p *parser) query() (*cypherQuery, error) {
	q := &cypherQuery{}
	for {
		switch t := p.token(); {
		case p.keyword("MATCH"):
			m, err := p.match()
			if err != nil {
				return nil, err
			}
			q.matches = append(q.matches, m)
			continue
		case len(q.matches) > 0 && p.keyword("WITH"):
			with, err := p.with(t)
			if err != nil {
				return nil, err
			}
			q.stages = append(q.stages, &cypherStage{q.matches, with})
			q.matches = nil
			continue
		}
		break
	}
	begun := len(q.matches)+len(q.stages) > 0
	if begun && p.keyword("RETURN") {
		var err error
		if q.fields, err = p.fields(); err != nil {
			return nil, err
		}
	}
	if begun {
		p.accept(";")
	}
	if !p.token().EOF() || !begun {
		return nil, p.unexpected()
	}
	return q, nil
}

func (p *parser) match() (*cypherMatch, error) {
	m := &cypherMatch{}
	p.colons, p.signs = false, false
	for {
		path, err := p.path()
		if err != nil {
			return nil, err
		}
		m.paths = append(m.paths, path)
		if !p.accept(",") {
			break
		}
	}
	if p.keyword("WHERE") {
		var err error
		if m.where, err = p.or(); err != nil {
			return nil, err
		}
		switch t := p.token(); {
		case t.EOF(), t.Value == ";", isKeyword(t, "MATCH"), isKeyword(t, "RETURN"), isKeyword(t, "WITH"):
		default:
			return nil, p.refuseExpression("")
		}
		m.where, m.negations = p.takeNegations(m.where)
		if err := p.refuseNegations(m.where); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (p *parser) path() (*cypherPath, error) {
	head, err := p.node()
	if err != nil {
		return nil, err
	}
	path := &cypherPath{head: head}
	for p.token().Value == "<" || p.token().Value == "-" {
		hop, err := p.hop()
		if err != nil {
			return nil, err
		}
		path.hops = append(path.hops, hop)
	}
	return path, nil
}

func (p *parser) node() (n *cypherNode, err error) {
	n = &cypherNode{pos: p.token().Pos}
	if err := p.expect("("); err != nil {
		return nil, err
	}
	n.name = p.name()
	if n.labels, n.props, err = p.demands(nil); err != nil {
		return nil, err
	}
	return n, p.expect(")")
}

func (p *parser) hop() (h *cypherHop, err error) {
	h = &cypherHop{pos: p.token().Pos, left: p.accept("<")}
	if err := p.expect("-"); err != nil {
		return nil, err
	}
	if p.accept("[") {
		h.edge = &cypherEdge{name: p.name()}
		if h.edge.labels, h.edge.props, err = p.demands(&h.edge.hops); err != nil {
			return nil, err
		}
		if err := p.expect("]"); err != nil {
			return nil, err
		}
	}
	if err := p.expect("-"); err != nil {
		return nil, err
	}
	h.right = p.accept(">")
	h.node, err = p.node()
	return h, err
}

// demands reads the labels and the property map of a vertex or an edge. hops receives the lengths of a path; it is nil
// for a vertex.
func (p *parser) demands(hops **matcher.Hops) (labels *cypherLabels, props []*cypherEntry, err error) {
	if p.accept(":") {
		if labels, err = p.labels(hops != nil); err != nil {
			return nil, nil, err
		}
	}
	if hops != nil && p.accept("*") {
		if *hops, err = p.hops(); err != nil {
			return nil, nil, err
		}
	}
	if p.accept("{") {
		props, err = p.entries()
	}
	return labels, props, err
}

// entries reads a property map behind its brace.
func (p *parser) entries() ([]*cypherEntry, error) {
	var all []*cypherEntry
	for more := p.token().Value != "}"; more; more = p.accept(",") {
		e := &cypherEntry{key: p.name()}
		if e.key == nil || !p.accept(":") {
			return nil, p.refuseEntry()
		}
		var err error
		if e.value, err = p.or(); err != nil {
			return nil, err
		}
		if err := p.refuseNegations(e.value); err != nil {
			return nil, err
		}
		all = append(all, e)
		if t := p.token().Value; t != "," && t != "}" {
			return nil, p.refuseExpression("}")
		}
	}
	return all, p.expect("}")
}

// fields reads the items of RETURN.
func (p *parser) fields() (*cypherReturn, error) {
	r := &cypherReturn{star: p.accept("*")}
	if r.star && !p.accept(",") {
		return r, nil
	}
	for more := true; more; more = p.accept(",") {
		item, err := p.item()
		if err != nil {
			return nil, err
		}
		r.items = append(r.items, item)
	}
	return r, nil
}

func (p *parser) item() (*cypherItem, error) {
	item := &cypherItem{pos: p.token().Pos}
	if isName(p.token()) && p.after().Value != "." && p.after().Value != "(" && !p.aggregateAhead() {
		if item.element = p.name(); item.element == nil {
			return nil, p.unexpected()
		}
	} else {
		var err error
		if item.value, err = p.value(); err != nil {
			return nil, err
		}
	}
	if p.keyword("AS") {
		if item.as = p.name(); item.as == nil {
			return nil, p.fail(at(p.token().Pos), "unexpected %s; after AS stands the name of the field",
				describe(p.token()))
		}
	}
	return item, nil
}

// value reads a field that is no element alone.
func (p *parser) value() (*condition.Expr, error) {
	if p.token().EOF() || p.token().Value == ";" {
		return nil, p.unexpected()
	}
	e, err := p.sum()
	if err != nil {
		return nil, err
	}
	switch t := p.token(); {
	case t.EOF(), t.Value == ",", t.Value == ";", isKeyword(t, "AS"), clauseWord(t):
		return e, nil
	case t.Type == wordToken && isReserved(t.Value), strings.Contains("=<>", t.Value):
		return nil, p.fail(at(t.Pos), "a condition in RETURN is not supported; RETURN takes %s", returnable)
	case isName(t):
		return nil, p.fail(at(t.Pos), "unexpected %s; the name of a field stands behind AS", describe(t))
	}
	return nil, p.refuseExpression("")
}

// clauseWord reports whether the token begins another clause, for which unsupported has a message.
func clauseWord(t lexer.Token) bool {
	_, ok := clauses[strings.ToUpper(t.Value)]
	return ok && t.Type == wordToken || isKeyword(t, "MATCH") || isKeyword(t, "RETURN")
}
