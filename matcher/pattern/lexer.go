package pattern

import (
	"github.com/alecthomas/participle/v2/lexer"

	"motifd/matcher"
)

// The lexer takes a source apart. The parser holds what is supported and nothing else: whatever else openCypher has
// ends in an unexpected token, which unsupported and refuseExpression name.

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
	{Name: "Number", Pattern: `[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?`},
	{Name: "Other", Pattern: `(?s).`},
})

// maxTokens bounds the tokens of a pattern, space and comments aside: 32 for each vertex and edge of the largest
// complete pattern. An edge that is a path of its own, with names and labels on both sides, has 19, and its name in
// RETURN two.
const maxTokens = 32 * (matcher.MaxVertices + matcher.MaxVertices*(matcher.MaxVertices-1)/2)

// Types of tokens.
var (
	wordToken   = cypherLexer.Symbols()["Word"]
	quotedToken = cypherLexer.Symbols()["Quoted"]
	numberToken = cypherLexer.Symbols()["Number"]
	stringToken = cypherLexer.Symbols()["String"]
)

// cypherTokens takes a source apart; the last token is its end. A token takes a microsecond to find and another to
// parse: without a bound on them a megabyte of signs takes seconds.
func cypherTokens(src string, b *builder) ([]lexer.Token, error) {
	l, err := cypherLexer.LexString("", src)
	if err != nil { // cannot be: the lexer fails later, and never, since its last rule matches anything
		return nil, b.fail(position{1, 1}, "%v", err)
	}
	var tokens []lexer.Token
	for {
		t, err := l.Next()
		if err != nil {
			return nil, b.fail(at(t.Pos), "%v", err)
		}
		tokens = append(tokens, t)
		if t.EOF() {
			return tokens, nil
		}
		if len(tokens) > maxTokens {
			return nil, b.fail(at(t.Pos), "the pattern has more than %d words, names and signs; at most %d are "+
				"allowed, which is more than any pattern of %d vertices needs that says each edge once", maxTokens,
				maxTokens, matcher.MaxVertices)
		}
	}
}
