package pattern

import (
	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
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

var cypherParser = participle.MustBuild[cypherQuery](
	participle.Lexer(cypherLexer),
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
