package pattern

import (
	"io"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"motifd/matcher"
)

// The grammar holds what is supported and nothing else: whatever else openCypher has ends in an unexpected token, which
// unsupported names. It is not recursive, so that no input can nest deeply.

// word is an unquoted name, after openCypher's SymbolicName.
const word = `[\p{L}\p{Nl}\p{Pc}][\p{L}\p{Nl}\p{Pc}\p{Mn}\p{Mc}\p{Nd}]*`

// Rules with a lower-case name are skipped. The last one matches anything, so that the lexer never fails; the Open ones
// take the rest of the source, so that it is not searched for an end again and again.
var cypherLexer = lexer.MustSimple([]lexer.SimpleRule{
	{Name: "space", Pattern: `[\s\x{feff}\p{Z}]+`},
	{Name: "lineComment", Pattern: `//[^\n]*`},
	{Name: "comment", Pattern: `(?s)/\*.*?\*/`},
	{Name: "OpenComment", Pattern: `(?s)/\*.*`},
	{Name: "Quoted", Pattern: "`(?:[^`]|``)*`"},
	{Name: "OpenQuote", Pattern: "(?s)`.*"},
	{Name: "String", Pattern: `(?s)'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"`},
	{Name: "OpenString", Pattern: `(?s)['"].*`},
	{Name: "Word", Pattern: word},
	{Name: "Number", Pattern: `[0-9]+`},
	{Name: "Other", Pattern: `(?s).`},
})

// maxTokens bounds the tokens of a pattern, space and comments aside: 32 for each vertex and edge of the largest
// complete pattern. An edge that is a path of its own, with names and labels on both sides, has 19, and its name in
// RETURN two.
const maxTokens = 32 * (matcher.MaxVertices + matcher.MaxVertices*(matcher.MaxVertices-1)/2)

// boundedLexer ends at maxTokens. A token takes a microsecond to find and another to parse: without the bound a
// megabyte of signs takes seconds.
type boundedLexer struct{ *lexer.StatefulDefinition }

// Lex implements lexer.Definition.
func (d boundedLexer) Lex(file string, r io.Reader) (lexer.Lexer, error) {
	var text strings.Builder
	if _, err := io.Copy(&text, r); err != nil {
		return nil, err
	}
	return d.LexString(file, text.String())
}

// LexString implements lexer.StringDefinition.
func (d boundedLexer) LexString(file, text string) (lexer.Lexer, error) {
	l, err := d.StatefulDefinition.LexString(file, text)
	return &countingLexer{Lexer: l}, err
}

// countingLexer counts tokens.
type countingLexer struct {
	lexer.Lexer
	tokens int
}

// Next implements lexer.Lexer.
func (l *countingLexer) Next() (lexer.Token, error) {
	t, err := l.Lexer.Next()
	if l.tokens++; err == nil && l.tokens > maxTokens && !t.EOF() {
		return t, participle.Errorf(t.Pos,
			"the pattern has more than %d words, names and signs; at most %d are allowed, "+
				"which is more than any pattern of %d vertices needs that says each edge once", maxTokens, maxTokens,
			matcher.MaxVertices)
	}
	return t, err
}

var cypherParser = participle.MustBuild[cypherQuery](
	participle.Lexer(boundedLexer{cypherLexer}),
	participle.CaseInsensitive("Word"),
	participle.UseLookahead(0), // one token decides, so that an error stands where it is, not at the start of its part
)

type cypherQuery struct {
	Matches []*cypherMatch `parser:"@@+"`
	Return  *cypherReturn  `parser:"@@? ';'?"`
}

type cypherMatch struct {
	Paths []*cypherPath `parser:"'MATCH' @@ (',' @@)*"`
}

type cypherPath struct {
	Head *cypherNode  `parser:"@@"`
	Hops []*cypherHop `parser:"@@*"`
}

type cypherNode struct {
	Pos   lexer.Position
	Name  *cypherName `parser:"'(' @@?"`
	Label *cypherName `parser:"(':' @@)? ')'"`
}

type cypherHop struct {
	Pos   lexer.Position
	Left  bool        `parser:"@'<'? '-'"`
	Edge  *cypherEdge `parser:"@@? '-'"`
	Right bool        `parser:"@'>'?"`
	Node  *cypherNode `parser:"@@"`
}

type cypherEdge struct {
	Name  *cypherName `parser:"'[' @@?"`
	Label *cypherName `parser:"(':' @@)? ']'"`
}

type cypherName struct {
	Pos  lexer.Position
	Text string `parser:"@(Word | Quoted)"` // as written
}

type cypherReturn struct {
	Star  bool          `parser:"'RETURN' (@'*'"`
	Names []*cypherName `parser:"| @@ (',' @@)*)"`
}
